"""Centrality: core numbers and PageRank; closeness and betweenness are in `paths`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from celosia.graphs.graph import Graph
from celosia.graphs.metrics._threads import cores, in_threads

DAMPING = 0.85
"""The chance to follow an edge rather than to jump anywhere (Brin, Page 1998)."""

TOLERANCE = 1e-8
_MOST_ROUNDS = 1000


def coreness(graph: Graph) -> NDArray[np.int64]:
    """The greatest k for which a vertex has k neighbours among vertices that have k likewise.

    >>> coreness(Graph.of([(0, 1), (0, 2), (1, 2), (2, 3)])).tolist()
    [2, 2, 2, 1]
    """
    from celosia.graphs.metrics import _kernels

    return _kernels.cores(graph.starts, graph.neighbours)


def pagerank(
    graph: Graph, *, damping: float = DAMPING, tolerance: float = TOLERANCE
) -> NDArray[np.float64]:
    """PageRank: the stationary probability of each vertex under a random walk with jumps.

    A vertex without edges is left by a jump. The sum over all vertices of what is wrong is at most
    `tolerance` * damping / (1 - damping).

    >>> pagerank(Graph.of([(0, 1), (1, 2)])).round(4).tolist()
    [0.2568, 0.4865, 0.2568]
    """
    from celosia.graphs.metrics._kernels import rank_step

    order, degrees = graph.order, graph.degrees
    if not order:
        return np.empty(0)
    ranks = np.full(order, 1.0 / order)
    shares = np.divide(ranks, degrees, out=np.zeros(order), where=degrees > 0)
    spare = np.empty(order)
    alone = np.flatnonzero(degrees == 0)
    borders = np.searchsorted(graph.starts, np.linspace(0, 2 * graph.size, cores() + 1)[1:-1])
    bounds = np.concatenate([[0], borders, [order]])
    rows = graph.neighbours

    def part(begin: int, end: int) -> float:
        given = (graph.starts, rows, shares, ranks, base, damping)
        return rank_step(*given, begin, end, spare)

    for _ in range(_MOST_ROUNDS):
        base = (1.0 - damping + damping * float(ranks[alone].sum())) / order
        moved = sum(in_threads(part, pairwise(bounds), steps=order + 2 * graph.size))
        shares, spare = spare, shares
        if moved <= tolerance:
            break
    return ranks
