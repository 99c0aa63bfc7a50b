"""Exact answers as whole numbers, refused before any noise is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import exact
from celosia.mechanisms.grid import FARTHEST, Grid, off_grid
from celosia.mechanisms.parameters import whole_number
from celosia.mechanisms.values import array_of

MOST_COORDINATES = 2**31
DIMENSION = whole_number(most=MOST_COORDINATES)
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
