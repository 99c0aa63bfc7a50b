"""k-anonymity of degree and, nearly, of triangles: a neighbourhood model for large graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.numbers import exact
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs._edge_set import edge_set
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.method import KDegree
from celosia.graphs.kdegree.sequence import check_k
from celosia.graphs.method import GraphChange, GraphMethod, MethodResult, differences
from celosia.graphs.metrics.clustering import triangle_corners
from celosia.graphs.verification import triangle_anonymity

__all__ = ["FuzzyNeighbourhood"]

ROUNDS = 60
"""Rounds of repair; networks that were tried took 4 to 22."""
PATIENCE = 6
"""Rounds after which the others come to a vertex that could not come to them."""
PARTS = 10**6
"""The tolerance counts in millionths, rounded down."""
_DRAWS = 16
"""Random words that a step takes: see the kernels."""
_TRIES = 200
"""Steps for a vertex in one round, and at least twice its degree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzyNeighbourhood(GraphMethod[Graph]):
    """Change edges until each vertex has nearly as many triangles as k - 1 others of its degree.

    A triangle of a vertex is an edge among its neighbours. The degrees are made k-anonymous first
    (method k-degree). Then pairs of edges are switched, which keeps every degree: a vertex that is
    alone gets neighbours that close more of its triangles, or fewer, until it is near enough to
    k - 1 others. That moves others, which are looked at again. For graphs of 100,000 vertices and
    more; the number of edges stays, or nearly.

    Guarantee: for all but `share` of the vertices of the published graph, at least k - 1 other
    vertices have the same degree and a number of triangles that differs by at most `tolerance` of
    the greater of the two, counted anew before it is given out. Whoever knows how many contacts a
    person has, and to within the tolerance how many pairs of them know each other, finds at least k
    candidates. With a tolerance of 0 that number is known exactly. Up to degree 3 the two numbers
    say all of a neighbourhood (its induced graph) if the tolerance is below 1/3; of a larger one
    they do not say which contacts know each other, and that is not hidden.

    >>> from celosia.core.randomness import Seeded
    >>> from celosia.graphs.examples import karate
    >>> made = FuzzyNeighbourhood(k=3).apply(karate(), rng=Seeded(1)).graph
    >>> triangle_anonymity(made, tolerance=0.2).k >= 3
    True
    """

    k: int = parameter(least=2, start=5)
    """How many vertices must share each degree and, nearly, its triangles."""
    tolerance: float = parameter(0.2, least=0, most=0.5)
    """By which part of the greater number of triangles two vertices may differ and be alike."""
    share: float = parameter(0.0, least=0, most=0.1)
    """The share of vertices that may stay below k; 0 for none."""

    method_name = "fuzzy-neighbourhood"
    randomised = True
    gaps = (
        Message("graphs.open.which_contacts"),
        Message("graphs.open.contacts_of_contacts"),
        Message("graphs.open.same_neighbour"),
    )

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        check_k(self.k, graph.order)
        start = KDegree(k=self.k).apply(graph, rng=rng, progress=progress).graph
        repair = Repair(start, self.k, floor((exact(self.tolerance) or 0) * PARTS))
        rounds = repair.run(floor(self.share * graph.order), rng, progress)
        changed = graph.with_edges(repair.edges())
        progress(Step(Message("graphs.stage.verify"), 1, 1))
        sizes = np.array(triangle_anonymity(changed, tolerance=self.tolerance).sizes)
        left = int((sizes < self.k).sum())
        if left > floor(self.share * graph.order):
            raise PrivacyError("CEL-G113", left=left, order=graph.order, k=self.k)
        return MethodResult(
            graph=changed,
            facts=differences(graph, changed)
            | {
                Message("graphs.fact.switches"): repair.switches,
                Message("graphs.fact.rounds"): rounds,
                Message("graphs.fact.vertices_below_k"): left,
                Message("graphs.fact.k_reached"): int(sizes.min(initial=graph.order)),
            },
            kept=Message("graphs.kept.most_edges"),
        )

    def promise(self, graph: Graph) -> str | None:
        facts = {"k": self.k, "others": self.k - 1, "tolerance": self.tolerance}
        if not self.share:
            return Message("graphs.promise.fuzzy_neighbourhood", **facts)
        exposed = floor(self.share * graph.order)
        return Message("graphs.promise.fuzzy_neighbourhood_share", **facts, exposed=exposed)


