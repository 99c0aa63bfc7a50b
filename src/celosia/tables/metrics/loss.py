"""Information loss: the share of each column's domain that a released value could stand for.

A kept cell counts the leaves that share its label, a suppressed one all leaves of the column. The
column's loss is that sum scaled to [0, 1], and the table's loss the geometric mean of `1 + loss`
over the columns, less 1: the default quality measure of ARX. The arithmetic mean over the columns
can be kept least instead. All sums are whole numbers, so the result does not depend on the order in
which classes are visited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import floor, prod
from typing import TYPE_CHECKING, ClassVar, Literal

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

Mean = Literal["geometric", "arithmetic"]
"""How the losses of the columns become one: the geometric mean of `1 + loss`, or the plain mean."""

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

    mean: ClassVar[Mean] = "geometric"

    weights: Mapping[str, float] = field(default_factory=dict, metadata=WEIGHTS)

    def over(self, lattice: Lattice) -> LossMeasure:
        """The loss over one table's lattice."""
        names = [column.name for column in lattice.columns]
        return LossMeasure(lattice.loss, column_weights(self.weights, names), self.mean)


@dataclass(frozen=True)
class ArithmeticLoss(Loss):
    """The arithmetic mean of the losses of the columns, where `loss` has a geometric one.

    To lose one column whole or two by half is the same here; `loss` prefers the former.
    """

    method_name: ClassVar[str] = "arithmetic-loss"
    mean: ClassVar[Mean] = "arithmetic"


class LossMeasure(Measure):
    """The product of `1 + weight * loss` over the columns, or the sum of `weight * loss`.

    It orders nodes as the loss does, and rounding never turns the order around: each step is
    monotone also in floating point, which a root need not be.
    """

    def __init__(self, scale: LossScale, weights: NDArray[np.float64], mean: Mean = "geometric"):
        self.scale = scale
        self.weights: list[float] = weights.tolist()
        self._is_product = mean == "geometric"
        self._base = 1.0 if self._is_product else 0.0
        self.combine: np.ufunc = np.multiply if self._is_product else np.add
        """What makes a score from the parts of the columns."""
        self._lines = [self._line(column) for column in range(len(self.weights))]

    @cached_property
    def floors(self) -> NDArray[np.float64]:  # type: ignore[override]  # made when asked for
        """With nothing suppressed; the array of a huge lattice would not fit into memory."""
        columns = range(len(self.weights))
        return over_all_nodes([self.parts(column, 0) for column in columns], self.combine)

    @property
    def least(self) -> float:
        """The score of the raw table, below which none can fall."""
        return self._base

    def parts(self, column: int, must_go: int) -> NDArray[np.float64]:
        """For each level of a column, the least part of the score if so many records must go."""
        weight = self.weights[column]
        return np.array([self._base + weight * _cut(line, must_go) for line in self._lines[column]])

    def floor(self, node: Sequence[int], must_go: int) -> float:
        """Each record that must go costs at least the leaves that its widest label lacks."""
        score = self._base
        for weight, lines, level in zip(self.weights, self._lines, node, strict=True):
            part = self._base + weight * _cut(lines[level], must_go)
            score = score * part if self._is_product else score + part
        return score

    def forced(
        self, nodes: Sequence[NDArray[np.int64]], must_go: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """As `floor`, to the last bit."""
        if any(span >= 2**53 for lines in self._lines for *_, span in lines):
            return super().forced(nodes, must_go)  # whole numbers that no float has
        score = np.full(must_go.size, self._base)
        for weight, lines, levels in zip(self.weights, self._lines, nodes, strict=True):
            more, slope, span = np.array(lines)[levels].T
            part = self._base + weight * (
                np.floor((more + must_go * slope) / span * DIGITS) / DIGITS
            )
            score = score * part if self._is_product else score + part
        return score

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
        """The product or the sum at an evaluated node."""
        return self.score_of(outcome.leaf_sums)

    def score_of(self, leaf_sums: Sequence[int]) -> float:
        """What the search keeps least."""
        losses = self.scale.columns(leaf_sums, self.weights)
        return prod(1.0 + loss for loss in losses) if self._is_product else sum(losses)

    def share(self, score: float) -> float:
        """The mean over the columns, over the most it can be with these weights."""
        if not self._is_product:
            return min(1.0, score / sum(self.weights))
        root = 1 / len(self.weights)
        most = float(prod((1.0 + weight) ** root for weight in self.weights)) - 1.0
        return min(1.0, float((score**root - 1.0) / most))


def _cut(line: tuple[int, int, int], must_go: int) -> float:
    """As `LossScale.column`, of what is known of a level."""
    more, slope, span = line
    return floor((more + must_go * slope) / span * DIGITS) / DIGITS
