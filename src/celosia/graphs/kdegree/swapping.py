"""A graph with the same degrees that shares more edges with a given one."""

from __future__ import annotations

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.perturbation.session import graph_of
from celosia.graphs.sampling import among

_LOOK = 32
"""Neighbours of either end that are tried for one edge."""

_PASSES = 50


def swap_back(made: Graph, graph: Graph, *, rng: Source, progress: Progress = silent) -> Graph:
    """Switch edges of `made`, which keeps its degrees, as long as edges of `graph` come back.

    Edges of the graph that are lost are taken in random order, and each is brought back if two
    edges that the graph never had can be given up for it.

    >>> from celosia.core.randomness import Seeded
    >>> square, crossed = Graph.of([(0, 1), (2, 3)]), Graph.of([(0, 2), (1, 3)])
    >>> swap_back(crossed, square, rng=Seeded(1)).same_edges(square)
    True

    Reference: Liu, Terzi 2008, algorithm GreedySwap; every lost edge is tried here in place of a
    sample of pairs of edges.
    """
    from celosia.graphs._edge_set import edge_set
    from celosia.graphs.kdegree._swap_kernels import bring_back

    given, table = edge_set(graph.keys), edge_set(made.keys, room=2)
    rows = made.neighbours.copy()
    current = made.keys
    for step in range(_PASSES):
        progress(Step(Message("graphs.stage.swap"), step, _PASSES))
        lost = graph.keys[~among(current, graph.keys)]
        lost = lost[rng.permutation(lost.size)]
        if not bring_back(lost, graph.order, given, table, made.starts, rows, _LOOK):
            break
        current = np.sort(table[table >= 0])
    return graph_of(graph, current)
