"""Whether a published graph still has every edge of the original."""

from __future__ import annotations

from celosia.graphs.graph import Graph


def contains(original: Graph, changed: Graph) -> bool:
    """Whether every vertex and edge of `original` is in `changed`, by number.

    >>> path = Graph.of([(0, 1), (1, 2)])
    >>> contains(path, Graph.of([(0, 1), (1, 2), (2, 3)])), contains(path, Graph.of([(0, 2)]))
    (True, False)
    """
    if changed.order < original.order:
        return False
    return bool(changed.has_edges(original.edges).all()) if original.size else True
