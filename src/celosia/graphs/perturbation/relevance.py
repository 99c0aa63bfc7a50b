"""Perturbation of the edges with the lowest neighbourhood centrality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphChange, GraphMethod, MethodResult, differences
from celosia.graphs.perturbation.deletion import check_deletions
from celosia.graphs.perturbation.exchange import (
    SIZE_KEPT,
    amount_of_change,
    count_of,
)
from celosia.graphs.sampling import keys_to_pairs, non_edges, pairs_of
from celosia.tables.masking.draws import uniforms

Selection = Literal["weighted", "lowest"]
POOL = 10
"""Random pairs looked at for each edge to be added."""


def neighbourhood_centrality(graph: Graph, pairs: NDArray[np.integer]) -> NDArray[np.float64]:
    """How much each pair of vertices, joined or not, links parts that are not linked otherwise.

    The number of vertices next to one of the two only, over twice the greatest degree: in [0, 1].

    >>> from celosia.graphs.examples import g9
    >>> neighbourhood_centrality(g9(), np.array([[0, 1], [1, 2], [0, 2]])).tolist()
    [0.375, 0.5, 0.625]

    Reference: Casas-Roma 2014.
    """
    from celosia.graphs._kernels import common_neighbours

    ends = pairs.astype(np.int64)
    shared = common_neighbours(graph.starts, graph.neighbours, ends)
    apart = graph.degrees[ends].sum(axis=1) - 2 * shared
    return np.asarray(apart / max(2 * int(graph.degrees.max(initial=0)), 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance(GraphMethod[Graph]):
    """Delete edges of low neighbourhood centrality, and add pairs of low centrality.

    The edges added are chosen among ten times as many random pairs without an edge, so that
    large graphs need not be searched for the lowest of all.

    Guarantee: none.

    Reference: Casas-Roma 2014.
    """

    amount: float = amount_of_change()
    """How many edges are deleted, and added: a number, or a share of the edges."""
    selection: Selection = "weighted"
    """`weighted`: by lot, the less central the likelier; `lowest`: the least central, ties by
    lot."""

    method_name = "relevance"
    randomised = True
    gaps = (Message("graphs.open.important_edges"), Message("graphs.open.central_edge"))

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        count = check_deletions(graph, count_of(self.amount, graph.size))
        free = pairs_of(graph.order) - graph.size
        pool = non_edges(graph, max(count, min(POOL * count, free)), rng)
        progress(Step(Message("graphs.stage.compare"), 0, 2))
        deleted = self._choose(neighbourhood_centrality(graph, graph.edges), count, rng)
        progress(Step(Message("graphs.stage.compare"), 1, 2))
        added = self._choose(
            neighbourhood_centrality(graph, keys_to_pairs(pool, graph.order)), count, rng
        )
        kept = np.delete(graph.keys, deleted)
        changed = graph.with_keys(np.concatenate([kept, pool[added]]))
        return MethodResult(graph=changed, facts=differences(graph, changed), kept=SIZE_KEPT)

    def _choose(
        self, centrality: NDArray[np.float64], count: int, rng: Source
    ) -> NDArray[np.int64]:
        lots = uniforms(rng, centrality.size)
        if self.selection == "lowest":
            return np.lexsort((lots, centrality))[:count]
        # Sampling by weight without return: the largest u ** (1 / weight) win (Efraimidis,
        # Spirakis 2006). A small floor keeps an edge of centrality 1 possible.
        weights = 1.0 - centrality + 1e-3
        return np.argsort(-np.log(lots) / weights, kind="stable")[:count]
