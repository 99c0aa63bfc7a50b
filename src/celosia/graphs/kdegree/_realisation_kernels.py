"""Edges for wanted degrees, compiled: Havel and Hakimi's walk on buckets of equal need.

`ranked` holds the vertices by falling need, and `above[x]` how many need more than x: so a need
falls by one in one exchange of places, and the whole takes as many steps as edges and neighbours.
"""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs.arrays import Vertices, Whole

FREE, AVOID, PREFER = 0, 1, 2
"""Whether neighbours in the given graph are as good as others, forbidden, or taken first."""


@njit(cache=True, nogil=True)
def _lower(vertex: int, need: Whole, ranked: Whole, places: Whole, above: Whole) -> None:
    """One less for a vertex: it becomes the first of the next bucket."""
    above[need[vertex] - 1] -= 1
    end = above[need[vertex] - 1]
    other = ranked[end]
    ranked[places[vertex]] = other
    places[other] = places[vertex]
    ranked[end] = vertex
    places[vertex] = end
    need[vertex] -= 1


@njit(cache=True, nogil=True)
def _choose(
    vertex: int, wanted: int, need: Whole, ranked: Whole, row: Vertices, mark: Whole, mode: int
) -> Whole:
    """The partners of a vertex: those that need the most among the allowed; maybe too few."""
    chosen = np.empty(wanted, dtype=np.int64)
    found = 0
    for near in row:
        mark[near] = vertex
    if mode == PREFER:
        known = np.array([near for near in row if need[near] > 0], dtype=np.int64)
        for place in np.argsort(-need[known], kind="mergesort")[:wanted]:
            chosen[found] = known[place]
            found += 1
    for other in ranked:
        if found == wanted or need[other] == 0:
            break
        if mode == FREE or mark[other] != vertex:
            chosen[found] = other
            found += 1
    return chosen[:found]


@njit(cache=True, nogil=True)
def connect(
    need: Whole,
    ranked: Whole,
    above: Whole,
    service: Whole,
    starts: Whole,
    neighbours: Vertices,
    mode: int,
) -> tuple[Vertices, bool]:
    """New edges that give each vertex the degree it needs; False where the walk got stuck.

    Vertices are served in the order of `service`. Nobody chooses a vertex that was served, for it
    needs nothing more; so no edge comes twice. `need` is left with what is missing.
    """
    edges = np.empty((need.sum() // 2, 2), dtype=np.int32)
    made = 0
    places = np.empty(len(ranked), dtype=np.int64)
    for place in range(len(ranked)):
        places[ranked[place]] = place
    mark = np.full(len(need), -1, dtype=np.int64)
    for vertex in service:
        wanted = need[vertex]
        if wanted == 0:
            continue
        for _ in range(wanted):
            _lower(vertex, need, ranked, places, above)
        row = neighbours[starts[vertex] : starts[vertex + 1]]
        chosen = _choose(vertex, wanted, need, ranked, row, mark, mode)
        if len(chosen) < wanted:
            need[vertex] = wanted
            return edges[:made], False
        for other in chosen:
            _lower(other, need, ranked, places, above)
            edges[made, 0] = vertex
            edges[made, 1] = other
            made += 1
    return edges[:made], True


@njit(cache=True, nogil=True)
def worst_shortfall(
    need: Whole, ranked: Whole, starts: Whole, neighbours: Vertices, most: int
) -> int:
    """By how much the neediest l vertices want more than all can give, for l up to `most`.

    `ranked` holds the vertices that need something. Liu and Terzi 2008, equation 2.
    """
    inside = np.zeros(len(need), dtype=np.bool_)
    joined = np.zeros(len(need), dtype=np.int64)  # neighbours among the l
    wanted, free_inside, worst = 0, 0, 0
    for count in range(1, min(most, len(ranked)) + 1):
        vertex = ranked[count - 1]
        inside[vertex] = True
        wanted += need[vertex]
        free_inside += 2 * (count - 1 - joined[vertex])
        for place in range(starts[vertex], starts[vertex + 1]):
            joined[neighbours[place]] += 1
        outside = 0
        for other in ranked[count:]:
            outside += min(count - joined[other], need[other])
        worst = max(worst, wanted - free_inside - outside)
    return worst
