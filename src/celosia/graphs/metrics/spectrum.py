"""Eigenvalues of a graph: the two that steer exchanges, and the metrics of its spectrum."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import exp, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.metrics.values import MetricValue, two_errors

SMALL = 400
"""Up to this many vertices the eigenvalues are computed to the last digit."""

_TOLERANCE = 1e-6
_ROUNDS = 200
_RESTARTS = 40
"""Rounds of some twenty products each; graphs with hubs need fewer than ten."""


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
    from scipy.sparse.linalg import lobpcg

    ends = edges.T
    places = np.concatenate([ends[0], ends[1]]), np.concatenate([ends[1], ends[0]])
    adjacency = sparse.csr_array((np.ones(2 * len(edges)), places), shape=(order, order))
    laplacian = sparse.csr_array(sparse.diags_array(adjacency.sum(axis=1)) - adjacency)
    if start is None:
        # Any vector will do that is not orthogonal to the answer; this one repeats itself never.
        start = np.stack([np.ones(order), np.cos(np.arange(order) * 2.0**0.5)])
    degrees = laplacian.diagonal()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # steering needs the direction only
        values, vectors = _greatest(adjacency, 1, start[0], _TOLERANCE)
        if not values.size:  # many eigenvalues are nearly alike: any vector near them will do
            values, vectors = lobpcg(
                adjacency, start[0][:, None], tol=_TOLERANCE, maxiter=_ROUNDS, largest=True
            )
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


def _greatest(
    matrix: Any, count: int, start: NDArray[np.float64], tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The greatest eigenvalues with their vectors; of rings and grids only those that were found.

    There eigenvalues lie so near each other that no number of rounds tells them apart.
    """
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    try:
        values, vectors = eigsh(
            matrix, k=count, which="LA", v0=start, tol=tolerance, maxiter=_RESTARTS
        )
    except ArpackNoConvergence as found:
        values, vectors = found.eigenvalues, found.eigenvectors
    return values, vectors


