"""Random deletion of edges, with or without as many false edges in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.numbers import exact, exactly
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphChange, GraphMethod, MethodResult, differences
from celosia.graphs.perturbation.exchange import (
    SIZE_KEPT,
    amount_of_change,
    count_of,
)
from celosia.graphs.sampling import non_edges, subset

FINEST = 2**62
"""The greatest denominator of a chance: draws are whole numbers below it."""


def _check_chance(value: Any) -> Any:
    chance = exact(value)
    if chance is None or not 0 <= chance <= 1 or chance.denominator > FINEST:
        raise ValueError(value)
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomPerturbation(GraphMethod[Graph]):
    """Delete some random edges, then add as many that are false.

    The new edges are chosen among the pairs without an edge in the given graph, so that none of
    the deleted comes back: exactly `amount` edges differ each way.

    Guarantee: none. An edge of the release is true with chance (m - p) / m for a reader who knows
    nothing else.

    Reference: Hay, Miklau, Jensen, Weis, Srivastava 2007.
    """

    amount: float = amount_of_change()
    """How many edges are deleted, and added: a number, or a share of the edges."""

    method_name = "random-perturbation"
    randomised = True
    gaps = (Message("graphs.open.hubs_found"),)

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        count = check_deletions(graph, count_of(self.amount, graph.size))
        added = non_edges(graph, count, rng)
        kept = np.delete(graph.keys, subset(graph.size, count, rng))
        changed = graph.with_keys(np.concatenate([kept, added]))
        return MethodResult(graph=changed, facts=differences(graph, changed), kept=SIZE_KEPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSparsification(GraphMethod[Graph]):
    """Delete each edge by the toss of a coin of its own; add none.

    Guarantee: none. Every published edge is true; an absent one may have been there.

    Reference: Bonchi, Gionis, Tassa 2011.
    """

    probability: float = parameter(
        kind="number", least=0, most=1, check=_check_chance, allowed="words.chance", start=0.1
    )
    """The chance of each edge to be deleted."""

    method_name = "random-sparsification"
    randomised = True
    gaps = (Message("graphs.open.edge_is_true"), Message("graphs.open.same_share"))

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        chance = exactly(self.probability)
        stay = rng.integers(chance.denominator, graph.size) >= chance.numerator
        changed = graph.with_keys(graph.keys[stay])
        if graph.edge_attributes is not None:
            changed = Graph(
                order=changed.order,
                edges=changed.edges,
                labels=changed.labels,
                attributes=changed.attributes,
                edge_attributes=graph.edge_attributes.filter(stay),
            )
        kept = Message("graphs.kept.true_edges")
        return MethodResult(graph=changed, facts=differences(graph, changed), kept=kept)


def check_deletions(graph: Graph, count: int) -> int:
    """The number of edges to delete, where the graph has as many."""
    if count > graph.size:
        raise InputError("CEL-G056", wanted=count, edges=graph.size)
    return count
