"""Possible worlds of a generalised graph, drawn uniformly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.graph import Graph


def sample_world(graph: GeneralisedGraph, rng: Source) -> Graph:
    """One of the graphs with the published numbers, each equally likely.

    Each super-vertex and super-edge is a box of pairs of vertices, of which as many are chosen as
    it has edges, uniformly and independent of the other boxes.
    """
    boxes = graph.capacities()
    wanted = np.concatenate([graph.internal, graph.between])
    few = np.minimum(wanted, boxes - wanted)
    starts = np.cumsum(boxes) - boxes  # the sum is n (n - 1) / 2 at most, below 2**61
    chosen = _distinct(boxes, starts, few, rng)
    turned = np.flatnonzero(few < wanted)  # there it is the pairs without an edge that were drawn
    box = np.searchsorted(starts, chosen, side="right") - 1
    if turned.size:
        whole = _ranges(starts[turned], boxes[turned])
        left_out = np.isin(box, turned)
        chosen = np.concatenate(
            [chosen[~left_out], np.setdiff1d(whole, chosen[left_out], assume_unique=True)]
        )
        box = np.searchsorted(starts, chosen, side="right") - 1
    ends = _vertices(graph, box, chosen - starts[box])
    return Graph.of(ends, order=graph.order)


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers start .. start + length - 1 of each, one after the other."""
    offsets = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts - offsets, lengths))


def _distinct(
    boxes: NDArray[np.int64], starts: NDArray[np.int64], wanted: NDArray[np.int64], rng: Source
) -> NDArray[np.int64]:
    """Different places in each box, sorted.

    No round draws more than a box still lacks, so nothing is dropped but repetitions, and each
    set of places is equally likely.
    """
    found = np.empty(0, dtype=np.int64)
    missing = wanted
    while missing.any():
        box = np.repeat(np.arange(len(boxes)), missing)
        drawn = starts[box] + _below(boxes[box], rng)
        found = np.unique(np.concatenate([found, drawn]))
        have = np.bincount(np.searchsorted(starts, found, side="right") - 1, minlength=len(boxes))
        missing = wanted - have
    return found


def _below(bounds: NDArray[np.int64], rng: Source) -> NDArray[np.int64]:
    """An exactly uniform number below each bound; words in the last, partial run are redrawn."""
    found = np.empty(bounds.size, dtype=np.int64)
    left = np.arange(bounds.size)
    while left.size:
        bound = bounds[left].astype(np.uint64)
        words = rng.words(left.size)
        surplus = (np.uint64(2**64 - 1) % bound + np.uint64(1)) % bound  # 2**64 mod bound
        fits = words <= np.uint64(2**64 - 1) - surplus
        found[left[fits]] = (words[fits] % bound[fits]).astype(np.int64)
        left = left[~fits]
    return found


def _vertices(
    graph: GeneralisedGraph, box: NDArray[np.int64], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The two vertices of each place of a box."""
    first = np.cumsum(graph.sizes) - graph.sizes
    count = len(graph.sizes)
    ends = np.empty((box.size, 2), dtype=np.int64)
    inside = box < count
    # Place t of the pairs (0,1), (0,2), (1,2), (0,3), ... has j (j - 1) / 2 <= t: a root finds j,
    # and rounding is put right by a step either way.
    of, at = box[inside], place[inside]
    high = ((1 + np.sqrt(8.0 * at + 1)) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > at
    high += (high + 1) * high // 2 <= at
    ends[inside, 0] = first[of] + at - high * (high - 1) // 2
    ends[inside, 1] = first[of] + high
    one, other = graph.super_edges[box[~inside] - count].reshape(-1, 2).astype(np.int64).T
    row, column = np.divmod(place[~inside], graph.sizes[other])
    ends[~inside, 0], ends[~inside, 1] = first[one] + row, first[other] + column
    return ends
