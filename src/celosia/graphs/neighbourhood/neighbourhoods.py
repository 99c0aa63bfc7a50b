"""The neighbourhoods of a graph while edges are added, with their signatures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from celosia.graphs.graph import Graph

_ROUNDS = 3
"""Rounds of refinement; what they do not tell apart is compared exactly at the end."""

Signature = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Neighbourhoods:
    """Neighbours as sets, and a signature of the graph among the neighbours of each vertex.

    Vertices whose neighbourhoods are isomorphic have equal signatures; the converse holds nearly
    always (Weisfeiler, Leman 1968).
    """

    near: list[set[int]]
    added: list[tuple[int, int]] = field(default_factory=list)
    signatures: list[Signature] = field(init=False)
    _stale: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self.signatures = [()] * len(self.near)
        self._stale = set(range(len(self.near)))

    @classmethod
    def of(cls, graph: Graph) -> Neighbourhoods:
        """From a graph."""
        return cls([set(graph.neighbours_of(v).tolist()) for v in range(graph.order)])

    def join(self, one: int, other: int) -> None:
        """Add an edge; those who see it are both ends and their common neighbours."""
        self._stale |= {one, other} | (self.near[one] & self.near[other])
        self.near[one].add(other)
        self.near[other].add(one)
        self.added.append((one, other))

    def refresh(self) -> None:
        """Make the signatures anew of those who saw a change."""
        for vertex in self._stale:
            self.signatures[vertex] = self._signature(vertex)
        self._stale.clear()

    def inner(self, vertex: int) -> dict[int, set[int]]:
        """The graph among the neighbours of a vertex."""
        near = self.near[vertex]
        return {each: self.near[each] & near for each in near}

    def _signature(self, vertex: int) -> Signature:
        inner = self.inner(vertex)
        colours = {each: len(near) for each, near in inner.items()}
        for _ in range(_ROUNDS):
            # Hashes of whole numbers are the same in every run of Python.
            colours = {
                each: hash((colours[each], *sorted(colours[other] for other in near)))
                for each, near in inner.items()
            }
        return tuple(sorted(colours.values()))

    def class_sizes(self) -> list[int]:
        """How many vertices have the signature of each vertex."""
        counts = Counter(self.signatures)
        return [counts[signature] for signature in self.signatures]

    def effort(self, one: int, other: int) -> int:
        """A guess of how many edges it takes to make two neighbourhoods alike."""
        first, second = (
            sorted((len(near) for near in self.inner(v).values()), reverse=True)
            for v in (one, other)
        )
        longer, shorter = (first, second) if len(first) > len(second) else (second, first)
        padded = shorter + [0] * (len(longer) - len(shorter))
        ends = sum(abs(a - b) for a, b in zip(longer, padded, strict=True))
        return 3 * (len(longer) - len(shorter)) + ends // 2
