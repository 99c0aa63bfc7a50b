"""Shortest paths by breadth, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.compiled import njit

Starts = NDArray[np.int64]
Vertices = NDArray[np.int32]


@njit(cache=True, nogil=True)
def levels(
    starts: Starts,
    neighbours: Vertices,
    source: int,
    limit: int,
    depth: Vertices,
    queue: Vertices,
) -> int:
    """Distances from a vertex up to `limit`, and how many vertices were reached, itself counted.

    `depth` must be -1 everywhere and is filled; `queue` then has the vertices reached, by distance.
    """
    depth[source] = 0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        vertex = queue[head]
        head += 1
        if depth[vertex] == limit:
            break
        for step in range(starts[vertex], starts[vertex + 1]):
            other = neighbours[step]
            if depth[other] < 0:
                depth[other] = depth[vertex] + 1
                queue[tail] = other
                tail += 1
    return tail


@njit(cache=True, nogil=True)
def distances(
    starts: Starts,
    neighbours: Vertices,
    sources: NDArray[np.int64],
    by_source: NDArray[np.float64],
    sums: NDArray[np.int64],
    seen: NDArray[np.int64],
) -> None:
    """What the distances from some vertices add up to, for them and for the vertices they reach.

    A row of `by_source`: vertices reached, sum of distances, sum of their inverses, the greatest.
    """
    order = len(starts) - 1
    depth = np.full(order, -1, dtype=np.int32)
    queue = np.empty(order, dtype=np.int32)
    for turn in range(len(sources)):
        reached = levels(starts, neighbours, sources[turn], order, depth, queue)
        total, inverse = 0, 0.0
        for place in range(1, reached):
            vertex = queue[place]
            far = depth[vertex]
            total += far
            inverse += 1.0 / far
            sums[vertex] += far
            seen[vertex] += 1
        by_source[turn, 0] = reached - 1
        by_source[turn, 1] = total
        by_source[turn, 2] = inverse
        by_source[turn, 3] = depth[queue[reached - 1]]
        for place in range(reached):
            depth[queue[place]] = -1


@njit(cache=True, nogil=True)
def dependencies(
    starts: Starts,
    neighbours: Vertices,
    sources: NDArray[np.int64],
    found: NDArray[np.float64],
) -> None:
    """Add to `found` the part that each vertex has in the shortest paths from some vertices.

    Reference: Brandes 2001. Numbers of paths are floats: they grow beyond any whole number.
    """
    order = len(starts) - 1
    depth = np.full(order, -1, dtype=np.int32)
    queue = np.empty(order, dtype=np.int32)
    paths = np.zeros(order)
    part = np.zeros(order)
    for source in sources:
        depth[source], queue[0], paths[source] = 0, source, 1.0
        head, reached = 0, 1
        while head < reached:  # as `levels`, counting paths on the way: all into a vertex are known
            vertex = queue[head]
            head += 1
            for step in range(starts[vertex], starts[vertex + 1]):
                other = neighbours[step]
                if depth[other] < 0:
                    depth[other] = depth[vertex] + 1
                    queue[reached] = other
                    reached += 1
                if depth[other] == depth[vertex] + 1:
                    paths[other] += paths[vertex]
        for back in range(reached - 1, 0, -1):
            vertex = queue[back]
            share = (1.0 + part[vertex]) / paths[vertex]
            for step in range(starts[vertex], starts[vertex + 1]):
                other = neighbours[step]
                if depth[other] == depth[vertex] - 1:
                    part[other] += paths[other] * share
            found[vertex] += part[vertex]
        for place in range(reached):
            vertex = queue[place]
            depth[vertex], paths[vertex], part[vertex] = -1, 0.0, 0.0


@njit(cache=True, nogil=True)
def components(starts: Starts, neighbours: Vertices) -> NDArray[np.int64]:
    """The number of the connected part of each vertex, counted from 0."""
    order = len(starts) - 1
    found = np.full(order, -1, dtype=np.int64)
    depth = np.full(order, -1, dtype=np.int32)
    queue = np.empty(order, dtype=np.int32)
    parts = 0
    for vertex in range(order):
        if found[vertex] < 0:
            reached = levels(starts, neighbours, vertex, order, depth, queue)
            for place in range(reached):
                found[queue[place]] = parts
            parts += 1
    return found
