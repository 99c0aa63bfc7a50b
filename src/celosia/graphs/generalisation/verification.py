"""An independent check of the guarantee of a generalised graph."""

from __future__ import annotations

from collections import Counter

import numpy as np

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
    sizes = np.asarray(published.sizes, dtype=np.int64)
    wrong = []
    small = int((sizes < k).sum())
    if small:
        wrong.append(Message("graphs.violation.small", count=small, k=k))
    if int(sizes.sum()) != graph.order:
        wrong.append(Message("graphs.violation.sizes", sum=int(sizes.sum()), vertices=graph.order))
    within = np.asarray(published.internal, dtype=np.int64)
    between = np.asarray(published.between, dtype=np.int64)
    if int(within.sum()) + int(between.sum()) != graph.size:
        wrong.append(Message("graphs.violation.edges"))
    # Sizes are below 2^31, so that their products fit in 64 bits.
    pairs = sizes[published.super_edges].reshape(-1, 2).prod(axis=1)
    if (2 * within > sizes * (sizes - 1)).any() or (between > pairs).any():
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
