"""The number of candidates of each vertex, for any knowledge of an attacker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from celosia.core.messages import say
from celosia.graphs.graph import Graph

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
        return {"k": self.k, "unique": self.unique, "vertices by candidates": self.buckets}

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
