"""Values that are clipped to public bounds and put on the grid points between them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from numbers import Rational
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import real
from celosia.mechanisms.grid import FARTHEST, Grid, check_grid
from celosia.mechanisms.parameters import check_bounds
from celosia.mechanisms.values import array_of

MOST_ROWS = 2**32


@dataclass(frozen=True, slots=True)
class BoundedGrid:
    """The points of a grid from a lower to an upper bound, both known without the data.

    >>> BoundedGrid.between(0, 1, Grid(Fraction(1, 4))).places([0.3, 7])
    array([1, 4])
    """

    lower: Fraction
    upper: Fraction
    grid: Grid
    first: int
    last: int

    @classmethod
    def between(
        cls, lower: object, upper: object, grid: Grid | None, *, most: int = 2 * FARTHEST
    ) -> Self:
        """The points of a grid, or of about a million points where none is declared.

        Raises:
            InputError: CEL-M008 not a grid; CEL-M006 not bounds; CEL-M069 fewer than two points or
                too many.
        """
        check_grid(grid)
        low, high = check_bounds(lower, upper)
        grid = Grid.finer_than(high - low) if grid is None else grid
        first, last = grid.above(low), grid.below(high)
        if not (first < last < first + most and max(abs(low), abs(high)) <= FARTHEST * grid.step):
            raise InputError("CEL-M069", step=grid.step, most=most, farthest=FARTHEST)
        return cls(low, high, grid, first, last)

    @property
    def points(self) -> int:
        """How many points there are."""
        return self.last - self.first + 1

    def places(self, values: ArrayLike, *, may_be_empty: bool = False) -> NDArray[np.int64]:
        """Values as grid points, clipped to the bounds; infinities lie at a bound.

        Raises:
            InputError: CEL-M066 missing or not numbers; CEL-M067 no values; CEL-M070 too many.
        """
        numbers = _floats(values)
        if numbers.size == 0 and not may_be_empty:
            raise InputError("CEL-M067")
        if numbers.size > MOST_ROWS:
            raise InputError("CEL-M070", most_rows=MOST_ROWS)
        clipped = np.clip(numbers, float(self.lower), float(self.upper))
        return np.clip(self.grid.indices(clipped), self.first, self.last)


def _floats(values: ArrayLike) -> NDArray[np.float64]:
    array = array_of(values)
    if array is not None and array.ndim == 1 and array.dtype.kind == "O":
        array = np.array([_float(value) for value in array], dtype=np.float64)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iuf":
        raise _no_numbers()
    with np.errstate(over="ignore"):  # an extended float too large for a float is infinite
        floats = array.astype(np.float64)
    if np.isnan(floats).any():
        raise _no_numbers()
    return floats


def _float(value: object) -> float:
    """The float of one value, infinite where it is too large for one; NaN where it is no number."""
    if isinstance(value, Decimal):
        return nan if value.is_nan() else float(value)
    number = real(value)
    if number is not None:
        return number
    if isinstance(value, bool) or not isinstance(value, Rational):
        return nan
    return inf if int(value.numerator) > 0 else -inf


def _no_numbers() -> InputError:
    return InputError("CEL-M066")


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
