"""All graphs on a few vertices with their neighbours, and counts by the plainest of means."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import comb

import numpy as np

from celosia.core.randomness import Seeded
from celosia.graphs.graph import Graph

Edges = frozenset[tuple[int, int]]


def pairs(order: int) -> list[tuple[int, int]]:
    return list(combinations(range(order), 2))


def all_edge_sets(order: int) -> Iterator[Edges]:
    possible = pairs(order)
    for chosen in range(2 ** len(possible)):
        yield frozenset(pair for place, pair in enumerate(possible) if chosen >> place & 1)


def random_edge_sets(order: int, count: int, seed: int) -> list[Edges]:
    """Graphs of all densities."""
    rng = Seeded(seed)
    possible = pairs(order)
    found = []
    for _ in range(count):
        limit = int(rng.integers(9, 1)[0])
        draws = rng.integers(8, len(possible)).tolist()
        found.append(frozenset(p for p, d in zip(possible, draws, strict=True) if d < limit))
    return found


def one_edge_away(edges: Edges, order: int) -> Iterator[Edges]:
    for pair in pairs(order):
        yield edges ^ {pair}


@cache
def graph_of(edges: Edges, order: int) -> Graph:
    return Graph.of(sorted(edges), order=order)


def without_vertex(edges: Edges, vertex: int) -> Edges:
    """One vertex and its edges less; greater numbers move down by one."""
    return frozenset((u - (u > vertex), v - (v > vertex)) for u, v in edges if vertex not in (u, v))


def degrees(edges: Edges, order: int) -> list[int]:
    return [sum(vertex in pair for pair in edges) for vertex in range(order)]


def triangle_total(edges: Edges, order: int) -> int:
    return sum({(a, b), (a, c), (b, c)} <= edges for a, b, c in combinations(range(order), 3))


def star_total(edges: Edges, order: int, k: int) -> int:
    return sum(comb(degree, k) for degree in degrees(edges, order))


def histogram(edges: Edges, order: int) -> np.ndarray:
    return np.bincount(degrees(edges, order), minlength=order + 1)
