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
from celosia.mechanisms.arrays import array_of
from celosia.mechanisms.grid import FARTHEST, Grid, check_grid
from celosia.mechanisms.parameters import check_bounds

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
