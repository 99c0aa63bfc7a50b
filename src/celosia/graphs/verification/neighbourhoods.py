"""Vertices with isomorphic neighbourhoods, compared exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from celosia.graphs.graph import Graph
from celosia.graphs.verification.candidates import Candidates
from celosia.graphs.verification.isomorphism import Adjacency, fingerprint, isomorphic


def neighbourhood_classes(graph: Graph) -> tuple[tuple[int, ...], ...]:
    """The vertices in classes: two are together if the graphs among their neighbours are alike.

    Alike means isomorphic: the same edges but for the names. It is decided exactly, so this is for
    graphs whose neighbourhoods are small.

    >>> neighbourhood_classes(Graph.of([(0, 1), (0, 2), (1, 2), (2, 3)]))
    ((0, 1), (2,), (3,))

    Reference: Zhou, Pei 2008.
    """
    around = [frozenset(graph.neighbours_of(v).tolist()) for v in range(graph.order)]
    kinds: defaultdict[object, list[tuple[Adjacency, list[int]]]] = defaultdict(list)
    for vertex, near in enumerate(around):
        induced = {v: around[v] & near for v in near}
        known = kinds[fingerprint(induced)]
        for example, members in known:
            if isomorphic(example, induced):
                members.append(vertex)
                break
        else:
            known.append((induced, [vertex]))
    return tuple(sorted(tuple(members) for known in kinds.values() for _, members in known))


def neighbourhood_anonymity(graph: Graph) -> Candidates:
    """How many vertices have a neighbourhood like that of each vertex; `.k` is the fewest."""
    return _sizes(neighbourhood_classes(graph), graph.order)


def _sizes(classes: Sequence[Sequence[int]], order: int) -> Candidates:
    sizes = [0] * order
    for members in classes:
        for vertex in members:
            sizes[vertex] = len(members)
    return Candidates(tuple(sizes))
