"""delta-disclosure privacy: the frequency of every sensitive value stays near that of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.tables.models import _kernels
from celosia.tables.models.classes import Classes, Histogram
from celosia.tables.models.gaps import IDENTITY, SIMILARITY
from celosia.tables.models.model import Verdict
from celosia.tables.models.parameters import (
    SLACK,
    TIE,
    column_name,
    flag,
    plain,
    put,
    real_parameter,
)
from celosia.tables.models.sensitive_model import SensitiveModel


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(SensitiveModel):
    """In each class |ln(p / q)| < delta for every value: p its share there, q in the table.

    Logarithms are natural. By the definition a class that lacks a value fails, because ln 0 has no
    bound; with `strict=False` values that a class lacks are passed over, as some tools do.

    Guarantee: an attacker's belief in any sensitive value changes by less than the factor e^delta,
    up or down.

    Reference: Brickell & Shmatikov 2008.
    """

    delta: float
    strict: bool = True
    column: str | None = None

    def __post_init__(self) -> None:
        delta = real_parameter(
            "CEL-P030",
            "delta",
            self.delta,
            lambda found: found > 0,
            "a number above 0",
            why="It bounds the natural logarithm of how much a share may change.",
            fix="Try delta = 1: shares stay within a factor of 2.7 up and down.",
        )
        put(self, delta=delta, strict=flag("strict", self.strict), column=column_name(self.column))

    @property
    def smallest(self) -> int:
        """One record may do, if the table has one value."""
        return 1

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
        satisfied, must_go = _kernels.within_caps(
            rows.starts, rows.values, rows.counts, classes.sizes, upper, 1 - TIE, 0
        )
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
        """The model in words."""
        form = "" if self.strict else "lenient "
        return self.named(f"{form}{self.delta:g}-disclosure privacy")

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            "an attacker who finds a person's class changes the belief in a sensitive value by "
            f"less than the factor {self._factor:.3g}, up or down"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        public = "what the whole table tells about all people is taken as public"
        gaps = (public, SIMILARITY, IDENTITY)
        if self.strict:
            return gaps
        return ("a class may lack values, and so tell that a person does not have them", *gaps)

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return plain(self, "delta-disclosure")
