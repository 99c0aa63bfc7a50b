"""Triangles and clustering coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from celosia.graphs.graph import Graph
from celosia.graphs.metrics._threads import cores, in_threads

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
