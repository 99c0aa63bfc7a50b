"""Recursive (c, l)-diversity: the most frequent value is not too frequent beside the rare ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models import _kernels
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import (
    HOMOGENEITY,
    IDENTITY,
    LEAST,
    MOST,
    SENSITIVE_COLUMN,
    SIMILARITY,
    SKEWNESS,
    TIE,
    SensitiveModel,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class RecursiveDiversity(SensitiveModel):
    """In each class the most frequent value has fewer than `c` times the records of the rare ones.

    The rare ones are the values from the `l`-th most frequent on, and there must be `l` values.
    Guarantee: an attacker who rules out `l` - 2 values of a class still faces at least two, of
    which none has `c` or more times the records of the others together.

    >>> from celosia.tables.models import Histogram, SensitiveColumn
    >>> rows = Histogram.of_rows(SensitiveColumn("disease", np.array([3, 2, 1, 1])),
    ...                          np.zeros(7, np.int64),
    ...                          np.array([0, 0, 0, 1, 1, 2, 3], np.int32), 1)
    >>> seven = Classes(np.array([7]), {"disease": rows})
    >>> RecursiveDiversity(2, 3, "disease").holds(seven).item()  # 3 < 2 (1 + 1)
    True
    >>> RecursiveDiversity(1.5, 3, "disease").holds(seven).item()  # 3 < 3 does not hold
    False

    Reference: Machanavajjhala et al. 2006.
    """

    method_name: ClassVar[str] = "recursive-diversity"

    c: float = parameter(least=LEAST, most=MOST, start=4)
    l: int = parameter(least=2, most=MOST, start=3)  # noqa: E741 - the name in every paper
    column: str | None = parameter(None, like=SENSITIVE_COLUMN)

    @property
    def smallest(self) -> int:
        """With a most frequent value of one record the tail needs more than 1/c; larger, more."""
        tail = int(1 / self.c)
        return self.l - 1 + (tail if self.c * tail * (1 - TIE) > 1 else tail + 1)

    def judge(self, classes: Classes) -> Verdict:
        """Counts per class; what must go is proven, because the model survives merging.

        Of two classes together, the largest count is at most the sum of both, and the sum of all
        but the l - 1 largest counts is at least that of both.
        """
        rows = self.histogram(classes)
        satisfied, must_go = _kernels.most_frequent_below_tail(
            rows.starts, rows.counts, classes.sizes, self.c, self.l, classes.least
        )
        return Verdict(satisfied, must_go)

    def why_infeasible(self, one_class: Classes) -> str | None:
        """The whole table may meet the model only up to a smaller `l`."""
        if self.holds(one_class).all():
            return None
        rows = self.histogram(one_class)
        counts = np.sort(rows.counts[: rows.starts[1]])[::-1]
        tails = counts.sum() - np.cumsum(counts) + counts
        reached = int((counts[0] < self.c * tails * (1 - TIE)).sum())
        best = (
            Message("models.recursive_diversity.up_to", reached=reached)
            if reached > 1
            else Message("models.recursive_diversity.for_none")
        )
        return Message.of(
            "models.recursive_diversity.too_frequent", self, promise=self.promise(), best=best
        )

    def promise(self) -> str:
        return self.named(Message("models.recursive_diversity.promise", c=self.c, l=self.l))

    def protects(self) -> str:
        return Message(
            "models.recursive_diversity.protects",
            ruled_out=self.l - 2 or Message("models.shared.none"),
            c=self.c,
        )

    def leaves_open(self) -> tuple[str, ...]:
        knowledge = Message("models.recursive_diversity.background", ruled_out=self.l - 1)
        return (knowledge, SKEWNESS, SIMILARITY, IDENTITY)

    def closes(self) -> tuple[str, ...]:
        return (HOMOGENEITY,)
