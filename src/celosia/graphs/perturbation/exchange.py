"""Random exchanges of edges: free ones, and ones that are steered by the spectrum."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.numbers import exact, whole
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphChange, GraphMethod, MethodResult, differences
from celosia.graphs.metrics.spectrum import Spectrum, spectrum_of
from celosia.graphs.sampling import DENSE, all_non_edges, pairs_of


def amount_of_change() -> Any:
    """The `amount` of a method: a whole number of at least 0, or a share in [0, 1]."""
    return parameter(kind="number", least=0, check=_check_amount, allowed="words.amount", start=0.2)


def _check_amount(amount: Any) -> Any:
    number, share = whole(amount), exact(amount)
    if share is None or share < 0 or (number is None and share > 1):
        raise ValueError(amount)
    return amount


def count_of(amount: float, size: int) -> int:
    """How many edges are meant in a graph with `size` of them, a share rounded to the nearest.

    >>> count_of(3, 12), count_of(0.25, 12), count_of(1.0, 12)
    (3, 3, 12)
    """
    number, share = whole(amount), exact(amount)
    assert share is not None, "checked on creation"
    return number if number is not None else floor(share * size + exact(0.5))  # type: ignore[operator]


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
        return self.graph.with_keys(self._keys)


def check_possible(graph: Graph, exchange: Exchange, count: int) -> None:
    """Refuse exchanges in a graph that certainly has none."""
    needed = 2 if exchange == "switch" else 1
    full = graph.size == pairs_of(graph.order)
    if count and (graph.size < needed or full):
        key = "CEL-G054.complete" if full and graph.size else "CEL-G054.too_few_edges"
        raise InputError(key, vertices=graph.order, edges=graph.size)


ROUNDS = 50
"""How often the spectrum is computed where nothing else is said."""

DEGREES_KEPT = Message("graphs.kept.degrees")
SIZE_KEPT = Message("graphs.kept.numbers")


def exchange_edges(
    graph: Graph,
    exchange: Exchange,
    *,
    count: int,
    every: int | None = None,
    patience: int = 1,
    rng: Source,
    progress: Progress,
) -> MethodResult[Graph]:
    """The graph after `count` exchanges.

    With `every`, each is chosen against the drift of the spectrum, which is computed anew after so
    many.
    """
    check_possible(graph, exchange, count)
    session = Exchanges(graph, exchange, patience=patience)
    spectra = None
    if every is None:
        session.run(count, total=count, rng=rng, progress=progress)
    elif graph.order > 1:
        spectra = _steer(session, count, every, rng, progress)
    done, tries = session.tally.tolist()
    if count and not done:
        raise InputError("CEL-G054.none_found", tries=tries, vertices=graph.order, edges=graph.size)
    changed = session.result()
    facts: dict[str, float] = {
        **differences(graph, changed),
        Message("graphs.fact.asked_for"): count,
        Message("graphs.fact.done"): done,
        Message("graphs.fact.tries"): tries,
    }
    if spectra is not None:
        first, last = spectra
        facts |= {
            Message("graphs.fact.eigenvalue_before"): first.largest,
            Message("graphs.fact.eigenvalue_after"): last.largest,
            Message("graphs.fact.connectivity_before"): first.connectivity,
            Message("graphs.fact.connectivity_after"): last.connectivity,
        }
    kept = DEGREES_KEPT if exchange == "switch" else SIZE_KEPT
    if every is not None:
        kept = Message("graphs.kept.spectrum", exactly=kept)
    return MethodResult(graph=changed, facts=facts, kept=kept)


def _steer(
    session: Exchanges, count: int, every: int, rng: Source, progress: Progress
) -> tuple[Spectrum, Spectrum]:
    """Exchange with an eye on the spectrum; the spectrum before and after."""
    progress(Step(Message("graphs.stage.spectrum"), 0, None))
    order = session.graph.order
    first = now = spectrum_of(session.edges, order)
    going = True
    while going and session.tally[0] < count:
        going = session.run(
            min(int(session.tally[0]) + every, count),
            total=count,
            rng=rng,
            progress=progress,
            vectors=now.vectors,
            drift=now.values - first.values,
        )
        now = spectrum_of(session.edges, order, start=now.vectors)
    return first, now


@dataclass(frozen=True, slots=True, kw_only=True)
class _RandomExchange(GraphMethod[Graph]):
    """What both have in common: random exchanges, none better than another."""

    amount: float = amount_of_change()
    """How many times: a number, or a share of the number of edges."""

    randomised = True
    exchange: ClassVar[Exchange]
    """Which sort."""

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        count = count_of(self.amount, graph.size)
        return exchange_edges(graph, self.exchange, count=count, rng=rng, progress=progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomAddDelete(_RandomExchange):
    """Take away a random edge and put a random new one, again and again.

    A step may undo an earlier one; the facts count the edges that really differ.

    Guarantee: none. After r steps a published edge is a true one with a chance near (m - r) / m.

    Reference: Ying, Wu 2008.
    """

    method_name = "random-add-delete"
    exchange = "move"
    gaps = (Message("graphs.open.hubs_found"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSwitch(_RandomExchange):
    """Replace two random edges {i, j}, {k, p} by {i, p}, {k, j}, again and again.

    A switch that would make a loop or repeat an edge is no choice; among the others each is
    equally likely. After 100 tries a switch asked for, what was reached is taken.

    Guarantee: none; every degree is published as it is.

    Reference: Ying, Wu 2008.
    """

    method_name = "random-switch"
    exchange = "switch"
    gaps = (Message("graphs.open.degree_kept"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SpectralExchange(_RandomExchange):
    """What both have in common: random exchanges that are steered by the spectrum."""

    every: int | None = parameter(None, least=1)
    """Exchanges between two computations of the spectrum; so that there are 50 where not given."""
    patience: int = parameter(50, least=1)
    """Possible exchanges looked at before one is taken that does not pull back."""

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        count = count_of(self.amount, graph.size)
        return exchange_edges(
            graph,
            self.exchange,
            count=count,
            every=self.every or -(-count // ROUNDS),
            patience=self.patience,
            rng=rng,
            progress=progress,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SpectralSwitch(_SpectralExchange):
    """Random switches, chosen so that two eigenvalues of the graph stay where they were.

    The two are the largest of the adjacency matrix and the second smallest of the Laplacian.
    Before each switch it is known how far they have drifted. Random possible switches are looked
    at until one is predicted, by first-order perturbation, to bring the two nearer to where they
    were; the predictions add up until the spectrum is computed anew.

    Guarantee: none; every degree is published as it is.

    Reference: Ying, Wu 2008.
    """

    method_name = "spectral-switch"
    exchange = "switch"
    gaps = (Message("graphs.open.degree_kept"), Message("graphs.open.fewer_exchanges"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpectralAddDelete(_SpectralExchange):
    """Random replacements of edges, chosen so that two eigenvalues stay where they were.

    As `SpectralSwitch`, with edges replaced by any pair that has none.

    Guarantee: none.

    Reference: Ying, Wu 2008.
    """

    method_name = "spectral-add-delete"
    exchange = "move"
    gaps = (Message("graphs.open.hubs"), Message("graphs.open.fewer_exchanges"))
