"""What SaNGreeA and the partition search publish and guarantee."""

from __future__ import annotations

from celosia.core.messages import Message
from celosia.graphs.generalisation.attributes import Attributes
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.generalisation.losses import log2_worlds, structural_loss
from celosia.graphs.generalisation.partition import Blocks, summarise
from celosia.graphs.generalisation.verification import check_promise
from celosia.graphs.graph import Graph
from celosia.graphs.method import MethodResult

LEFT_OPEN = (
    Message("graphs.open.exact_groups"),
    Message("graphs.open.averages"),
    Message("graphs.open.group_attributes"),
    Message("graphs.open.not_published"),
)


def promise_of(k: int) -> str:
    """The promise of a grouping."""
    return Message("graphs.promise.groups", k=k)


def publish_partition(
    graph: Graph, block_of_vertex: Blocks, *, k: int, attributes: Attributes | None
) -> MethodResult[GeneralisedGraph]:
    """The numbers of a partition with its losses, after an independent check of the promise."""
    rows = None if attributes is None else attributes.generalised(block_of_vertex)
    made = summarise(graph, block_of_vertex, rows)
    check_promise(made, graph, k=k)
    structure = structural_loss(made)
    facts = {
        Message("graphs.fact.vertices"): made.order,
        Message("graphs.fact.edges_before"): graph.size,
        Message("graphs.fact.super_vertices"): len(made.sizes),
        Message("graphs.fact.super_edges"): len(made.between),
        Message("graphs.fact.least_size"): int(made.sizes.min()),
        Message("graphs.fact.greatest_size"): int(made.sizes.max()),
        Message("graphs.fact.possible_worlds"): log2_worlds(made),
        **structure.as_dict(),
    }
    if attributes is not None:
        total, share = attributes.loss(block_of_vertex)
        facts |= {
            "GIL": total,
            "NGIL": share,
            Message("graphs.fact.quasi_identifiers"): len(attributes.names),
        }
    kept = Message("graphs.kept.groups")
    return MethodResult(graph=made, facts=facts, kept=kept)