@dataclass(slots=True, eq=False)
class Repair:
    """A graph whose degrees stay while switches bring the triangles of its vertices together."""

    graph: Graph
    k: int
    tolerance: int
    """In millionths of the greater number."""
    switches: int = field(default=0, init=False)
    corners: NDArray[np.int64] = field(init=False)
    """The triangles of each vertex."""
    _rows: NDArray[np.int32] = field(init=False)
    _table: NDArray[np.int64] = field(init=False)
    _by_degree: NDArray[np.int64] = field(init=False)
    _ranked: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.corners = triangle_corners(self.graph).copy()
        self._rows, self._table = self.graph.neighbours.copy(), edge_set(self.graph.keys)
        self._by_degree = np.argsort(self.graph.degrees, kind="stable")
        self._ranked = self.graph.degrees[self._by_degree]

    def run(self, most: int, rng: Source, progress: Progress) -> int:
        """Repair until at most `most` vertices are below k, or for `ROUNDS`; how many it took."""
        for turn in range(ROUNDS):
            alone = np.flatnonzero(self.alike() < self.k)
            if alone.size <= most:
                return turn
            order = self.graph.order
            progress(Step(Message("graphs.stage.unite"), order - alone.size, order))
            for vertex in alone[np.argsort(-self.graph.degrees[alone], kind="stable")].tolist():
                self._unite(vertex, rng, patient=turn < PATIENCE)
        return ROUNDS

    def alike(self) -> NDArray[np.int64]:
        """How many vertices of its degree are near enough to each vertex, itself included."""
        span = int(self.corners.max(initial=0)) + 1
        offset = self.graph.degrees * span
        ranked = np.sort(offset + self.corners)
        low, high = self._range(self.corners)
        first = np.searchsorted(ranked, offset + low, side="left")
        return np.searchsorted(ranked, offset + np.minimum(high, span - 1), side="right") - first

    def _range(self, corners: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least and the greatest number that is near enough to each."""
        kept = PARTS - self.tolerance
        return -(-corners * kept // PARTS), corners * PARTS // kept

    def _unite(self, vertex: int, rng: Source, *, patient: bool) -> None:
        """Bring a vertex to k - 1 others of its degree; if that fails, some of them to it."""
        from celosia.graphs._neighbourhood_kernels import nearest_range

        others = self._others(vertex)
        goal = np.zeros(2, dtype=np.int64)
        ranked = np.sort(self.corners[others])
        nearest_range(ranked, self.corners[vertex], self.k, self.tolerance, PARTS, goal)
        if self._steer(vertex, goal, rng) or patient:
            return
        low, high = self._range(self.corners[vertex : vertex + 1])
        apart = np.abs(np.log1p(self.corners[others]) - np.log1p(self.corners[vertex]))
        for other in others[np.argsort(apart, kind="stable")][: self.k - 1].tolist():
            self._steer(other, np.concatenate([low, high]), rng)

    def _steer(self, vertex: int, goal: NDArray[np.int64], rng: Source) -> bool:
        """Switch until a vertex has as many triangles as asked; whether it came to that."""
        from celosia.graphs._neighbourhood_kernels import steer

        low, high = goal.tolist()
        if not low <= self.corners[vertex] <= high:
            tries = max(_TRIES, 2 * int(self.graph.degrees[vertex]))
            words = rng.words(_DRAWS * tries)
            state = self.graph.starts, self._rows, self._table, self.corners
            self.switches += steer(*state, vertex, low, high, words)
        return bool(low <= self.corners[vertex] <= high)

    def _others(self, vertex: int) -> NDArray[np.int64]:
        degrees = self.graph.degrees
        first, last = np.searchsorted(self._ranked, degrees[vertex] + np.arange(2))
        members = self._by_degree[first:last]
        return np.asarray(members[members != vertex])

    def edges(self) -> NDArray[np.int64]:
        """The edges as they are now."""
        owner = np.repeat(np.arange(self.graph.order), self.graph.degrees)
        pairs = np.stack([owner, self._rows], axis=1)
        return pairs[pairs[:, 0] < pairs[:, 1]]
