"""k-automorphism and k-isomorphism: the graph looks the same from k places, or is k like parts."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.sequence import check_k
from celosia.graphs.kdegree.vertex_addition import add_fake_vertices
from celosia.graphs.method import GraphChange, GraphMethod, MethodResult, additions, differences
from celosia.graphs.verification import are_automorphisms, are_parts, contains

__all__ = ["KAutomorphism", "KIsomorphism"]

Orbit = tuple[int, int, int]
"""Two rows and how far apart the columns are: all edges that turns make of one edge."""

_PROPOSALS = 40_000


@dataclass(slots=True, eq=False)
class AlignmentTable:
    """Where each vertex stands, fakes at the end included, and how often each orbit has an edge."""

    graph: Graph
    k: int
    place: list[int]
    """Row times k plus column, for each vertex."""
    orbits: dict[Orbit, int] = field(init=False)
    _near: list[list[int]] = field(init=False, repr=False)
    """The neighbours of each vertex, none of a fake one."""

    def __post_init__(self) -> None:
        self.orbits = dict(Counter(self.orbit(u, v) for u, v in self.graph.edges.tolist()))
        order = self.graph.order
        self._near = [self.graph.neighbours_of(v).tolist() for v in range(order)]
        self._near += [[] for _ in range(len(self.place) - order)]

    def orbit(self, one: int, other: int) -> Orbit:
        """The orbit of an edge, the same for each of its edges and both directions."""
        # A turn adds the same to both columns, so their difference names the orbit; it is taken
        # from the lower row, and in one row both ways round are the same orbit.
        row, column = divmod(self.place[one], self.k)
        also, far = divmod(self.place[other], self.k)
        if row < also:
            return row, also, (far - column) % self.k
        if row > also:
            return also, row, (column - far) % self.k
        apart = (far - column) % self.k
        return row, row, min(apart, self.k - apart)

    def edges_of(self, orbit: Orbit) -> int:
        """How many edges an orbit has: k, or half of it where a turn by half swaps the ends."""
        row, also, apart = orbit
        return self.k // 2 if row == also and 2 * apart == self.k else self.k

    def price(self, orbit: Orbit, held: int) -> int:
        """What an orbit costs of which so many edges are given: all its edges will be there."""
        return self.edges_of(orbit) if held else 0

    @property
    def size(self) -> int:
        """What all orbits cost: how many edges there are once all turns of the edges are in."""
        return sum(self.price(orbit, held) for orbit, held in self.orbits.items())

    def exchange(self, one: int, other: int) -> int:
        """Let two vertices change places; by how much the cost grows."""
        return self._replace(*self._move(one, other))

    def _move(self, one: int, other: int) -> tuple[list[Orbit], list[Orbit]]:
        """Let two vertices change places; the orbits of their edges before and after."""
        touched = [(one, near) for near in self._near[one]]
        touched += [(other, near) for near in self._near[other] if near != one]
        before = [self.orbit(v, near) for v, near in touched]
        self.place[one], self.place[other] = self.place[other], self.place[one]
        return before, [self.orbit(v, near) for v, near in touched]

    def _replace(self, old: list[Orbit], new: list[Orbit]) -> int:
        """Count an edge in other orbits; by how much the cost grows."""
        orbits, grown = self.orbits, 0
        for orbit in new:
            held = orbits.get(orbit, 0)
            orbits[orbit] = held + 1
            grown += self.price(orbit, held + 1) - self.price(orbit, held)
        for orbit in old:
            held = orbits[orbit] - 1
            grown += self.price(orbit, held) - self.price(orbit, held + 1)
            if held:
                orbits[orbit] = held
            else:
                del orbits[orbit]
        return grown

    def improve(self, rng: Source) -> None:
        """Exchange random vertices, keeping what does not make the result grow."""
        count = min(_PROPOSALS, 200 * len(self.place))
        for one, other in rng.integers(len(self.place), 2 * count).reshape(-1, 2).tolist():
            if one != other:
                before, after = self._move(one, other)
                # An exchange that costs nothing is kept: most tables have many of one cost, and
                # the way to a cheaper one leads through them.
                if self._replace(before, after) > 0:
                    self._replace(after, before)
                    self.place[one], self.place[other] = self.place[other], self.place[one]

    def renamings(self) -> list[NDArray[np.int64]]:
        """The k - 1 turns of the columns, each as the new number of every vertex."""
        place = np.array(self.place)
        holder = np.argsort(place)
        row, column = np.divmod(place, self.k)
        return [holder[row * self.k + (column + turn) % self.k] for turn in range(1, self.k)]

    def all_edges(self) -> NDArray[np.int64]:
        """The edges with all their turns; some come more than once."""
        edges = self.graph.edges.astype(np.int64)
        return np.concatenate([edges, *(renaming[edges] for renaming in self.renamings())])


class PartTable(AlignmentTable):
    """A table whose columns become parts that are alike, with no edge between two of them."""

    __slots__ = ()

    def price(self, orbit: Orbit, held: int) -> int:
        """Edges between columns go; those between two rows come in every column, or in none."""
        return held if orbit[2] else min(held, self.k - held)

    def common_edges(self) -> NDArray[np.int64]:
        """The edges that at least half of the columns have, in every column."""
        holder = np.argsort(np.array(self.place)).reshape(-1, self.k)
        kept = [o[:2] for o, held in self.orbits.items() if not o[2] and 2 * held >= self.k]
        rows = np.array(sorted(kept), dtype=np.int64).reshape(-1, 2)
        return np.stack([holder[rows[:, 0]].ravel(), holder[rows[:, 1]].ravel()], axis=1)


def build_alignment(
    graph: Graph,
    k: int,
    rng: Source,
    kind: type[AlignmentTable] = AlignmentTable,
) -> AlignmentTable:
    """A table of little cost in the end: the better of two starts, improved by exchanges.

    One start has vertices of like degree in a row. The other cuts the vertices, in the order of a
    walk from the greatest hub, into k blocks, the columns, and sorts each of them by degree.
    """
    total = -(-graph.order // k) * k
    degrees = np.concatenate([graph.degrees, np.zeros(total - graph.order, dtype=np.int64)])
    by_degree = np.argsort(-degrees, kind="stable")
    walk = np.array([*_walk(graph), *range(graph.order, total)]).reshape(k, -1)
    blocks = np.stack([block[np.argsort(-degrees[block], kind="stable")] for block in walk], axis=1)
    starts = (by_degree, blocks.ravel())
    tables = [kind(graph, k, np.argsort(start).tolist()) for start in starts]
    best = min(tables, key=lambda table: table.size)
    best.improve(rng)
    return best


def _walk(graph: Graph) -> list[int]:
    """All vertices, breadth first from the hubs."""
    seen: dict[int, None] = {}
    for hub in np.argsort(-graph.degrees, kind="stable").tolist():
        queue = deque([hub])
        while queue:
            vertex = queue.popleft()
            if vertex not in seen:
                seen[vertex] = None
                queue.extend(graph.neighbours_of(vertex).tolist())
    return list(seen)


MOST = 2000
"""The most vertices: the search for a good table is in plain Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KAutomorphism(GraphMethod[Graph]):
    """Copy edges until the graph has k - 1 renamings onto itself that agree nowhere.

    The vertices are put into a table with k columns, filled up with fakes. Each edge is copied for
    every turn of the columns; so each turn maps the graph to itself. The table is chosen so that
    few copies are new.

    Guarantee: the published graph, fakes included, is k-automorphic, checked edge by edge before
    it is given out. Whatever is known of a person's place in the published graph, without names,
    at least k vertices fit it equally.

    Reference: Zou, Chen, Ozsu 2009, algorithm KM.
    """

    k: int = parameter(least=2, start=2)
    """From how many places the graph looks the same."""

    method_name = "k-automorphism"
    randomised = True
    gaps = (Message("graphs.open.doubles_linked"), Message("graphs.open.attributes"))

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        check_k(self.k, graph.order)
        if graph.order > MOST:
            raise InputError("CEL-G112", method=self.method_name, most=MOST, order=graph.order)
        progress(Step(Message("graphs.stage.align"), 0, 1))
        table = build_alignment(graph, self.k, rng)
        fakes = len(table.place) - graph.order
        changed = add_fake_vertices(graph, table.all_edges(), fakes)
        progress(Step(Message("graphs.stage.verify"), 1, 1))
        if not (are_automorphisms(changed, table.renamings()) and contains(graph, changed)):
            raise PrivacyError("CEL-G105.apply")
        return MethodResult(
            graph=changed,
            facts=additions(graph, changed)
            | {
                Message("graphs.fact.k_reached"): self.k,
            },
            kept=Message("graphs.kept.real_edges"),
        )

    def promise(self, graph: Graph) -> str | None:
        return Message("graphs.promise.k_automorphism", k=self.k, doubles=self.k - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KIsomorphism(GraphMethod[Graph]):
    """Make k parts that are alike, without an edge between two of them.

    The vertices are put into a table with k columns, filled up with fakes; the columns become the
    parts. Edges between columns are deleted. An edge between two rows stays, in every column, if
    at least half of the columns have it, and goes otherwise. The table is chosen so that little
    changes.

    Guarantee: the published graph, fakes included, is k-isomorphic, checked edge by edge before it
    is given out. Whatever is known of the places of two people in the published graph, without
    names, a vertex is one of k, and an edge between the two is in question: for k - 1 of the k
    places of one of them, the other is in another part.

    Reference: Cheng, Fu, Liu 2010.

    >>> from celosia.core.randomness import Seeded
    >>> from celosia.graphs.verification import is_k_isomorphic
    >>> square = Graph.of([(0, 1), (1, 2), (2, 3), (0, 3)])
    >>> made = KIsomorphism(k=2).apply(square, rng=Seeded(1)).graph
    >>> made.size, is_k_isomorphic(made, 2)
    (2, True)
    """

    k: int = parameter(least=2, start=2)
    """How many parts there are."""

    method_name = "k-isomorphism"
    randomised = True
    gaps = (Message("graphs.open.lost_edges"), Message("graphs.open.attributes"))

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        check_k(self.k, graph.order)
        if graph.order > MOST:
            raise InputError("CEL-G112", method=self.method_name, most=MOST, order=graph.order)
        progress(Step(Message("graphs.stage.align"), 0, 1))
        table = build_alignment(graph, self.k, rng, PartTable)
        assert isinstance(table, PartTable)
        fakes = len(table.place) - graph.order
        changed = add_fake_vertices(graph, table.common_edges(), fakes)
        progress(Step(Message("graphs.stage.verify"), 1, 1))
        columns = np.array(table.place) % self.k
        if not (are_automorphisms(changed, table.renamings()) and are_parts(changed, columns)):
            raise PrivacyError("CEL-G105.parts")
        facts = differences(add_fake_vertices(graph, graph.edges.astype(np.int64), fakes), changed)
        facts |= {
            Message("graphs.fact.fake_vertices"): fakes,
            Message("graphs.fact.k_reached"): self.k,
        }
        return MethodResult(graph=changed, facts=facts, kept=Message("graphs.kept.part_edges"))

    def promise(self, graph: Graph) -> str | None:
        return Message("graphs.promise.k_isomorphism", k=self.k)