def _upright(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """The principal vector with the sign in which no part is negative (Perron, Frobenius)."""
    return vector if vector.sum() >= 0 else -vector


MOST_EXACT = 1000
"""Up to this many vertices all eigenvalues are computed."""

_LANCZOS = 30
"""Steps of each walk: the exponential is smooth, so few are enough (Ubaru, Chen, Saad 2017)."""
_TAKEN_OUT = 6
"""Greatest eigenvalues that are computed apart; the others vary little from probe to probe."""
MOST_STEPS = 150_000_000
"""Steps over edges that are spent on closed walks, at least those of four probes."""

_OVERFLOW = 700.0
"""e to this power is still a float."""


@dataclass(frozen=True, slots=True)
class SpectralMetrics:
    """What the eigenvalues of a graph say."""

    largest: MetricValue
    """Lambda 1, the greatest of the adjacency matrix."""
    connectivity: MetricValue
    """Mu 2, the second smallest of the Laplacian; 0 where the graph falls into parts."""
    subgraph_centrality: MetricValue
    """The mean over the vertices of closed walks, those of length k counted by 1 / k!."""


def spectral_metrics(
    graph: Graph, *, rng: Source, most_steps: int = MOST_STEPS, progress: Progress = silent
) -> SpectralMetrics:
    """The eigenvalues of a graph; exact for small ones.

    The error of an iterated eigenvalue is the length of what its vector leaves over, within which
    there is an eigenvalue for certain (Parlett 1998, theorem 4.5.1).

    >>> from celosia.core.randomness import Seeded
    >>> triangle = Graph.of([(0, 1), (0, 2), (1, 2)])
    >>> found = spectral_metrics(triangle, rng=Seeded(1))
    >>> round(found.largest.value, 6), round(found.connectivity.value, 6)
    (2.0, 3.0)
    """
    progress(Step(Message("graphs.stage.eigenvalues"), 0, 2))
    if graph.order < 2 or not graph.size:
        return SpectralMetrics(
            MetricValue(0.0), MetricValue(0.0), MetricValue(float(graph.order > 0))
        )
    largest, connectivity = _two(graph)
    progress(Step(Message("graphs.stage.eigenvalues"), 1, 2))
    if graph.order <= MOST_EXACT:
        values = np.linalg.eigvalsh(_matrix(graph).toarray())
        closed = MetricValue(float(np.exp(values).mean()) if values[-1] < _OVERFLOW else inf)
    else:
        closed = _sampled_walks(graph, rng, most_steps)
    return SpectralMetrics(largest, connectivity, closed)


def _two(graph: Graph) -> tuple[MetricValue, MetricValue]:
    from celosia.graphs.metrics._kernels import components

    found = spectrum_of(graph.edges.astype(np.int64), graph.order)
    matrix = _matrix(graph)
    one, slow = found.vectors
    connected = not components(graph.starts, graph.neighbours).any()
    errors = [0.0, 0.0]
    if graph.order > SMALL:
        errors = [
            _left_over(matrix @ one, one, found.largest),
            _left_over(graph.degrees * slow - matrix @ slow, slow, found.connectivity),
        ]
    return (
        MetricValue(found.largest, errors[0]),
        MetricValue(found.connectivity, errors[1]) if connected else MetricValue(0.0),
    )


def _left_over(image: NDArray[np.float64], vector: NDArray[np.float64], value: float) -> float:
    return float(np.linalg.norm(image - value * vector) / np.linalg.norm(vector))


def _matrix(graph: Graph) -> Any:
    from scipy import sparse

    filled = (np.ones(2 * graph.size), graph.neighbours, graph.starts)
    return sparse.csr_array(filled, shape=(graph.order, graph.order))


def _sampled_walks(graph: Graph, rng: Source, most_steps: int) -> MetricValue:
    """The mean of e^A along its diagonal, by random signs with the greatest eigenvalues apart."""
    matrix, order = _matrix(graph), graph.order
    values, vectors = _greatest(matrix, _TAKEN_OUT, np.ones(order), 1e-8)
    vectors = vectors.reshape(order, values.size)
    if values.max(initial=0.0) > _OVERFLOW:
        return MetricValue(inf, inf)
    steps = _LANCZOS * (order + 2 * graph.size)
    probes = int(np.clip(most_steps // steps, 4, 64))
    apart = float(np.exp(values).sum())
    left = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
    sure = float((np.exp(values) * np.expm1(left)).sum())  # what these eigenvalues may be off
    found = np.empty(probes)
    for turn in range(probes):
        signs = (2 * rng.integers(2, order) - 1).astype(np.float64)
        signs -= vectors @ (vectors.T @ signs)
        found[turn] = _form(matrix, signs, vectors)
    return MetricValue((apart + float(found.mean())) / order, (sure + two_errors(found)) / order)


def _form(matrix: Any, probe: NDArray[np.float64], apart: NDArray[np.float64]) -> float:
    """The form z' e^A z by Lanczos, with the vectors taken out kept out."""
    length = float(np.linalg.norm(probe))
    basis = np.zeros((_LANCZOS, probe.size))
    basis[0] = probe / length
    diagonal, beside = np.zeros(_LANCZOS), np.zeros(_LANCZOS - 1)
    taken = _LANCZOS
    for step in range(_LANCZOS):
        image = matrix @ basis[step]
        diagonal[step] = image @ basis[step]
        if step + 1 == _LANCZOS:
            break
        image -= apart @ (apart.T @ image)
        known = basis[: step + 1]
        for _ in range(2):  # twice is enough to stay orthogonal
            image -= known.T @ (known @ image)
        beside[step] = np.linalg.norm(image)
        if beside[step] < 1e-10:
            taken = step + 1
            break
        basis[step + 1] = image / beside[step]
    small = np.diag(diagonal[:taken])
    small += np.diag(beside[: taken - 1], 1) + np.diag(beside[: taken - 1], -1)
    nodes, shapes = np.linalg.eigh(small)
    return length**2 * float(np.sum(shapes[0] ** 2 * np.array([exp(node) for node in nodes])))
