"""Columns on one scale, sums without rounding, and what a grouping loses."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

_BITS = 52
"""One less than a float holds, so that a sum and its terms are whole numbers in a float."""


def standard_scores(matrix: ArrayLike) -> NDArray[np.float64]:
    """Each column less its mean, over its standard deviation; a constant column becomes zero.

    The deviation is that of the population; the loss is the same with the sample's, which
    stretches all columns alike.

    >>> standard_scores([[1.0, 5.0], [3.0, 5.0]]).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    table = np.array(matrix, dtype=np.float64)
    constant = table.min(axis=0) == table.max(axis=0)
    # A power of two brings the largest value near one, without rounding: no square can overflow.
    np.ldexp(table, -np.frexp(np.abs(table).max(axis=0))[1], out=table)
    table -= table.mean(axis=0)
    deviation = np.sqrt(np.mean(table * table, axis=0))
    table /= np.where(constant | (deviation == 0), 1.0, deviation)
    table[:, constant] = 0.0
    return table


def below_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """All values divided by one power of two, without rounding, so that no square can overflow."""
    scaled: NDArray[np.float64] = np.ldexp(values, -np.frexp(np.abs(values).max(initial=0.0))[1])
    return scaled


def on_grid(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix times a power of two, rounded to whole numbers whose sums are exact in a float.

    No sum over any records passes 2**53, so a centroid does not depend on the order of its sum, and
    a sum that is kept by subtracting records is the sum of those left. Equal distances are then
    equal in every implementation that adds the columns from left to right.
    """
    near_one = below_one(matrix)
    largest = float(np.abs(near_one).sum(axis=0).max()) if matrix.size else 0.0
    if largest == 0.0:
        return np.zeros_like(matrix)
    # Rounding adds at most a half to each term, far below the bit that is left free.
    return np.rint(np.ldexp(near_one, _BITS - math.frexp(largest)[1]))


def group_means(matrix: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The centroid of each group, one row a group."""
    sizes = np.bincount(labels)
    means = np.empty((sizes.size, matrix.shape[1]))
    for column in range(matrix.shape[1]):
        values = matrix[:, column]
        rough = np.bincount(labels, weights=values) / sizes
        # A second pass adds the mean of what is left: far-off values keep their digits.
        means[:, column] = rough + np.bincount(labels, weights=values - rough[labels]) / sizes
    return means


def squared_error(matrix: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """The sum of squared distances of the records to the centroids of their groups."""
    apart = matrix - group_means(matrix, labels)[labels]
    return float(np.einsum("ij,ij->", apart, apart))


def information_loss(matrix: ArrayLike, labels: ArrayLike, *, standardise: bool = True) -> float:
    """100 SSE / SST: the percentage of the spread of the records that lies inside the groups.

    >>> round(information_loss([[1.0], [3.0], [7.0], [9.0]], [0, 0, 1, 1]), 9)
    10.0
    """
    table = np.asarray(matrix, dtype=np.float64)
    if table.ndim == 1:
        table = table[:, np.newaxis]
    table = standard_scores(table) if standardise else table
    groups = np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)
    total = squared_error(table, np.zeros(len(table), dtype=np.int64))
    return 100.0 * squared_error(table, groups) / total if total > 0 else 0.0
