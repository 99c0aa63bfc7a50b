"""Checks of a published graph, written independently of the methods.

Whether two small graphs are isomorphic is decided exactly: refine colours, then try. Refinement
alone cannot tell some graphs apart (a hexagon from two triangles); so where a colour has several
vertices, one of the first graph is paired with each of the second in turn.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.graphs.graph import Graph
from celosia.graphs.networks.network import Network

__all__ = [
    "Candidates",
    "are_automorphisms",
    "are_parts",
    "candidate_sizes",
    "contains",
    "degree_anonymity",
    "is_k_automorphic",
    "is_k_isomorphic",
    "neighbourhood_anonymity",
    "neighbourhood_classes",
    "profile_anonymity",
    "triangle_anonymity",
]

Query = Callable[[Graph, int], Hashable]
"""What an attacker knows of a vertex: anything that can be compared."""

BUCKETS = ((1, 1), (2, 4), (5, 10), (11, 20), (21, None))
"""The sizes that are counted together, as in Hay et al. 2008."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """For each vertex, how many vertices answer the query as it does, itself included."""

    sizes: tuple[int, ...]

    @classmethod
    def of(cls, answers: Iterable[Hashable]) -> Candidates:
        """From the answer for each vertex."""
        values = list(answers)
        counts = Counter(values)
        return cls(tuple(counts[answer] for answer in values))

    @property
    def k(self) -> int:
        """The smallest number of candidates of a vertex."""
        return min(self.sizes, default=0)

    @property
    def unique(self) -> float:
        """The share of vertices with one candidate."""
        return self.sizes.count(1) / max(len(self.sizes), 1)

    @property
    def buckets(self) -> dict[str, int]:
        """How many vertices have how many candidates."""
        return {
            (f"{low}" if low == high else f"{low}-{high}" if high else f">{low - 1}"): sum(
                low <= size and (high is None or size <= high) for size in self.sizes
            )
            for low, high in BUCKETS
        }

    def as_dict(self) -> dict[str, Any]:
        """The summary as plain values."""
        return {"k": self.k, "unique": self.unique, "vertices_by_candidates": self.buckets}

    def __str__(self) -> str:
        return say("graphs.graph.candidates", k=self.k, unique=self.unique)


def candidate_sizes(graph: Graph, query: Query) -> Candidates:
    """How many vertices answer a query of your own as each vertex does.

    >>> path = Graph.of([(0, 1), (1, 2)])
    >>> candidate_sizes(path, lambda graph, vertex: int(graph.degrees[vertex])).sizes
    (2, 1, 2)

    Reference: Hay, Miklau, Jensen, Towsley, Weis 2008.
    """
    return Candidates.of(query(graph, vertex) for vertex in range(graph.order))


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


def profile_anonymity(network: Network, *, ratio: float = 2.0) -> int:
    """How many vertices share the rarest profile of a network.

    A profile: the side; in each snapshot the degree, or the out-degree and the in-degree; and for
    each the power of `ratio` that the sum of its weights reaches. Counted edge by edge.
    """
    degrees: list[Counter[tuple[int, int]]] = [Counter() for _ in range(network.order)]
    sums: list[Counter[tuple[int, int]]] = [Counter() for _ in range(network.order)]
    times = [0] * network.size if network.snapshots is None else network.snapshots.tolist()
    heavy = [0.0] * network.size if network.weights is None else network.weights.tolist()
    apart = network.directed or network.sides is not None
    for (one, other), when, weight in zip(network.edges.tolist(), times, heavy, strict=True):
        for vertex, end in ((one, 0), (other, 1 if apart else 0)):
            degrees[vertex][when, end] += 1
            sums[vertex][when, end] += weight
    sides = [False] * network.order if network.sides is None else network.sides.tolist()
    answers = (
        (
            sides[vertex],
            frozenset(degrees[vertex].items()),
            frozenset((place, _power(total, ratio)) for place, total in sums[vertex].items()),
        )
        for vertex in range(network.order)
    )
    return Candidates.of(answers).k


def _power(total: float, ratio: float) -> int | None:
    """The greatest i with ratio**i at most the total; a hair above a power counts as that power."""
    return floor(log(total, ratio) + 1e-9) if total > 0 else None


def contains(original: Graph, changed: Graph) -> bool:
    """Whether every vertex and edge of `original` is in `changed`, by number.

    >>> path = Graph.of([(0, 1), (1, 2)])
    >>> contains(path, Graph.of([(0, 1), (1, 2), (2, 3)])), contains(path, Graph.of([(0, 2)]))
    (True, False)
    """
    if changed.order < original.order:
        return False
    return bool(changed.has_edges(original.edges).all()) if original.size else True


Adjacency = Mapping[int, frozenset[int]]
"""The neighbours of each vertex."""

Colours = dict[int, int]


def isomorphic(one: Adjacency, other: Adjacency) -> bool:
    """Whether some renaming of the vertices turns one graph into the other, exactly.

    >>> path = {0: frozenset({1}), 1: frozenset({0, 2}), 2: frozenset({1})}
    >>> moved = {5: frozenset({7}), 6: frozenset({7}), 7: frozenset({5, 6})}
    >>> isomorphic(path, moved)
    True
    """
    if len(one) != len(other):
        return False
    joined, matched = ({v: near for v, near in graph.items() if near} for graph in (one, other))
    return _match(joined, matched, dict.fromkeys(joined, 0), dict.fromkeys(matched, 0))


def fingerprint(graph: Adjacency) -> tuple[object, ...]:
    """A cheap value that isomorphic graphs share: degrees, and the degrees around each vertex."""
    around = sorted(
        (len(near), tuple(sorted(len(graph[v]) for v in near))) for near in graph.values()
    )
    return tuple(around)


def _match(one: Adjacency, other: Adjacency, first: Colours, second: Colours) -> bool:
    first, second = _refine(one, other, first, second)
    held, wanted = Counter(first.values()), Counter(second.values())
    if held != wanted:
        return False
    several = [colour for colour, count in held.items() if count > 1]
    if not several:  # one vertex each: the renaming is forced
        name = {colour: v for v, colour in second.items()}
        return all(
            {name[first[u]] for u in near} == other[name[first[v]]] for v, near in one.items()
        )
    colour = min(several, key=held.__getitem__)
    fresh = max(held) + 1
    vertex = next(v for v, c in first.items() if c == colour)
    return any(
        _match(one, other, first | {vertex: fresh}, second | {image: fresh})
        for image, c in second.items()
        if c == colour
    )


def _refine(
    one: Adjacency, other: Adjacency, first: Colours, second: Colours
) -> tuple[Colours, Colours]:
    """Split colours by the colours around, in both graphs alike, until nothing splits."""
    while True:
        names: dict[object, int] = {}
        signatures = [
            {
                v: names.setdefault(
                    (colours[v], tuple(sorted(colours[u] for u in near))), len(names)
                )
                for v, near in graph.items()
            }
            for graph, colours in ((one, first), (other, second))
        ]
        if len(names) == len(set(first.values()) | set(second.values())):
            return first, second
        first, second = signatures


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


def triangle_anonymity(graph: Graph, *, tolerance: float) -> Candidates:
    """How many vertices have the degree of each vertex and nearly as many triangles.

    Nearly: the two numbers differ by at most `tolerance` of the greater one. `.k` is the fewest.

    >>> kite = Graph.of([(0, 1), (0, 2), (1, 2), (2, 3), (1, 3)])
    >>> triangle_anonymity(kite, tolerance=0).sizes
    (2, 2, 2, 2)
    """
    part = Fraction(repr(float(tolerance)))
    corners = _triangles(graph)
    classes: defaultdict[int, list[int]] = defaultdict(list)
    for vertex, degree in enumerate(graph.degrees.tolist()):
        classes[degree].append(vertex)
    sizes = [0] * graph.order
    for members in classes.values():
        counts = Counter(corners[vertex] for vertex in members)
        ranked = sorted(counts)
        found = {own: _near(ranked, counts, own, part) for own in ranked}
        for vertex in members:
            sizes[vertex] = found[corners[vertex]]
    return Candidates(tuple(sizes))


def _near(ranked: list[int], counts: Counter[int], own: int, part: Fraction) -> int:
    first = bisect_left(ranked, own * (1 - part))
    last = bisect_right(ranked, own / (1 - part))
    return sum(counts[value] for value in ranked[first:last])


def _triangles(graph: Graph) -> list[int]:
    """How many triangles each vertex is in; each is met at its first corner, by degree."""
    degrees = graph.degrees.tolist()
    later: list[set[int]] = [set() for _ in range(graph.order)]
    pairs = graph.edges.tolist()
    for one, other in pairs:
        low, high = sorted((one, other), key=lambda v: (degrees[v], v))
        later[low].add(high)
    corners = [0] * graph.order
    for one, other in pairs:
        third = later[one] & later[other]
        for vertex in third:
            corners[vertex] += 1
        corners[one] += len(third)
        corners[other] += len(third)
    return corners


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


def are_parts(graph: Graph, parts: ArrayLike) -> bool:
    """Whether no edge joins two vertices whose parts, a number each, differ.

    With renamings that turn each part into every other (`are_automorphisms`) the parts are
    isomorphic.

    >>> are_parts(Graph.of([(0, 1), (2, 3)]), [0, 0, 1, 1]), are_parts(Graph.of([(0, 1)]), [0, 1])
    (True, False)
    """
    ends = np.asarray(parts)[graph.edges]
    return bool((ends[:, 0] == ends[:, 1]).all())


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
