"""How far a graph falls into communities: the top of its spectrum, and its vector modularity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import PureLoss
from celosia.core.messages import Message
from celosia.core.randomness import Seeded, Source
from celosia.graphs.graph import Graph
from celosia.graphs.private.mechanism import GraphMechanism, LaplaceStatistic, check_graph
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_whole

UNIT = 2**10
"""Sums of eigenvalues are told in parts of 1 / UNIT."""
DEEPEST = 6
"""At most 2**6 eigenvalues: as many communities, beside each other, are told apart."""
SMALL = 400
"""Up to this many vertices all eigenvalues are computed at once."""
TOLERANCE = 1e-5
"""How exactly an eigenvalue is computed; ten times as much is set aside for each."""

COLUMNS = 8
"""Of each vector of the vector modularity. More columns change its fourth digit."""
SWEEPS = 400
CHECKED = 10
"""Sweeps between two looks at how much is still gained."""
SLACK = Fraction(1, 400)
"""How far the vector modularity that is computed may be from the exact one, as a share of the
ends of all edges; the noise allows for it."""


def depth_of(order: int) -> int:
    """How many times a graph of `order` vertices is halved into communities of 32 or more."""
    return min(max((order // 32).bit_length() - 1, 0), DEEPEST)


@dataclass(frozen=True, kw_only=True)
class DampedSpectrum(GraphMechanism[NDArray[np.float64]]):
    """Sums of the greatest eigenvalues: the 1st, the 2nd, the 3rd and 4th, the 5th to 8th, ...

    The eigenvalues are those of N = W A W, where A is the adjacency matrix and W has the numbers
    1 / sqrt(degree + damping) on its diagonal. As many are near the first as the graph has
    communities, and the nearer the less the communities are joined. The damping t keeps a single
    edge from mattering much. Let a new edge {u, v} turn N into M, with R the diagonal matrix of
    r_z = sqrt((d_z + t) / (d_z + 1 + t)) for z in {u, v} and 1 elsewhere. M has two new entries, of
    at most 1 / (1 + t), and is R N R beside them. With |.| the sum of all singular values:

    - the new entries are a matrix of |.| at most 2 / (1 + t);
    - R N R - N = (R - 1) N R + N (R - 1), each the sum of two matrices of rank 1, of |.| at most
      (1 - r_z) |row z of N|. The square of the row is at most d_z / ((d_z + t)(1 + t)), as every
      neighbour has a degree of 1 or more; 1 - r_z <= (1 + t) / ((1 + 2 t)(d_z + t)); and
      sqrt(d) / (d + t)^1.5 is greatest at d = t / 2, where it is 2 / (3 sqrt(3) t). So both ends
      together have at most 8 / (3 sqrt(3)) sqrt(1 + t) / (t (1 + 2 t)).

    By Lidskii's theorem (Mirsky 1960) the sorted eigenvalues move by no more than |M - N| in sum,
    and so do sums of different ones. Rounding and the error of computing them are added.

    Guarantee: epsilon-DP with delta 0 for one edge, as far as the eigenvalues are computed to the
    tolerance; the vertices are public, and neither damping nor depth comes from the graph itself.

    >>> from celosia.graphs.generators import ring
    >>> found = DampedSpectrum(epsilon=50, damping=2.0, depth=1).release(ring(64), rng=Seeded(1))
    >>> found.round(1).tolist()
    [0.5, 0.5]
    """

    damping: float
    """At least 1; about the mean degree, if that is public or was released."""
    depth: int
    """There are 2**depth eigenvalues, in depth + 1 sums."""

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self.damping >= 1
        assert 0 <= self.depth <= DEEPEST

    @property
    def question(self) -> str:
        return Message("graphs.statistic.spectrum", count=2**self.depth)

    @property
    def shift(self) -> int:
        """By how much an edge moves all sums together, in units."""
        t = self.damping
        moved = 2 / (1 + t) + 8 / sqrt(27) * sqrt(1 + t) / (t * (1 + 2 * t))
        # Rounding moves each sum by half a unit in either graph; an error comes from both graphs.
        computed = 2 * 10 * TOLERANCE * float(2**self.depth)
        return ceil(UNIT * (moved + computed)) + self.depth + 1

    @property
    def sensitivity(self) -> float:
        """Of the sums, in all."""
        return self.shift / UNIT

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise of each sum, in units."""
        return DiscreteLaplace(self.shift / self.price)

    def privacy_loss(self) -> PureLoss:
        return PureLoss(self.price)

    def measure(self, x: Graph, *, rng: Source) -> Measurement[NDArray[np.float64]]:
        """The sums with noise."""
        sums = np.rint(UNIT * self.sums(check_graph(x))).astype(np.int64)
        return Measurement((sums + self.law.draw(sums.size, rng)) / UNIT)

    def sums(self, graph: Graph) -> NDArray[np.float64]:
        """The exact sums, which are private."""
        found = np.zeros(2**self.depth)
        values = eigenvalues(graph, self.damping, found.size)
        found[: values.size] = values
        borders = [0, *(2**power for power in range(self.depth))]
        return np.asarray(np.add.reduceat(found, borders))

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that no sum exceeds with this confidence; all sums are meant, not `size`."""
        return self.law.bound(check_confidence(confidence), size=self.depth + 1) / UNIT

    def interval(
        self, measurement: Measurement[NDArray[np.float64]], confidence: float = 0.95
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        error = self.accuracy(confidence)
        return measurement.value - error, measurement.value + error


def eigenvalues(graph: Graph, damping: float, count: int) -> NDArray[np.float64]:
    """The greatest eigenvalues of the damped adjacency matrix, falling; not more than vertices."""
    from scipy import sparse
    from scipy.linalg import eigvalsh
    from scipy.sparse.linalg import eigsh

    weights = 1 / np.sqrt(graph.degrees + damping)
    one, other = graph.edges.T
    entries = np.tile(weights[one] * weights[other], 2)
    places = np.concatenate([one, other]), np.concatenate([other, one])
    matrix = sparse.coo_array((entries, places), shape=(graph.order, graph.order)).tocsr()
    if graph.order <= max(SMALL, 4 * count):
        return np.asarray(eigvalsh(matrix.toarray())[::-1][:count])
    start = np.cos(np.arange(graph.order) * sqrt(2))
    found = eigsh(matrix, k=count, which="LA", v0=start, tol=TOLERANCE, return_eigenvectors=False)
    return np.sort(found)[::-1]


@dataclass(frozen=True, kw_only=True)
class CommunityStrength(LaplaceStatistic[int]):
    """The vector modularity: the modularity of the best partition, relaxed, times 2 m.

    Each vertex i has a unit vector x_i. With s the sum of d_i x_i, the value of the vectors is the
    sum of <x_i, x_j> over both directions of every edge, less |s|^2 / (2 m); wanted is the greatest
    value. With two sorts of vectors, x and -x, it would be 2 m times twice the modularity of the
    best two communities; with the corners of a simplex, of more. That it is a semidefinite
    programme makes it computable, while modularity is not (Brandes et al. 2008).

    A new edge {u, v} brings 2 <x_u, x_v>, at most 2 either way, and a vector d = x_u + x_v with
    |d| <= 2 to s, where |s| <= 2 m. Then |s + d|^2 / (2 m + 2) <= |s|^2 / (2 m) + |d|^2 / 2, at
    most 2 more than before (Titu's lemma); and it is at least (|s| - 2)^2 / (2 m + 2), at most
    (2 |s|^2 + 8 m |s|) / (4 m^2 + 4 m) <= 24 m^2 / (4 m^2) = 6 less. So the value of any vectors
    moves by at most 8, and so does the greatest value. Rounding is 1, and `slack` is added for the
    error of computing it.

    Guarantee: epsilon-DP with delta 0 for one edge, as far as the value is computed to within the
    slack; the vertices are public, and the slack does not come from the graph itself.

    Reference: Goemans, Williamson 1995; Wang, Chang, Kolter 2017 (how it is computed).

    >>> two = Graph.of([(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)])
    >>> CommunityStrength(epsilon=100, slack=0).release(two, rng=Seeded(1))  # 2 * 14 * 5 / 14
    10
    """

    slack: int
    """How far the computed value may be from the exact one: `slack_of` a released number."""

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self.slack >= 0

    @property
    def question(self) -> str:
        return Message("graphs.statistic.strength")

    @property
    def shift(self) -> int:
        """By how much an edge moves the computed value."""
        return 8 + 1 + self.slack

    def measure(self, x: Graph, *, rng: Source) -> Measurement[int]:
        """The value with noise; it may be below 0."""
        value = round(vector_modularity(check_graph(x)))
        return Measurement(value + int(self.law.draw(1, rng)[0]))

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that none of `size` values exceeds with this confidence, beside the slack."""
        return float(self.law.bound(check_confidence(confidence), size=check_whole(size, name="n")))

    def interval(self, measurement: Measurement[int], confidence: float = 0.95) -> tuple[int, int]:
        error = self.law.bound(check_confidence(confidence)) + self.slack
        return max(measurement.value - error, 0), measurement.value + error


def slack_of(ends: int) -> int:
    """What is set aside for the error of the vector modularity, by a released number of ends."""
    return ceil(SLACK * ends)


def vector_modularity(graph: Graph) -> float:
    """The greatest value of unit vectors, see `CommunityStrength`, to a few parts in a thousand.

    One vector after another is put where it is best, given the others, until ten sweeps over all
    vertices gain less than a part in ten thousand. It is linear in edges.

    >>> vector_modularity(Graph.of([], order=3))
    0.0
    """
    from celosia.graphs.private._community_kernels import improve_vectors

    if not graph.size:
        return 0.0
    # Any directions will do; these are the same for every graph.
    drawn = Seeded(1).integers(2**20, COLUMNS * graph.order) - (2**19 - 0.5)
    vectors = drawn.reshape(graph.order, COLUMNS).astype(np.float64)
    vectors /= np.sqrt(np.square(vectors).sum(axis=1))[:, None]
    balance = graph.degrees @ vectors
    value = 0.0
    for _ in range(SWEEPS // CHECKED):
        for _ in range(CHECKED):
            improve_vectors(graph.starts, graph.neighbours, vectors, balance)
        before, value = value, _value(graph, vectors)
        if value - before < 1e-4 * 2 * graph.size:
            break
    return value


def _value(graph: Graph, vectors: NDArray[np.float64]) -> float:
    one, other = graph.edges.T
    inner = 2 * float(np.einsum("ij,ij->", vectors[one], vectors[other]))
    return inner - float(np.square(graph.degrees @ vectors).sum()) / (2 * graph.size)
