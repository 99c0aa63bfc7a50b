"""What kernels of several packages do."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from celosia.core.kernels import njit

Array = NDArray[Any]


@njit(cache=True, nogil=True)
def first_at_least(ascending: Array, first: int, last: int, wanted: float) -> int:
    """The first place in [first, last) whose value is at least `wanted`, or `last`."""
    while first < last:
        middle = (first + last) // 2
        if ascending[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first
