"""The loop over sorted values that finds their best cut into groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Array = NDArray[Any]


@njit(cache=True, nogil=True)
def best_cuts(values: Array, k: int) -> Array:
    """The size of the last group in the best cut of each prefix (0: the prefix has none).

    Sums are taken relative to the first value of the widest group that may end here, in one sweep
    backwards, so that far-off values with little spread lose no digits.
    """
    size = values.size
    cost = np.full(size + 1, np.inf)
    cost[0] = 0.0
    last = np.zeros(size + 1, dtype=np.int64)
    for end in range(k, size + 1):
        origin = values[end - 1]
        total = 0.0
        squares = 0.0
        for width in range(1, min(2 * k - 1, end) + 1):
            value = values[end - width] - origin
            total += value
            squares += value * value
            if width < k or cost[end - width] == np.inf:
                continue
            whole = cost[end - width] + max(0.0, squares - total * total / width)
            if whole < cost[end]:  # on a tie the smaller group stays
                cost[end] = whole
                last[end] = width
    return last
