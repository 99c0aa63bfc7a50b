"""Discernibility and average class size: how large the crowds are, whatever their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.tables.metrics.metric import Measure, Metric, over_all_nodes

if TYPE_CHECKING:
    from celosia.tables.recoding.lattice import Lattice, Outcome


def most_classes(lattice: Lattice) -> NDArray[np.float64]:
    """For every node, a number of classes that it cannot exceed: label combinations, or records."""
    labels = [np.array(counts, dtype=np.float64) for counts in lattice.labels_in_data()]
    return np.minimum(over_all_nodes(labels, np.multiply), lattice.rows)


class DiscernibilityMeasure(Measure):
    """The sum of squared class sizes, a suppressed record counting the whole table.

    A suppressed class of f records counts N * f, at least f * f, so the score is at least the sum
    of squares of all classes, which is least when classes are equal: N * N / classes.
    """

    def __init__(self, lattice: Lattice):
        self._rows = lattice.rows
        self.floors = lattice.rows**2 / most_classes(lattice)

    def floor(self, node: Sequence[int], must_go: int) -> float:
        """Those who go count all records each; the rest at least its share of the squares."""
        rest = self._rows - must_go
        fewest = float(self.floors[tuple(node)]) * (rest / self._rows) ** 2
        return max(float(self.floors[tuple(node)]), self._rows * must_go + fewest)

    def score(self, outcome: Outcome) -> float:
        """Exact: a sum of whole numbers."""
        kept = outcome.kept_sizes
        if self._rows >= 2**31:  # weights of units may be large
            return float((kept.astype(np.float64) ** 2).sum()) + self._rows * outcome.suppressed
        return float(int((kept * kept).sum()) + self._rows * outcome.suppressed)

    def share(self, score: float) -> float:
        """Between every record alone (N) and all records in one class (N * N)."""
        return (score - self._rows) / max(1, self._rows**2 - self._rows)


@dataclass(frozen=True)
class Discernibility(Metric):
    """How many records each one cannot be told from: its class, or all if it is suppressed."""

    method_name: ClassVar[str] = "discernibility"
    measure = DiscernibilityMeasure


class AverageClassSizeMeasure(Measure):
    """All records over the number of classes."""

    def __init__(self, lattice: Lattice):
        self._rows = lattice.rows
        # Suppressed records are a class more; they leave at most as many classes as records.
        self.floors = self._rows / np.minimum(most_classes(lattice) + 1, self._rows)

    def floor(self, node: Sequence[int], must_go: int) -> float:
        """Those who go form one class, the others at most one each."""
        most = self._rows if must_go == 0 else self._rows - must_go + 1
        return max(float(self.floors[tuple(node)]), self._rows / most)

    def score(self, outcome: Outcome) -> float:
        """The average over kept classes and the suppressed one."""
        return self._rows / (int(outcome.kept_sizes.size) + (outcome.suppressed > 0))

    def share(self, score: float) -> float:
        """Between every record alone (1) and all records in one class (N)."""
        return (score - 1) / max(1, self._rows - 1)


@dataclass(frozen=True)
class AverageClassSize(Metric):
    """Records per class; all suppressed records together count as one class."""

    method_name: ClassVar[str] = "average-class-size"
    measure = AverageClassSizeMeasure
