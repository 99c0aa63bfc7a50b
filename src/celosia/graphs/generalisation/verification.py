"""An independent check of the guarantee of a generalised graph."""

from __future__ import annotations

from collections import Counter

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.graph import Graph


def violations(published: GeneralisedGraph, graph: Graph, *, k: int) -> tuple[Message, ...]:
    """What is wrong with what is to be published of a graph, in words; nothing is best.

    Every super-vertex has at least k vertices; sizes add up to the vertices of the graph, edges
    within and between to its edges; no box has more edges than pairs; no super-vertex has more
    than one row of attributes.
    """
    sizes = [int(size) for size in published.sizes]
    wrong = []
    small = sum(size < k for size in sizes)
    if small:
        wrong.append(Message("graphs.violation.small", count=small, k=k))
    if sum(sizes) != graph.order:
        wrong.append(Message("graphs.violation.sizes", sum=sum(sizes), vertices=graph.order))
    within = [int(edges) for edges in published.internal]
    across = {
        (int(one), int(other)): int(edges)
        for (one, other), edges in zip(published.super_edges, published.between, strict=True)
    }
    if sum(within) + sum(across.values()) != graph.size:
        wrong.append(Message("graphs.violation.edges"))
    if any(2 * edges > size * (size - 1) for size, edges in zip(sizes, within, strict=True)) or any(
        edges > sizes[one] * sizes[other] for (one, other), edges in across.items()
    ):
        wrong.append(Message("graphs.violation.too_many"))
    if published.attributes is not None and len(published.attributes) != len(sizes):
        wrong.append(Message("graphs.violation.attributes"))
    return tuple(wrong)


def agrees(published: GeneralisedGraph, graph: Graph, groups: list[list[int]]) -> bool:
    """Whether the numbers are those of these groups, whatever their order; edge by edge."""
    group_of = {vertex: number for number, group in enumerate(groups) for vertex in group}
    if len(group_of) != graph.order:
        return False
    pairs = Counter(
        tuple(sorted((group_of[one], group_of[other]))) for one, other in graph.edges.tolist()
    )
    boxes = Counter(
        (*sorted((len(groups[one]), len(groups[other]))), one == other, edges)
        for (one, other), edges in pairs.items()
    )
    published_boxes = Counter(
        (size, size, True, edges)
        for size, edges in zip(published.sizes.tolist(), published.internal.tolist(), strict=True)
        if edges
    )
    published_boxes += Counter(
        (*sorted((int(published.sizes[one]), int(published.sizes[other]))), False, edges)
        for (one, other), edges in zip(
            published.super_edges.tolist(), published.between.tolist(), strict=True
        )
    )
    sizes = sorted(map(len, groups))
    return boxes == published_boxes and sizes == sorted(published.sizes.tolist())


def check_promise(published: GeneralisedGraph, graph: Graph, *, k: int) -> None:
    """Refuse to publish what does not keep the promise."""
    wrong = violations(published, graph, k=k)
    if wrong:
        raise PrivacyError("CEL-G212", problems=wrong)
