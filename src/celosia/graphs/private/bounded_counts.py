"""Counts of triangles and stars that hide a vertex with all its edges, by a cap."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import whole
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.private.counts import BoundedCount
from celosia.graphs.private.mechanism import check_graph
from celosia.mechanisms.mechanism import Measurement


@dataclass(frozen=True, kw_only=True)
class BoundedTriangleCount(BoundedCount):
    """The number of triangles when each vertex is in at most `cap` of them, as shares.

    Each triangle counts with a share from 0 to 1, so that the shares at each vertex are at most
    `cap` in sum and the sum of all is greatest: a linear programme. A vertex more leaves every
    choice of shares possible, with 0 for its triangles; and without its triangles, at most `cap`,
    every choice is one of the graph without it. So the greatest sum rises by 0 to cap. Where no
    vertex is in more than `cap` triangles it is the number of triangles. The sum is rounded down,
    for which 1 is added, and 1 for the error of computing it.

    Greedy projection, as for edges, will not do here: one vertex may change which edges are taken
    along a path without end, and with them triangles.

    Guarantee: epsilon-DP with delta 0 for one vertex with all its edges; the number of vertices is
    private.

    Reference: Kasiviswanathan, Nissim, Raskhodnikova, Smith 2013, section 4 (by degrees there).

    >>> from celosia.core.randomness import Seeded
    >>> graph = Graph.of([(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> BoundedTriangleCount(epsilon=50, cap=4).release(graph, rng=Seeded(1))
    1
    """

    @property
    def question(self) -> str:
        if isinstance(self.cap, int):
            return Message("graphs.statistic.triangles_capped", cap=self.cap)
        return Message("graphs.statistic.triangles_chosen")

    def shift(self, cap: int) -> int:
        """The cap, and 2 for rounding and for the error of computing."""
        return cap + 2

    def reach(self, cap: int) -> int:
        return self.shift(cap)

    def cost(self, cap: int) -> Fraction:
        """The mean size of the noise: a lost triangle is an error of 1."""
        return self.shift(cap) / self.noise_price

    def measure(self, x: Graph, *, rng: Source) -> Measurement[int]:
        """The sum of the shares under the cap, with noise; the cap is among the parts."""
        corners = triangles_of(check_graph(x))
        sums = [bounded_triangles(corners, x.order, cap) for cap in self.caps]
        place = self.choose(sums, rng)
        cap = self.caps[place]
        return Measurement(sums[place] + int(self.law(cap).draw(1, rng)[0]), {"cap": cap})


def triangles_of(graph: Graph) -> NDArray[np.int32]:
    """The corners of each triangle, one row each."""
    from celosia.graphs.metrics.clustering import triangle_corners
    from celosia.graphs.private._kernels import list_triangles

    found = np.empty((int(triangle_corners(graph).sum()) // 3, 3), dtype=np.int32)
    list_triangles(graph.starts, graph.neighbours, found)
    return found


def bounded_triangles(corners: NDArray[np.int32], order: int, cap: int) -> int:
    """The greatest sum of shares of triangles, at most `cap` at each vertex, rounded down.

    Only vertices in more triangles than the cap bind, and triangles with the same such corners
    share one unknown: there are far fewer of those than triangles.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    full = np.bincount(corners.ravel(), minlength=order) > cap
    held = np.where(full[corners], corners, -1)
    free = int(np.count_nonzero((held < 0).all(axis=1)))
    kinds, times = np.unique(
        np.sort(held[(held >= 0).any(axis=1)], axis=1), axis=0, return_counts=True
    )
    if not len(kinds):
        return free
    row, column = np.nonzero(kinds >= 0)
    vertices, place = np.unique(kinds[row, column], return_inverse=True)
    shape = (vertices.size, len(kinds))
    matrix = sparse.coo_array((np.ones(row.size), (place, row)), shape=shape).tocsr()
    solved = linprog(
        -np.ones(len(kinds)),
        A_ub=matrix,
        b_ub=np.full(vertices.size, float(cap)),
        bounds=np.stack([np.zeros(len(kinds)), times], axis=1),
        method="highs",
    )
    assert solved.status == 0, "shares of 0 are possible, and sums are bounded"
    return free + int(np.floor(-solved.fun + 1e-6))


@dataclass(frozen=True, kw_only=True)
class BoundedStarCount(BoundedCount):
    """The number of stars with k rays when each vertex keeps at most `cap` edges.

    A vertex v is the centre of at most C(cap, k) stars, and at most cap steps of one move the
    degrees of the others, see `Projection`. A step of a degree below the cap moves C(d, k) by at
    most C(cap - 1, k - 1), and cap C(cap - 1, k - 1) = k C(cap, k). In all (k + 1) C(cap, k).

    Guarantee: epsilon-DP with delta 0 for one vertex with all its edges; the number of vertices is
    private.

    Reference: Day, Li, Lyu 2016, for degrees; the bound is proved above.

    >>> from celosia.core.randomness import Seeded
    >>> graph = Graph.of([(0, 1), (0, 2), (0, 3)])
    >>> BoundedStarCount(epsilon=100, cap=3, k=2).release(graph, rng=Seeded(1))
    3
    """

    k: int = 2

    def __post_init__(self) -> None:
        rays = whole(self.k)
        if rays is None or not 2 <= rays <= 20:
            raise InputError("CEL-G304.rays", k=self.k)
        super().__post_init__()

    @property
    def question(self) -> str:
        if isinstance(self.cap, int):
            return Message("graphs.statistic.stars_capped", k=self.k, cap=self.cap)
        return Message("graphs.statistic.stars_chosen", k=self.k)

    def shift(self, cap: int) -> int:
        """The stars of one vertex, times k + 1; at least 1."""
        return max((self.k + 1) * comb(cap, self.k), 1)

    def cost(self, cap: int) -> Fraction:
        """The mean noise, in edges: a lost edge is in some 2 C(cap - 1, k - 1) stars."""
        return self.shift(cap) / self.noise_price / max(2 * comb(cap - 1, self.k - 1), 1)

    def measure(self, x: Graph, *, rng: Source) -> Measurement[int]:
        """The number of stars under the cap, with noise; the cap is among the parts."""
        cap, projected = self.project(check_graph(x), rng)
        values, times = np.unique(projected.degrees, return_counts=True)
        pairs = zip(values.tolist(), times.tolist(), strict=True)
        count = sum(comb(value, self.k) * time for value, time in pairs)
        return Measurement(count + int(self.law(cap).draw(1, rng)[0]), {"cap": cap})
