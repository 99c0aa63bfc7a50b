"""A graph under random exchanges of its edges, and the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.sampling import DENSE, all_non_edges, pairs_of

Exchange = Literal["switch", "move"]
TRIES = 100
"""Tries for each exchange asked for, after which it is taken that there are no more."""

_BATCH = 1 << 20
_EMPTY = np.empty(0, dtype=np.int64)


@dataclass(slots=True, eq=False)
class Exchanges:
    """The edges of a graph, exchanged in place."""

    graph: Graph
    exchange: Exchange
    patience: int = 1
    """Possible exchanges looked at before one is taken that does not pull back the spectrum."""
    tally: NDArray[np.int64] = field(default_factory=lambda: np.zeros(2, dtype=np.int64))
    """Exchanges made, and tries."""
    _keys: NDArray[np.int64] = field(init=False)
    _free: NDArray[np.int64] = field(init=False)
    _table: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        from celosia.graphs._edge_set import edge_set

        pairs = pairs_of(self.graph.order)
        dense = self.exchange == "move" and pairs <= DENSE * self.graph.size
        self._keys = self.graph.keys.copy()
        self._free = all_non_edges(self.graph) if dense else _EMPTY
        self._table = edge_set(_EMPTY if dense else self._keys)

    def run(
        self,
        goal: int,
        *,
        total: int,
        rng: Source,
        progress: Progress,
        vectors: NDArray[np.float64] | None = None,
        drift: NDArray[np.float64] | None = None,
    ) -> bool:
        """Exchange until `goal` of `total` are done; False where the tries ran out before."""
        from celosia.graphs.perturbation._kernels import moves, switches

        steering = (
            self.patience,
            np.empty((0, 0)) if vectors is None else vectors,
            np.zeros(2) if drift is None else drift,
        )
        most = TRIES * total * self.patience
        while self.tally[0] < goal and self.tally[1] < most:
            progress(Step(Message("graphs.stage.exchange"), int(self.tally[0]), total))
            left = (goal - int(self.tally[0])) * 8 * min(self.patience, 8)
            words = rng.words(min(max(left, 1024), _BATCH))
            given = (self._table, self.graph.order, words, goal, most, self.tally, *steering)
            if self.exchange == "switch":
                switches(self._keys, *given)
            else:
                moves(self._keys, self._free, *given)
        return bool(self.tally[0] == goal)

    @property
    def edges(self) -> NDArray[np.int64]:
        """The edges as they are now, in no order."""
        return np.stack(np.divmod(self._keys, max(self.graph.order, 1)), axis=1)

    def result(self) -> Graph:
        """The graph as it is now."""
        return graph_of(self.graph, self._keys)


def check_possible(graph: Graph, exchange: Exchange, count: int) -> None:
    """Refuse exchanges in a graph that certainly has none.

    Raises:
        InputError: CEL-G054 the graph has too few edges, or every pair is one.
    """
    needed = 2 if exchange == "switch" else 1
    full = graph.size == pairs_of(graph.order)
    if count and (graph.size < needed or full):
        key = "CEL-G054.complete" if full and graph.size else "CEL-G054.too_few_edges"
        raise InputError(key, vertices=graph.order, edges=graph.size)


def no_exchange_found(graph: Graph, tries: int) -> InputError:
    """The error for a graph in which no exchange was found."""
    return InputError("CEL-G054.none_found", tries=tries, vertices=graph.order, edges=graph.size)


def graph_of(graph: Graph, keys: NDArray[np.int64]) -> Graph:
    """The same vertices with the edges of these keys, which are sorted first."""
    return Graph.from_keys(
        np.sort(keys, kind="stable"),  # most are in order still
        order=graph.order,
        labels=graph.labels,
        attributes=graph.attributes,
    )


def differences(before: Graph, after: Graph) -> dict[str, int]:
    """How many edges a change took away and brought, for the facts of a method."""
    from celosia.graphs._kernels import shared_keys

    shared = int(shared_keys(before.keys, after.keys))
    return {
        Message("graphs.fact.vertices"): after.order,
        Message("graphs.fact.edges_before"): before.size,
        Message("graphs.fact.edges_after"): after.size,
        Message("graphs.fact.edges_deleted"): before.size - shared,
        Message("graphs.fact.edges_added"): after.size - shared,
    }
