"""Columns on one scale, sums without rounding, and what a grouping loses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError

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


SMALLEST = 2
"""A group of one is a single person."""

LARGEST = 1e140
"""The sum of the squares of 1e20 such numbers is still inside the range of a float."""


def check_k(k: Any) -> int:
    """The group size as a whole number, refused below two."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < SMALLEST:
        raise InputError("CEL-V100", smallest=SMALLEST, k=k)
    return int(k)


def check_records(records: int, k: int) -> None:
    """Refuse fewer records than one group needs."""
    if records < k:
        raise InputError("CEL-V101", records=records, k=k)


def check_line(values: ArrayLike, k: int) -> NDArray[np.float64]:
    """One column of finite numbers with at least `k` of them."""
    line = np.ascontiguousarray(values, dtype=np.float64)
    if line.ndim != 1:
        raise InputError("CEL-V102.not_a_line", ndim=line.ndim)
    check_records(line.size, check_k(k))
    _check_finite(line)
    return line


def check_matrix(matrix: ArrayLike, k: int) -> NDArray[np.float64]:
    """A matrix of finite numbers, one row a record, with at least `k` rows and one column."""
    table = np.ascontiguousarray(matrix, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        raise InputError("CEL-V102.not_a_matrix", shape=table.shape)
    check_records(len(table), check_k(k))
    _check_finite(table)
    return table


def _check_finite(table: NDArray[np.float64]) -> None:
    if not np.isfinite(table).all():
        raise InputError("CEL-V103", cells=int((~np.isfinite(table)).sum()))


def check_varies(name: str, values: NDArray[Any]) -> None:
    """Refuse a column without two different values, or with numbers whose squares overflow."""
    if values.size == 0 or (values == values[0]).all():
        key = "CEL-V108.empty" if values.size == 0 else "CEL-V108.one_value"
        raise InputError(key, column=name)
    if np.abs(values).max() > LARGEST:
        raise InputError("CEL-V113", largest=LARGEST, column=name)
