"""Ambiguity: how many original records each released one could have been."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from celosia.tables.metrics.metric import Measure, Metric, over_all_nodes

if TYPE_CHECKING:
    from celosia.tables.recoding.lattice import Lattice, Outcome


class AmbiguityMeasure(Measure):
    """The average number of combinations of leaves that a record may be.

    Suppression only adds; and an average is at least the geometric mean, whose logarithm is a sum
    over columns: so the floor needs no look at the records.
    """

    def __init__(self, lattice: Lattice):
        self._lattice = lattice
        self._rows = lattice.rows
        self._most = float(np.prod([float(leaves) for leaves in lattice.loss.leaves]))
        logs = []
        for column, counts in zip(lattice.columns, lattice.leaf_counts, strict=True):
            under = [
                column.hierarchy.leaves_under(level) for level in range(column.hierarchy.levels)
            ]
            logs.append(np.array([counts @ np.log(each) / lattice.rows for each in under]))
        # A whisker lower, so that rounding never lifts a floor above its node.
        self.floors = np.exp(over_all_nodes(logs, np.add)) * (1 - 1e-9)

    def floor(self, node: Sequence[int], must_go: int) -> float:
        """A suppressed record may be any; of the others at least the geometric mean remains."""
        rest = (self._rows - must_go) / self._rows
        if rest <= 0:
            return self._most
        # Those who go had at most all leaves: the logarithms that remain are at least the rest.
        logs = log(float(self.floors[tuple(node)])) - (1 - rest) * log(self._most)
        return max(
            float(self.floors[tuple(node)]), (1 - rest) * self._most + rest * exp(logs / rest)
        ) * (1 - 1e-9)

    def score(self, outcome: Outcome) -> float:
        """The average at an evaluated node."""
        leaves = self._lattice.leaves_of_classes(outcome)
        combinations = np.prod([each.astype(np.float64) for each in leaves], axis=0)
        kept = float((combinations * outcome.table.sizes)[outcome.kept].sum())
        return (kept + outcome.suppressed * self._most) / self._rows

    def share(self, score: float) -> float:
        """On a logarithmic scale from one combination to all of them."""
        return log(score) / log(self._most) if self._most > 1 else 0.0


@dataclass(frozen=True)
class Ambiguity(Metric):
    """The product of the leaves that the labels of a record stand for, averaged over records."""

    method_name: ClassVar[str] = "ambiguity"
    measure = AmbiguityMeasure
