"""Shortest paths, triangles, cores, rank and communities: the loops, compiled.

Each lets go of the interpreter's lock, so that two threads can work on two parts of a graph.
"""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs.arrays import Floats, Vertices, Whole


@njit(cache=True, nogil=True)
def levels(
    starts: Whole, neighbours: Vertices, source: int, limit: int, depth: Vertices, queue: Vertices
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
    starts: Whole, neighbours: Vertices, sources: Whole, by_source: Floats, sums: Whole, seen: Whole
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
def dependencies(starts: Whole, neighbours: Vertices, sources: Whole, found: Floats) -> None:
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
def components(starts: Whole, neighbours: Vertices) -> Whole:
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


@njit(cache=True, nogil=True)
def upward(edges: Vertices, ranks: Vertices) -> tuple[Whole, Vertices]:
    """Each edge once, at its end of lower rank; vertices are named by their ranks.

    With ranks by degree no row is longer than the square root of 2 m.
    """
    starts = np.zeros(len(ranks) + 1, dtype=np.int64)
    for each in range(len(edges)):
        starts[min(ranks[edges[each, 0]], ranks[edges[each, 1]]) + 1] += 1
    for rank in range(len(ranks)):
        starts[rank + 1] += starts[rank]
    place = starts[:-1].copy()
    rows = np.empty(len(edges), dtype=np.int32)
    for each in range(len(edges)):
        one, other = ranks[edges[each, 0]], ranks[edges[each, 1]]
        low, high = min(one, other), max(one, other)
        rows[place[low]] = high
        place[low] += 1
    return starts, rows


@njit(cache=True, nogil=True)
def triangles_from(starts: Whole, rows: Vertices, begin: int, end: int, found: Whole) -> None:
    """Count in `found` each triangle whose lowest rank is in begin .. end - 1, at its corners."""
    seen = np.full(len(starts) - 1, -1, dtype=np.int32)
    for low in range(begin, end):
        first, last = starts[low], starts[low + 1]
        if last - first < 2:
            continue
        for place in range(first, last):
            seen[rows[place]] = low
        for place in range(first, last):
            middle = rows[place]
            here = 0
            for step in range(starts[middle], starts[middle + 1]):
                high = rows[step]
                if seen[high] == low:
                    found[high] += 1
                    here += 1
            found[middle] += here
            found[low] += here


@njit(cache=True, nogil=True)
def cores(starts: Whole, neighbours: Vertices) -> Whole:
    """The core number of each vertex, peeling the least degree first.

    Reference: Batagelj, Zaversnik 2003; time in proportion to the edges.
    """
    order = len(starts) - 1
    left = starts[1:] - starts[:-1]
    most = 0
    for vertex in range(order):
        most = max(most, left[vertex])
    begins = np.zeros(most + 2, dtype=np.int64)
    for vertex in range(order):
        begins[left[vertex] + 1] += 1
    for degree in range(most + 1):
        begins[degree + 1] += begins[degree]
    place = np.empty(order, dtype=np.int64)
    sorted_by = np.empty(order, dtype=np.int64)
    free = begins.copy()
    for vertex in range(order):
        place[vertex] = free[left[vertex]]
        sorted_by[place[vertex]] = vertex
        free[left[vertex]] += 1
    for turn in range(order):
        vertex = sorted_by[turn]
        for step in range(starts[vertex], starts[vertex + 1]):
            other = neighbours[step]
            if left[other] > left[vertex]:
                # Exchange with the first vertex of its degree, then move the border past it.
                at, border = place[other], begins[left[other]]
                moved = sorted_by[border]
                sorted_by[at], sorted_by[border] = moved, other
                place[moved], place[other] = at, border
                begins[left[other]] += 1
                left[other] -= 1
    return left


@njit(cache=True, nogil=True)
def rank_step(
    starts: Whole,
    neighbours: Vertices,
    shares: Floats,
    ranks: Floats,
    base: float,
    damping: float,
    begin: int,
    end: int,
    next_shares: Floats,
) -> float:
    """One step of PageRank for a range of vertices, in place; how much it moved them in sum.

    `shares` is the rank of each vertex over its degree. Each neighbour is read, nothing is
    written to it, so ranges do not disturb each other.
    """
    moved = 0.0
    for vertex in range(begin, end):
        total = 0.0
        for step in range(starts[vertex], starts[vertex + 1]):
            total += shares[neighbours[step]]
        rank = base + damping * total
        moved += abs(rank - ranks[vertex])
        ranks[vertex] = rank
        degree = starts[vertex + 1] - starts[vertex]
        next_shares[vertex] = rank / degree if degree else 0.0
    return moved


@njit(cache=True, nogil=True)
def move_vertices(
    starts: Whole,
    neighbours: Vertices,
    weights: Whole,
    strengths: Whole,
    sequence: Whole,
    community: Whole,
    passes: int,
) -> int:
    """Move vertices to the neighbouring community of most gain, until few move; how many moved.

    The gain of a community for v is w(v, C) - k(v) k(C) / 2m, from weights that are whole
    numbers, so the outcome depends on `sequence` alone. Reference: Blondel et al. 2008.
    """
    order = len(strengths)
    totals = np.zeros(order, dtype=np.int64)
    for vertex in range(order):
        totals[community[vertex]] += strengths[vertex]
    everything = float(strengths.sum())
    links = np.zeros(order, dtype=np.int64)
    touched = np.empty(order, dtype=np.int64)
    moved_ever = 0
    for _ in range(passes):
        moved = 0
        for vertex in sequence:
            home, count = community[vertex], 0
            for step in range(starts[vertex], starts[vertex + 1]):
                other = community[neighbours[step]]
                if links[other] == 0:
                    touched[count] = other
                    count += 1
                links[other] += weights[step]
            totals[home] -= strengths[vertex]
            pull = strengths[vertex] / everything
            best, most = home, links[home] - pull * totals[home]
            for each in range(count):
                gain = links[touched[each]] - pull * totals[touched[each]]
                if gain > most + 1e-9:
                    best, most = touched[each], gain
                links[touched[each]] = 0
            totals[best] += strengths[vertex]
            community[vertex] = best
            moved += best != home
        moved_ever += moved
        if moved * 1000 <= order:
            break
    return moved_ever
