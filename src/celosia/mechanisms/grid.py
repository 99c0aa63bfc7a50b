"""The fixed-point grid that answers live on: noise is drawn on it exactly, never on floats."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import exact

FARTHEST = 2**50
"""Grid points from zero that a value may lie: floats still round to within one point there."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of a step; a value on the grid is handled as a whole number of steps.

    >>> grid = Grid(Fraction(1, 4))
    >>> grid.index(0.3), grid.value(7), grid.shift(Fraction(1))
    (1, 1.75, 5)
    """

    step: Fraction = Fraction(1)

    if TYPE_CHECKING:
        # Any number may be given, and is kept as the fraction that it is written as.
        def __init__(self, step: Fraction | float = Fraction(1)) -> None: ...

    def __post_init__(self) -> None:
        step = exact(self.step)
        if step is None or step <= 0:
            raise InputError("CEL-M008.step", step=self.step)
        object.__setattr__(self, "step", step)

    @classmethod
    def finer_than(cls, size: Fraction, *, points: int = 2**20) -> Grid:
        """The largest power of two that divides `size` into at least `points` steps.

        >>> Grid.finer_than(Fraction(200_000))
        Grid(step=Fraction(1, 8))
        """
        wanted = size / points
        exponent = wanted.numerator.bit_length() - wanted.denominator.bit_length()
        step = Fraction(2) ** exponent
        return cls(step if step <= wanted else step / 2)

    def index(self, value: object) -> int:
        """The grid point nearest to a number, exactly; halves go to the even one.

        Raises:
            InputError: CEL-M009 not a finite number, or beyond the grid.
        """
        number = exact(value)
        if number is None or abs(number) > FARTHEST * self.step:
            raise off_grid()
        return round(number / self.step)

    def indices(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The grid points nearest to many finite floats; a point beside the nearest at a tie.

        Raises:
            InputError: CEL-M009 not finite, or beyond the grid.
        """
        with np.errstate(over="ignore"):  # what is too large for a float is beyond the grid
            scaled = np.asarray(values, dtype=np.float64) / float(self.step)
        if not np.all(np.abs(scaled) <= FARTHEST):  # NaN compares as false
            raise off_grid()
        return np.rint(scaled).astype(np.int64)

    def value(self, index: int) -> float:
        """The number at a grid point."""
        return float(self.step * int(index))

    def values(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """The numbers at many grid points, as `value` gives them while they are below 2^53."""
        steps = np.asarray(indices, dtype=np.float64)
        return steps * float(self.step.numerator) / float(self.step.denominator)

    def shift(self, sensitivity: Fraction, *, coordinates: int = 1) -> int:
        """Steps that a neighbour can move a value which is rounded to the grid.

        Rounding adds up to one step a coordinate. Where a step is no power of two, dividing floats
        by it errs by up to 2^-52 of each value, so by half a step more (see `FARTHEST`); for one
        coordinate that cannot make another whole step, for several it can. A value that always lies
        on the grid moves by `floor(sensitivity / step)` steps only, see `steps`.
        """
        divided = (coordinates + 1) // 2 if coordinates > 1 and not self._is_binary else 0
        return ceil(sensitivity / self.step) + coordinates + divided

    @property
    def _is_binary(self) -> bool:
        return self.step.numerator.bit_count() == self.step.denominator.bit_count() == 1

    def steps(self, size: Fraction) -> int | None:
        """How many steps a size is, or None where it is not a whole number of them."""
        number = size / self.step
        return number.numerator if number.denominator == 1 else None

    def below(self, value: Fraction) -> int:
        """The grid point at or below a number."""
        return floor(value / self.step)

    def above(self, value: Fraction) -> int:
        """The grid point at or above a number."""
        return ceil(value / self.step)

    def __str__(self) -> str:
        return f"multiples of {self.step}"


WHOLE = Grid(Fraction(1))
"""The whole numbers: counts."""


def check_grid(grid: object, *, optional: bool = True) -> None:
    """Refuse what is no grid, such as the step of one; None passes where a grid is optional."""
    if isinstance(grid, Grid) or (grid is None and optional):
        return
    raise InputError("CEL-M008.not_a_grid", grid=grid)


def off_grid() -> InputError:
    """The refusal of a value that no grid point is near to; it never holds the value."""
    return InputError("CEL-M009")
