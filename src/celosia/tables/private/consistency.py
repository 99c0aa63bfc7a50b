"""Noisy counts made consistent by least squares: not below 0, with a total, with margins.

All of it works on released numbers only, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Axes = tuple[int, ...]

ROUNDS = 200
CLOSE = 1e-6
"""Rows that a margin may be off when the rounds end."""


def project_onto_simplex(rows: Numbers, totals: Numbers) -> Numbers:
    """The nearest rows of numbers of at least 0 that sum to the totals.

    Reference: Held, Wolfe & Crowder 1974; Duchi et al. 2008, Fig. 1.

    >>> project_onto_simplex(np.array([[5.0, -1.0, 2.0]]), np.array([6.0])).tolist()
    [[4.5, 0.0, 1.5]]
    """
    ordered = -np.sort(-rows, axis=1)
    sums = np.cumsum(ordered, axis=1) - totals[:, None]
    counts = np.arange(1, rows.shape[1] + 1)
    last = np.maximum((ordered * counts > sums).sum(axis=1), 1) - 1
    taken = sums[np.arange(len(rows)), last] / (last + 1)
    return np.asarray(np.maximum(rows - taken[:, None], 0.0))


def with_margins(table: Numbers, rows: Numbers, columns: Numbers) -> Numbers:
    """The nearest table of numbers of at least 0 with these sums of rows and of columns.

    The solution is max(0, table - a - b) for one number a row and one a column; each is solved for
    exactly while the other is held, in turns (ascent of the dual, which is concave and smooth).
    """
    offset = np.zeros((1, table.shape[1]))
    found = table
    for _ in range(ROUNDS):
        by_rows = project_onto_simplex(table - offset, rows)
        lowered = _taken(table - offset, by_rows)
        found = project_onto_simplex((table - lowered).T, columns).T
        offset = _taken((table - lowered).T, found.T).T
        if np.abs(found.sum(axis=1) - rows).max() < CLOSE:
            break
    return found


def _taken(before: Numbers, after: Numbers) -> Numbers:
    """What was taken off every cell of a row that stayed above 0; all of it where none did."""
    above = after > 0
    difference = np.where(above, before - after, -np.inf).max(axis=1)
    return np.asarray(np.where(above.any(axis=1), difference, before.max(axis=1))[:, None])


def whole_numbers(counts: Numbers) -> NDArray[np.int64]:
    """Counts rounded to whole numbers that keep the rounded total: largest remainders go up.

    >>> whole_numbers(np.array([1.5, 1.4, 0.1])).tolist(), whole_numbers(np.array([1.5])).tolist()
    ([2, 1, 0], [2])
    """
    low = np.floor(counts)
    # The total is rounded, not what is missing of it: 0.5 would go down where 1.5 goes up.
    missing = round(float(counts.sum())) - int(low.sum())
    found = low.astype(np.int64)
    found.flat[np.argsort(-(counts - low).ravel(), kind="stable")[:missing]] += 1
    return found


def least_squares(
    margins: Mapping[Axes, Numbers], variances: Mapping[Axes, float], shape: Sequence[int]
) -> Numbers:
    """The table whose margins are nearest to all measured ones, weighted by their precision.

    A table is the sum of its effects, one for each subset of its axes (a mean, main effects,
    interactions): orthogonal parts, each a function of every margin that keeps the axes of the
    subset. In each of these margins the noise of the effect has the same shape, with a variance
    that grows with the number of cells summed up, so the best estimate of an effect is the mean of
    its estimates weighted by the inverse of their variances (Gauss & Markov).

    Args:
        margins: noisy counts by the axes that they keep; the whole table must be among them.
        variances: of the noise of a cell of each.
        shape: of the table.

    Reference: Barak et al. 2007 (margins that agree); Hay et al. 2010 (least squares).
    """
    every = tuple(range(len(shape)))
    found = margins[every].astype(np.float64)
    below = {part for axes in margins if axes != every for part in _subsets(axes)}
    for kept in sorted(below):
        # An effect that no other margin tells stays as it is in the whole table.
        mean, weights = np.zeros(tuple(shape[axis] for axis in kept)), 0.0
        for axes, counts in margins.items():
            if set(kept) <= set(axes):
                cells = prod(shape[axis] for axis in axes if axis not in kept)
                weight = 1.0 / (variances[axes] * cells)
                mean = mean + weight * _sums(counts, axes, kept)
                weights += weight
        effect = mean / weights - _sums(margins[every], every, kept)
        for axis in range(effect.ndim):
            effect = effect - effect.mean(axis=axis, keepdims=True)
        others = tuple(axis for axis in every if axis not in kept)
        found += np.expand_dims(effect, others) / prod(shape[axis] for axis in others)
    return found


def _sums(counts: Numbers, axes: Axes, kept: Axes) -> Numbers:
    """A margin of a margin."""
    gone = tuple(place for place, axis in enumerate(axes) if axis not in kept)
    return np.asarray(counts.sum(axis=gone))


def _subsets(axes: Axes) -> chain[Axes]:
    return chain.from_iterable(combinations(axes, size) for size in range(len(axes) + 1))
