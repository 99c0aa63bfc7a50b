"""Graphs to files and back."""

import math
from pathlib import Path
from typing import get_args

import networkx as nx
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.examples import dan, g9
from celosia.graphs.generators import random_graph
from celosia.graphs.graph import Graph
from celosia.graphs.readers import Format, read, to_networkx
from celosia.graphs.writers import write

ENDINGS = {"edges": "edges", "csv": "csv.gz", "tsv": "tsv", "graphml": "graphml"}
ENDINGS |= {"gml": "gml.gz", "pajek": "net", "json": "json"}


def test_every_format_has_an_ending_here() -> None:
    only_read = {"metis", "mtx", "gexf", "konect"}
    assert set(ENDINGS) == set(get_args(Format)) - only_read


@pytest.mark.parametrize("kind", ENDINGS)
@pytest.mark.parametrize("name", ["numbers", "labels", "words"])
def test_a_graph_comes_back_as_it_was_written(tmp_path: Path, kind: str, name: str) -> None:
    graph = {"numbers": random_graph(30, 200, Seeded(1)), "labels": g9(), "words": dan()}[name]
    path = tmp_path / f"graph.{ENDINGS[kind]}"
    write(graph, path)
    back = read(path).graph
    assert nx.utils.graphs_equal(_plain(back), _plain(graph))


def _plain(graph: Graph) -> nx.Graph:
    made = to_networkx(graph)
    return nx.relabel_nodes(made, {name: str(name) for name in made})


def rich() -> Graph:
    graph = dan()
    known = pl.DataFrame(
        {
            "age": [30, None, 2, 3, 4, 5, 6, 7, 8],
            "note": ['<a> & "b"', None, "é", "", "x", "y", "z", "#", "a,b"],
            "ratio": [0.1, 1e300, -2.5, 0.0, 1.0, 2.0, 3.0, 4.0, None],
        }
    )
    weights = pl.DataFrame({"weight": [i / 4 for i in range(10)]})
    return Graph(
        order=9, edges=graph.edges, labels=graph.labels, attributes=known, edge_attributes=weights
    )


@pytest.mark.parametrize("kind", ["graphml", "gml", "json"])
def test_attributes_come_back(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"graph.{ENDINGS[kind]}"
    write(rich(), path)
    back = read(path).graph
    assert back.attributes is not None
    assert back.edge_attributes is not None
    wanted = rich()
    assert wanted.attributes is not None
    assert wanted.edge_attributes is not None
    assert back.attributes.select(wanted.attributes.columns).equals(wanted.attributes)
    assert back.edge_attributes.equals(wanted.edge_attributes)
    assert back.labels is not None
    assert back.labels.to_list() == dan().labels.to_list()  # type: ignore[union-attr]


def test_truth_values_come_back_where_the_format_has_them(tmp_path: Path) -> None:
    graph = Graph(
        order=2, edges=Graph.of([(0, 1)]).edges, attributes=pl.DataFrame({"on": [True, False]})
    )
    for name, wanted in (
        ("a.graphml", [True, False]),
        ("a.json", [True, False]),
        ("a.gml", [1, 0]),
    ):
        write(graph, tmp_path / name)
        back = read(tmp_path / name).graph.attributes
        assert back is not None
        assert back["on"].to_list() == wanted


def test_networkx_reads_what_is_written(tmp_path: Path) -> None:
    write(rich(), tmp_path / "a.graphml")
    write(rich(), tmp_path / "a.gml")
    oracle = _plain(rich())
    assert set(nx.read_graphml(tmp_path / "a.graphml").edges()) == set(oracle.edges())
    theirs = nx.read_gml(tmp_path / "a.gml")
    assert {frozenset(pair) for pair in theirs.edges()} == {
        frozenset(pair) for pair in oracle.edges()
    }
    assert theirs.nodes["Dan"]["note"] == '<a> & "b"'


def test_a_table_of_vertices_beside_an_edge_list_brings_all_back(tmp_path: Path) -> None:
    graph = rich()
    lone = Graph.of([(0, 1)], order=9, labels=graph.labels, attributes=graph.attributes)
    write(lone, tmp_path / "a.csv", vertices=tmp_path / "v.csv")
    back = read(tmp_path / "a.csv", vertices=tmp_path / "v.csv").graph
    assert back.order == 9
    assert back.same_edges(lone)
    assert back.attributes is not None
    assert back.attributes["age"].to_list() == graph.attributes["age"].to_list()  # type: ignore[index]


@pytest.mark.parametrize("kind", ["edges", "csv", "tsv", "pajek"])
def test_what_a_format_cannot_hold_is_refused_unless_allowed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"graph.{ENDINGS[kind]}"
    with pytest.raises(InputError, match="cannot hold") as error:
        write(rich(), path)
    assert error.value.code == "CEL-G014"
    assert not list(tmp_path.iterdir())
    write(rich(), path, partial=True)
    assert read(path).graph.size == 10


@pytest.mark.parametrize("ending", ["csv", "tsv", "edges", "net"])
@pytest.mark.parametrize("labels", [None, ["b", "a, b", "c", "d"], [7, 5, 3, 10**12]], ids=str)
def test_isolated_vertices_are_kept(
    tmp_path: Path, ending: str, labels: list[str | int] | None
) -> None:
    if labels is not None and ending == "edges":
        labels = [str(each).replace(", ", "") for each in labels]
    names = None if labels is None else pl.Series(labels)
    path = tmp_path / f"a.{ending}"
    write(Graph.of([(0, 2)], order=4, labels=names), path)
    reading = read(path)
    assert (reading.graph.order, reading.graph.size, reading.graph.isolated) == (4, 1, 2)
    assert not reading.ignored
    if names is not None and reading.graph.labels is not None:
        assert set(map(str, reading.graph.labels)) == set(map(str, names))


def test_a_list_without_any_edge_is_refused_and_a_bad_line_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="4 vertices without an edge"):
        write(Graph.of([], order=4), tmp_path / "a.csv")
    for line in (b"#isolated ", b"#isolated \xff"):
        (tmp_path / "a.edges").write_bytes(b"a b\n" + line + b"\n")
        with pytest.raises(InputError) as error:
            read(tmp_path / "a.edges")
        assert error.value.code == "CEL-G003"


