"""Degree anonymity: the number of vertices that share the rarest degree."""

from __future__ import annotations

import numpy as np

from celosia.graphs.graph import Graph


def degree_anonymity(graph: Graph) -> int:
    """The greatest k for which every degree occurs at least k times; 0 without vertices.

    Counts the ends of the edges anew.

    >>> from celosia.graphs.generators import ring
    >>> degree_anonymity(ring(5)), degree_anonymity(Graph.of([(0, 1), (0, 2)]))
    (5, 1)

    Reference: Liu, Terzi 2008, definition 1.
    """
    degrees = np.zeros(graph.order, dtype=np.int64)
    for column in (0, 1):
        degrees += np.bincount(graph.edges[:, column], minlength=graph.order)
    counts = np.bincount(degrees)
    return int(counts[counts > 0].min(initial=graph.order))
