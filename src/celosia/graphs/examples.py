"""Small graphs with known answers: those of the figures, and the karate club.

Vertices are named as in the figures, from 1 or by a first name; the names are in `labels`, and
`vertices` finds their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.graphs.graph import Graph

Pairs = tuple[tuple[int, int], ...]

ARCS = (("A", "D"), ("B", "D"), ("C", "D"), ("D", "A"), ("D", "E"), ("D", "F"))
"""Figure 5: a follower network. Three follow D and D follows three, A in both ways."""

FRIENDS = (
    ("Dan", "Amy"),
    ("Dan", "Bob"),
    ("Dan", "Eva"),
    ("Dan", "Tim"),
    ("Amy", "Bob"),
    ("Eva", "Joe"),
    ("Tim", "Lis"),
    ("Joe", "Lis"),
    ("Joe", "Tom"),
    ("Joe", "Ann"),
)
"""Figure 7: Dan shares his degree with Joe, but not the two friends who know each other."""

G9_EDGES: Pairs = (
    *((1, 2), (1, 3), (1, 5), (2, 3), (3, 4), (3, 6)),
    *((4, 5), (4, 6), (4, 7), (6, 8), (6, 9), (7, 8)),
)
"""Figure 9a."""

G10_EDGES: Pairs = (
    *((1, 2), (2, 3), (1, 3), (2, 5), (2, 6)),
    *((4, 5), (5, 7), (6, 8), (7, 9), (8, 9)),
)
"""Figure 10a."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """Edges that a figure takes away and adds, and the degrees that it shows afterwards."""

    delete: Pairs = ()
    add: Pairs
    degrees: tuple[int, ...]


G9_ADD_DELETE = Edits(
    delete=((1, 5), (2, 3)), add=((6, 7), (8, 9)), degrees=(2, 1, 3, 4, 1, 5, 3, 3, 2)
)
"""Figure 9b."""

G9_SWITCH = Edits(
    delete=((1, 2), (4, 5)), add=((1, 4), (2, 5)), degrees=(3, 2, 4, 4, 2, 4, 2, 2, 1)
)
"""Figure 9c: the degrees stay as they were."""

G10_EDGE_CHANGE = Edits(delete=((2, 3),), add=((3, 4),), degrees=(2, 3, 2, 2, 3, 2, 2, 2, 2))
"""Figure 10b: two of each degree, with as many edges."""

G10_VERTEX_ADDED = Edits(add=((10, 4), (10, 5)), degrees=(2, 4, 2, 2, 4, 2, 2, 2, 2, 2))
"""Figure 10c: vertex 10 (there: a) is new."""

UNCERTAIN_EDGES: Pairs = ((1, 2), (1, 3), (1, 4), (2, 3))
"""Figure 11, with the running example of Boldi et al. 2012: the original graph."""

UNCERTAIN: Mapping[tuple[int, int], float] = {
    (1, 2): 0.7,
    (1, 3): 0.9,
    (1, 4): 0.8,
    (2, 3): 0.8,
    (2, 4): 0.1,
    (3, 4): 0.0,
}
"""Figure 11: the published chance of each edge; vertex 1 alone stays exposed for k = 3."""

G9_PARTITION = ((1, 2, 3), (4, 5, 7), (6, 8, 9))
"""Figure 12, on G9: super-vertices (3,3), (3,2), (3,2) with 2, 1 and 2 edges between them."""

_CLUB = """
1: 2 3 4 5 6 7 8 9 11 12 13 14 18 20 22 32
2: 3 4 8 14 18 20 22 31
3: 4 8 9 10 14 28 29 33
4: 8 13 14
5: 7 11
6: 7 11 17
7: 17
9: 31 33 34
10: 34
14: 34
15: 33 34
16: 33 34
19: 33 34
20: 34
21: 33 34
23: 33 34
24: 26 28 30 33 34
25: 26 28 32
26: 32
27: 30 34
28: 34
29: 32 34
30: 33 34
31: 33 34
32: 33 34
33: 34
"""


def graph_of_names(pairs: Iterable[tuple[str, str]] | Iterable[tuple[int, int]]) -> Graph:
    """A graph from pairs of names: numbers in their order, words as they come first.

    >>> graph = graph_of_names([("Dan", "Amy"), ("Bob", "Dan")])
    >>> graph.labels.to_list(), graph.edges.tolist()
    (['Dan', 'Amy', 'Bob'], [[0, 1], [0, 2]])
    """
    ends = [tuple(pair) for pair in pairs]
    names = list(dict.fromkeys(name for pair in ends for name in pair))
    if all(isinstance(name, int) for name in names):
        names.sort()
    number = {name: place for place, name in enumerate(names)}
    edges = [(number[one], number[other]) for one, other in ends]
    return Graph.of(edges, order=len(names), labels=pl.Series("vertex", names))


def g9() -> Graph:
    """Figure 9a: nine vertices, twelve edges; vertices 1 and 9 are alone with their degrees."""
    return graph_of_names(G9_EDGES)


def g10() -> Graph:
    """Figure 10a: nine vertices, ten edges, no two of the greater degrees alike."""
    return graph_of_names(G10_EDGES)


def dan() -> Graph:
    """Figure 7: anonymous by degree for k = 2, yet Dan is found by his neighbourhood."""
    return graph_of_names(FRIENDS)


def uncertain_original() -> Graph:
    """The certain graph behind `UNCERTAIN`."""
    return graph_of_names(UNCERTAIN_EDGES)


def karate() -> Graph:
    """The karate club of Zachary 1977: 34 members, 78 friendships."""
    lines = (line.split(":") for line in _CLUB.strip().splitlines())
    return graph_of_names([(int(one), int(other)) for one, rest in lines for other in rest.split()])


def vertices(graph: Graph, names: Iterable[int] | Iterable[str]) -> NDArray[np.int64]:
    """The numbers of the vertices with these names.

    >>> vertices(dan(), ["Joe", "Dan"]).tolist()
    [5, 0]
    """
    labels = range(graph.order) if graph.labels is None else graph.labels.to_list()
    number = {name: place for place, name in enumerate(labels)}
    return np.array([number[name] for name in names], dtype=np.int64)
