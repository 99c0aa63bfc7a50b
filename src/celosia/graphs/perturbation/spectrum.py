"""The two most informative eigenvalues of a graph, with their eigenvectors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SMALL = 400
"""Up to this many vertices the eigenvalues are computed to the last digit."""

_TOLERANCE = 1e-6
_ROUNDS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The largest eigenvalue of the adjacency matrix, and the second smallest of the Laplacian.

    The first bounds how fast things spread, the second (0 where the graph falls into parts) how
    hard it is to cut.
    """

    largest: float
    connectivity: float
    vectors: NDArray[np.float64]
    """The two unit vectors, one a row."""

    @property
    def values(self) -> NDArray[np.float64]:
        """Both eigenvalues."""
        return np.array([self.largest, self.connectivity])


def spectrum_of(
    edges: NDArray[np.int64], order: int, *, start: NDArray[np.float64] | None = None
) -> Spectrum:
    """Both eigenvalues of a graph of at least two vertices; `start` are vectors near the answer.

    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> found = spectrum_of(triangle, 3)
    >>> round(found.largest, 9), round(found.connectivity, 9)
    (2.0, 3.0)
    """
    return _exact(edges, order) if order <= SMALL else _iterate(edges, order, start)


def _exact(edges: NDArray[np.int64], order: int) -> Spectrum:
    from scipy.linalg import eigh

    adjacency = np.zeros((order, order))
    adjacency[tuple(edges.T)] = adjacency[tuple(edges.T[::-1])] = 1.0
    laplacian = np.diag(adjacency.sum(axis=1)) - adjacency
    # One pair each: NumPy computes all of them, on all cores, in three hundred times the time.
    top = [order - 1, order - 1]
    values, vectors = eigh(adjacency, subset_by_index=top, check_finite=False)
    slow, shapes = eigh(laplacian, subset_by_index=[1, 1], check_finite=False)
    return Spectrum(
        float(values[0]), float(slow[0]), np.stack([_upright(vectors[:, 0]), shapes[:, 0]])
    )


def _iterate(edges: NDArray[np.int64], order: int, start: NDArray[np.float64] | None) -> Spectrum:
    from scipy import sparse
    from scipy.sparse.linalg import eigsh, lobpcg

    ends = edges.T
    places = np.concatenate([ends[0], ends[1]]), np.concatenate([ends[1], ends[0]])
    adjacency = sparse.csr_array((np.ones(2 * len(edges)), places), shape=(order, order))
    laplacian = sparse.csr_array(sparse.diags_array(adjacency.sum(axis=1)) - adjacency)
    if start is None:
        # Any vector will do that is not orthogonal to the answer; this one repeats itself never.
        start = np.stack([np.ones(order), np.cos(np.arange(order) * 2.0**0.5)])
    values, vectors = eigsh(adjacency, k=1, which="LA", v0=start[0], tol=_TOLERANCE)
    degrees = laplacian.diagonal()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # steering needs the direction only
        slow, shapes = lobpcg(
            laplacian,
            start[1][:, None],
            M=sparse.diags_array(1.0 / np.maximum(degrees, 1.0)),
            Y=np.ones((order, 1)),  # the constant vector belongs to eigenvalue 0 of every graph
            tol=_TOLERANCE,
            maxiter=_ROUNDS,
            largest=False,
        )
    return Spectrum(
        float(values[0]), float(slow[0]), np.stack([_upright(vectors[:, 0]), shapes[:, 0]])
    )


def _upright(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """The principal vector with the sign in which no part is negative (Perron, Frobenius)."""
    return vector if vector.sum() >= 0 else -vector
