"""The loops over edges, compiled."""

from __future__ import annotations

import numpy as np

from celosia.core._kernels import first_at_least
from celosia.core.kernels import njit
from celosia.graphs.arrays import Vertices, Whole


@njit(cache=True, nogil=True)
def rows_of(edges: Vertices, starts: Whole) -> Vertices:
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


@njit(cache=True, nogil=True)
def shared_keys(one: Whole, other: Whole) -> int:
    """How many numbers two sorted arrays of distinct numbers have in common."""
    here, there, found = 0, 0, 0
    while here < len(one) and there < len(other):
        if one[here] == other[there]:
            found += 1
        step = one[here] <= other[there]
        there += one[here] >= other[there]
        here += step
    return found


@njit(cache=True, nogil=True)
def common_neighbours(starts: Whole, neighbours: Vertices, pairs: Whole) -> Whole:
    """How many neighbours the two vertices of each pair share.

    Walks the shorter row and searches the longer one, so hubs cost a logarithm and not a walk.
    """
    found = np.zeros(len(pairs), dtype=np.int64)
    for each in range(len(pairs)):
        small, great = pairs[each, 0], pairs[each, 1]
        if starts[small + 1] - starts[small] > starts[great + 1] - starts[great]:
            small, great = great, small
        low, end = starts[great], starts[great + 1]
        for place in range(starts[small], starts[small + 1]):
            wanted = neighbours[place]
            low = first_at_least(neighbours, low, end, wanted)
            if low == end:
                break
            found[each] += neighbours[low] == wanted
    return found
