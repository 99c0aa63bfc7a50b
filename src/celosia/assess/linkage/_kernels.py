"""Hot loops of record linkage; `tests/assess/linkage` holds a plain twin of each.

A record is a line of numbers; a category is a code, and an empty cell is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core._kernels import first_at_least
from celosia.core.kernels import njit

Array = NDArray[Any]

TIE = 1e-9
"""Distances whose ratio is this close to 1 are equal: they differ by rounding only."""


@njit(cache=True, nogil=True)
def squared_distance(
    queries: Array, i: int, points: Array, k: int, nominal: Array, limit: float
) -> float:
    """Squared distance over the columns that both records have, scaled up to all of them.

    Infinite where they have none in common, or where it is above the limit.
    """
    total, shared = 0.0, 0
    for column in range(nominal.size):
        gap = queries[i, column] - points[k, column]
        if np.isnan(gap):
            continue
        shared += 1
        if not nominal[column]:
            total += gap * gap
        elif gap != 0.0:
            total += 1.0
        if total > limit:
            return np.inf
    return total * nominal.size / shared if shared else np.inf


@njit(cache=True, nogil=True)
def scan(
    queries: Array, points: Array, weights: Array, order: Array, nominal: Array, column: int
) -> tuple[Array, Array, Array]:
    """For each query: the least squared distance, the first point there, the weight of all there.

    The points are sorted by a column, gaps last. Where it holds amounts, the search goes outwards
    from the query's place and ends where that column alone is farther than the best point found.
    """
    count, total = len(queries), len(points)
    best, first = np.full(count, np.inf), np.zeros(count, dtype=np.int64)
    ties = np.zeros(count, dtype=np.int64)
    present = total
    while present > 0 and np.isnan(points[present - 1, column]):
        present -= 1
    for i in range(count):
        value = queries[i, column]
        middle = 0 if np.isnan(value) else first_at_least(points[:, column], 0, present, value)
        for part in range(3):  # upwards, downwards, and the points without a value there
            begin, end, step = middle, present, 1
            if part == 1:
                begin, end, step = middle - 1, -1, -1
            elif part == 2:
                begin, end, step = present, total, 1
            for k in range(begin, end, step):
                gap = points[k, column] - value
                # A gap of NaN is never greater: nothing is skipped without a value.
                if not nominal[column] and gap * gap > best[i] * (1.0 + TIE):
                    break
                found = squared_distance(queries, i, points, k, nominal, best[i] * (1.0 + TIE))
                if found < best[i] * (1.0 - TIE):
                    best[i], first[i], ties[i] = found, order[k], weights[k]
                elif found <= best[i] * (1.0 + TIE):
                    ties[i] += weights[k]
                    first[i] = min(first[i], order[k])
    return best, first, ties


@njit(cache=True, nogil=True)
def fill_patterns(
    before: Array, after: Array, i: int, low: int, high: int, tolerance: Array, found: Array
) -> None:
    """How a masked record agrees with original ones, a digit a column to base 3.

    0 the cells differ, 1 they agree, 2 one of them is empty. The original has a line for each
    column, so that the inner loop runs along memory.
    """
    found[: high - low] = 0
    unit = 1
    for column in range(tolerance.size):
        value, reach = after[i, column], tolerance[column]
        for k in range(low, high):
            gap = abs(before[column, k] - value)
            found[k - low] += unit * (1 if gap <= reach else (2 if gap != gap else 0))  # noqa: PLR0124 - NaN
        unit *= 3


@njit(cache=True, nogil=True)
def count_patterns(
    before: Array, after: Array, low: Array, high: Array, tolerance: Array, counts: Array
) -> None:
    """Add the patterns of each masked record with the original ones from `low` to `high`."""
    found = np.empty(before.shape[1], dtype=np.int32)
    for i in range(len(after)):
        fill_patterns(before, after, i, low[i], high[i], tolerance, found)
        for k in range(high[i] - low[i]):
            counts[found[k]] += 1


@njit(cache=True, nogil=True)
def best_patterns(
    before: Array, after: Array, low: Array, high: Array, tolerance: Array, standing: Array
) -> tuple[Array, Array]:
    """For each masked record: the best standing of a pattern, and how many pairs have it."""
    best, ties = np.full(len(after), -1, dtype=np.int64), np.zeros(len(after), dtype=np.int64)
    found = np.empty(before.shape[1], dtype=np.int32)
    for i in range(len(after)):
        fill_patterns(before, after, i, low[i], high[i], tolerance, found)
        for k in range(high[i] - low[i]):
            stands = standing[found[k]]
            if stands > best[i]:
                best[i], ties[i] = stands, 1
            elif stands == best[i]:
                ties[i] += 1
    return best, ties
