"""Transition matrices of PRAM, and counts estimated from what they have changed."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError

Matrix = NDArray[np.float64]

TOLERANCE = 1e-9
"""How far a row of a given matrix may be from a sum of one: decimals as people write them."""


def check_matrix(matrix: ArrayLike) -> Matrix:
    """A square matrix of probabilities whose rows sum to one.

    Raises:
        InputError: CEL-V221 it is not.

    >>> check_matrix([[0.75, 0.25], [0.25, 0.75]]).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    try:
        found = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    square = found.ndim == 2 and found.shape[0] == found.shape[1] and found.shape[0] > 1
    if not square or not ((found >= 0) & (found <= 1)).all():
        raise InputError("CEL-V221.not_square")
    sums = found.sum(axis=1)
    wrong_rows = int((np.abs(sums - 1) > TOLERANCE).sum())
    if wrong_rows:
        raise InputError("CEL-V221.sums", rows=wrong_rows)
    scaled: Matrix = found / sums[:, np.newaxis]
    return scaled


def plain_matrix(counts: ArrayLike, stay: float, rest: Literal["uniform", "frequency"]) -> Matrix:
    """Each category stays with one chance; otherwise it becomes one of the others.

    Args:
        counts: records of each category, all above 0.
        stay: the chance to stay.
        rest: whether the others are equally likely, or in proportion to their counts.

    >>> plain_matrix([2, 1, 1], 0.5, "frequency").round(3).tolist()
    [[0.5, 0.25, 0.25], [0.333, 0.5, 0.167], [0.333, 0.167, 0.5]]
    """
    sizes = np.asarray(counts, dtype=np.float64)
    others = np.ones(sizes.size) if rest == "uniform" else sizes
    found = np.tile(others, (sizes.size, 1))
    np.fill_diagonal(found, 0.0)
    found *= (1.0 - stay) / found.sum(axis=1, keepdims=True)
    np.fill_diagonal(found, stay)
    return found


def invariant_matrix(counts: ArrayLike, theta: float) -> Matrix:
    """The invariant matrix: expected counts after it are the counts before.

    With T the counts, K categories: P[a,a] = 1 - theta min(T)/T(a), and
    P[a,b] = theta min(T)/((K-1) T(a)), so that T(a) P[a,b] is the same for all pairs.

    Reference: Gouweleeuw et al. 1998.

    >>> (np.array([6, 3, 1]) @ invariant_matrix([6, 3, 1], 0.5)).round(12).tolist()
    [6.0, 3.0, 1.0]
    """
    sizes = np.asarray(counts, dtype=np.float64)
    leave = theta * sizes.min() / sizes
    found = np.tile((leave / (sizes.size - 1))[:, np.newaxis], (1, sizes.size))
    np.fill_diagonal(found, 1.0 - leave)
    return found


def make_invariant(matrix: ArrayLike, counts: ArrayLike) -> Matrix:
    """A given matrix followed by the one that undoes it in expectation (two-stage PRAM).

    The second is Bayes' rule, Q[k,l] = P[l,k] T(l) / sum_j P[j,k] T(j), so T P Q = T.

    Reference: Kooiman, Willenborg & Gouweleeuw 1997.

    >>> both = make_invariant([[0.9, 0.1], [0.4, 0.6]], [3, 1])
    >>> (np.array([3, 1]) @ both).round(12).tolist()
    [3.0, 1.0]
    """
    first = np.asarray(matrix, dtype=np.float64)
    joint = first * np.asarray(counts, dtype=np.float64)[:, np.newaxis]
    reached = joint.sum(axis=0)
    # A category that nothing becomes is never left either: any row will do.
    back = np.where(reached > 0, joint / np.where(reached > 0, reached, 1.0), np.eye(len(first)))
    found = first @ back.T
    scaled: Matrix = found / found.sum(axis=1, keepdims=True)
    return scaled


def unbiased_counts(masked: ArrayLike, matrix: ArrayLike) -> Matrix:
    """Counts of the original column, estimated without bias from those of the masked one.

    They are (P')^-1 T: the expected counts after P are P' times those before. An estimate may lie
    below 0.

    Raises:
        InputError: CEL-V221 the matrix is none, CEL-V222 it cannot be inverted.

    Reference: Kooiman, Willenborg & Gouweleeuw 1997.

    >>> unbiased_counts([55, 45], [[0.75, 0.25], [0.25, 0.75]]).round(9).tolist()
    [60.0, 40.0]
    """
    transitions = check_matrix(matrix)
    counts = np.asarray(masked, dtype=np.float64)
    if counts.shape != (len(transitions),) or not is_invertible(transitions):
        raise InputError("CEL-V222", categories=counts.size)
    return np.linalg.solve(transitions.T, counts).astype(np.float64)


def is_invertible(matrix: Matrix) -> bool:
    """Whether counts can be estimated through a matrix without losing all digits."""
    return bool(np.linalg.cond(matrix) < 1e12)
