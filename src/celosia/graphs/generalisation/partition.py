"""Partitions of vertices, and their published summaries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.graph import Graph

Blocks = NDArray[np.int64]
"""The number of each vertex's group, 0 .. b-1, none empty. It is secret: never published."""


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
    """The least size of a group, where a graph can have such groups.

    Raises:
        InputError: CEL-G211 otherwise.
    """
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


def shuffle_super_vertices(graph: GeneralisedGraph, rng: Source) -> GeneralisedGraph:
    """The same with super-vertices of equal size and edges in random order, the larger first.

    Equal ones would otherwise stand in the order in which they were found, and that tells who is
    in them.
    """
    shuffled = rng.permutation(len(graph.sizes))
    order = shuffled[np.lexsort((-graph.internal[shuffled], -graph.sizes[shuffled]))]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    ends = np.sort(place[graph.super_edges].reshape(-1, 2), axis=1)
    sorted_ends = np.lexsort((ends[:, 1], ends[:, 0]))
    return GeneralisedGraph(
        sizes=graph.sizes[order],
        internal=graph.internal[order],
        super_edges=ends[sorted_ends].astype(np.int32),
        between=graph.between[sorted_ends],
        attributes=None if graph.attributes is None else graph.attributes[order],
    )
