"""The example graphs are those of the figures."""

import networkx as nx
import numpy as np
import pytest

from celosia.graphs import examples
from celosia.graphs.graph import Graph


def edited(graph: Graph, edits: examples.Edits, order: int) -> Graph:
    gone = {tuple(sorted(pair)) for pair in edits.delete}
    assert graph.labels is not None
    names = graph.labels.to_list()
    kept = [
        (names[u], names[v]) for u, v in graph.edges.tolist() if (names[u], names[v]) not in gone
    ]
    assert len(kept) == graph.size - len(gone)
    added = Graph.of([(u - 1, v - 1) for u, v in (*kept, *edits.add)], order=order)
    assert added.size == len(kept) + len(edits.add)
    return added


def test_figure_9_has_the_degrees_of_the_text() -> None:
    graph = examples.g9()
    assert (graph.order, graph.size) == (9, 12)
    assert graph.degrees.tolist() == [3, 2, 4, 4, 2, 4, 2, 2, 1]
    assert graph.labels is not None
    assert graph.labels.to_list() == list(range(1, 10))


def test_figure_10_has_the_degrees_of_the_text() -> None:
    graph = examples.g10()
    assert (graph.order, graph.size) == (9, 10)
    assert graph.degrees.tolist() == [2, 4, 2, 1, 3, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("name", "edits", "order", "size"),
    [
        ("g9", examples.G9_ADD_DELETE, 9, 12),
        ("g9", examples.G9_SWITCH, 9, 12),
        ("g10", examples.G10_EDGE_CHANGE, 9, 10),
        ("g10", examples.G10_VERTEX_ADDED, 10, 12),
    ],
    ids=["9b", "9c", "10b", "10c"],
)
def test_the_edits_of_a_figure_give_its_degrees(
    name: str, edits: examples.Edits, order: int, size: int
) -> None:
    changed = edited(getattr(examples, name)(), edits, order)
    assert (changed.size, tuple(changed.degrees.tolist())) == (size, edits.degrees)


def test_dan_shares_his_degree_with_joe_only() -> None:
    graph = examples.dan()
    assert (graph.order, graph.size) == (9, 10)
    found = examples.vertices(graph, ["Dan", "Joe"])
    assert np.flatnonzero(graph.degrees == 4).tolist() == sorted(found.tolist())
    dan = found[0]
    known = graph.neighbours_of(int(dan))
    between = np.array([(u, v) for u in known for v in known if u < v])
    assert graph.has_edges(between).sum() == 1


def test_the_uncertain_example_keeps_the_expected_number_of_edges() -> None:
    assert sum(examples.UNCERTAIN.values()) == pytest.approx(3.3)
    assert examples.uncertain_original().degrees.tolist() == [3, 2, 2, 1]


def test_figure_5_counts_successors_and_predecessors() -> None:
    assert {to for who, to in examples.ARCS if who == "D"} == {"A", "E", "F"}
    assert {who for who, to in examples.ARCS if to == "D"} == {"A", "B", "C"}


def test_the_karate_club_is_the_one_of_networkx() -> None:
    theirs = sorted(tuple(sorted(pair)) for pair in nx.karate_club_graph().edges())
    assert [tuple(pair) for pair in examples.karate().edges.tolist()] == theirs
