"""Recursive (c, l)-diversity: the most frequent value is not too frequent beside the rare ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.tables.models import _kernels
from celosia.tables.models.classes import Classes
from celosia.tables.models.distinct_diversity import diversity
from celosia.tables.models.gaps import HOMOGENEITY, IDENTITY, SIMILARITY, SKEWNESS
from celosia.tables.models.model import Verdict
from celosia.tables.models.parameters import TIE, column_name, plain, put, real_parameter
from celosia.tables.models.sensitive_model import SensitiveModel


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

    c: float
    l: int  # noqa: E741 - the name in every paper
    column: str | None = None

    def __post_init__(self) -> None:
        put(
            self,
            c=real_parameter(
                "CEL-P021",
                "c",
                self.c,
                lambda found: found > 0,
                "a number above 0",
                why="The most frequent value must have fewer than c times the records of the rare.",
                fix="Try c = 4, the usual choice.",
            ),
            l=diversity(self.l),
            column=column_name(self.column),
        )

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
            rows.starts, rows.counts, classes.sizes, self.c, self.l
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
        best = f"up to l = {reached}" if reached > 1 else "for no l"
        return (
            f"Even all records as one class do not meet {self.promise()}: in the whole table the "
            f"most frequent value of '{self.column}' is too frequent beside the rare ones; "
            f"with c = {self.c:g} it can be met {best}."
        )

    def promise(self) -> str:
        """The model in words."""
        return self.named(f"recursive ({self.c:g}, {self.l})-diversity")

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            "an attacker who finds a person's class cannot be sure of the sensitive value even "
            f"after ruling out {self.l - 2 or 'none'} of the others: no value is {self.c:g} or "
            "more times as frequent as the rare ones together"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        knowledge = (
            f"an attacker who can rule out {self.l - 1} or more values of a class may be left with "
            "one (background knowledge)"
        )
        return (knowledge, SKEWNESS, SIMILARITY, IDENTITY)

    def closes(self) -> tuple[str, ...]:
        """A class has several sensitive values."""
        return (HOMOGENEITY,)

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return plain(self, "recursive-diversity")
