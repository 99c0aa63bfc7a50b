"""Local sensitivity of a count, in a graph and in all graphs a few edges away."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.graphs.graph import Graph

Widths = NDArray[np.int64]

_BATCH = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class Sensitive:
    """A count of a graph with its local sensitivity at each distance. All of it is private."""

    count: int
    widths: Widths
    """`widths[t]` is the most by which an edge moves the count in a graph within t edges of this
    one, at least 1; the last one holds for every distance beyond. As the graphs within t edges of
    a neighbour are within t + 1 edges of this one, widths[t] there is at most widths[t + 1] here.
    """


def triangles(graph: Graph, *, progress: Progress = silent) -> Sensitive:
    """The number of triangles.

    An edge {i, j} is in a triangle with each common neighbour, a of them. With t other edges more,
    up to b vertices that have one of the two as a neighbour become common by one edge each, all
    others by two: min(a + (t + min(t, b)) // 2, n - 2). As b = d_i + d_j - 2 a - 2 [ij is an edge],
    this is min(a + t, (r + t) // 2, n - 2) with r = 2 a + b, and only the greatest r of all pairs
    with the same a counts. Pairs without a common neighbour need not be looked at one by one: the
    greatest r of all pairs either belongs to one of them or to a pair that outdoes them all.

    Reference: Nissim, Raskhodnikova, Smith 2007, Claim 3.13.
    """
    from celosia.graphs.private._kernels import pairs_with_shared

    degrees = graph.degrees
    reach = np.full(int(degrees.max(initial=0)) + 1, -1, dtype=np.int64)
    shared = np.zeros(graph.order, dtype=np.int64)
    found = 0
    for first in range(0, graph.order, _BATCH):
        progress(Step(Message("graphs.stage.common_neighbours"), first, graph.order))
        last = min(first + _BATCH, graph.order)
        found += pairs_with_shared(
            graph.starts, graph.neighbours, degrees, first, last, shared, reach
        )
    joined, apart = _partners(graph)
    ends = np.concatenate([joined + degrees - 2, apart + degrees])
    reach[0] = max(int(ends.max(initial=0)), 0)
    most = max(graph.order - 2, 1)
    distance = np.arange(2 * most + 1, dtype=np.int64)
    widths = np.ones(distance.size, dtype=np.int64)
    above = -1
    for common in range(reach.size - 1, -1, -1):
        if reach[common] > above:  # others are outdone by a pair with more in common
            above = int(reach[common])
            np.maximum(widths, np.minimum(common + distance, (above + distance) // 2), out=widths)
    return Sensitive(found // 3, np.minimum(widths, most))


def stars(graph: Graph, k: int) -> Sensitive:
    """The number of stars of a centre and k others: the sum of comb(d, k) over all degrees.

    An edge {i, j} is in comb(d, k - 1) stars around i, where d is the degree of i without it, and
    likewise around j. Each of t other edges raises one of these two d by one, up to n - 2; as comb
    is convex, it is worst to raise the greater one first.

    Reference: Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011, section 4.
    """
    degrees, most = graph.degrees, max(graph.order - 2, 0)
    values, times = np.unique(degrees, return_counts=True)
    pairs = zip(values.tolist(), times.tolist(), strict=True)
    count = sum(comb(value, k) * time for value, time in pairs)
    joined, apart = _partners(graph)
    ends = np.concatenate([np.stack([degrees, joined]) - 1, np.stack([degrees, apart])], axis=1)
    ends = np.sort(ends[:, ends[1] >= 0], axis=0)  # -2 and -1 where there is no such vertex
    distance = np.arange(2 * most + 1, dtype=np.int64)
    table = np.array([comb(value, k - 1) for value in range(most + 1)], dtype=np.int64)
    widths = np.ones(distance.size, dtype=np.int64)
    for low, high in _outermost(ends):
        great = np.minimum(high + distance, most)
        small = np.minimum(low + high + distance - great, most)
        np.maximum(widths, table[great] + table[small], out=widths)
    return Sensitive(count, widths)


def _outermost(ends: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Of pairs (low, high), those that no other exceeds in one and reaches in the other."""
    order = np.lexsort((-ends[0], -ends[1]))
    low = ends[0][order]
    before = np.maximum.accumulate(low)
    kept = order[np.concatenate([[True], before[1:] > before[:-1]])[: low.size]]
    return list(zip(ends[0][kept].tolist(), ends[1][kept].tolist(), strict=True))


def _partners(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each vertex the greatest degree of a neighbour, and of another vertex; -1 for none."""
    from celosia.graphs.private._kernels import best_partners

    joined = np.empty(graph.order, dtype=np.int64)
    apart = np.empty(graph.order, dtype=np.int64)
    ranked = np.argsort(-graph.degrees, kind="stable")
    best_partners(graph.starts, graph.neighbours, graph.degrees, ranked, joined, apart)
    return joined, apart
