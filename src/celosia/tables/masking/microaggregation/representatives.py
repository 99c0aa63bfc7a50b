"""What stands for a group: its mean, its median or its mode."""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError

Number = TypeVar("Number", np.float64, np.int64)

MEAN: Final = "mean"
MEDIAN: Final = "median"
MODE: Final = "mode"

_WHOLE = 2.0**53
"""From here on a float skips whole numbers, and a cast to 64 bits could overflow."""


def group_medians(values: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The median of each group; of an even number, the mean of the two in the middle."""
    lower, upper = _middle(values, labels)
    return lower + (upper - lower) / 2.0


def group_median_codes(codes: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The median of the ordered categories of each group, the lower of two in the middle."""
    return _middle(codes, labels)[0]


def group_modes(codes: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most frequent category of each group; the lowest code of those equally frequent.

    >>> group_modes(np.array([2, 1, 2, 1, 0]), np.array([0, 0, 0, 1, 1])).tolist()
    [2, 0]
    """
    counted = (
        pl.DataFrame({"label": labels, "code": codes})
        .group_by("label", "code")
        .len()
        .sort(["label", "len", "code"], descending=[False, True, False])
        .unique("label", keep="first", maintain_order=True)
    )
    return counted["code"].to_numpy().astype(np.int64)


def whole_numbers(
    matrix: NDArray[np.float64], *, truncate: bool, columns: list[str]
) -> NDArray[np.float64]:
    """Means as whole numbers: the nearest, or with `truncate` the one towards zero.

    Rounding half to even is what `numpy.rint` does; it moves the mean of a column least.
    """
    wide = [
        name
        for place, name in enumerate(columns)
        if np.nanmax(np.abs(matrix[:, place]), initial=0.0) >= _WHOLE
    ]
    if wide:
        raise InputError("CEL-V106", column=wide[0])
    return np.trunc(matrix) if truncate else np.rint(matrix)


def _middle(
    values: NDArray[Number], labels: NDArray[np.int64]
) -> tuple[NDArray[Number], NDArray[Number]]:
    """The two values in the middle of each group; the same one twice where the size is odd."""
    order = np.lexsort((values, labels))
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    ordered = values[order]
    return ordered[starts + (sizes - 1) // 2], ordered[starts + sizes // 2]
