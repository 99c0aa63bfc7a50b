"""A declared range in whole steps of a grid: each row is put on it before anything is added up.

Sums of floats depend on the order of the rows and are rounded at every step, so that two
neighbours' sums can lie farther apart than any one value (Casacuberta, Shoemate, Vadhan and Wagaman
2022). Whole numbers have neither trouble.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.mechanisms.grid import Grid, check_grid
from celosia.mechanisms.parameters import check_bounds

REACH = 2**49
"""Steps from zero that a bound may lie: half the reach of the grid, so rounding stays on it."""
SIZES = Fraction(2) ** -400, Fraction(2) ** 400
"""Steps and bounds whose squares floats hold with all their digits, noise included."""
BLOCK = 2**10
"""Rows added up in 64 bits: each is below 2**51, so a block is below 2**61."""


@dataclass(frozen=True, slots=True)
class Span:
    """The steps of a grid from `low` to `high`.

    >>> Span.between(0, 1, Grid(Fraction(1, 4)))
    Span(low=0, high=4, grid=Grid(step=Fraction(1, 4)))
    """

    low: int
    high: int
    grid: Grid

    @classmethod
    def between(cls, lower: object, upper: object, grid: Grid | None = None) -> Span:
        """The least span that holds two bounds: they move outward onto the grid.

        Without a grid, the range has at least 2**20 steps, unless it lies so far from zero that
        floats could not tell them apart.

        Raises:
            InputError: CEL-M008 not a grid; CEL-M006 not two bounds; CEL-M085 the grid does not
                suit them.
        """
        check_grid(grid)
        least, most = check_bounds(lower, upper)
        size = max(abs(least), abs(most))
        if grid is None and size <= SIZES[1]:
            grid = Grid.finer_than(max(most - least, size / 2**28))
        if grid is not None and SIZES[0] <= grid.step <= SIZES[1] and size <= SIZES[1]:
            low, high = grid.below(least), grid.above(most)
            if max(abs(low), abs(high)) <= REACH:
                return cls(low, high, grid)
        raise InputError("CEL-M085.out_of_reach")

    @property
    def width(self) -> int:
        """Steps from the lower to the upper bound."""
        return self.high - self.low

    @property
    def size(self) -> int:
        """Steps from zero to the bound that is farther from it."""
        return max(abs(self.low), abs(self.high))

    @property
    def lower(self) -> Fraction:
        """The lower bound."""
        return self.grid.step * self.low

    @property
    def upper(self) -> Fraction:
        """The upper bound."""
        return self.grid.step * self.high

    @property
    def middle(self) -> Fraction:
        """The middle of the bounds, which need not be on the grid."""
        return (self.lower + self.upper) / 2

    def steps(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Finite values, each clipped and put on the grid by itself: always from low to high."""
        clipped = np.clip(values, float(self.lower), float(self.upper))
        return np.clip(self.grid.indices(clipped), self.low, self.high)

    def centred(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """As `steps`, from the middle of the range and in half steps: from -width to width."""
        return 2 * self.steps(values) - (self.low + self.high)

    def nearest(self, value: float) -> int:
        """The step nearest to a released sum, which may lie beyond the bounds and the grid."""
        return round(Fraction(value) / self.grid.step)


def exact_sum(steps: NDArray[np.int64]) -> int:
    """The sum of whole numbers below 2**51 in size, without rounding or overflow.

    >>> exact_sum(np.full(5000, 2**50)) == 5000 * 2**50
    True
    """
    if not steps.size:
        return 0
    return sum(np.add.reduceat(steps, np.arange(0, steps.size, BLOCK)).tolist())
