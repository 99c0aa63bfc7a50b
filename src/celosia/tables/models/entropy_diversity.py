"""Entropy l-diversity: sensitive values are spread as evenly as l equally frequent ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models import _kernels
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import (
    BACKGROUND,
    HOMOGENEITY,
    IDENTITY,
    MOST,
    SENSITIVE_COLUMN,
    SIMILARITY,
    SKEWNESS,
    SLACK,
    SensitiveModel,
    Verdict,
)

TABLED = 1 << 16
"""Counts below this have their logarithm looked up; larger ones are rare."""

LARGEST_CORRECTION = float(np.euler_gamma) + math.log(2)
"""At most how far Grassberger's estimate lies above the plain entropy: ln c - G(c) at c = 1. For
even c, G(c) > ln c; an odd c > 1 has the G of c - 1, so the difference is at most ln(3/2)."""


@lru_cache(maxsize=1)
def weighted_logs() -> NDArray[np.float64]:
    """Every small count c times ln c."""
    counts = np.arange(TABLED, dtype=np.float64)
    table: NDArray[np.float64] = counts * np.log(np.maximum(counts, 1))
    return table


@lru_cache(maxsize=1)
def grassberger() -> NDArray[np.float64]:
    """Every small count c times G(c), by the recurrence of Grassberger's G.

    G(1) = -gamma - ln 2, G(2) = G(1) + 2, G(2j + 1) = G(2j), G(2j + 2) = G(2j) + 2/(2j + 1).
    """
    steps = 2 / np.arange(1, TABLED, 2, dtype=np.float64)
    even = np.concatenate([[0.0], np.cumsum(steps)])[: TABLED // 2] - LARGEST_CORRECTION
    table: NDArray[np.float64] = np.repeat(even, 2) * np.arange(TABLED)
    return table


Estimator = Literal["shannon", "grassberger"]
"""The entropy of the class itself, or an estimate for what it is a sample of."""


@dataclass(frozen=True, slots=True)
class EntropyDiversity(SensitiveModel):
    """Each class has an entropy of sensitive values of at least log `l`.

    Guarantee: the values of a class are at least as evenly spread as `l` equally frequent ones, by
    Shannon's entropy of the class itself, -sum p ln p. Grassberger's estimator, ln n - sum c G(c)
    / n, estimates the entropy of what the class is a sample of; it is larger for small classes, so
    the class must have `l` different values besides.

    >>> from celosia.tables.models import Histogram, SensitiveColumn
    >>> rows = Histogram.of_rows(SensitiveColumn("disease", np.array([3, 3])),
    ...                          np.zeros(6, np.int64), np.array([0, 0, 0, 1, 1, 1], np.int32), 1)
    >>> EntropyDiversity(2, column="disease").holds(
    ...     Classes(np.array([6]), {"disease": rows})).tolist()
    [True]

    Reference: Machanavajjhala et al. 2006; Grassberger 2003; Stammler et al. 2016.
    """

    method_name: ClassVar[str] = "entropy-diversity"

    l: float = parameter(above=1, most=MOST, start=3)  # noqa: E741 - the name in every paper
    estimator: Estimator = "shannon"
    column: str | None = parameter(None, like=SENSITIVE_COLUMN)

    @property
    def counts_units(self) -> bool:
        """The corrected estimate is not concave in the counts."""
        return not self._is_estimated

    @property
    def _is_estimated(self) -> bool:
        return self.estimator == "grassberger"

    @property
    def smallest(self) -> int:
        """The entropy of n records is at most log n, and l values need l records."""
        return math.ceil(self.l - SLACK)

    def judge(self, classes: Classes) -> Verdict:
        """Entropy per class; what must go is proven for the plain entropy, which is concave.

        Kept parts of entropy log l have it together too. A part whose corrected entropy is log l
        has a plain one of at least log l less the largest correction: that much is proven there.
        """
        _, satisfied, must_go = self._entropies(classes)
        return Verdict(satisfied, must_go)

    def effective(self, classes: Classes) -> NDArray[np.float64]:
        """The largest `l` that each class meets: e to the power of its entropy."""
        effective: NDArray[np.float64] = np.exp(self._entropies(classes)[0])
        return effective

    def _entropies(self, classes: Classes) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        rows = self.histogram(classes)
        target = math.log(self.l)
        table = grassberger() if self._is_estimated else weighted_logs()
        found: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] = _kernels.entropy_at_least(
            rows.starts,
            rows.counts,
            classes.sizes,
            table,
            weighted_logs(),
            self.smallest,
            target,
            self._is_estimated,
            target - (LARGEST_CORRECTION if self._is_estimated else 0) - SLACK,
        )
        return found

    def why_infeasible(self, one_class: Classes) -> str | None:
        """The values of the whole table may be too unevenly spread, or too few."""
        if self.holds(one_class).all():
            return None
        found = self.effective(one_class).max()
        if found >= self.l:
            return Message("models.entropy_diversity.too_few_values", column=self.column, l=self.l)
        return Message(
            "models.entropy_diversity.too_uneven", column=self.column, found=found, l=self.l
        )

    def promise(self) -> str:
        if self._is_estimated:
            return self.named(Message("models.entropy_diversity.grassberger", l=self.l))
        return self.named(Message("models.entropy_diversity.promise", l=self.l))

    def protects(self) -> str:
        return Message("models.entropy_diversity.protects", l=self.l)

    def leaves_open(self) -> tuple[str, ...]:
        gaps = (BACKGROUND, SKEWNESS, SIMILARITY, IDENTITY)
        return (
            (Message("models.entropy_diversity.estimated"), *gaps) if self._is_estimated else gaps
        )

    def closes(self) -> tuple[str, ...]:
        return (HOMOGENEITY,)
