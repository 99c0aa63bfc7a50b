"""Information loss: the share of each column's domain that a released value could stand for.

A kept cell counts the leaves that share its label, a suppressed one all leaves of the column. The
column's loss is that sum scaled to [0, 1], and the table's loss the geometric mean of `1 + loss`
over the columns, less 1: the default quality measure of ARX. All sums are whole numbers, so the
result does not depend on the order in which classes are visited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import floor, prod
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

DIGITS = 1e10
"""ARX cuts a column's loss after ten decimals; the published figures have it so."""


@dataclass(frozen=True)
class LossScale:
    """What turns leaf sums into losses: per-column facts of a table.

    Args:
        rows: number of records of the table.
        leaves: number of leaves of each column's hierarchy, seen in the data or not.
        leaf_sums: for each column and level, the sum over all records of the leaves that share the
            record's label there.
        widest: for each column and level, the most leaves that any label in the data has there.

    >>> two = LossScale(rows=4, leaves=(2, 4),
    ...     leaf_sums=((4, 8), (4, 8, 16)), widest=((1, 2), (1, 2, 4)))
    >>> round(two.total((4, 8)), 6)   # the second column one level up
    0.154701
    """

    rows: int
    leaves: tuple[int, ...]
    leaf_sums: tuple[tuple[int, ...], ...]
    widest: tuple[tuple[int, ...], ...]

    def column(self, column: int, leaf_sum: int) -> float:
        """Loss in [0, 1] of one column whose cells stand for `leaf_sum` leaves in all."""
        most = self.rows * self.leaves[column]
        if most <= self.rows:  # a hierarchy of one leaf has nothing to lose
            return 0.0
        return floor(max(0.0, (leaf_sum - self.rows) / (most - self.rows)) * DIGITS) / DIGITS

    def total(self, leaf_sums: Sequence[int], weights: Sequence[float] | None = None) -> float:
        """The loss of the table in [0, 1]; roots before products, which gives ARX's last digit."""
        root = 1 / len(self.leaves)
        factors = (1.0 + loss for loss in self.columns(leaf_sums, weights))
        return min(1.0, float(prod(factor**root for factor in factors)) - 1.0)

    def columns(
        self, leaf_sums: Sequence[int], weights: Sequence[float] | None = None
    ) -> list[float]:
        """The loss of each column, times its weight if there is one."""
        losses = [self.column(number, total) for number, total in enumerate(leaf_sums)]
        if weights is None:
            return losses
        return [weight * loss for weight, loss in zip(weights, losses, strict=True)]


@dataclass(frozen=True)
class Loss(Metric):
    """Information loss in [0, 1], with a weight for each column (1 where none is given)."""

    method_name: ClassVar[str] = "loss"

    weights: Mapping[str, float] = field(default_factory=dict, metadata=WEIGHTS)

    def over(self, lattice: Lattice) -> LossMeasure:
        """The loss over one table's lattice."""
        names = [column.name for column in lattice.columns]
        return LossMeasure(lattice.loss, column_weights(self.weights, names))


class LossMeasure(Measure):
    """The product of `1 + weight * loss` over the columns.

    It orders nodes as the loss does, and rounding never turns the order around: each step is
    monotone also in floating point, which a root need not be.
    """

    def __init__(self, scale: LossScale, weights: NDArray[np.float64]):
        self.scale = scale
        self.weights: list[float] = weights.tolist()
        self.factors = [
            np.array([1.0 + weight * scale.column(column, total) for total in totals])
            for column, (weight, totals) in enumerate(
                zip(self.weights, scale.leaf_sums, strict=True)
            )
        ]
        """For each column and level, its part of the product with nothing suppressed."""
        self._lines = [self._line(column) for column in range(len(self.weights))]

    @cached_property
    def floors(self) -> NDArray[np.float64]:  # type: ignore[override]  # made when asked for
        """With nothing suppressed; the array of a huge lattice would not fit into memory."""
        return over_all_nodes(self.factors, np.multiply)

    def floor(self, node: Sequence[int], must_go: int) -> float:
        """Each record that must go costs at least the leaves that its widest label lacks."""
        product = 1.0
        for weight, line, level in zip(self.weights, self._lines, node, strict=True):
            more, slope, span = line[level]
            # As `LossScale.column`, without the calls: this is asked of thousands of nodes.
            loss = floor((more + must_go * slope) / span * DIGITS) / DIGITS
            product *= 1.0 + weight * loss
        return product

    def _line(self, column: int) -> list[tuple[int, int, int]]:
        """For each level, the leaves beyond the raw ones, what each who goes adds, and the most."""
        scale = self.scale
        span = scale.rows * (scale.leaves[column] - 1)
        if span == 0:  # a hierarchy of one leaf has nothing to lose
            return [(0, 0, 1)] * len(scale.leaf_sums[column])
        return [
            (total - scale.rows, scale.leaves[column] - widest, span)
            for total, widest in zip(scale.leaf_sums[column], scale.widest[column], strict=True)
        ]

    def score(self, outcome: Outcome) -> float:
        """The product at an evaluated node."""
        return self.product(outcome.leaf_sums)

    def product(self, leaf_sums: Sequence[int]) -> float:
        """What the search minimises."""
        return prod(1.0 + loss for loss in self.scale.columns(leaf_sums, self.weights))

    def share(self, score: float) -> float:
        """The geometric mean less 1, over the most it can be with these weights."""
        root = 1 / len(self.weights)
        most = float(prod((1.0 + weight) ** root for weight in self.weights)) - 1.0
        return min(1.0, float((score**root - 1.0) / most))
