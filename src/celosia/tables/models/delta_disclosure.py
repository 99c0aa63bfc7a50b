"""delta-disclosure privacy: the frequency of every sensitive value stays near that of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models.classes import Classes, Histogram
from celosia.tables.models.model import (
    IDENTITY,
    LACKING_VALUES,
    LEAST,
    MOST,
    PUBLIC_TABLE,
    SENSITIVE_COLUMN,
    SIMILARITY,
    SLACK,
    TIE,
    SensitiveModel,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(SensitiveModel):
    """In each class |ln(p / q)| < delta for every value: p its share there, q in the table.

    Logarithms are natural. By the definition a class that lacks a value fails, because ln 0 has no
    bound; with `strict=False` values that a class lacks are passed over, as some tools do.

    Guarantee: an attacker's belief in any sensitive value changes by less than the factor e^delta,
    up or down.

    Reference: Brickell & Shmatikov 2008.
    """

    method_name: ClassVar[str] = "delta-disclosure"

    delta: float = parameter(least=LEAST, most=MOST, start=1)
    strict: bool = True
    column: str | None = parameter(None, like=SENSITIVE_COLUMN)

    @property
    def _factor(self) -> float:
        """By how much a share may change; beyond e^500 only whether a value occurs counts."""
        return math.exp(min(self.delta, 500.0))

    def judge(self, classes: Classes) -> Verdict:
        """Shares per class against an interval for each value.

        Upper ends survive merging, so what they send away is proven. Lower ends survive it in the
        strict form only, where every kept part has every value: kept < count * e^delta / q.
        """
        rows = self.histogram(classes)
        shares = rows.column.totals / max(1, rows.column.rows)
        upper = shares * self._factor
        satisfied, must_go = rows.within_caps(classes.sizes, upper, 1 - TIE, classes.least)
        most = self._most_by_rarest(rows, shares)
        satisfied &= classes.sizes < most * (1 - TIE)
        if self.strict:
            lacking = np.diff(rows.starts) < np.count_nonzero(shares)
            satisfied &= ~lacking
            most = np.where(lacking, 0, most)
            kept = np.minimum(classes.sizes, np.floor(most * (1 + SLACK)))
            must_go = np.maximum(must_go, classes.sizes - kept.astype(np.int64))
            must_go = np.where(satisfied, 0, np.maximum(must_go, 1))
        return Verdict(satisfied, must_go)

    def _most_by_rarest(self, rows: Histogram, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Below which size of a class all its values keep above the lower ends."""
        if rows.starts.size == 1:
            return np.zeros(0)
        sizes = rows.counts / (shares / self._factor)[rows.values]
        rarest: NDArray[np.float64] = np.minimum.reduceat(sizes, rows.starts[:-1])
        return rarest

    def promise(self) -> str:
        if self.strict:
            return self.named(Message("models.delta_disclosure.promise", delta=self.delta))
        return self.named(Message("models.delta_disclosure.lenient", delta=self.delta))

    def protects(self) -> str:
        return Message("models.delta_disclosure.protects", factor=self._factor)

    def leaves_open(self) -> tuple[str, ...]:
        gaps = (PUBLIC_TABLE, SIMILARITY, IDENTITY)
        return gaps if self.strict else (LACKING_VALUES, *gaps)
