"""k-automorphism: every vertex has k - 1 structurally identical vertices."""

from __future__ import annotations

from dataclasses import dataclass

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
from celosia.graphs.verification import are_automorphisms, contains

MOST = 2000
"""The most vertices: the search for a good table is in plain Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KAutomorphism(GraphMethod[Graph]):
    """Copy edges until the graph has k - 1 renamings onto itself that agree nowhere.

    The vertices are put into a table with k columns, filled up with fakes. Each edge is copied for
    every turn of the columns; so each turn maps the graph to itself. The table is chosen so that
    few copies are new.

    Guarantee: the published graph, fakes included, is k-automorphic, checked edge by edge before
    it is given out. Whatever is known of a person's place in the published graph, without names,
    at least k vertices fit it equally.

    Reference: Zou, Chen, Ozsu 2009, algorithm KM.
    """

    k: int = parameter(least=2, start=2)
    """From how many places the graph looks the same."""

    method_name = "k-automorphism"
    randomised = True

    def apply(
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[Graph]:
        check_k(self.k, graph.order)
        if graph.order > MOST:
            raise InputError("CEL-G112", most=MOST, order=graph.order)
        progress(Step(Message("graphs.stage.align"), 0, 1))
        table = build_alignment(graph, self.k, rng)
        fakes = len(table.place) - graph.order
        changed = add_fake_vertices(graph, table.all_edges(), fakes)
        progress(Step(Message("graphs.stage.verify"), 1, 1))
        if not (are_automorphisms(changed, table.renamings()) and contains(graph, changed)):
            raise PrivacyError("CEL-G105.apply")
        return MethodResult(
            graph=changed,
            facts={
                Message("graphs.fact.vertices"): changed.order,
                Message("graphs.fact.fake_vertices"): fakes,
                Message("graphs.fact.edges_before"): graph.size,
                Message("graphs.fact.edges_after"): changed.size,
                Message("graphs.fact.edges_deleted"): 0,
                Message("graphs.fact.edges_added"): changed.size - graph.size,
                Message("graphs.fact.k_reached"): self.k,
            },
            kept=Message("graphs.kept.real_edges"),
        )

    def promise(self, graph: Graph) -> str | None:
        return Message("graphs.promise.k_automorphism", k=self.k, doubles=self.k - 1)

    def leaves_open(self) -> tuple[str, ...]:
        return (
            Message("graphs.open.doubles_linked"),
            Message("graphs.open.attributes"),
        )
