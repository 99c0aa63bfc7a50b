"""Normal scores of variables, their latent correlation, and the nearest one that is possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

STRONGEST = 0.995
"""A latent correlation is kept below 1, so that no variable is a function of another."""
LEAST_EIGENVALUE = 1e-6
ROUNDS = 200
CLOSE = 1e-9


def normal_scores(values: Matrix, *, coded: bool = False) -> tuple[Matrix, float]:
    """The mean of the standard normal part that belongs to each value, and their variance.

    A value that takes the levels from a to b of the distribution function stands for the normal
    numbers between the quantiles of a and b; their mean is (phi(q(a)) - phi(q(b))) / (b - a). For
    distinct numbers these are the usual normal scores and the variance is nearly 1; the fewer the
    categories, the less. NaN stays NaN. Values that are `coded` are small whole numbers, which need
    no sorting.
    """
    from scipy.special import ndtri

    known = ~np.isnan(values)
    if coded:
        places = values[known].astype(np.int64)
        counts = np.bincount(places)
    else:
        _, places, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    shares = counts / counts.sum()
    ends = np.concatenate([[0.0], np.cumsum(shares)])
    quantiles = ndtri(np.clip(ends, 0.0, 1.0))
    heights = np.exp(-(quantiles**2) / 2) / np.sqrt(2 * np.pi)
    means = (heights[:-1] - heights[1:]) / np.where(shares > 0, shares, 1.0)
    scores = np.full(values.size, np.nan)
    scores[known] = means[places]
    return scores, float((shares * means**2).sum())


def latent_correlation(scores: Matrix, variances: Matrix) -> Matrix:
    """The correlation of the normal variables behind the scores, from pairs without gaps.

    The mean score of one variable given the other is the latent correlation times its score where
    one of the two is continuous, and to first order in the correlation otherwise; so the covariance
    of the scores, divided by both variances, estimates it (Olsson, Drasgow & Dorans 1982).
    """
    known = (~np.isnan(scores)).astype(np.float64)
    filled = np.where(known > 0, scores, 0.0)
    pairs = np.maximum(known.T @ known, 1.0)
    means = (filled.T @ known) / pairs  # of each variable over the pairs with the other
    covariance = (filled.T @ filled) / pairs - means * means.T
    found = np.clip(covariance / np.outer(variances, variances), -STRONGEST, STRONGEST)
    np.fill_diagonal(found, 1.0)
    return nearest_correlation(found)


def nearest_correlation(matrix: Matrix) -> Matrix:
    """The nearest correlation matrix that is positive definite, by alternating projections.

    Reference: Higham 2002, Computing the nearest correlation matrix, Alg. 3.3.

    >>> found = nearest_correlation(np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]))
    >>> bool(np.linalg.eigvalsh(found)[0] > 0), found.diagonal().round(12).tolist()
    (True, [1.0, 1.0, 1.0])
    """
    if matrix.size and np.linalg.eigvalsh(matrix)[0] < LEAST_EIGENVALUE:
        near, correction = matrix.copy(), np.zeros_like(matrix)
        for _ in range(ROUNDS):
            shifted = near - correction
            possible = _positive(shifted)
            correction = possible - shifted
            before, near = near, possible.copy()
            np.fill_diagonal(near, 1.0)
            if np.abs(near - before).max() < CLOSE:
                break
        matrix = _positive(near)
        roots = np.sqrt(matrix.diagonal())
        matrix = matrix / np.outer(roots, roots)
    return matrix


def _positive(matrix: Matrix) -> Matrix:
    eigenvalues, vectors = np.linalg.eigh(matrix)
    found: Matrix = (vectors * np.maximum(eigenvalues, LEAST_EIGENVALUE)) @ vectors.T
    return (found + found.T) / 2
