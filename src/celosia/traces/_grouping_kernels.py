"""Kernels of trace microaggregation and of swaps: MDAV under the distance between traces.

The distance of two traces is the root mean square of their distance over the moments at which both
are present, divided by the share of moments that they have in common (Domingo-Ferrer, Sramka and
Trujillo-Rasúa 2010). Plain twins are in `tests/traces/test_microaggregation.py`.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Array = NDArray[Any]

APART = 1e18
"""The distance of two traces that are never present together."""


@njit(cache=True, nogil=True)
def distance(
    x: Array, y: Array, low: Array, high: Array, one: int, px: Array, py: Array, from_: int, to: int
) -> float:
    """The distance of a trace from a line of positions that is present from `from_` to `to`."""
    start, end = max(low[one], from_), min(high[one], to)
    common = end - start
    if common <= 0:
        return APART
    total = 0.0
    for at in range(start, end):
        east, north = x[one, at] - px[at], y[one, at] - py[at]
        total += east * east + north * north
    share = common / max(high[one] - low[one], to - from_)
    return float(sqrt(total / common) / share)


@njit(cache=True, nogil=True)
def _take(
    x: Array,
    y: Array,
    low: Array,
    high: Array,
    seed: int,
    k: int,
    left: Array,
    labels: Array,
    group: int,
) -> None:
    """Give a trace and its k - 1 nearest free ones a group."""
    size = labels.size
    away = np.full(size, np.inf)
    for other in range(size):
        if labels[other] < 0:
            away[other] = distance(x, y, low, high, other, x[seed], y[seed], low[seed], high[seed])
    away[seed] = -1.0
    for _ in range(k):
        best = int(np.argmin(away))
        labels[best] = group
        away[best] = np.inf


@njit(cache=True, nogil=True)
def _farthest(
    x: Array,
    y: Array,
    low: Array,
    high: Array,
    px: Array,
    py: Array,
    from_: int,
    to: int,
    labels: Array,
) -> int:
    best, most = -1, -1.0
    for one in range(labels.size):
        if labels[one] < 0:
            away = distance(x, y, low, high, one, px, py, from_, to)
            if away > most:
                best, most = one, away
    return best


@njit(cache=True, nogil=True)
def mdav(x: Array, y: Array, low: Array, high: Array, k: int) -> Array:
    """The group of each trace; every group has k to 2k - 1 traces (MDAV, Domingo-Ferrer 2005)."""
    size, moments = x.shape
    labels = np.full(size, -1, dtype=np.int64)
    free, group = size, 0
    while free >= 2 * k:
        px, py = np.zeros(moments), np.zeros(moments)
        present = np.zeros(moments)
        for one in range(size):
            if labels[one] < 0:
                for at in range(low[one], high[one]):
                    px[at] += x[one, at]
                    py[at] += y[one, at]
                    present[at] += 1
        from_, to = moments, 0
        for at in range(moments):
            if present[at] > 0:
                px[at] /= present[at]
                py[at] /= present[at]
                from_, to = min(from_, at), max(to, at + 1)
        first = _farthest(x, y, low, high, px, py, from_, to, labels)
        _take(x, y, low, high, first, k, labels, labels, group)
        free -= k
        group += 1
        if free >= 2 * k:
            second = _farthest(x, y, low, high, x[first], y[first], low[first], high[first], labels)
            _take(x, y, low, high, second, k, labels, labels, group)
            free -= k
            group += 1
    for one in range(size):
        if labels[one] < 0:
            labels[one] = group
    return labels


@njit(cache=True, nogil=True)
def swap_sets(  # noqa: PLR0912 - one loop over points
    trace: Array, time: Array, x: Array, y: Array, members: int, reach: float, seconds: int
) -> Array:
    """The number of the swap set of each point of a group; -1 where the point is in none.

    Points are sorted by trace and time, traces numbered from 0. For a point that is in no set yet,
    one free point of each other trace is looked for, the nearest in time within both limits.
    """
    size = trace.size
    found = np.full(size, -1, dtype=np.int64)
    starts = np.zeros(members + 1, dtype=np.int64)
    for at in range(size):
        starts[trace[at] + 1] = at + 1
    for one in range(members):
        starts[one + 1] = max(starts[one + 1], starts[one])
    chosen = np.empty(members, dtype=np.int64)
    limit = reach * reach
    sets = 0
    for at in range(size):
        if found[at] >= 0:
            continue
        whole = True
        for other in range(members):
            if other == trace[at]:
                chosen[other] = at
                continue
            best, least = -1, seconds + 1
            for place in range(starts[other], starts[other + 1]):
                if time[place] > time[at] + seconds:
                    break
                apart = abs(time[place] - time[at])
                if found[place] >= 0 or apart >= least:
                    continue
                east, north = x[place] - x[at], y[place] - y[at]
                if east * east + north * north <= limit:
                    best, least = place, apart
            if best < 0:
                whole = False
                break
            chosen[other] = best
        if whole:
            for other in range(members):
                found[chosen[other]] = sets
            sets += 1
    return found
