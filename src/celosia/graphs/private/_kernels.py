"""The loops over edges and pairs of vertices behind private statistics, compiled."""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs._edge_set import contains, delete, insert
from celosia.graphs.arrays import Flags, Vertices, Whole


@njit(cache=True, nogil=True)
def capped_degrees(edges: Vertices, service: Whole, cap: int, degrees: Whole) -> int:
    """Take edges in the order of `service` while both ends have fewer than `cap`; how many.

    `degrees` comes as zeros and is left with the degrees of what was taken.
    """
    taken = 0
    for place in service:
        low, high = edges[place, 0], edges[place, 1]
        if degrees[low] < cap and degrees[high] < cap:
            degrees[low] += 1
            degrees[high] += 1
            taken += 1
    return taken


@njit(cache=True, nogil=True)
def list_triangles(starts: Whole, neighbours: Vertices, found: Vertices) -> int:
    """Write the corners of each triangle, in rising order, to the rows of `found`; how many."""
    count = 0
    mark = np.full(len(starts) - 1, -1, dtype=np.int64)
    for low in range(len(starts) - 1):
        for place in range(starts[low], starts[low + 1]):
            mark[neighbours[place]] = low
        for place in range(starts[low], starts[low + 1]):
            middle = neighbours[place]
            if middle <= low:
                continue
            for step in range(starts[middle + 1] - 1, starts[middle] - 1, -1):
                high = neighbours[step]
                if high <= middle:
                    break
                if mark[high] == low:
                    found[count, 0], found[count, 1], found[count, 2] = low, middle, high
                    count += 1
    return count


@njit(cache=True, nogil=True)
def best_partners(
    starts: Whole, neighbours: Vertices, degrees: Whole, ranked: Whole, joined: Whole, apart: Whole
) -> None:
    """The greatest degree among the neighbours of each vertex, and among the others; else -1.

    `ranked` holds the vertices by falling degree: the first one that is no neighbour comes within
    as many steps as there are neighbours.
    """
    mark = np.full(len(degrees), -1, dtype=np.int64)
    for vertex in range(len(degrees)):
        joined[vertex], apart[vertex] = -1, -1
        for place in range(starts[vertex], starts[vertex + 1]):
            mark[neighbours[place]] = vertex
            joined[vertex] = max(joined[vertex], degrees[neighbours[place]])
        for other in ranked:
            if other != vertex and mark[other] != vertex:
                apart[vertex] = degrees[other]
                break


@njit(cache=True, nogil=True)
def pairs_with_shared(
    starts: Whole,
    neighbours: Vertices,
    degrees: Whole,
    first: int,
    last: int,
    shared: Whole,
    reach: Whole,
) -> int:
    """Edges times common neighbours, over pairs whose smaller vertex is in first .. last - 1.

    `shared` comes as zeros and is left so. `reach[a]` is raised to the greatest d_i + d_j - 2 [ij
    is an edge] of the pairs i, j with a common neighbours.
    """
    found = 0
    mark = np.full(len(degrees), -1, dtype=np.int64)
    touched = np.empty(len(degrees), dtype=np.int64)
    for vertex in range(first, last):
        count = 0
        for place in range(starts[vertex], starts[vertex + 1]):
            middle = neighbours[place]
            mark[middle] = vertex
            for step in range(starts[middle + 1] - 1, starts[middle] - 1, -1):
                other = neighbours[step]
                # Neighbours are in order: from here on each pair was met from its other end.
                if other <= vertex:
                    break
                if shared[other] == 0:
                    touched[count] = other
                    count += 1
                shared[other] += 1
        for place in range(count):
            other = touched[place]
            common = shared[other]
            shared[other] = 0
            total = degrees[vertex] + degrees[other]
            if mark[other] == vertex:
                found += common
                total -= 2
            reach[common] = max(reach[common], total)
    return found


@njit(cache=True, nogil=True)
def guided_switches(
    keys: Whole, table: Whole, order: int, kinds: Whole, excess: Whole, places: Whole, turned: Flags
) -> int:
    """Switch pairs of edges where the counts of edges by kinds of ends come nearer to a wish.

    `excess[a, b]`, equal to `excess[b, a]`, is what there is less what is wished. The pairs come in
    `places`, two an attempt, and `turned` says which way the second edge is taken. How many.
    """
    done = 0
    for attempt in range(len(turned)):
        first, second = places[2 * attempt], places[2 * attempt + 1]
        i, j = keys[first] // order, keys[first] % order
        k, p = keys[second] // order, keys[second] % order
        if turned[attempt]:
            k, p = p, k
        # With a common end the switch would make a loop, or change nothing.
        if i in (k, p) or j in (k, p):
            continue
        worse = 0
        for a, b, step in ((i, j, -1), (k, p, -1), (i, p, 1), (k, j, 1)):
            low, high = kinds[a], kinds[b]
            worse += abs(excess[low, high] + step) - abs(excess[low, high])
            excess[low, high] += step
            if low != high:
                excess[high, low] += step
        new = min(i, p) * order + max(i, p)
        also = min(k, j) * order + max(k, j)
        if worse >= 0 or contains(table, new) or contains(table, also):
            for a, b, step in ((i, j, 1), (k, p, 1), (i, p, -1), (k, j, -1)):
                low, high = kinds[a], kinds[b]
                excess[low, high] += step
                if low != high:
                    excess[high, low] += step
            continue
        delete(table, keys[first])
        delete(table, keys[second])
        insert(table, new)
        insert(table, also)
        keys[first], keys[second] = new, also
        done += 1
    return done
