"""Whether a graph is k-automorphic or k-isomorphic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from celosia.core.errors import InputError
from celosia.graphs.graph import Graph
from celosia.graphs.verification.isomorphism import Adjacency, fingerprint, isomorphic

SMALL = 16
"""The most vertices for an exact search: the number of renamings grows as n!."""


def are_automorphisms(graph: Graph, renamings: Sequence[ArrayLike]) -> bool:
    """Whether each renaming maps the graph to itself, and no vertex has the same name twice.

    With k - 1 of them, the graph is k-automorphic: no vertex keeps its place in any, and no two
    of them bring a vertex to the same place.

    >>> from celosia.graphs.generators import ring
    >>> are_automorphisms(ring(4), [[1, 2, 3, 0], [2, 3, 0, 1]])
    True

    Reference: Zou, Chen, Ozsu 2009, definition 3.
    """
    own = np.arange(graph.order)
    table = np.stack([own, *(np.asarray(each) for each in renamings)])
    if any(np.sort(row).tolist() != own.tolist() for row in table):
        return False
    if any(len(set(column)) < len(table) for column in table.T.tolist()):
        return False
    return all(graph.same_edges(Graph.of(row[graph.edges], order=graph.order)) for row in table[1:])


def is_k_automorphic(graph: Graph, k: int) -> bool:
    """Whether k - 1 automorphisms exist of which no two agree anywhere, nor one with identity.

    An exact search, for at most 16 vertices.

    >>> from celosia.graphs.generators import ring
    >>> is_k_automorphic(ring(6), 6), is_k_automorphic(Graph.of([(0, 1), (1, 2)]), 2)
    (True, False)

    Raises:
        InputError: CEL-G110 the graph is larger.
    """
    if graph.order > SMALL:
        raise InputError("CEL-G110", small=SMALL, order=graph.order)
    return k <= max(graph.order, 1) and _extend(graph, [list(range(graph.order))], k)


def _extend(graph: Graph, found: list[list[int]], k: int) -> bool:
    if len(found) >= k:
        return True
    # In any order the set is the same: take them by the image of vertex 0.
    return any(
        image[0] > found[-1][0] and _extend(graph, [*found, image], k)
        for image in _automorphisms(graph, found)
    )


def _automorphisms(graph: Graph, avoid: list[list[int]]) -> Iterator[list[int]]:
    """Automorphisms that agree nowhere with those in `avoid`, one after the other."""
    near = _adjacency(graph)
    image: list[int] = []

    def grow() -> Iterator[list[int]]:
        vertex = len(image)
        if vertex == graph.order:
            yield image.copy()
            return
        for place in range(graph.order):
            if place in image or any(other[vertex] == place for other in avoid):
                continue
            if len(near[vertex]) == len(near[place]) and all(
                (earlier in near[vertex]) == (image[earlier] in near[place])
                for earlier in range(vertex)
            ):
                image.append(place)
                yield from grow()
                image.pop()

    yield from grow()


def is_k_isomorphic(graph: Graph, k: int) -> bool:
    """Whether the graph falls into k parts that are alike, without an edge between two of them.

    So it is if and only if each kind of connected component comes a multiple of k times.

    >>> is_k_isomorphic(Graph.of([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]), 2)
    True

    Reference: Cheng, Fu, Liu 2010, definition 1.
    """
    near = _adjacency(graph)
    kinds: list[tuple[Adjacency, object, int]] = []
    for part in _components(near):
        induced = {v: near[v] for v in part}
        mark = fingerprint(induced)
        for place, (example, known, count) in enumerate(kinds):
            if known == mark and isomorphic(example, induced):
                kinds[place] = (example, known, count + 1)
                break
        else:
            kinds.append((induced, mark, 1))
    return all(count % k == 0 for _, _, count in kinds)


def _adjacency(graph: Graph) -> dict[int, frozenset[int]]:
    return {v: frozenset(graph.neighbours_of(v).tolist()) for v in range(graph.order)}


def _components(near: Adjacency) -> Iterator[set[int]]:
    left = set(near)
    while left:
        edge = {left.pop()}
        part = set(edge)
        while edge:
            edge = {u for v in edge for u in near[v]} - part
            part |= edge
        left -= part
        yield part
