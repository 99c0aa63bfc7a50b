"""The graph itself: edges in one array, neighbours in another."""

from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.graphs.examples import g9
from celosia.graphs.graph import Graph

pairs = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda p: p[0] != p[1]))


@settings(max_examples=100, deadline=None)
@given(pairs)
def test_a_graph_is_the_one_of_networkx(edges: list[tuple[int, int]]) -> None:
    graph = Graph.of(edges, order=9)
    oracle = nx.Graph(edges)
    oracle.add_nodes_from(range(9))
    assert (graph.order, graph.size) == (9, oracle.number_of_edges())
    assert graph.degrees.tolist() == [oracle.degree(v) for v in range(9)]
    for vertex in range(9):
        assert graph.neighbours_of(vertex).tolist() == sorted(oracle[vertex])
    every = np.array([(u, v) for u in range(9) for v in range(9) if u != v])
    assert graph.has_edges(every).tolist() == [oracle.has_edge(u, v) for u, v in every.tolist()]


@given(pairs)
def test_edges_are_sorted_distinct_and_their_keys_lead_back(edges: list[tuple[int, int]]) -> None:
    graph = Graph.of(edges, order=9)
    wanted = sorted({tuple(sorted(pair)) for pair in edges})
    assert [tuple(pair) for pair in graph.edges.tolist()] == wanted
    assert Graph.from_keys(graph.keys, order=9).same_edges(graph)
    assert graph.with_edges(graph.edges).same_edges(graph)


@pytest.mark.parametrize(
    ("edges", "order"),
    [([(0, 0)], 2), ([(-1, 0)], 2), ([(0, 2)], 2), ([], 2**31)],
    ids=["loop", "negative", "beyond", "too many"],
)
def test_what_is_no_simple_graph_is_refused(edges: list[tuple[int, int]], order: int) -> None:
    with pytest.raises(InputError) as error:
        Graph.of(edges, order=order)
    assert error.value.code == "CEL-G001"


def test_graphs_of_no_edges_and_of_no_vertices_answer_too() -> None:
    for order in (0, 3):
        graph = Graph.of([], order=order)
        assert (graph.order, graph.size, graph.neighbours.tolist()) == (order, 0, [])
        assert graph.starts.tolist() == [0] * (order + 1)


def test_the_edges_of_a_graph_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        g9().edges[0, 0] = 5


def test_names_and_attributes_can_be_left_behind() -> None:
    graph = Graph.of([(0, 1)], labels=pl.Series(["a", "b"]), attributes=pl.DataFrame({"x": [1, 2]}))
    bare = graph.without_names()
    assert bare.labels is None
    assert bare.attributes is None
    assert bare.same_edges(graph)
    assert str(bare) == "2 vertices, 1 edges"
    assert repr(graph) == "Graph(2 vertices, 1 edges)"


@pytest.mark.parametrize(
    "edges",
    [[(0.5, 1)], [(0, 2**70)], [(0, float("nan"))], [(True, False)], [(0, 1, 2)], [("0", "1")]],
    ids=range(6),
)
def test_what_is_no_pair_of_whole_numbers_is_refused_and_never_cut_to_one(edges: list[Any]) -> None:
    with pytest.raises(InputError) as refused:
        Graph.of(edges)
    assert refused.value.code == "CEL-G001"


@pytest.mark.parametrize("order", [1, -1, 2.5, "3", 2**31])
def test_an_order_that_is_no_number_of_vertices_is_refused(order: Any) -> None:
    with pytest.raises(InputError) as refused:
        Graph.of([(0, 1)], order=order)
    assert refused.value.code == "CEL-G001"


def test_names_and_attributes_are_one_for_each_vertex() -> None:
    with pytest.raises(InputError, match="2 names or rows"):
        Graph.of([(0, 1)], order=3, labels=pl.Series(["Ann", "Bob"]))
    with pytest.raises(InputError, match="1 names or rows"):
        Graph.of([(0, 1)], attributes=pl.DataFrame({"age": [1]}))
