"""The base of additive mechanisms: exact input, added noise, bounds on the error."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import expm1, inf, log1p
from typing import Any, Generic, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import exact
from celosia.core.randomness import Source
from celosia.mechanisms import parameters
from celosia.mechanisms.grid import FARTHEST, WHOLE, Grid, check_grid, off_grid
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.noise import Law
from celosia.mechanisms.noise.laws import MOST as WIDEST
from celosia.mechanisms.values import array_of

MOST_COORDINATES = 2**31
DIMENSION = parameters.whole_number(most=MOST_COORDINATES)
"""How many coordinates an answer has."""


def whole_points(x: object, *, length: int | None) -> NDArray[np.int64]:
    """Whole numbers as they came, refused unless each is whole and within 2^50 of zero.

    Raises:
        InputError: CEL-M040 not whole numbers; CEL-M041 not of the declared length.
    """
    if _is_scalar(x):
        number = exact(x.item() if isinstance(x, (np.ndarray, np.generic)) else x)
        if number is None or number.denominator != 1 or abs(number) > FARTHEST:
            raise _not_whole()
        _check_length(1, length)
        return np.asarray(int(number), dtype=np.int64)
    values = _vector(x, length=length, refuse=_not_whole)
    # Compared before the cast: NaN is false, and nothing beyond 2^50 reaches 64 bits.
    if not np.all((values >= -FARTHEST) & (values <= FARTHEST)):
        raise _not_whole()
    points = values.astype(np.int64)
    if not np.array_equal(points, values):
        raise _not_whole()
    return points


def grid_points(x: object, grid: Grid, *, length: int) -> NDArray[np.int64]:
    """Numbers rounded to the nearest points of a grid.

    Raises:
        InputError: CEL-M009 not finite numbers within the grid; CEL-M041 not of this length.
    """
    if _is_scalar(x):
        point = grid.index(x.item() if isinstance(x, (np.ndarray, np.generic)) else x)
        _check_length(1, length)
        return np.asarray(point, dtype=np.int64)
    return grid.indices(_vector(x, length=length, refuse=off_grid).astype(np.float64))


def _is_scalar(x: object) -> bool:
    if isinstance(x, np.ndarray):
        return x.ndim == 0
    if isinstance(x, (str, bytes, np.generic)):
        return True
    return not (isinstance(x, Sequence) or hasattr(x, "__array__"))  # as columns of frames have


def _vector(x: object, *, length: int | None, refuse: Callable[[], InputError]) -> NDArray[Any]:
    values = array_of(x)
    if values is None:
        raise refuse()
    if values.ndim != 1:
        raise _wrong_length(length)
    _check_length(values.size, length)
    if values.dtype.kind not in "iuf":  # neither truth values nor texts nor objects
        raise refuse()
    with np.errstate(over="ignore"):  # an extended float too large for a float is infinite
        return values.astype(np.float64) if values.dtype.kind == "f" else values


def _check_length(size: int, length: int | None) -> None:
    if size == 0 or (length is not None and size != length):
        raise _wrong_length(length)


def _wrong_length(length: int | None) -> InputError:
    if length is None:
        return InputError("CEL-M041.not_a_list")
    return InputError("CEL-M041.other_length", length=length)


def _not_whole() -> InputError:
    return InputError("CEL-M040")


Scalar = float | Fraction | Decimal | np.integer[Any] | np.floating[Any]
Vector = Sequence[float] | NDArray[Any]

Number = TypeVar("Number", bound=float)
Kind = TypeVar("Kind", bound=np.generic)

BRIM = 2**61
"""Steps from zero where released numbers end."""


@dataclass(frozen=True, kw_only=True)
class AdditiveMechanism(Mechanism[Scalar | Vector, Number | NDArray[Kind]], Generic[Number, Kind]):
    """Symmetric noise on the points of a grid, one independent draw a coordinate."""

    one_coordinate: bool = False
    """Whether a neighbour step moves one coordinate only, as in a histogram under add-remove.

    Under change-one a histogram moves in two.
    """

    @property
    @abstractmethod
    def law(self) -> Law:
        """The noise, in steps of the grid."""

    @property
    @abstractmethod
    def spread(self) -> Fraction:
        """The scale or the deviation that the noise should have, in steps: `law` has no less."""

    @property
    def resolution(self) -> Grid:
        """The grid that answers are released on."""
        return WHOLE

    @property
    def variance(self) -> float:
        """The variance of the noise of one coordinate, in the unit of the answer, squared."""
        return self.law.variance * float(self.resolution.step) ** 2

    @abstractmethod
    def _points(self, x: Scalar | Vector) -> NDArray[np.int64]:
        """The grid points of an answer: no dimensions for one number, one for several."""

    @abstractmethod
    def _answer(self, points: NDArray[np.int64]) -> Number | NDArray[Kind]:
        """The numbers at grid points, in the shape of the question."""

    def measure(self, x: Scalar | Vector, *, rng: Source) -> Measurement[Number | NDArray[Kind]]:
        """Add one exact draw to each coordinate."""
        points = self._points(x)
        noise = self.law.draw(points.size, rng).reshape(points.shape)
        # No overflow: the points are within 2^50 and the draws cut to 2^62 before they are added.
        # Cutting the sum again at 2^61 gives what cutting the true sum there would give, so it
        # only post-processes the noisy answer.
        noisy = np.clip(points + np.clip(noise, -(2**62), 2**62), -BRIM, BRIM)
        return Measurement(self._answer(noisy))

    @overload
    def release(self, x: Scalar, *, rng: Source | None = None) -> Number: ...

    @overload
    def release(self, x: Vector, *, rng: Source | None = None) -> NDArray[Kind]: ...

    def release(self, x: Scalar | Vector, *, rng: Source | None = None) -> Number | NDArray[Kind]:
        """Randomise one number, or several at once; by the operating system's entropy if alone."""
        return super().release(x, rng=rng)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that none of `size` coordinates exceeds with this confidence.

        It is exact for the noise, and allows one step more for what is rounded to the grid. It is
        infinite for noise that is too wide to be drawn, and so refused by `release`.
        """
        if self.spread > WIDEST:
            return inf
        return float(self.resolution.step * (self._bound(confidence, size) + self._rounding))

    def failure(self, error: float, *, size: int = 1) -> float:
        """The chance that any of `size` coordinates is off by more than `error`.

        The other way round from `accuracy`: `1 - (1 - p)^size`, which the union bound exceeds.
        """
        parameters.check_whole(size, name="size")
        steps = parameters.check_error(error) // self.resolution.step - self._rounding
        if steps < 0:
            return 1.0
        return -expm1(size * log1p(-min(2 * self.law.tail(steps + 1), 1 - 1e-16)))

    def interval(
        self, measurement: Measurement[Number | NDArray[Kind]], confidence: float = 0.95
    ) -> tuple[Any, Any]:
        """Bounds that hold the exact answer with this confidence, all coordinates at once."""
        value = cast(Any, measurement.value)
        size = int(np.size(value))
        if self.resolution == WHOLE and not self._rounding:
            steps = self._bound(confidence, size)
            return value - steps, value + steps
        error = self.accuracy(confidence, size=size)
        return value - error, value + error

    @property
    def _rounding(self) -> int:
        """Steps that reading an answer may move it: half of one, for far floats a bit more."""
        return 0

    def _bound(self, confidence: float, size: int) -> int:
        parameters.check_whole(size, name="size")
        return self.law.bound(parameters.check_confidence(confidence), size=size)


@dataclass(frozen=True, kw_only=True)
class IntegerMechanism(AdditiveMechanism[int, np.int64]):
    """Noise on whole numbers, which need no rounding: one number, or any number of them."""

    dimension: int | None = parameters.field_of(DIMENSION, None)
    """How many numbers an answer has; None for any number, which costs the same."""

    def _points(self, x: Scalar | Vector) -> NDArray[np.int64]:
        return whole_points(x, length=self.dimension)

    def _answer(self, points: NDArray[np.int64]) -> int | NDArray[np.int64]:
        return points if points.ndim else int(points)


@dataclass(frozen=True, kw_only=True)
class GridMechanism(AdditiveMechanism[float, np.float64]):
    """Noise on a grid that real numbers are rounded to, which moves each by a step at most."""

    grid: Grid | None = None
    """The points that answers are released on; a fine one is chosen where none is given."""
    dimension: int = parameters.field_of(DIMENSION, 1)
    """How many numbers an answer has."""

    def check(self) -> None:
        """Refuse what is no grid."""
        check_grid(self.grid)

    @property
    def resolution(self) -> Grid:
        return self.grid if self.grid is not None else self._fine_grid()

    @abstractmethod
    def _fine_grid(self) -> Grid:
        """The grid where none is given."""

    @property
    def _moving(self) -> int:
        """How many coordinates one neighbour step may move."""
        return 1 if self.one_coordinate else self.dimension

    @property
    def _rounding(self) -> int:
        return 1

    def _points(self, x: Scalar | Vector) -> NDArray[np.int64]:
        return grid_points(x, self.resolution, length=self.dimension)

    def _answer(self, points: NDArray[np.int64]) -> float | NDArray[np.float64]:
        grid = self.resolution
        return grid.values(points) if points.ndim else grid.value(int(points))
