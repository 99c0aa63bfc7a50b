"""Whether two small graphs are isomorphic: refine colours, then try.

Colour refinement alone cannot tell some graphs apart (a hexagon from two triangles). So where a
colour has several vertices, one of the first graph is paired with each of the second in turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

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
