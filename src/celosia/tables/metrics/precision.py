"""Precision and height: how far up their hierarchies the cells were taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.tables.metrics.metric import (
    WEIGHTS,
    Measure,
    Metric,
    column_weights,
    over_all_nodes,
)

if TYPE_CHECKING:
    from celosia.tables.recoding.lattice import Lattice, Outcome


@dataclass(frozen=True)
class Precision(Metric):
    """The average share of the way up that a cell was taken; a suppressed one went all the way.

    One less the precision of Sweeney 2002, so that less is better here as everywhere.
    """

    method_name: ClassVar[str] = "precision"

    weights: Mapping[str, float] = field(default_factory=dict, metadata=WEIGHTS)

    def over(self, lattice: Lattice) -> Measure:
        """The metric over one table's lattice."""
        weights = column_weights(self.weights, [column.name for column in lattice.columns])
        return PrecisionMeasure(lattice, weights / weights.sum())


class PrecisionMeasure(Measure):
    """One less the precision of each node."""

    def __init__(self, lattice: Lattice, weights: NDArray[np.float64]):
        self._rows = lattice.rows
        # A hierarchy of one level cannot be climbed: its cells stay at the foot.
        self.floors = over_all_nodes(
            [
                weight * np.arange(levels) / max(1, levels - 1)
                for weight, levels in zip(weights, lattice.shape, strict=True)
            ],
            np.add,
        )

    def floor(self, node: Sequence[int], must_go: int) -> float:
        """A suppressed record loses the remaining levels."""
        kept = float(self.floors[tuple(node)])
        return kept + must_go / self._rows * (1.0 - kept)

    def score(self, outcome: Outcome) -> float:
        """The share of the way at an evaluated node."""
        return self.floor(outcome.node, outcome.suppressed)

    def share(self, score: float) -> float:
        """It is a share already."""
        return score


class HeightMeasure(Measure):
    """The sum of the levels of each node."""

    def __init__(self, lattice: Lattice):
        self.floors = over_all_nodes(
            [np.arange(levels, dtype=np.float64) for levels in lattice.shape], np.add
        )

    def floor(self, node: Sequence[int], must_go: int) -> float:
        """Suppression adds no step."""
        return float(sum(node))

    def score(self, outcome: Outcome) -> float:
        """The height of the node."""
        return float(sum(outcome.node))

    def share(self, score: float) -> float:
        """The height over that of the top."""
        return score / max(1.0, float(self.floors.max()))


@dataclass(frozen=True)
class Height(Metric):
    """The number of generalisation steps, whichever records are suppressed: the oldest metric."""

    method_name: ClassVar[str] = "height"
    measure = HeightMeasure
