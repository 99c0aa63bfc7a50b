"""The distribution of each vertex's degree over the worlds of an uncertain graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.graphs.uncertain.graph import UncertainGraph


def incident_chances(graph: UncertainGraph) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Where the chances of each vertex begin, and all of them, vertex by vertex."""
    from celosia.graphs.uncertain._kernels import incident

    counts = np.bincount(graph.pairs.ravel(), minlength=graph.order)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return starts, incident(graph.pairs, graph.probabilities, starts)


def degree_distribution(graph: UncertainGraph, vertex: int) -> NDArray[np.float64]:
    """The chance of each degree of a vertex, from 0 to the number of its pairs.

    Exact to rounding: the convolution of its coins (a Poisson binomial distribution), whatever
    the number of pairs; chances below 1e-24 at the ends are 0.

    >>> degree_distribution(UncertainGraph.of({(0, 1): 0.5, (0, 2): 0.5}), 0).tolist()
    [0.25, 0.5, 0.25]
    """
    from celosia.graphs.uncertain._kernels import convolve

    own = graph.probabilities[(graph.pairs == vertex).any(axis=1)]
    room = np.zeros(own.size + 3)
    low, high, certain = convolve(own, room)
    found = np.zeros(own.size + 1)
    found[low + certain : high + certain + 1] = room[low : high + 1]
    return found


def degree_distributions(graph: UncertainGraph) -> NDArray[np.float64]:
    """One row a vertex, one column a degree; for small graphs, as it is a full table."""
    widest = int(np.bincount(graph.pairs.ravel(), minlength=1).max()) + 1
    table = np.zeros((graph.order, widest))
    for vertex in range(graph.order):
        row = degree_distribution(graph, vertex)
        table[vertex, : row.size] = row
    return table
