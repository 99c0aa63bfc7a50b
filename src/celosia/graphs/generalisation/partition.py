"""Partitions of vertices, and their published summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log, prod
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.graphs.generalisation.attributes import Attributes, Blocks
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.generalisation.verification import check_promise
from celosia.graphs.graph import Graph
from celosia.graphs.method import MethodResult


def count_worlds(graph: GeneralisedGraph) -> int:
    """How many graphs have the published numbers: |W|, exactly; for small graphs.

    >>> from celosia.graphs.examples import G9_PARTITION, g9, vertices
    >>> from celosia.graphs.generalisation.partition import blocks, summarise
    >>> graph = g9()
    >>> count_worlds(summarise(graph, blocks([vertices(graph, b) for b in G9_PARTITION])))
    104976

    Reference: Hay, Miklau, Jensen, Towsley, Weis 2008.
    """
    edges = [*graph.internal.tolist(), *graph.between.tolist()]
    return prod(comb(n, e) for n, e in zip(graph.capacities().tolist(), edges, strict=True))


def log2_worlds(graph: GeneralisedGraph) -> float:
    """The bits needed to name one of the worlds, for graphs of any size."""
    from scipy.special import betaln

    pairs = graph.capacities().astype(np.float64)
    edges = np.concatenate([graph.internal, graph.between]).astype(np.float64)
    # log C(n, e) = -log(n + 1) - log B(n - e + 1, e + 1): factorials would cancel badly.
    logs = -np.log1p(pairs) - betaln(pairs - edges + 1, edges + 1)
    return max(float(logs.sum()), 0.0) / log(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuralLoss:
    """How badly the numbers tell where the edges are."""

    total: float
    """SIL: of each box of pairs, twice the edges times the share of pairs that have none."""
    normalised: float
    """NSIL: the same over its greatest value, n (n - 1) / 4."""

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"SIL": self.total, "NSIL": self.normalised}

    def __str__(self) -> str:
        return say("graphs.graph.loss", normalised=self.normalised)


def structural_loss(graph: GeneralisedGraph) -> StructuralLoss:
    """SIL and NSIL.

    Reference: Campan, Truta 2009, definitions 8 to 11.
    """
    pairs = np.maximum(graph.capacities(), 1)  # a single vertex has no pair and no edge
    edges = np.concatenate([graph.internal, graph.between])
    total = float((2 * edges * (1 - edges / pairs)).sum())
    greatest = graph.order * (graph.order - 1) / 4
    return StructuralLoss(total=total, normalised=total / max(greatest, 1.0))


def blocks(groups: Sequence[Sequence[int] | NDArray[np.integer]]) -> Blocks:
    """The group of each vertex, from groups of vertices.

    >>> blocks([[0, 3], [1, 2]]).tolist()
    [0, 1, 1, 0]
    """
    block_of_vertex = np.full(sum(len(group) for group in groups), -1, dtype=np.int64)
    for number, group in enumerate(groups):
        block_of_vertex[np.asarray(group, dtype=np.int64)] = number
    assert (block_of_vertex >= 0).all(), "each vertex is in one group"
    return block_of_vertex


def members(block_of_vertex: Blocks) -> list[list[int]]:
    """The vertices of each group; for the curator, and for tests."""
    order = np.argsort(block_of_vertex, kind="stable")
    ends = np.cumsum(np.bincount(block_of_vertex))[:-1]
    return [group.tolist() for group in np.split(order, ends)]


def check_k(k: int, graph: Graph) -> int:
    """The least size of a group, where a graph can have such groups."""
    if k > graph.order:
        raise InputError("CEL-G211", k=k, order=graph.order)
    return k


def summarise(
    graph: Graph, block_of_vertex: Blocks, attributes: pl.DataFrame | None = None
) -> GeneralisedGraph:
    """The numbers of a partition, super-vertices in an order that follows from these alone.

    The order in which groups were found would say who has the greatest degree. Larger groups come
    first, then those with more edges within and around.
    """
    count = int(block_of_vertex.max(initial=-1)) + 1
    sizes = np.bincount(block_of_vertex, minlength=count)
    ends = block_of_vertex[graph.edges].reshape(-1, 2)
    within = ends[:, 0] == ends[:, 1]
    internal = np.bincount(ends[within, 0], minlength=count)
    around = np.bincount(ends[~within].ravel(), minlength=count)
    order = np.lexsort((-around, -internal, -sizes))
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    ends = place[ends[~within]]
    keys, between = np.unique(  # below count**2 <= 2**62
        ends.min(axis=1, initial=count) * count + ends.max(axis=1, initial=0), return_counts=True
    )
    return GeneralisedGraph(
        sizes=sizes[order].astype(np.int64),
        internal=internal[order].astype(np.int64),
        super_edges=np.stack(np.divmod(keys, max(count, 1)), axis=1).astype(np.int32),
        between=between.astype(np.int64),
        attributes=None if attributes is None else attributes[order],
    )


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
