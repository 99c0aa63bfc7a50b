"""Random exchanges of edges that preserve the spectrum of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod, MethodResult
from celosia.graphs.perturbation.amount import amount_of_change, count_of
from celosia.graphs.perturbation.random_exchange import DEGREES_KEPT, SIZE_KEPT
from celosia.graphs.perturbation.session import (
    Exchange,
    Exchanges,
    check_possible,
    differences,
    no_exchange_found,
)
from celosia.graphs.perturbation.spectrum import spectrum_of

ROUNDS = 50
"""How often the spectrum is computed where nothing else is said."""


def steer_exchanges(
    graph: Graph,
    exchange: Exchange,
    *,
    count: int,
    every: int,
    patience: int,
    rng: Source,
    progress: Progress,
) -> MethodResult[Graph]:
    """The graph after `count` exchanges, each chosen against the drift of the spectrum."""
    check_possible(graph, exchange, count)
    session = Exchanges(graph, exchange, patience=patience)
    progress(Step(Message("graphs.stage.spectrum"), 0, None))
    first = now = spectrum_of(session.edges, graph.order) if graph.order > 1 else None
    done = 0
    while first is not None and now is not None and done < count:
        drift = now.values - first.values
        goal = min(done + every, count)
        going = session.run(
            goal,
            total=count,
            rng=rng,
            progress=progress,
            vectors=now.vectors,
            drift=drift,
        )
        done = int(session.tally[0])
        now = spectrum_of(session.edges, graph.order, start=now.vectors)
        if not going:
            break
    if count and not done:
        raise no_exchange_found(graph, int(session.tally[1]))
    changed = session.result()
    facts: dict[str, float] = dict(differences(graph, changed))
    facts |= {
        Message("graphs.fact.asked_for"): count,
        Message("graphs.fact.done"): done,
        Message("graphs.fact.tries"): int(session.tally[1]),
    }
    if first is not None and now is not None:
        facts |= {
            Message("graphs.fact.eigenvalue_before"): first.largest,
            Message("graphs.fact.eigenvalue_after"): now.largest,
            Message("graphs.fact.connectivity_before"): first.connectivity,
            Message("graphs.fact.connectivity_after"): now.connectivity,
        }
    exactly = DEGREES_KEPT if exchange == "switch" else SIZE_KEPT
    return MethodResult(
        graph=changed,
        facts=facts,
        kept=Message("graphs.kept.spectrum", exactly=exactly),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SpectralExchange(GraphMethod[Graph]):
    """What both have in common: random exchanges that are steered by the spectrum."""

    amount: float = amount_of_change()
    """How many exchanges: a number, or a share of the number of edges."""
    every: int | None = parameter(None, least=1)
    """Exchanges between two computations of the spectrum; so that there are 50 where not given."""
    patience: int = parameter(50, least=1)
    """Possible exchanges looked at before one is taken that does not pull back."""

    randomised = True
    exchange: ClassVar[Exchange]
    """Which sort."""
    gap: ClassVar[str]
    """What this sort leaves open."""

    def apply(
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[Graph]:
        count = count_of(self.amount, graph.size)
        return steer_exchanges(
            graph,
            self.exchange,
            count=count,
            every=self.every or -(-count // ROUNDS),
            patience=self.patience,
            rng=rng,
            progress=progress,
        )

    def leaves_open(self) -> tuple[str, ...]:
        return (
            self.gap,
            Message("graphs.open.fewer_exchanges"),
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
    gap = Message("graphs.open.degree_kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpectralAddDelete(_SpectralExchange):
    """Random replacements of edges, chosen so that two eigenvalues stay where they were.

    As `SpectralSwitch`, with edges replaced by any pair that has none.

    Guarantee: none.

    Reference: Ying, Wu 2008.
    """

    method_name = "spectral-add-delete"
    exchange = "move"
    gap = Message("graphs.open.hubs")
