"""Graphs of other libraries, by what they can do."""

from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
from scipy import sparse

from celosia.core.errors import InputError
from celosia.graphs.examples import ARCS, dan, g9, karate
from celosia.graphs.generators import ring
from celosia.graphs.readers import as_graph, to_networkx


class Sequence:
    """Vertices or edges of igraph: attributes by name."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = columns

    def attributes(self) -> list[str]:
        return list(self.columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]


class IgraphLike:
    """The documented part of igraph.Graph that is used."""

    def __init__(self, directed: bool) -> None:
        self.vs = Sequence({"name": ["Ann", "Bob", "Cy"], "age": [30, None, 50]})
        self.es = Sequence({"weight": [1.5, 2.5, 3.5]})
        self.directed = directed

    def vcount(self) -> int:
        return 3

    def get_edgelist(self) -> list[tuple[int, int]]:
        return [(0, 1), (2, 2), (1, 0)]

    def is_directed(self) -> bool:
        return self.directed


def test_a_graph_of_networkx_comes_with_names_and_attributes() -> None:
    given = nx.karate_club_graph()
    reading = as_graph(given)
    assert reading.graph.edges.tolist() == karate().edges.tolist()
    assert reading.graph.attributes is not None
    assert reading.graph.edge_attributes is not None
    assert reading.graph.attributes["club"][0] == "Mr. Hi"
    back = to_networkx(reading.graph)
    assert nx.utils.graphs_equal(back, given) or dict(back.edges) == dict(given.edges)


def test_attributes_of_any_kind_become_columns() -> None:
    given = nx.Graph()
    given.add_node("a", count=np.int64(3), tags=["x", "y"], mixed=1)
    given.add_node("b", mixed="one")
    known = as_graph(given).graph.attributes
    assert known is not None
    assert known.to_dict(as_series=False) == {
        "count": [3, None],
        "tags": ['["x", "y"]', None],
        "mixed": ["1", "one"],
    }


def test_a_directed_multigraph_of_networkx_follows_the_rules() -> None:
    given = nx.MultiDiGraph([*ARCS, ("A", "D"), ("B", "B")])
    reading = as_graph(given)
    counts = reading.counts
    assert (counts.loops, counts.repeated, counts.both_ways, counts.one_way) == (1, 1, 1, 4)
    assert as_graph(given, directed="mutual").graph.size == 1
    with pytest.raises(InputError, match="direction"):
        as_graph(given, directed="refuse")


def test_a_graph_of_igraph_comes_by_its_interface() -> None:
    reading = as_graph(IgraphLike(directed=False))
    graph = reading.graph
    assert (reading.counts.loops, reading.counts.repeated) == (1, 1)
    assert graph.labels is not None
    assert graph.attributes is not None
    assert graph.edge_attributes is not None
    assert graph.labels.to_list() == ["Ann", "Bob", "Cy"]
    assert graph.attributes["age"].to_list() == [30, None, 50]
    assert graph.edge_attributes["weight"].to_list() == [1.5]
    directed = as_graph(IgraphLike(directed=True))
    assert (directed.counts.both_ways, directed.graph.size) == (1, 1)


def test_sparse_matrices_are_edges_or_arcs() -> None:
    symmetric = sparse.csr_array(nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=None))
    reading = as_graph(symmetric)
    assert reading.graph.same_edges(as_graph(nx.karate_club_graph()).graph)
    assert reading.counts.both_ways == 0
    weighted = sparse.coo_array(np.array([[0, 2.5, 0], [0, 0, 0], [1, 0, 3]]))
    arcs = as_graph(weighted)
    assert (arcs.graph.edges.tolist(), arcs.counts.loops) == ([[0, 1], [0, 2]], 1)
    assert arcs.graph.edge_attributes is not None
    assert arcs.graph.edge_attributes["weight"].to_list() == [2.5, 1.0]


def test_pairs_and_frames_are_edges() -> None:
    assert as_graph([(0, 1), (2, 1)]).graph.edges.tolist() == [[0, 1], [1, 2]]
    assert as_graph(np.array([[10**15, 5], [5, 6]])).graph.order == 3
    frame = pl.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "since": [1, 2]})
    graph = as_graph(frame).graph
    assert graph.labels is not None
    assert graph.edge_attributes is not None
    assert graph.labels.to_list() == ["x", "y", "z"]
    assert graph.edge_attributes["since"].to_list() == [1, 2]


def test_our_own_graph_passes_through() -> None:
    assert as_graph(dan()).graph.same_edges(dan())
    assert as_graph(g9()).graph.labels is not None


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (42, "CEL-G012"),
        ("0 1", "CEL-G012"),
        ([(0, 1, 2)], "CEL-G012"),
        ([(0, 1), (2,)], "CEL-G012"),
        ([(0.5, 1.0)], "CEL-G012"),
        ([(-1, 1)], "CEL-G004"),
        ([], "CEL-G009"),
        (nx.Graph(), "CEL-G009"),
        (sparse.csr_array(np.ones((2, 3))), "CEL-G012"),
        (pl.DataFrame({"a": [1]}), "CEL-G012"),
        (pl.DataFrame({"a": [1, None], "b": [2, 3]}), "CEL-G012"),
        (pl.DataFrame({"a": [1, -2], "b": [2, 3]}), "CEL-G004"),
        (nx.Graph([(1, "1")]), "CEL-G012"),
    ],
    ids=range(13),
)
def test_what_is_no_graph_is_refused(given: object, code: str) -> None:
    with pytest.raises(InputError) as error:
        as_graph(given)
    assert error.value.code == code


def test_a_graph_of_networkx_is_left_as_it_was() -> None:
    given = nx.Graph([(0, 1), (1, 1)])
    as_graph(given)
    assert given.number_of_edges() == 2


def test_vertices_of_networkx_beyond_64_bits_keep_their_names() -> None:
    given = nx.Graph([(2**70, 2**70 + 1)])
    labels = as_graph(given).graph.labels
    assert labels is not None
    assert labels.to_list() == [str(2**70), str(2**70 + 1)]


def test_a_graph_of_our_own_is_taken_as_it_is() -> None:
    graph = ring(5)
    assert as_graph(graph).graph is graph