BAD = [
    ("a.edges", "two words"),
    ("a.edges", "#first"),
    ("a.csv", "%first"),
    ("a.csv", ""),
    ("a.tsv", "line\nbreak"),
    ("a.net", 'a "b"'),
    ("a.graphml", "bell\x07"),
]


@pytest.mark.parametrize(("file", "name"), BAD, ids=[f"{file} {name!r}" for file, name in BAD])
def test_a_name_that_does_not_fit_is_refused_before_anything_is_written(
    tmp_path: Path, file: str, name: str
) -> None:
    graph = Graph.of([(0, 1)], labels=pl.Series([name, "b"]))
    with pytest.raises(InputError) as error:
        write(graph, tmp_path / file)
    assert error.value.code == "CEL-G013"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("file", "column"), [("a.gml", "two words"), ("a.gml", "id"), ("a.json", "id")]
)
def test_an_attribute_that_does_not_fit_is_refused(tmp_path: Path, file: str, column: str) -> None:
    graph = Graph(
        order=1, edges=Graph.of([], order=1).edges, attributes=pl.DataFrame({column: [1]})
    )
    with pytest.raises(InputError) as error:
        write(graph, tmp_path / file)
    assert error.value.code == "CEL-G013"


def test_a_file_is_not_overwritten_where_that_is_forbidden(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        write(g9(), tmp_path / "a.csv", overwrite=False)
    assert (tmp_path / "a.csv").read_text() == "mine"


signs = st.characters(
    codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"
)
names = st.lists(st.text(signs, max_size=6), min_size=2, max_size=6, unique=True)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names, st.sampled_from(["graphml", "gml", "json", "csv", "pajek"]))
def test_any_names_come_back_or_are_refused(tmp_path: Path, labels: list[str], kind: str) -> None:
    graph = Graph.of([(i, i + 1) for i in range(len(labels) - 1)], labels=pl.Series(labels))
    path = tmp_path / f"graph.{kind}"
    try:
        write(graph, path, format=kind)  # type: ignore[arg-type]
    except InputError as error:
        assert error.code == "CEL-G013"  # noqa: PT017 - either outcome is right
        return
    back = read(path, format=kind, header=True if kind == "csv" else None)  # type: ignore[arg-type]
    assert _edges(back.graph) == _edges(graph)


def _edges(graph: Graph) -> set[frozenset[str]]:
    made = range(graph.order) if graph.labels is None else graph.labels.to_list()
    return {frozenset((str(made[u]), str(made[v]))) for u, v in graph.edges.tolist()}


def test_infinite_and_missing_decimals_survive_json_and_gml(tmp_path: Path) -> None:
    values = pl.DataFrame({"w": [math.inf, -math.inf, None]})
    graph = Graph(order=3, edges=Graph.of([(0, 1)], order=3).edges, attributes=values)
    for name in ("a.json", "a.gml", "a.graphml"):
        write(graph, tmp_path / name)
        back = read(tmp_path / name).graph.attributes
        assert back is not None
        assert back["w"].to_list() == [math.inf, -math.inf, None]
