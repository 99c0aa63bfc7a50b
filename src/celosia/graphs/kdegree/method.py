"""k-degree anonymity on the same vertices, in several variants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.editing import edit, even_median_degrees
from celosia.graphs.kdegree.realisation import probe_construction, probe_supergraph
from celosia.graphs.kdegree.rewiring import rewire, swap_back
from celosia.graphs.kdegree.sequence import check_k, least_edge_changes, microaggregated_degrees
from celosia.graphs.method import GraphChange, GraphMethod, MethodResult, differences
from celosia.graphs.networks.method import NetworkMethod
from celosia.graphs.networks.network import Network
from celosia.graphs.verification import degree_anonymity

Variant = Literal[
    "least-change",
    "edit",
    "umga-random",
    "umga-centrality",
    "liu-terzi",
    "liu-terzi-greedy",
    "greedy-swap",
    "simultaneous-swap",
    "construct",
    "priority",
]

MOST_SWAPPED = 1_000_000
"""The most edges for the variants that swap edges back: half a minute, and growing faster."""

MOST_TRIED = 200_000
"""The most edges of a graph on which `least-change` tries every algorithm, some several times."""
SMALL = 5_000
"""Edges up to which each is tried several times, for its lots."""
ATTEMPTS = 8

KEPT: dict[str, str] = {
    "least-change": Message("graphs.kept.most_edges"),
    "edit": Message("graphs.kept.most_edges"),
    "umga": Message("graphs.kept.most_edges"),
    "liu-terzi": Message("graphs.kept.every_edge"),
    "greedy-swap": Message("graphs.kept.vertices_most_edges"),
    "simultaneous-swap": Message("graphs.kept.most_edges"),
    "construct": Message("graphs.kept.new_edges"),
    "priority": Message("graphs.kept.edges_return"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KDegree(GraphMethod[Graph], NetworkMethod):
    """Change edges until every degree is shared by at least k vertices.

    - `least-change`: tries the next five and the two that swap, several times for their lots
      where the graph is small, and keeps the graph with the fewest changed edges; of two, the one
      whose number of edges is nearer. Of more than 200,000 edges: `edit` and `umga-random`.
    - `edit`: degrees rise and fall to group medians, the least change of all; edges are deleted
      between vertices with too many and added between those with too few.
    - `umga-random`: the degrees are microaggregated and edge ends are moved at random; keeps the
      number of edges wherever it can, also with great hubs. Where no graph has such degrees, edges
      are added as by `liu-terzi`, and where that fails too, moved as by `simultaneous-swap`.
    - `umga-centrality`: the same, moving edges of little neighbourhood centrality.
    - `liu-terzi`: only adds edges, as few as the degrees allow; hubs make that many edges.
    - `liu-terzi-greedy`: the same with targets from one greedy walk.
    - `greedy-swap`: a new graph with the targets of liu-terzi as its degrees, of which pairs of
      edges are switched as long as true edges come back.
    - `simultaneous-swap`: the same with targets that also lower degrees (group medians). Both
      take at most a million edges.
    - `construct`: a new random graph with the targets of liu-terzi as its degrees.
    - `priority`: such a graph in which neighbours are joined again first.

    Guarantee: every degree of the published graph is that of at least k vertices, counted anew
    before it is given out. Whoever knows of a person only how many contacts they have in the
    published graph finds at least k candidates. Nothing is promised against other knowledge.

    Of a network, the same holds of profiles: the out-degree and the in-degree together where there
    are directions, in all snapshots together where there are times, within the side where there
    are two, and with the weighted degrees, in bins from one power of `weight_ratio` to the next,
    where there are weights. One algorithm serves all: variants are for simple graphs.

    Reference: Liu, Terzi 2008; Casas-Roma, Herrera-Joancomarti, Torra 2017.
    """

    k: int = parameter(least=2, start=3)
    """How many vertices must share each degree."""
    variant: Variant = "least-change"
    """The algorithm that chooses target degrees and changes edges."""
    probes: int = parameter(500, least=0)
    """Rounds in which low degrees are raised where targets cannot be reached; 0 for none. The umga
    variants rarely need any."""
    weight_ratio: float = parameter(2.0, above=1.0)
    """In networks with weights: weighted degrees between one power of this and the next are alike.
    """

    method_name = "k-degree"
    randomised = True
    kinds = frozenset({"directed", "weighted", "bipartite", "temporal"})
    gaps = (Message("graphs.open.more_than_degree"), Message("graphs.open.same_neighbour"))

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        check_k(self.k, graph.order)
        progress(Step(Message("graphs.stage.degrees"), 0, 1))
        changed, probes, variant = graph, 0, self.variant
        if degree_anonymity(graph) < self.k:  # else nothing to do: the least change of all
            changed, probes, variant = self._anonymise(graph, rng, progress)
        progress(Step(Message("graphs.stage.verify"), 1, 1))
        adds = variant.startswith("liu-terzi")
        least = least_edge_changes(graph.degrees, self.k, additions_only=adds)
        facts = differences(graph, changed)
        gap = (
            facts[Message("graphs.fact.edges_added")]
            + facts[Message("graphs.fact.edges_deleted")]
            - least
        )
        found = {
            Message("graphs.fact.least_changes"): least,
            Message("graphs.fact.gap"): gap,
            Message("graphs.fact.probes"): probes,
        }
        return MethodResult(
            graph=confirm(changed, self.k),
            facts=facts | found | {Message("graphs.fact.k_reached"): degree_anonymity(changed)},
            kept=next(text for name, text in KEPT.items() if variant.startswith(name)),
        )

    def _anonymise(
        self, graph: Graph, rng: Source, progress: Progress
    ) -> tuple[Graph, int, Variant]:
        """An anonymous graph, the probes it took, and the variant that found it.

        Raises:
            PrivacyError: CEL-G102 none was found, by the last variant tried.
        """
        if self.variant == "least-change":
            return self._cheapest(graph, rng, progress)
        variants: tuple[Variant, ...] = (self.variant,)
        if self.variant.startswith("umga"):
            swaps: tuple[Variant, ...] = ("simultaneous-swap",)
            variants = (self.variant, "liu-terzi", *(swaps if graph.size <= MOST_SWAPPED else ()))
        for variant in variants[:-1]:
            try:
                return *replace(self, variant=variant)._by_variant(graph, rng, progress), variant
            except PrivacyError:
                continue  # no graph has the degrees that it asks for, or none was found
        return *replace(self, variant=variants[-1])._by_variant(graph, rng, progress), variants[-1]

    def _cheapest(
        self, graph: Graph, rng: Source, progress: Progress
    ) -> tuple[Graph, int, Variant]:
        """The graph with the fewest changed edges that any algorithm finds."""
        # `umga-random` itself falls back on additions and swaps, so that none is refused too soon.
        tried: list[Variant] = ["edit", "liu-terzi", "umga-random", "liu-terzi-greedy"]
        tried += ["umga-centrality", "simultaneous-swap", "greedy-swap"]
        least = least_edge_changes(graph.degrees, self.k, additions_only=False)
        if graph.size > MOST_TRIED:
            tried = ["edit", "umga-random"]
        best: tuple[tuple[int, int], Graph, int, Variant] | None = None
        refusal: PrivacyError | InputError | None = None
        for choice in tried * (ATTEMPTS if graph.size <= SMALL else 1):
            try:
                made, probes, variant = replace(self, variant=choice)._anonymise(
                    graph, rng, progress
                )
            except (PrivacyError, InputError) as error:
                refusal = error
                continue
            if graph.size <= MOST_TRIED:
                made = swap_back(made, graph, rng=rng, progress=progress)
            cost = _changes(graph, made), abs(made.size - graph.size)
            if best is None or cost < best[0]:
                best = cost, made, probes, variant
            if best[0][0] <= least:
                break
        if best is None:
            assert refusal is not None
            raise refusal
        return best[1:]

    def _by_variant(self, graph: Graph, rng: Source, progress: Progress) -> tuple[Graph, int]:
        if self.variant == "edit":
            targets = even_median_degrees(graph.degrees, self.k)
            return edit(graph, targets, rng=rng, progress=progress), 0
        if self.variant.startswith("umga"):
            targets = _even_targets(graph, self.k)
            central = self.variant == "umga-centrality"
            return rewire(graph, targets, central=central, rng=rng, progress=progress), 0
        if self.variant.startswith("liu-terzi"):
            return probe_supergraph(
                graph,
                self.k,
                target_rule="greedy" if self.variant == "liu-terzi-greedy" else "raise",
                probes=self.probes,
                rng=rng,
                progress=progress,
            )
        return self._construct(graph, rng, progress)

    def _construct(self, graph: Graph, rng: Source, progress: Progress) -> tuple[Graph, int]:
        """A new graph with anonymous degrees, brought nearer to the given one where asked."""
        if self.variant.endswith("-swap") and graph.size > MOST_SWAPPED:
            raise InputError(
                "CEL-G107", variant=self.variant, most_swapped=MOST_SWAPPED, graph_size=graph.size
            )
        made, probes = probe_construction(
            graph,
            self.k,
            target_rule="median" if self.variant == "simultaneous-swap" else "raise",
            near=self.variant == "priority",
            probes=self.probes,
            rng=rng,
            progress=progress,
        )
        if self.variant.endswith("-swap"):
            made = swap_back(made, graph, rng=rng, progress=progress)
        return made, probes

    def promise(self, graph: Graph) -> str | None:
        return promise_of(self.k)

    def apply_to_network(
        self, network: Network, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[Network]:
        from celosia.graphs.networks.account import compare_networks, facts_of
        from celosia.graphs.networks.anonymity import anonymise
        from celosia.graphs.verification import profile_anonymity

        done = anonymise(network, self.k, ratio=self.weight_ratio, rng=rng, progress=progress)
        progress(Step(Message("graphs.stage.verify"), 1, 1))
        reached = profile_anonymity(done.network, ratio=self.weight_ratio)
        if reached < self.k:
            raise PrivacyError("CEL-G105.confirm", reached=reached, k=self.k)
        facts = facts_of(compare_networks(network, done.network))
        if network.weights is not None:
            facts[Message("graphs.fact.equal_weights")] = done.equal_weights
        return MethodResult(
            graph=done.network,
            facts=facts | {Message("graphs.fact.k_reached"): reached},
            kept=Message("graphs.kept.most_edges"),
        )

    def attacker_ratio(self) -> float:
        return self.weight_ratio

    def network_promise(self, network: Network) -> str | None:
        from celosia.graphs.networks.account import profile_parts

        parts = profile_parts(network, self.weight_ratio)
        return Message("graphs.promise.k_profile", k=self.k, parts=parts)

    def network_gaps(self, network: Network) -> tuple[str, ...]:
        return () if network.snapshots is None else (Message("graphs.open.further_release"),)


def _changes(before: Graph, after: Graph) -> int:
    """How many edges went and came."""
    return int(np.setxor1d(before.keys, after.keys, assume_unique=True).size)


def confirm(graph: Graph, k: int) -> Graph:
    """The graph, after its degrees have been counted anew."""
    reached = degree_anonymity(graph)
    if reached < k:
        raise PrivacyError("CEL-G105.confirm", reached=reached, k=k)
    return graph


def promise_of(k: int) -> str:
    """The promise of every variant."""
    return Message("graphs.promise.k_degree", k=k)


def _even_targets(graph: Graph, k: int) -> NDArray[np.int64]:
    """Targets by groups of at least k, or of the next greater number that allows an even sum.

    Raises:
        PrivacyError: CEL-G103 up to twice k none does.
    """
    refusals = []
    for least in range(k, min(2 * k, graph.order) + 1):
        try:
            return microaggregated_degrees(graph.degrees, least)
        except PrivacyError as refusal:
            refusals.append(refusal)
    raise refusals[0]  # it names the k that was asked for
