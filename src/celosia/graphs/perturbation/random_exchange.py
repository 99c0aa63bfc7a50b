"""Random exchanges of edges: replacements, and switches that keep degrees."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod, MethodResult
from celosia.graphs.perturbation.amount import amount_of_change, count_of
from celosia.graphs.perturbation.session import (
    Exchange,
    Exchanges,
    check_possible,
    differences,
    no_exchange_found,
)

DEGREES_KEPT = Message("graphs.kept.degrees")
SIZE_KEPT = Message("graphs.kept.numbers")


def exchange_edges(
    graph: Graph, exchange: Exchange, amount: float, *, rng: Source, progress: Progress
) -> MethodResult[Graph]:
    """The graph after `amount` exchanges."""
    count = count_of(amount, graph.size)
    check_possible(graph, exchange, count)
    session = Exchanges(graph, exchange)
    session.run(count, total=count, rng=rng, progress=progress)
    done, tries = session.tally.tolist()
    if count and not done:
        raise no_exchange_found(graph, tries)
    changed = session.result()
    facts = differences(graph, changed) | {
        Message("graphs.fact.asked_for"): count,
        Message("graphs.fact.done"): done,
        Message("graphs.fact.tries"): tries,
    }
    kept = DEGREES_KEPT if exchange == "switch" else SIZE_KEPT
    return MethodResult(graph=changed, facts=facts, kept=kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomAddDelete(GraphMethod[Graph]):
    """Take away a random edge and put a random new one, again and again.

    A step may undo an earlier one; the facts count the edges that really differ.

    Guarantee: none. After r steps a published edge is a true one with a chance near (m - r) / m.

    Reference: Ying, Wu 2008.
    """

    amount: float = amount_of_change()
    """How many times: a number, or a share of the number of edges."""

    method_name = "random-add-delete"
    randomised = True

    def apply(
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[Graph]:
        return exchange_edges(graph, "move", self.amount, rng=rng, progress=progress)

    def leaves_open(self) -> tuple[str, ...]:
        return (Message("graphs.open.hubs_found"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSwitch(GraphMethod[Graph]):
    """Replace two random edges {i, j}, {k, p} by {i, p}, {k, j}, again and again.

    A switch that would make a loop or repeat an edge is no choice; among the others each is
    equally likely. After 100 tries a switch asked for, what was reached is taken.

    Guarantee: none; every degree is published as it is.

    Reference: Ying, Wu 2008.
    """

    amount: float = amount_of_change()
    """How many switches: a number, or a share of the number of edges."""

    method_name = "random-switch"
    randomised = True

    def apply(
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[Graph]:
        return exchange_edges(graph, "switch", self.amount, rng=rng, progress=progress)

    def leaves_open(self) -> tuple[str, ...]:
        return (Message("graphs.open.degree_kept"),)
