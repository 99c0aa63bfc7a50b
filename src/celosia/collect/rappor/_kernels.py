"""The positive Lasso by coordinate descent; `tests/collect` compares it with SciPy's NNLS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]


@njit(cache=True)
def _sweep(
    starts: Places,
    places: Places,
    weights: Numbers,
    penalties: Numbers,
    norms: Numbers,
    met: Numbers,
    sums: Numbers,
    found: Numbers,
    rest: Numbers,
    only_positive: bool,
) -> float:
    """One round over all candidates, or over those above 0; the largest move it made.

    `rest` lacks what all columns have less than their weights; `sums` are the square of that
    vector, its product with `rest`, and the sum of all coefficients: they put slopes right.
    """
    largest = 0.0
    for at in range(found.size):
        if norms[at] == 0.0 or (only_positive and found[at] == 0.0):
            continue
        slope = sums[2] * (met[at] - sums[0]) - sums[1]
        for place in range(starts[at], starts[at + 1]):
            slope += weights[place] * rest[places[place]]
        moved = max(0.0, found[at] + (slope - penalties[at]) / norms[at]) - found[at]
        if moved != 0.0:
            found[at] += moved
            sums[1] -= moved * met[at]
            sums[2] += moved
            for place in range(starts[at], starts[at + 1]):
                rest[places[place]] -= moved * weights[place]
            largest = max(largest, abs(moved) * np.sqrt(norms[at]))
    return largest


@njit(cache=True)
def positive_lasso(
    starts: Places,
    places: Places,
    weights: Numbers,
    even: Numbers,
    target: Numbers,
    penalties: Numbers,
    tolerance: float,
    rounds: int,
) -> Numbers:
    """The least of |target - sum of found * column|^2 / 2 + penalties * found, found >= 0.

    Columns are the rows of a CSR matrix, less `even`; they are never written out. It ends when no
    candidate moves the fit by more than `tolerance`, or after so many rounds.
    """
    size = starts.size - 1
    found, norms, rest = np.zeros(size), np.zeros(size), target.copy()
    met = np.zeros(size)
    sums = np.array([np.sum(even * even), np.sum(even * target), 0.0])
    for at in range(size):
        for place in range(starts[at], starts[at + 1]):
            norms[at] += weights[place] ** 2
            met[at] += weights[place] * even[places[place]]
        if norms[at] > 0.0:
            norms[at] += sums[0] - 2 * met[at]
    problem = (starts, places, weights, penalties, norms, met, sums)
    left = rounds
    while left > 0:
        left -= 1
        if _sweep(*problem, found, rest, False) <= tolerance:
            break
        while left > 0:  # the few that are above 0, until they have settled
            left -= 1
            if _sweep(*problem, found, rest, True) <= tolerance:
                break
    return found
