"""Weights, times and other attributes of edges: told, and left out of a release on purpose only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs import (
    Graph,
    GraphRelease,
    KDegree,
    PrivateGraph,
    Relabelling,
    SaNGreeA,
    as_graph,
    publish,
    read,
)

CALLS = """# calls of a month
caller,callee,weight,time
ana,bea,3,2024-01-01
bea,ana,5,2024-01-02
ana,bea,3,2024-01-01

bea,carl,1,2024-01-03
carl,carl,1,2024-01-05
dan,carl,2,2024-02-03
dan,eva,2,2024-02-03
"""
GRAPHML = """<graphml><key id="a" for="edge" attr.name="since" attr.type="int"/>
<graph edgedefault="undirected"><data key="b">x</data><node id="a"/><node id="b"/>
<edge id="e0" source="a" target="b"><data key="a">3</data></edge></graph></graphml>"""
GML = """Creator "me"
# a comment
graph [ comment "c" node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 value 3 ] ]"""
JSON = {
    "graph": {"name": "x"},
    "nodes": [{"id": 1}, {"id": 2}],
    "links": [{"source": 1, "target": 2, "since": 3, "key": "friends"}],
}


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    path = tmp_path / "calls.csv"
    path.write_text(CALLS, "utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "names", "ignored"),
    [
        ("a.edges", "1 2 0.5\n2 3 1\n", ("weight",), ()),
        ("a.edges", "1 2 5 1700000000\n2 3 1 1700000001\n", ("column 3", "column 4"), ()),
        ("a.csv", "source,target,since\n1,2,3\n", ("since",), ()),
        ("a.tsv", "ann\tbob\ttime\nx\ty\t2024-01-31 10:00\n", ("time",), ()),
        ("a.graphml", GRAPHML, ("since",), ("ids of edges (1)", "attributes of the graph (1)")),
        ("a.gml", GML, ("value",), ("comment lines (1)", "attributes of the graph (2)")),
        ("a.net", "*Vertices 2\n*Edges\n1 2 3\n", ("weight",), ()),
        (
            "a.json",
            json.dumps(JSON),
            ("since",),
            ("attributes of the graph (1)", "keys of edges (1)"),
        ),
        ("a.edges", "1 2\n2 3\n", (), ()),
        ("a.edges", "1 2 {}\n2 3 {}\n", (), ()),
    ],
)
def test_reading_tells_the_edge_attributes_of_every_format(
    tmp_path: Path, name: str, text: str, names: tuple[str, ...], ignored: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    reading = read(tmp_path / name)
    assert reading.edge_attributes == names
    assert reading.as_dict()["edge_attributes"] == list(names)
    assert (f"edge attributes: {', '.join(names)}" in str(reading)) == bool(names)
    assert reading.ignored == ignored


def test_a_pair_at_several_times_is_counted_when_it_is_merged(calls: Path) -> None:
    reading = read(calls)
    assert reading.graph.labels is not None
    assert reading.graph.labels.to_list() == ["ana", "bea", "carl", "dan", "eva"]
    counts = reading.counts
    assert (counts.records, counts.loops, counts.repeated, counts.differing) == (7, 1, 2, 1)
    assert reading.ignored == ("comment lines (1)", "blank lines (1)")
    assert str(reading) == (
        "5 vertices, 4 edges from 7 records: 1 loops dropped, 2 repeated edges merged; "
        "merged records with other edge attributes: 1; "
        "columns named by the first line, the two ends of an edge first: caller, callee, "
        "weight, time; "
        "edge attributes: weight, time; ignored: comment lines (1), blank lines (1)"
    )


def test_arcs_both_ways_with_other_weights_are_counted_too() -> None:
    arcs = nx.DiGraph()
    arcs.add_weighted_edges_from([(0, 1, 2.5), (1, 0, 4.0), (1, 2, 1.0), (2, 1, 1.0), (3, 2, 9.0)])
    both = as_graph(arcs)
    assert (both.counts.both_ways, both.counts.one_way, both.counts.differing) == (2, 1, 1)
    mutual = as_graph(arcs, directed="mutual")
    assert (mutual.graph.size, mutual.counts.differing) == (2, 1)


@pytest.mark.parametrize(
    "method", [KDegree(k=2), Relabelling(), SaNGreeA(k=2), PrivateGraph(epsilon=1)]
)
def test_publishing_refuses_edge_attributes_by_name(calls: Path, method: Any) -> None:
    with pytest.raises(InputError) as error:
        publish(read(calls), method, rng=Seeded(1))
    assert error.value.code == "CEL-G033"
    assert error.value.what == (
        "no method protects the edge attributes weight, time. Merged records with other values: 1."
    )
    assert "drop_edge_attributes=True, --drop-edge-attributes" in error.value.fix
    with pytest.raises(InputError, match="edge attributes weight, time"):
        publish(read(calls).graph, method, rng=Seeded(1))


def test_what_is_left_out_is_named_in_certificate_and_report(calls: Path, tmp_path: Path) -> None:
    release = publish(
        read(calls), KDegree(k=2), drop_edge_attributes=True, rng=Seeded(1), assess=False
    )
    assert isinstance(release.data, Graph)
    assert release.data.edge_attributes is None
    wanted = {
        "edge_attributes": ["weight", "time"],
        "loops": 1,
        "repeated": 2,
        "differing": 1,
        "ignored": ["comment lines (1)", "blank lines (1)"],
    }
    assert release.left_out == wanted
    path = release.save(tmp_path / "safe.edges")
    certificate = json.loads((tmp_path / "safe.edges.cert.json").read_text("utf-8"))
    assert certificate["measures"]["left_out"] == wanted
    assert certificate["provenance"]["parameters"]["drop_edge_attributes"] is True
    assert GraphRelease.load(path).left_out == wanted
    html = release.document().html()
    for text in ("What is left out", "Edge attributes", "weight, time", "Repeated edges, merged"):
        assert text in html


def test_beside_a_private_graph_attributes_are_named_and_nothing_is_counted(calls: Path) -> None:
    release = publish(
        read(calls),
        PrivateGraph(epsilon=1),
        drop_edge_attributes=True,
        rng=Seeded(1),
        assess=False,
    )
    assert release.left_out == {"edge_attributes": ["weight", "time"]}


def test_directions_repeats_and_vertex_attributes_of_an_object_are_told() -> None:
    arcs = nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 0)])
    arcs.add_edge(0, 1, key="cousins")
    nx.set_node_attributes(arcs, 40, "age")
    release = publish(arcs, KDegree(k=2), rng=Seeded(1), assess=False)
    assert release.left_out == {
        "attributes": ["age"],
        "loops": 1,
        "repeated": 2,
        "both_ways": 1,
        "directions": 3,
        "ignored": ["keys of edges (1)"],
    }


@pytest.mark.parametrize(
    ("text", "ignored"),
    [
        ("1,2\n  # x, y\n3,4\n", ("comment lines (1)",)),
        ("1 2\n\t% x y\n3 4\n", ("comment lines (1)",)),
        ("\n1,2\n \n3,4\n", ("blank lines (2)",)),
        ('"1",2\n#a,b\n\n3,4\n', ("comment lines (1)", "blank lines (1)")),
        ("1,2\r\n\r\n3,4\r\n", ("blank lines (1)",)),
    ],
)
def test_comments_and_blank_lines_are_no_edges_and_are_counted(
    tmp_path: Path, text: str, ignored: tuple[str, ...]
) -> None:
    (tmp_path / "a.csv").write_bytes(text.encode())
    reading = read(tmp_path / "a.csv")
    assert reading.graph.labels is not None
    assert reading.graph.labels.to_list() == [1, 2, 3, 4]
    assert reading.graph.size == 2
    assert reading.ignored == ignored


@pytest.mark.parametrize(
    ("text", "vertices"),
    [
        ("who,whom,calls\nana,bea,3\n", ["ana", "bea"]),
        ("who,whom,day\nana,bea,2024-01-02\n", ["ana", "bea"]),
        ("caller,callee\nana,bea\n", ["ana", "bea"]),
        ("node1,node2\nana,bea\n", ["ana", "bea"]),
        ("node1,node2\nnode2,node3\n", ["node1", "node2", "node3"]),
        ("u,v\nv,w\n", ["u", "v", "w"]),
        ("ana,bea,often\nbea,carl,seldom\n", ["ana", "bea", "carl"]),
        ("ana,bea,3\nbea,carl,4\n", ["ana", "bea", "carl"]),
        ("ana,bea,2024-01-02\nbea,carl,2024-01-03\n", ["ana", "bea", "carl"]),
    ],
)
def test_a_line_of_column_names_is_told_from_edges(
    tmp_path: Path, text: str, vertices: list[str]
) -> None:
    (tmp_path / "a.csv").write_text(text, "utf-8")
    reading = read(tmp_path / "a.csv")
    assert reading.graph.labels is not None
    assert reading.graph.labels.to_list() == vertices
    assert bool(reading.columns) == (len(vertices) == 2)


def test_vertices_without_an_edge_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.edges").write_text("a b\n", "utf-8")
    pl.DataFrame({"name": ["a", "b", "c", "d"]}).write_csv(tmp_path / "people.csv")
    reading = read(tmp_path / "a.edges", vertices=tmp_path / "people.csv")
    assert reading.as_dict()["isolated"] == 2
    assert str(reading).endswith("as they are; vertices without an edge: 2")
