"""Answers and thresholds as whole numbers of steps, before any noise is drawn."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import exact, exactly
from celosia.mechanisms.grid import FARTHEST, Grid
from celosia.mechanisms.values import array_of

SLACK = 2.0**-50
"""What a float may be off the grid, in relative terms: 0.3 is a multiple of 0.1."""
MOST_SLACK = 2.0**-3
"""The same in steps: two answers together, read in floats, move by less than half a step more."""


def place(answer: object, *, grid: Grid, rounded: bool) -> int:
    """One answer in steps.

    Raises:
        InputError: CEL-M009 not a number within the grid; CEL-M103 between two of its points.
    """
    index = grid.index(answer)
    number = exactly(answer)
    slack = min(Fraction(SLACK) * abs(index), Fraction(MOST_SLACK))
    if not rounded and abs(number / grid.step - index) > slack:
        raise _between()
    return index


def place_all(answers: ArrayLike, *, grid: Grid, rounded: bool) -> NDArray[np.int64]:
    """Many answers in steps.

    Raises:
        InputError: CEL-M009, CEL-M103 as in `place`; CEL-M111 not a list of numbers.
    """
    values = array_of(answers)
    if values is not None and values.size == 0 and values.ndim == 1:
        return np.empty(0, dtype=np.int64)
    if values is None or values.ndim != 1 or values.dtype.kind not in "iufO":
        raise _not_numbers()
    if values.dtype.kind == "O":
        placed = [place(value, grid=grid, rounded=rounded) for value in values.tolist()]
        return np.array(placed, dtype=np.int64)
    if values.dtype.kind in "iu" and grid.step == 1:
        # Compared as they are: the absolute value of the least 64-bit number is itself.
        if np.any(values > FARTHEST) or np.any(values < -FARTHEST):
            grid.index(float("nan"))  # refuses
        return values.astype(np.int64)
    scaled = values.astype(np.float64)
    found = grid.indices(scaled)
    scaled = scaled / float(grid.step)
    slack = np.minimum(SLACK * np.abs(found), MOST_SLACK)
    if not rounded and np.any(np.abs(scaled - found) > slack):
        raise _between()
    return found


def place_threshold(threshold: object, *, grid: Grid) -> int:
    """A threshold in steps, rounded up: a whole number reaches T exactly if it reaches ceil(T)."""
    number = exact(threshold)
    if number is None or abs(number) > FARTHEST * grid.step:
        raise InputError("CEL-M104", threshold=threshold)
    return grid.above(number)


def steps_moved(sensitivity: Fraction, *, grid: Grid, rounded: bool) -> int:
    """How many steps a neighbour can move an answer once it is on the grid."""
    if rounded:
        return grid.shift(sensitivity)
    # Half a step more than it says: answers are on the grid up to `MOST_SLACK` only, and a
    # sensitivity that was computed in floats, such as 1 - 0.8, may lie a hair below 2 steps of 0.1.
    steps = floor(sensitivity / grid.step + Fraction(1, 2))
    if sensitivity / grid.step < 1 - Fraction(MOST_SLACK):
        raise InputError("CEL-M106")
    return steps


def _between() -> InputError:
    return InputError("CEL-M103")


def _not_numbers() -> InputError:
    return InputError("CEL-M111")
