"""Greedy clusters of vertices with like neighbours, one after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.compiled import njit

TIE = 1e-12
"""Costs this close are taken as equal, so that rounding does not choose between vertices."""


@njit(cache=True, nogil=True)
def spread(
    vertex: int,
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    shared: NDArray[np.int64],
    touched: NDArray[np.int64],
    count: int,
) -> int:
    """Add to each vertex its common neighbours with `vertex`, and 1 where they are linked.

    `touched` lists the vertices with a number above 0; returns how many there are.
    """
    for middle in neighbours[starts[vertex] : starts[vertex + 1]]:
        if shared[middle] == 0:
            touched[count] = middle
            count += 1
        shared[middle] += 1
        for end in neighbours[starts[middle] : starts[middle + 1]]:
            if shared[end] == 0:
                touched[count] = end
                count += 1
            shared[end] += 1
    return count


@njit(cache=True, nogil=True)
def generalisation(
    vertex: int,
    known: tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]],
    cluster: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]],
    seed: int,
    keep: bool,
) -> float:
    """How far a cluster is generalised with one more vertex, from 0 to 1; `keep` puts it in."""
    numbers, ancestors, heights = known
    low, high, levels = cluster
    total = 0.0
    for row in range(len(numbers)):
        least = min(low[row], numbers[row, vertex])
        most = max(high[row], numbers[row, vertex])
        total += most - least
        if keep:
            low[row], high[row] = least, most
    for row in range(len(ancestors)):
        level = levels[row]
        while ancestors[row, level, vertex] != ancestors[row, level, seed]:
            level += 1
        total += level / heights[row]
        if keep:
            levels[row] = level
    return float(total / max(len(numbers) + len(ancestors), 1))


@njit(cache=True, nogil=True)
def cheapest(
    block: NDArray[np.int64],
    degrees: NDArray[np.int64],
    shared: NDArray[np.int64],
    touched: NDArray[np.int64],
    count: int,
    lightest: int,
    known: tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]],
    cluster: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]],
    grown: tuple[int, int, int],
    weights: tuple[float, float],
) -> int:
    """The vertex without a cluster that costs a cluster least, the lowest number of equal ones.

    `grown` are the seed, the size and the sum of degrees of the cluster. Without attributes,
    whoever is not two steps away costs its degree alone: of these only the `lightest`, which has
    the least degree, can win, and the others need no look.
    """
    seed, size, reach = grown
    alpha, scale = weights
    best, least = -1, np.inf
    for place in range(len(block) if alpha > 0 else count + 1):
        vertex = place
        if alpha == 0:
            vertex = touched[place] if place < count else lightest
        if block[vertex] >= 0:
            continue
        cost = scale * (size * degrees[vertex] + reach - 2 * shared[vertex]) / size
        if alpha > 0:
            cost += alpha * generalisation(vertex, known, cluster, seed, False)
        if cost < least - TIE or (cost <= least + TIE and vertex < best):
            best, least = vertex, min(cost, least)
    return best


@njit(cache=True, nogil=True)
def clusters(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    seeds: NDArray[np.int64],
    by_degree: NDArray[np.int64],
    known: tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]],
    weights: tuple[float, float],
    k: int,
    block: NDArray[np.int64],
    progress: NDArray[np.int64],
    most: int,
) -> bool:
    """Make up to `most` clusters of k vertices each; -1 in `block` is a vertex without one.

    `seeds` are the vertices from the greatest degree down, `by_degree` from the least up, both then
    by number. `progress` holds where the next of each may be found, and how many clusters there
    are. Returns whether vertices may be left for more.
    """
    order = len(block)
    numbers, ancestors, _ = known
    alpha, beta = weights
    degrees = starts[1:] - starts[:-1]
    shared, touched = np.zeros(order, np.int64), np.empty(order, np.int64)
    low, high = np.empty(len(numbers)), np.empty(len(numbers))
    levels = np.empty(len(ancestors), np.int64)
    scale = beta / max(order - 2, 1)
    for _ in range(most):
        while progress[0] < order and block[seeds[progress[0]]] >= 0:
            progress[0] += 1
        if progress[0] == order:
            return False
        seed = seeds[progress[0]]
        number = progress[2]
        progress[2] += 1
        for row in range(len(numbers)):
            low[row] = high[row] = numbers[row, seed]
        levels[:] = 0
        block[seed] = number
        count = spread(seed, starts, neighbours, shared, touched, 0)
        size, reach = 1, degrees[seed]
        while size < k:
            while progress[1] < order and block[by_degree[progress[1]]] >= 0:
                progress[1] += 1
            if progress[1] == order:
                break
            best = cheapest(
                block,
                degrees,
                shared,
                touched,
                count,
                by_degree[progress[1]],
                known,
                (low, high, levels),
                (seed, size, reach),
                (alpha, scale),
            )
            generalisation(best, known, (low, high, levels), seed, True)
            block[best] = number
            size += 1
            reach += degrees[best]
            count = spread(best, starts, neighbours, shared, touched, count)
        for place in range(count):
            shared[touched[place]] = 0
    return True
