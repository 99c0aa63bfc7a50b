"""k-neighbourhood anonymity: each neighbourhood is isomorphic to k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.automorphism.alignment_table import build_alignment
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.sequence import check_k
from celosia.graphs.kdegree.vertex_addition import add_fake_vertices
from celosia.graphs.method import GraphMethod, MethodResult
from celosia.graphs.neighbourhood.alignment import align
from celosia.graphs.neighbourhood.neighbourhoods import Neighbourhoods
from celosia.graphs.verification import contains, neighbourhood_anonymity, neighbourhood_classes

MOST = 1000
"""The most vertices: every step compares one neighbourhood with all others, in plain Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KNeighbourhood(GraphMethod[Graph]):
    """Add edges until the neighbours of each vertex are joined like those of k - 1 others.

    Vertices are taken by falling size of their neighbourhood. One that is alone is put together
    with the k - 1 that cost the least to make alike, and edges are added to all of them until the
    graphs among their neighbours are isomorphic. That changes others, which are looked at again;
    as edges are only added, it ends. In dense graphs one change brings the next: once that takes
    more edges than method k-automorphism, its graph is taken, which may have up to k - 1 fake
    vertices. For small graphs: hubs need many edges.

    Guarantee: for every vertex of the published graph, at least k - 1 other vertices have an
    isomorphic graph among their neighbours, found by an exact comparison before it is given out.
    An attacker who knows which contacts of a person know each other finds at least k candidates.

    Reference: Zhou, Pei 2008.
    """

    k: int = parameter(least=2, start=2)
    """How many vertices must share each neighbourhood."""

    method_name = "k-neighbourhood"
    randomised = True

    def apply(
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[Graph]:
        check_k(self.k, graph.order)
        if graph.order > MOST:
            raise InputError("CEL-G111", most=MOST, order=graph.order)
        changed = self._unite_all(graph, rng, progress)
        found = neighbourhood_anonymity(changed)
        if found.k < self.k or not contains(graph, changed):
            raise PrivacyError("CEL-G105.apply_2", k=found.k)
        return MethodResult(
            graph=changed,
            facts={
                Message("graphs.fact.vertices"): changed.order,
                Message("graphs.fact.fake_vertices"): changed.order - graph.order,
                Message("graphs.fact.edges_before"): graph.size,
                Message("graphs.fact.edges_after"): changed.size,
                Message("graphs.fact.edges_deleted"): 0,
                Message("graphs.fact.edges_added"): changed.size - graph.size,
                Message("graphs.fact.k_reached"): found.k,
            },
            kept=Message("graphs.kept.every_edge"),
        )

    def _unite_all(self, graph: Graph, rng: Source, progress: Progress) -> Graph:
        """The graph with united neighbourhoods, or the automorphic one if that needs less."""
        state = Neighbourhoods.of(graph)
        table = build_alignment(graph, self.k, rng)
        most = table.size - graph.size
        while _level(state, self.k, most, progress):
            changed = graph
            if state.added:
                changed = graph.with_edges(np.concatenate([graph.edges, np.array(state.added)]))
            alone = [c for c in neighbourhood_classes(changed) if len(c) < self.k]
            if not alone:
                return changed
            for members in alone:  # equal signatures, yet not isomorphic
                _unite(state, members[0], self.k, most, exact=True)
        return add_fake_vertices(graph, table.all_edges(), len(table.place) - graph.order)

    def promise(self, graph: Graph) -> str | None:
        return Message("graphs.promise.k_neighbourhood", k=self.k, others=self.k - 1)

    def leaves_open(self) -> tuple[str, ...]:
        return (
            Message("graphs.open.contacts_of_contacts"),
            Message("graphs.open.k_candidates"),
        )


def _level(state: Neighbourhoods, k: int, most: int, progress: Progress) -> bool:
    """Unite vertices until each signature is that of at least k; False beyond `most` edges."""
    while len(state.added) <= most:
        state.refresh()
        sizes = state.class_sizes()
        alone = [v for v, size in enumerate(sizes) if size < k]
        if not alone:
            return True
        progress(Step(Message("graphs.stage.unite"), len(sizes) - len(alone), len(sizes)))
        _unite(state, max(alone, key=lambda v: (len(state.near[v]), -v)), k, most, exact=False)
    return False


def _unite(state: Neighbourhoods, seed: int, k: int, most: int, *, exact: bool) -> None:
    """Make a vertex like the k - 1 others that cost the least, or stop beyond `most` edges.

    Taking one out of a class of just k would leave the others alone: that counts as k edges.
    """
    sizes = state.class_sizes()
    price = {
        v: state.effort(seed, v) + (k if sizes[v] == k else 0)
        for v in range(len(sizes))
        if v != seed
    }
    mates = sorted(price, key=lambda v: (state.signatures[v] != state.signatures[seed], price[v]))
    growing = True
    while growing and len(state.added) <= most:
        growing = False
        for mate in mates[: k - 1]:
            state.refresh()
            if exact or state.signatures[mate] != state.signatures[seed]:
                growing |= align(state, seed, mate)
