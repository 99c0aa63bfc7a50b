"""What SaNGreeA and the partition search publish and guarantee."""

from __future__ import annotations

from celosia.graphs.generalisation.attributes import Attributes
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.generalisation.losses import log2_worlds, structural_loss
from celosia.graphs.generalisation.partition import Blocks, summarise
from celosia.graphs.generalisation.verification import check_promise
from celosia.graphs.graph import Graph
from celosia.graphs.method import MethodResult

LEFT_OPEN = (
    "The numbers of edges within and between groups are exact: a group without edges, or with "
    "all possible edges, discloses whether each of its pairs has an edge.",
    "Only averages of the structure are left: paths and motifs within a group are lost.",
    "An attacker who knows the group of a person learns the attributes that the group shares.",
    "Identifiers and all attributes that are no quasi-identifiers are not published.",
)


def promise_of(k: int) -> str:
    """The promise of a grouping."""
    return (
        f"Every published super-vertex stands for at least {k} vertices, which the release does "
        "not distinguish."
    )


def publish_partition(
    graph: Graph, block_of_vertex: Blocks, *, k: int, attributes: Attributes | None
) -> MethodResult[GeneralisedGraph]:
    """The numbers of a partition with its losses, after an independent check of the promise."""
    rows = None if attributes is None else attributes.generalised(block_of_vertex)
    made = summarise(graph, block_of_vertex, rows)
    check_promise(made, graph, k=k)
    structure = structural_loss(made)
    facts = {
        "vertices": made.order,
        "edges before": graph.size,
        "super-vertices": len(made.sizes),
        "super-edges": len(made.between),
        "least size": int(made.sizes.min()),
        "greatest size": int(made.sizes.max()),
        "log2 of possible worlds": log2_worlds(made),
        **structure.as_dict(),
    }
    if attributes is not None:
        total, share = attributes.loss(block_of_vertex)
        facts |= {"GIL": total, "NGIL": share, "quasi-identifiers": len(attributes.names)}
    kept = "the number of vertices and of edges; of groups, their sizes and numbers of edges"
    return MethodResult(graph=made, facts=facts, kept=kept)
