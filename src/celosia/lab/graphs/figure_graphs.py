"""The graphs of the figures, before and after what a figure does to them."""

from __future__ import annotations

from collections.abc import Iterable

from celosia.graphs import examples
from celosia.graphs.examples import Edits
from celosia.graphs.graph import Graph
from celosia.lab.masking.equivalence_classes import format_groups


def edit(graph: Graph, edits: Edits) -> Graph:
    """A graph after the edits of a figure; a vertex that is new comes last.

    >>> edit(examples.g10(), examples.G10_VERTEX_ADDED).degrees.tolist()
    [2, 4, 2, 2, 4, 2, 2, 2, 2, 2]
    """
    gone = {tuple(sorted(pair)) for pair in _numbered(edits.delete)}
    kept = [pair for pair in graph.edges.tolist() if tuple(pair) not in gone]
    return Graph.of([*kept, *_numbered(edits.add)], order=len(edits.degrees))


def figure_9() -> tuple[Graph, Graph, Graph]:
    """The graph, after edges were added and deleted, after a switch."""
    graph = examples.g9()
    return graph, edit(graph, examples.G9_ADD_DELETE), edit(graph, examples.G9_SWITCH)


def figure_10() -> tuple[Graph, Graph, Graph]:
    """The graph, with an edge moved, with a vertex added."""
    graph = examples.g10()
    moved = edit(graph, examples.G10_EDGE_CHANGE)
    return graph, moved, edit(graph, examples.G10_VERTEX_ADDED)


def name_groups(groups: Iterable[Iterable[int]]) -> str:
    """Groups of vertices as the figures number them, from 1, by their first members.

    >>> name_groups([[3, 1], [0, 2]])
    '{1,3} {2,4}'
    """
    return format_groups(sorted(sorted(vertex + 1 for vertex in group) for group in groups))


def in_words(numbers: Iterable[object]) -> str:
    """Numbers as one text.

    >>> in_words([3, 2])
    '3 2'
    """
    return " ".join(map(str, numbers))


def _numbered(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(one - 1, other - 1) for one, other in pairs]
