"""The loops over edges, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.compiled import njit


@njit(cache=True, nogil=True)
def rows_of(edges: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.int32]:
    """The neighbours of each vertex in order, from sorted edges.

    The smaller ends of a vertex's edges come before its greater ones, and each of the two runs is
    met in order: first all (u, v) by v, then all by u. So no row needs sorting.
    """
    place = starts[:-1].copy()
    found = np.empty(2 * len(edges), dtype=np.int32)
    for each in range(len(edges)):
        low, high = edges[each, 0], edges[each, 1]
        found[place[high]] = low
        place[high] += 1
    for each in range(len(edges)):
        low, high = edges[each, 0], edges[each, 1]
        found[place[low]] = high
        place[low] += 1
    return found
