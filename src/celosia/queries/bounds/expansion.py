"""Inner joins as a whole: relations, the keys between them, and every order to put them together.

A tree of inner joins, with whatever filters lie between them, is the same set of rows in every
order. So nothing depends on how it was written, and each connected order gives a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from celosia.queries.algebra import Column, Filter, Join, Relation, aliases


@dataclass(frozen=True, slots=True)
class Edge:
    """From rows of one relation on to those of another that share a key with them."""

    start: int
    end: int
    keys: tuple[Column, ...]
    """The columns of the relation that is reached."""


@dataclass(frozen=True, slots=True)
class Block:
    """Relations that inner joins put together, and the edges between them, both ways."""

    members: tuple[Relation, ...]
    edges: tuple[Edge, ...]

    def member(self, column: Column) -> int | None:
        """Which of the relations a column belongs to."""
        for place, member in enumerate(self.members):
            if column.relation in aliases(member):
                return place
        return None

    def ways(self, seeds: frozenset[int]) -> Iterator[tuple[Edge, ...]]:
        """Every way to reach all relations from some, each relation over one edge.

        These are the spanning forests that are rooted in the seeds, each once; there is none if
        the joins do not connect all relations with the seeds.
        """
        onward = [0] * len(self.members)
        for edge in self.edges:
            onward[edge.start] |= 1 << edge.end
        named = {(edge.start, edge.end): edge for edge in self.edges}
        everything = (1 << len(self.members)) - 1
        for way in _ways(sum(1 << seed for seed in seeds), onward, everything):
            yield tuple(named[step] for step in way)


def block(relation: Relation) -> Block:
    """The block that a relation is: itself alone if it is no inner join."""
    members, pairs = _parts(relation)
    alone = Block(tuple(members), ())
    found: dict[tuple[int, int], list[Column]] = {}
    for left, right in pairs:
        start, end = alone.member(left), alone.member(right)
        if start is not None and end is not None and start != end:
            found.setdefault((start, end), []).append(right)
            found.setdefault((end, start), []).append(left)
    edges = tuple(Edge(start, end, tuple(keys)) for (start, end), keys in sorted(found.items()))
    return Block(alone.members, edges)


def _parts(relation: Relation) -> tuple[list[Relation], list[tuple[Column, Column]]]:
    inner = relation
    while isinstance(inner, Filter):
        inner = inner.source
    if not isinstance(inner, Join):
        return [relation], []
    left, left_pairs = _parts(inner.left)
    right, right_pairs = _parts(inner.right)
    return left + right, left_pairs + right_pairs + list(inner.keys)


def _ways(
    reached: int, onward: list[int], everything: int
) -> Iterator[tuple[tuple[int, int], ...]]:
    """Take the first edge that leads on, or do without it for good. Sets are bit masks."""
    if reached == everything:
        yield ()
        return
    if not _connected(reached, onward, everything):
        return
    start = next(place for place in _places(reached) if onward[place] & ~reached)
    end = next(_places(onward[start] & ~reached))
    for others in _ways(reached | 1 << end, onward, everything):
        yield ((start, end), *others)
    without = list(onward)
    without[start] &= ~(1 << end)
    yield from _ways(reached, without, everything)


def _connected(reached: int, onward: list[int], everything: int) -> bool:
    fresh = reached
    while fresh:
        found = 0
        for place in _places(fresh):
            found |= onward[place]
        fresh = found & ~reached
        reached |= fresh
    return reached == everything


def _places(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
