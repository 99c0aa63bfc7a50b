"""How vertices cluster: triangles and communities."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import cores
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.metrics.centrality import in_threads

_PARTS_A_CORE = 4
"""Parts of unequal work even out."""


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """The triangles of a graph."""

    corners: NDArray[np.int64]
    """How many triangles each vertex is in."""
    local: NDArray[np.float64]
    """The share of the pairs of neighbours that are joined; 0 for fewer than two neighbours."""
    transitivity: float
    """Of all paths of two edges, the share whose ends are joined."""

    @property
    def triangles(self) -> int:
        """How many there are."""
        return int(self.corners.sum()) // 3

    @property
    def mean(self) -> float:
        """The mean of `local` over all vertices."""
        return float(self.local.mean()) if self.local.size else 0.0


def triangle_corners(graph: Graph) -> NDArray[np.int64]:
    """How many triangles each vertex is in, exactly.

    Each edge is kept at its end of lower degree, so that hubs have short rows; then a triangle is
    met once, at its lowest corner (Schank, Wagner 2005). No more than m to the power of 3/2 steps.

    >>> triangle_corners(Graph.of([(0, 1), (0, 2), (1, 2), (2, 3)])).tolist()
    [1, 1, 1, 0]
    """
    from celosia.graphs.metrics._kernels import triangles_from, upward

    by_degree = np.argsort(graph.degrees, kind="stable")
    ranks = np.empty(graph.order, dtype=np.int32)
    ranks[by_degree] = np.arange(graph.order, dtype=np.int32)
    starts, rows = upward(graph.edges, ranks)
    parts = _PARTS_A_CORE * cores()
    borders = np.searchsorted(starts, np.linspace(0, graph.size, parts + 1)[1:-1])
    bounds = np.concatenate([[0], borders, [graph.order]])

    def count(begin: int, end: int) -> NDArray[np.int64]:
        here = np.zeros(graph.order, dtype=np.int64)
        triangles_from(starts, rows, begin, end, here)
        return here

    found = in_threads(count, pairwise(bounds), steps=graph.size)
    corners: NDArray[np.int64] = np.sum(found, axis=0)[ranks]
    return corners


def clustering(graph: Graph) -> Clustering:
    """The triangles of a graph and what is derived from them, exactly for graphs of any size.

    >>> from celosia.graphs.examples import g9
    >>> found = clustering(g9())
    >>> found.triangles, found.transitivity
    (2, 0.24)
    """
    corners = triangle_corners(graph)
    pairs = graph.degrees * (graph.degrees - 1) // 2  # below 2**61: degrees are below 2**31
    local = np.divide(corners, pairs, out=np.zeros(graph.order), where=pairs > 0)
    paths = int(pairs.sum())
    return Clustering(corners, local, int(corners.sum()) / paths if paths else 0.0)


_MOST_PASSES = 20
_MOST_LEVELS = 30


@dataclass(frozen=True, slots=True, eq=False)
class Communities:
    """A partition of the vertices and its modularity."""

    of_vertex: NDArray[np.int64]
    """The number of the community of each vertex, counted from 0."""
    modularity: float
    """The share of edges inside communities, less what chance would put there."""

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.of_vertex.max(initial=-1)) + 1


def communities(graph: Graph, *, rng: Source, progress: Progress = silent) -> Communities:
    """A partition of high modularity, found greedily and level by level.

    Vertices are visited in an order drawn from `rng`; the same order gives the same partition. It
    is a good partition, not the best one: that is NP-hard to find (Brandes et al. 2008).

    >>> from celosia.core.randomness import Seeded
    >>> two = Graph.of([(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)])
    >>> communities(two, rng=Seeded(1)).count
    2

    Reference: Blondel, Guillaume, Lambiotte, Lefebvre 2008.
    """
    from celosia.graphs.metrics._kernels import move_vertices

    of_vertex = np.arange(graph.order, dtype=np.int64)
    starts, rows = graph.starts, graph.neighbours
    weights = np.ones(rows.size, dtype=np.int64)
    strengths = graph.degrees
    for level in range(_MOST_LEVELS if graph.size else 0):
        progress(Step(Message("graphs.stage.communities"), level))
        order = len(strengths)
        found = np.arange(order, dtype=np.int64)
        sequence = rng.permutation(order)
        if not move_vertices(starts, rows, weights, strengths, sequence, found, _MOST_PASSES):
            break
        found = np.unique(found, return_inverse=True)[1]
        of_vertex = found[of_vertex]
        starts, rows, weights, strengths = _join(starts, rows, weights, strengths, found)
    return Communities(of_vertex, modularity(graph, of_vertex))


def modularity(graph: Graph, of_vertex: NDArray[np.int64]) -> float:
    """The modularity of a partition; 0 for a graph without edges.

    >>> square = Graph.of([(0, 1), (2, 3)])
    >>> modularity(square, np.array([0, 0, 1, 1]))
    0.5

    Reference: Newman, Girvan 2004.
    """
    if not graph.size:
        return 0.0
    one, other = of_vertex[graph.edges].T
    strength = np.bincount(of_vertex, weights=graph.degrees) / (2 * graph.size)
    return float(np.count_nonzero(one == other) / graph.size - np.sum(strength**2))


def _join(
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    weights: NDArray[np.int64],
    strengths: NDArray[np.int64],
    found: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """The graph of the communities: edges between two add up, those inside only count in sums."""
    from scipy import sparse

    count = int(found.max()) + 1
    here = np.repeat(found, np.diff(starts))
    there = found[rows]
    between = here != there
    ends = (here[between], there[between])
    made = sparse.coo_array((weights[between], ends), shape=(count, count)).tocsr()
    joined = np.zeros(count, dtype=np.int64)
    np.add.at(joined, found, strengths)
    return (
        made.indptr.astype(np.int64),
        made.indices.astype(np.int32),
        made.data.astype(np.int64),
        joined,
    )
