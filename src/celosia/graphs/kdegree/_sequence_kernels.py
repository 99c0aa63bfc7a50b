"""Groups of sorted degrees, compiled. Sums of degrees stay below n * n < 2**62."""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs.arrays import Whole

_FAR = 2**62


@njit(cache=True, nogil=True)
def cheapest_groups(ranked: Whole, k: int, median: bool, most: int) -> Whole:
    """Where the group of each degree starts, in runs of k to 2k - 1 with the least total cost.

    `ranked` falls. A group costs what it takes to bring its degrees to the first of them or, with
    `median`, to the middle one; none may span more than `most`. Longer groups are not needed: each
    can be cut in two without a greater cost.
    """
    count = len(ranked)
    total = np.zeros(count + 1, dtype=np.int64)
    total[1:] = np.cumsum(ranked)
    best = np.full(count + 1, _FAR, dtype=np.int64)
    last = np.zeros(count + 1, dtype=np.int64)
    best[0] = 0
    # Dynamic programming over the last group (Liu & Terzi 2008), of k to 2k - 1 degrees.
    for end in range(k, count + 1):
        for start in range(end - k, max(-1, end - 2 * k), -1):
            if best[start] == _FAR or ranked[start] - ranked[end - 1] > most:
                continue
            middle = (start + end) // 2 if median else start
            above = total[middle] - total[start] - (middle - start) * ranked[middle]
            below = (end - middle) * ranked[middle] - (total[end] - total[middle])
            cost = best[start] + above + below
            if cost < best[end]:
                best[end] = cost
                last[end] = start
    starts = np.empty(count, dtype=np.int64)
    end = count
    while end > 0:
        starts[last[end] : end] = last[end]
        end = last[end]
    return starts


@njit(cache=True, nogil=True)
def greedy_groups(ranked: Whole, k: int) -> Whole:
    """The same by one walk: a degree joins the group unless opening another looks cheaper."""
    count = len(ranked)
    total = np.zeros(count + 1, dtype=np.int64)
    total[1:] = np.cumsum(ranked)
    starts = np.zeros(count, dtype=np.int64)
    start, here = 0, k
    while here + k <= count:
        new = k * ranked[here] - (total[here + k] - total[here])
        merge = _FAR
        if here + k < count:
            merge = ranked[start] - ranked[here]
            merge += k * ranked[here + 1] - (total[here + 1 + k] - total[here + 1])
        if merge > new:
            start = here
            starts[here : here + k] = start
            here += k
        else:
            starts[here] = start
            here += 1
    starts[here:] = start
    return starts


@njit(cache=True, nogil=True)
def least_span(ranked: Whole, k: int) -> int:
    """The least span of degrees that groups of k to 2k - 1 need: the best of the worst group."""
    count = len(ranked)
    best = np.full(count + 1, _FAR, dtype=np.int64)
    best[0] = 0
    for end in range(k, count + 1):
        for start in range(end - k, max(-1, end - 2 * k), -1):
            worst = max(best[start], ranked[start] - ranked[end - 1])
            best[end] = min(best[end], worst)
    return best[count]  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def cheapest_sums(sizes: Whole, starts: Whole, costs: Whole, top: int) -> tuple[Whole, Whole]:
    """For each sum up to `top`, the least cost of a choice of things with that sum.

    There are kinds of things: of kind g each weighs `sizes[g]`, and c of them cost
    `costs[starts[g] + c]`. Returns the costs, and how many of each kind.
    """
    best = np.full(top + 1, _FAR, dtype=np.int64)
    best[0] = 0
    taken = np.zeros((len(sizes), top + 1), dtype=np.int64)
    for kind in range(len(sizes)):
        before = best.copy()
        price = costs[starts[kind] : starts[kind + 1]]
        for total in range(sizes[kind], top + 1):
            for count in range(1, min(len(price) - 1, total // sizes[kind]) + 1):
                rest = before[total - count * sizes[kind]]
                if rest < _FAR and rest + price[count] < best[total]:
                    best[total] = rest + price[count]
                    taken[kind, total] = count
    return best, taken
