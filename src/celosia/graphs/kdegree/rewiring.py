"""Wanted degrees by rotating edge ends, and edges brought back by switches that keep degrees."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.sequence import is_graphical
from celosia.graphs.sampling import among

ROUNDS = 200
"""Rounds without any success, with random switches between them, before giving up."""

DETOURS = 20
"""Detours in a row before the rows of neighbours are made anew."""

CANDIDATES = 16
"""Pivots that are compared by centrality for one rotation."""

_TRIES = 64
Whole = NDArray[np.int64]


def rewire(
    graph: Graph,
    targets: Whole,
    *,
    central: bool = False,
    rng: Source,
    progress: Progress = silent,
) -> Graph:
    """A graph with exactly these degrees, near the given one.

    If the targets sum up to more (or less) than the degrees, edges are added (deleted) first. Then
    each edge end too many is rotated to a vertex with one too few, over a pivot that is random or,
    if `central`, of the least neighbourhood centrality among some. Where no rotation is possible,
    random switches, which keep all degrees, make room.

    Raises:
        PrivacyError: CEL-G104 no graph has these degrees, or none was found.

    Reference: Casas-Roma, Herrera-Joancomarti, Torra 2017.
    """
    if not is_graphical(targets):
        raise PrivacyError("CEL-G104.no_graph")
    current, left, idle = graph, int(np.abs(targets - graph.degrees).sum()), 0
    whole = left
    while left and idle < ROUNDS:
        progress(Step(Message("graphs.stage.rotate"), whole - left, whole))
        work = _Rewiring(current, targets - current.degrees, rng, CANDIDATES if central else 1)
        work.balance()
        work.rotate()
        current = work.result()
        before, left = left, int(np.abs(targets - current.degrees).sum())
        if left >= before:
            from celosia.graphs.perturbation.exchange import Exchanges

            idle += 1
            session = Exchanges(current, "switch")
            some = 1 + current.size // 10
            session.run(some, total=some, rng=rng, progress=progress)
            current = session.result()
    if left:
        raise PrivacyError("CEL-G104.no_place")
    return current


@dataclass(slots=True, eq=False)
class _Rewiring:
    """A graph under change, and how many edge ends each vertex still wants."""

    graph: Graph
    wanted: Whole
    rng: Source
    look: int
    table: Whole = field(init=False)

    def __post_init__(self) -> None:
        from celosia.graphs._edge_set import edge_set

        room = abs(int(self.wanted.sum())) + 8
        self.table = edge_set(self.graph.keys, room=room)

    def balance(self) -> None:
        """Add or delete edges until as many ends are too many as too few."""
        surplus = int(self.wanted.sum())
        for _ in range(abs(surplus) // 2):
            self._one_edge(1 if surplus > 0 else -1)

    def _one_edge(self, sign: int) -> None:
        """Add (1) or delete (-1) an edge between two vertices that want it.

        If no two are found, one of them takes any partner: the partner's end is then rotated on.
        """
        from celosia.graphs._edge_set import delete, insert

        ready = np.flatnonzero(sign * self.wanted > 0)
        one = int(ready[self.rng.integers(ready.size, 1)[0]])
        if sign > 0:
            anyone = np.arange(self.graph.order)
        else:
            anyone = self.graph.neighbours_of(one).astype(np.int64)
        for others in (ready, anyone):
            if not others.size:
                continue
            places = self.rng.integers(others.size, _TRIES)
            for other in others[places].tolist():
                key = min(one, other) * self.graph.order + max(one, other)
                change = insert if sign > 0 else delete
                if one != other and change(self.table, key):
                    self.wanted[[one, other]] -= sign
                    return

    def rotate(self) -> None:
        """Rotate what can be rotated, pairing those that lose and gain by lot.

        Where no pair is possible, what is too many goes to vertices by lot, to be rotated on.
        """
        vertices = np.arange(self.graph.order)
        losers = np.repeat(vertices, np.maximum(-self.wanted, 0))
        winners = np.repeat(vertices, np.maximum(self.wanted, 0))
        rows, ends = self.graph.neighbours.copy(), self.graph.starts[1:].copy()
        detours = 0
        while losers.size and winners.size and detours < DETOURS:
            both = min(losers.size, winners.size)
            losers = losers[self.rng.permutation(losers.size)][:both]
            winners = winners[self.rng.permutation(winners.size)][:both]
            done = self._turn(losers, winners, rows, ends)
            losers, winners = losers[~done], winners[~done]
            detours = 0 if done.any() else detours + 1
            if detours:
                others = self.rng.integers(self.graph.order, losers.size)
                losers = np.where(self._turn(losers, others, rows, ends), others, losers)

    def _turn(
        self, losers: Whole, winners: Whole, rows: NDArray[np.int32], ends: Whole
    ) -> NDArray[np.bool_]:
        from celosia.graphs.kdegree._rewiring_kernels import rotate

        graph = self.graph
        return rotate(
            *(losers, winners, self.rng.words(losers.size), graph.order, self.table),
            *(graph.starts, ends, rows, graph.neighbours, self.look),
        )

    def result(self) -> Graph:
        """The graph as it is now."""
        return self.graph.with_keys(self.table[self.table >= 0])


_LOOK = 32
"""Neighbours of either end that are tried for one edge."""

_PASSES = 50


def swap_back(made: Graph, graph: Graph, *, rng: Source, progress: Progress = silent) -> Graph:
    """Switch edges of `made`, which keeps its degrees, as long as edges of `graph` come back.

    Edges of the graph that are lost are taken in random order, and each is brought back if two
    edges that the graph never had can be given up for it.

    >>> from celosia.core.randomness import Seeded
    >>> square, crossed = Graph.of([(0, 1), (2, 3)]), Graph.of([(0, 2), (1, 3)])
    >>> swap_back(crossed, square, rng=Seeded(1)).same_edges(square)
    True

    Reference: Liu, Terzi 2008, algorithm GreedySwap; every lost edge is tried here in place of a
    sample of pairs of edges.
    """
    from celosia.graphs._edge_set import edge_set
    from celosia.graphs.kdegree._rewiring_kernels import bring_back

    given, table = edge_set(graph.keys), edge_set(made.keys, room=2)
    rows = made.neighbours.copy()
    current = made.keys
    for step in range(_PASSES):
        progress(Step(Message("graphs.stage.swap"), step, _PASSES))
        lost = graph.keys[~among(current, graph.keys)]
        lost = lost[rng.permutation(lost.size)]
        if not bring_back(lost, graph.order, given, table, made.starts, rows, _LOOK):
            break
        current = np.sort(table[table >= 0])
    return graph.with_keys(current)
