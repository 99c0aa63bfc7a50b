"""Names replaced by random numbers: the first step of every release, and never enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod, MethodResult


@dataclass(frozen=True, slots=True, eq=False, repr=False)  # the key must reach no log
class RelabelledGraph:
    """A graph with new numbers, and the key to the old ones, which the curator keeps."""

    graph: Graph
    numbers: NDArray[np.int64]
    """The new number of each old vertex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relabelling(GraphMethod[Graph]):
    """Give the vertices random numbers and drop their names; the structure stays as it is.

    Attributes go along with their vertex or edge. Edges are sorted by the new numbers, so that
    their order says nothing of the old one.

    Guarantee: none. An attacker who knows a few facts about a person's contacts finds the vertex.

    Reference: Backstrom, Dwork, Kleinberg 2007.
    """

    method_name = "relabelling"
    randomised = True

    def apply(
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[Graph]:
        changed = relabel(graph, rng).graph
        facts: dict[str, Any] = {
            Message("graphs.fact.vertices"): changed.order,
            Message("graphs.fact.edges_after"): changed.size,
        }
        return MethodResult(graph=changed, facts=facts, kept=Message("graphs.kept.structure"))

    def leaves_open(self) -> tuple[str, ...]:
        return (
            Message("graphs.open.structure"),
            Message("graphs.open.planted"),
        )


def relabel(graph: Graph, rng: Source) -> RelabelledGraph:
    """The graph under random numbers, with the mapping; keep the mapping secret.

    >>> from celosia.core.randomness import Seeded
    >>> from celosia.graphs.examples import dan
    >>> made = relabel(dan(), Seeded(1))
    >>> made.graph.labels is None, sorted(made.numbers.tolist()) == list(range(9))
    (True, True)
    """
    numbers = rng.permutation(graph.order)
    ends = numbers[graph.edges]
    keys = ends.min(axis=1, initial=graph.order) * graph.order + ends.max(axis=1, initial=0)
    order = np.argsort(keys)
    changed = Graph.from_keys(keys[order], order=graph.order)
    known, edges = graph.attributes, graph.edge_attributes
    return RelabelledGraph(
        replace(
            changed,
            attributes=None if known is None else known[np.argsort(numbers)],
            edge_attributes=None if edges is None else edges[order],
        ),
        numbers,
    )


METHODS = (Relabelling,)
"""The methods of this module."""
