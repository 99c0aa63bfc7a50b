"""Information loss: the share of each column's domain that a released value could stand for.

A kept cell counts the leaves that share its label, a suppressed one all leaves of the column. The
column's loss is that sum scaled to [0, 1], and the table's loss the geometric mean of `1 + loss`
over the columns, less 1: the default quality measure of ARX. All sums are whole numbers, so the
result does not depend on the order in which classes are visited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor, prod

import numpy as np
from numpy.typing import NDArray

DIGITS = 1e10
"""ARX cuts a column's loss after ten decimals; the published figures have it so."""


@dataclass(frozen=True)
class Loss:
    """The loss of every node of a lattice, from per-column facts alone.

    Args:
        rows: number of records of the table.
        leaves: number of leaves of each column's hierarchy, seen in the data or not.
        leaf_sums: for each column and level, the sum over all records of the leaves that share the
            record's label there.
        widest: for each column and level, the most leaves that any label in the data has there.

    >>> two = Loss(rows=4, leaves=(2, 4),
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

    def product(self, leaf_sums: Sequence[int]) -> float:
        """What the search minimises: the product of `1 + loss` over the columns.

        It orders nodes as the loss does, and rounding never turns the order around: each step is
        monotone also in floating point, which a root need not be.
        """
        return prod(1.0 + self.column(number, total) for number, total in enumerate(leaf_sums))

    def total(self, leaf_sums: Sequence[int]) -> float:
        """The loss of the table in [0, 1]; roots before products, which gives ARX's last digit."""
        root = 1 / len(self.leaves)
        factors = (1.0 + self.column(number, total) for number, total in enumerate(leaf_sums))
        return float(prod(factor**root for factor in factors)) - 1.0

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """For every node, the product if nothing had to be suppressed: no node can do better."""
        result = np.ones(())
        for column, sums in enumerate(self.leaf_sums):
            factors = np.array([1.0 + self.column(column, leaf_sum) for leaf_sum in sums])
            result = np.multiply.outer(result, factors)
        return result

    def bound(self, node: Sequence[int], suppressed: int) -> float:
        """The least product of a node in which at least `suppressed` records must go."""
        return self.product(
            [
                sums[level] + suppressed * (self.leaves[column] - self.widest[column][level])
                for column, (sums, level) in enumerate(zip(self.leaf_sums, node, strict=True))
            ]
        )
