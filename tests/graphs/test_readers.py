"""Graphs from files: every format, every rule, every fault with its line."""

import gzip
import json
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.examples import ARCS, g9, karate
from celosia.graphs.generators import random_graph
from celosia.graphs.graph import Graph
from celosia.graphs.readers import ReadResult, read
from celosia.graphs.writers import write


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def pairs(graph: Graph) -> set[tuple[object, object]]:
    names = list(range(graph.order)) if graph.labels is None else graph.labels.to_list()
    return {(names[u], names[v]) for u, v in graph.edges.tolist()}


def refused(path: Path, code: str, **rules: object) -> InputError:
    with pytest.raises(InputError) as error:
        read(path, **rules)  # type: ignore[arg-type]
    assert error.value.code == code
    return error.value


LISTS = {
    "commas": "source,target\n0,1\n1,2\n",
    "bare commas": "0,1\n1,2",
    "tabs": "0\t1\n1\t2\n",
    "spaces": "0 1\n1 2\n",
    "runs of spaces": "  0   1 \n1\t 2\n",
    "semicolons": "from;to\n0;1\n1;2\n",
    "comments": "# a graph\n% of three\n0 1\n\n# in between\n1 2\n",
    "windows": "\ufeff0,1\r\n1,2\r\n",
    "quotes": '"0","1"\n"1","2"\n',
    "spaces after commas": "a, b\n0, 1\n1, 2\n",
    "header of its own": "follower,followed\n0,1\n1,2\n",
}


@pytest.mark.parametrize("name", LISTS)
def test_edge_lists_are_read_however_they_are_separated(tmp_path: Path, name: str) -> None:
    for suffix in ("csv", "txt", "tsv", "edges"):
        graph = read(put(tmp_path, f"graph.{suffix}", LISTS[name])).graph
        assert (graph.order, graph.edges.tolist()) == (3, [[0, 1], [1, 2]])
        assert graph.labels is None
        assert graph.edge_attributes is None


def test_columns_that_are_called_as_ends_of_an_edge_are_its_ends(tmp_path: Path) -> None:
    for text, attribute in (
        ("flow,origin,destination\n9,ana,bea\n7,bea,carl\n", ("flow", [9, 7])),
        ("t\ti\tj\n20\tana\tbea\n40\tbea\tcarl\n", ("t", [20, 40])),
        ("caller,minutes,callee\nana,3,bea\nbea,4,carl\n", ("minutes", [3, 4])),
        ("who,whom,from,to\nana,bea,1,5\nbea,carl,2,6\n", ("from", [1, 2])),  # a span of time
    ):
        reading = read(put(tmp_path, "a.csv", text))
        assert pairs(reading.graph) == {("ana", "bea"), ("bea", "carl")}
        assert reading.graph.edge_attributes is not None
        assert reading.graph.edge_attributes[attribute[0]].to_list() == attribute[1]
        assert reading.columns[2] == attribute[0]
    dates = put(tmp_path, "c.csv", "id,date,ana,bea\n1,2024-01-01,carl,dan\n")
    assert pairs(read(dates, ends=(3, 4), header=False).graph) == {("ana", "bea"), ("carl", "dan")}
    assert pairs(read(dates, ends=("bea", "ana")).graph) == {("carl", "dan")}
    numbers = put(tmp_path, "e.csv", "1,2,3\n2,1,4\n")
    turned = read(numbers, ends=("1", "3"))
    assert (pairs(turned.graph), turned.edge_attributes) == ({(1, 3), (2, 4)}, ("column 2",))
    for ends in (("ana", "carl"), (1, 1), (4, 5), (1,)):
        assert refused(dates, "CEL-G002", ends=ends).details["ends"] == list(ends)
    assert refused(put(tmp_path, "d.gml", "graph []"), "CEL-G002", ends=(1, 2)).key.endswith("side")
    missing = put(tmp_path, "b.csv", "flow,origin,destination\n9,ana,bea\n7,bea,\n")
    assert refused(missing, "CEL-G003").details["line"] == 3


def test_a_compressed_list_is_the_same_graph(tmp_path: Path) -> None:
    path = put(tmp_path, "graph.csv.gz", gzip.compress(LISTS["commas"].encode()))
    assert read(path).graph.same_edges(read(put(tmp_path, "graph.csv", LISTS["commas"])).graph)


def test_names_may_be_texts_or_huge_numbers(tmp_path: Path) -> None:
    texts = read(put(tmp_path, "a.csv", "Dan,Amy\nÁngel,Dan\n")).graph
    assert pairs(texts) == {("Amy", "Dan"), ("Dan", "Ángel")}
    huge = read(put(tmp_path, "b.csv", "9000000000000000000,7\n7,123456789012\n")).graph
    assert huge.order == 3
    assert pairs(huge) == {(7, 123456789012), (7, 9000000000000000000)}
    zeros = read(put(tmp_path, "c.csv", "007,7\n7,1\n")).graph
    assert zeros.order == 3, "007 and 7 are two names"


def test_gaps_between_numbers_are_closed_and_the_numbers_kept_as_names(tmp_path: Path) -> None:
    graph = read(put(tmp_path, "a.txt", "10 20\n20 40\n")).graph
    assert (graph.order, pairs(graph)) == (3, {(10, 20), (20, 40)})


def test_further_columns_are_attributes_of_edges(tmp_path: Path) -> None:
    graph = read(
        put(tmp_path, "a.csv", "source,target,since,kind\n2,0,1999,work\n0,1,2003,\n")
    ).graph
    assert graph.edge_attributes is not None
    assert graph.edge_attributes.to_dict(as_series=False) == {
        "since": [2003, 1999],
        "kind": [None, "work"],
    }
    bare = read(put(tmp_path, "b.txt", "0 1 0.5\n1 2 2\n")).graph
    assert bare.edge_attributes is not None
    assert bare.edge_attributes["weight"].to_list() == [0.5, 2.0]


def test_rules_are_applied_and_counted(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", "a,b,w\n0,0,1\n0,1,2\n1,0,3\n1,2,4\n0,1,5\n")
    reading = read(path)
    assert reading.graph.edges.tolist() == [[0, 1], [1, 2]]
    assert reading.graph.edge_attributes is not None
    assert reading.graph.edge_attributes["w"].to_list() == [2, 4], (
        "the first of repeated edges stays"
    )
    told = reading.as_dict()
    assert (told["records"], told["loops"], told["repeated"]) == (5, 1, 2)
    assert str(reading) == (
        "3 vertices, 2 edges from 5 records: 1 loops dropped, 2 repeated edges merged; "
        "merged records with other edge attributes: 2; "
        "columns named by the first line, the two ends of an edge first: a, b, w; "
        "edge attributes: w"
    )
    assert refused(path, "CEL-G006", loops="refuse").details["count"] == 1
    assert refused(path, "CEL-G007", repeated="refuse").details["count"] == 2


def arcs_file(folder: Path) -> Path:
    nodes = [{"id": name} for name in "ABCDEF"]
    links = [{"source": one, "target": other} for one, other in ARCS]
    told = {"directed": True, "nodes": nodes, "links": [*links, {"source": "A", "target": "D"}]}
    return put(folder, "arcs.json", json.dumps(told))


def test_directions_of_figure_5_follow_the_rule(tmp_path: Path) -> None:
    path = arcs_file(tmp_path)
    union = read(path)
    assert pairs(union.graph) == {("A", "D"), ("B", "D"), ("C", "D"), ("D", "E"), ("D", "F")}
    counts = union.counts
    assert (counts.records, counts.repeated, counts.both_ways, counts.one_way) == (7, 1, 1, 4)
    mutual = read(path, directed="mutual")
    assert pairs(mutual.graph) == {("A", "D")}
    assert mutual.graph.order == 6
    assert "4 one-way edges dropped" in str(mutual)
    assert refused(path, "CEL-G008", directed="refuse").details["count"] == 7


def test_mutual_lines_of_an_edge_list_are_arcs(tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", "0 1\n1 0\n1 2\n0 1\n")
    mutual = read(path, directed="mutual")
    assert pairs(mutual.graph) == {(0, 1)}
    assert (mutual.counts.repeated, mutual.counts.one_way) == (1, 1)
    assert read(path, directed="refuse").graph.size == 2, "a list does not say that it is directed"


def test_a_table_of_vertices_brings_isolated_ones_and_attributes(tmp_path: Path) -> None:
    table = put(tmp_path, "people.csv", "name,age\nDan,30\nZoe,41\nAmy,25\n")
    graph = read(put(tmp_path, "a.csv", "Amy,Dan\n"), vertices=table).graph
    assert graph.labels is not None
    assert graph.attributes is not None
    assert graph.labels.to_list() == ["Dan", "Zoe", "Amy"]
    assert graph.attributes["age"].to_list() == [30, 41, 25]
    assert graph.edges.tolist() == [[0, 2]]
    assert "1 vertices" in str(
        refused(put(tmp_path, "b.csv", "Amy,Bob\n"), "CEL-G005", vertices=table)
    )
    twice = put(tmp_path, "twice.csv", "name,age\nDan,30\nDan,31\nAmy,5\n")
    refused(tmp_path / "a.csv", "CEL-G011", vertices=twice)
    numbers = put(tmp_path, "numbers.csv", "id\n5\n3\n")
    assert read(put(tmp_path, "c.csv", "3,5\n"), vertices=numbers).graph.order == 2


FAULTS: dict[str, tuple[str, str | bytes, str, int | None]] = {
    "too few cells": ("a.csv", "0,1\n# fine\n\n2\n", "CEL-G003", 4),
    "too many cells": ("a.csv", "0,1\n1,2,3\n", "CEL-G003", 2),
    "one column": ("a.txt", "0\n1\n", "CEL-G003", 1),
    "missing vertex": ("a.csv", "0,1\n,2\n", "CEL-G003", 2),
    "negative vertex": ("a.csv", "# head\n0,1\n-1,2\n", "CEL-G004", 3),
    "negative second": ("a.txt", "0 1\n1 -2\n", "CEL-G004", 2),
    "open quote": ("a.csv", '0,1\n"1,2\n', "CEL-G003", 2),
    "not utf-8": ("a.csv", b"a,b\n\xe1,b\n", "CEL-G003", 2),
    "only comments": ("a.csv", "# nothing\n\n", "CEL-G009", None),
    "broken json": ("a.json", '{"nodes": [\n{]}', "CEL-G003", 2),
    "json without nodes": ("a.json", "[]", "CEL-G003", 1),
    "json without id": ("a.json", '{"nodes": [{"id": 1}, {}], "links": []}', "CEL-G003", -2),
    "json link nowhere": (
        "a.json",
        '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}',
        "CEL-G005",
        -1,
    ),
    "json vertex twice": (
        "a.json",
        '{"nodes": [{"id": 1}, {"id": 1}], "links": []}',
        "CEL-G011",
        -2,
    ),
    "json no vertex": ("a.json", '{"nodes": [], "links": []}', "CEL-G009", None),
    "json too deep": ("a.json", "[" * 200_000, "CEL-G003", 1),
    "broken xml": ("a.graphml", "<graphml>\n<graph>\n</graphml>", "CEL-G003", 3),
    "xml without graph": ("a.graphml", "<graphml/>", "CEL-G003", 1),
    "xml edge nowhere": (
        "a.graphml",
        '<graphml><graph>\n<node id="a"/>\n<edge source="a" target="b"/></graph></graphml>',
        "CEL-G005",
        3,
    ),
    "xml node without id": (
        "a.graphml",
        "<graphml><graph>\n<node/></graph></graphml>",
        "CEL-G003",
        2,
    ),
    "xml wrong type": (
        "a.graphml",
        '<graphml><key id="k" attr.name="age" attr.type="int"/><graph>\n'
        '<node id="a"><data key="k">old</data></node></graph></graphml>',
        "CEL-G003",
        2,
    ),
    "xml two graphs": ("a.graphml", "<graphml><graph/>\n<graph/></graphml>", "CEL-G003", 2),
    "gml open bracket": ("a.gml", "graph [\nnode [ id 0 ]\n", "CEL-G003", 2),
    "gml strange sign": ("a.gml", "graph [\n ? ]", "CEL-G003", 2),
    "gml no id": ("a.gml", 'graph [\nnode [ label "a" ] ]', "CEL-G004", 2),
    "gml negative id": ("a.gml", "graph [\nnode [ id -1 ] ]", "CEL-G004", 2),
    "gml vertex twice": ("a.gml", "graph [\nnode [ id 1 ]\nnode [ id 1 ] ]", "CEL-G011", 3),
    "gml edge nowhere": (
        "a.gml",
        "graph [\nnode [ id 1 ]\nedge [ source 1 target 2 ] ]",
        "CEL-G005",
        3,
    ),
    "gml no graph": ("a.gml", "node [ id 1 ]", "CEL-G003", 1),
    "gml too deep": ("a.gml", "a [ " * 10_000, "CEL-G003", 1),
    "pajek no vertices": ("a.net", "*Edges\n1 2\n", "CEL-G005", 2),
    "pajek beyond": ("a.net", "*Vertices 2\n*Edges\n1 3\n", "CEL-G005", 3),
    "pajek zero": ("a.net", "*Vertices 2\n*Edges\n0 1\n", "CEL-G005", 3),
    "pajek negative": ("a.net", "*Vertices 2\n*Edges\n-1 1\n", "CEL-G004", 3),
    "pajek too many": ("a.net", "*Vertices 2000000000\n", "CEL-G003", 1),
    "pajek matrix": ("a.net", "*Vertices 2\n*Matrix\n0 1\n1 0\n", "CEL-G003", 2),
    "pajek one end": ("a.net", "*Vertices 2\n*Edges\n1\n", "CEL-G003", 3),
    "pajek twice": ("a.net", '*Vertices 2\n1 "a"\n1 "b"\n', "CEL-G011", 3),
    "unknown ending": ("a.xyz", "0 1", "CEL-G002", None),
    "damaged gzip": ("a.csv.gz", gzip.compress(b"0,1\n" * 99)[:-9], "CEL-F014", None),
    "empty file": ("a.csv", "", "CEL-F013", None),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    file, text, code, line = FAULTS[name]
    error = refused(put(tmp_path, file, text), code)
    if line is not None:
        assert error.details["line"] == line


def test_no_name_or_value_appears_in_a_message(tmp_path: Path) -> None:
    for file, text in (
        ("a.csv", "MARKER,b\nMARKER\n"),
        ("a.graphml", '<graphml><graph><edge source="MARKER" target="MARKER2"/></graph></graphml>'),
        ("a.gml", 'graph [ node [ id -1 label "MARKER" ] ]'),
        ("a.json", '{"nodes": [{"id": "MARKER"}, {"id": "MARKER"}], "links": []}'),
        ("a.net", '*Vertices 1\n1 "MARKER"\n1 "MARKER"\n'),
    ):
        with pytest.raises(InputError) as error:
            read(put(tmp_path, file, text))
        assert "MARKER" not in str(error.value.as_dict())


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE lolz [<!ENTITY lol "lol">]><graphml><graph/></graphml>',
        '<!DOCTYPE g SYSTEM "file:///etc/passwd"><graphml><graph/></graphml>',
    ],
    ids=["entities", "external"],
)
def test_document_types_in_xml_are_refused_unread(tmp_path: Path, text: str) -> None:
    refused(put(tmp_path, "a.graphml", text), "CEL-G010")


def test_wrong_rules_are_named(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", "0,1\n")
    for rule in ("loops", "repeated", "directed"):
        assert rule in str(refused(path, "CEL-G002", **{rule: "other"}))
    refused(path, "CEL-G002", format="dot")
    refused(put(tmp_path, "a.net", "*Vertices 1\n"), "CEL-G002", vertices=path)


def networkx_graph() -> nx.Graph:
    graph = nx.karate_club_graph()
    for vertex in graph:
        graph.nodes[vertex]["size"] = vertex / 2
    return graph


def same_as_networkx(reading: ReadResult, oracle: nx.Graph) -> None:
    graph = reading.graph
    assert graph.order == oracle.number_of_nodes()
    found = {frozenset(map(str, pair)) for pair in pairs(graph)}
    assert found == {frozenset(map(str, pair)) for pair in oracle.edges()}


def test_files_of_networkx_are_read_as_they_were_meant(tmp_path: Path) -> None:
    oracle = networkx_graph()
    nx.write_graphml(oracle, tmp_path / "a.graphml")
    nx.write_gml(oracle, tmp_path / "a.gml")
    (tmp_path / "a.json").write_text(json.dumps(nx.node_link_data(oracle, edges="links")))
    (tmp_path / "b.json").write_text(json.dumps(nx.node_link_data(oracle, edges="edges")))
    nx.write_edgelist(oracle, tmp_path / "a.txt", data=["weight"])
    for name in ("a.graphml", "a.gml", "a.json", "b.json", "a.txt"):
        reading = read(tmp_path / name)
        same_as_networkx(reading, oracle)
        assert reading.graph.edge_attributes is not None
        weights = reading.graph.edge_attributes["weight"].to_list()
        ends = [list(oracle)[v] for v in range(34)]
        wanted = [oracle[ends[u]][ends[v]]["weight"] for u, v in reading.graph.edges.tolist()]
        assert weights == wanted
    for name in ("a.graphml", "a.gml", "a.json"):
        known = read(tmp_path / name).graph.attributes
        assert known is not None
        assert known["club"].to_list() == [oracle.nodes[v]["club"] for v in oracle]
        assert known["size"].to_list() == [v / 2 for v in oracle]


def test_pajek_files_of_networkx_are_read_too(tmp_path: Path) -> None:
    oracle = nx.relabel_nodes(nx.karate_club_graph(), {0: "Mr Hi", 33: "Officer"})
    for _, values in oracle.nodes(data=True):
        values.clear()
    nx.write_pajek(oracle, tmp_path / "a.net")
    same_as_networkx(read(tmp_path / "a.net"), oracle)


def test_pajek_knows_arcs_edges_and_lists(tmp_path: Path) -> None:
    text = (
        '*Network small\n*Vertices 4\n1 "Ann Lee" 0.1 0.2 box\n2 "Bob"\n3 "Cy"\n4 "Di"\n'
        "% a comment\n*Arcs\n1 2 3.5\n2 1 1\n*Edges\n2 3 1\n*Arcslist\n4 1 3\n"
    )
    reading = read(put(tmp_path, "a.net", text))
    assert pairs(reading.graph) == {
        ("Ann Lee", "Bob"), ("Bob", "Cy"), ("Ann Lee", "Di"), ("Cy", "Di")
    }  # fmt: skip
    assert (reading.counts.both_ways, reading.counts.one_way) == (1, 2)
    assert reading.ignored == ("shapes and colours of vertices (1)", "comment lines (1)")
    assert reading.graph.attributes is not None
    assert reading.graph.attributes["x"].to_list() == [0.1, None, None, None]


def test_gml_keeps_ids_where_labels_repeat(tmp_path: Path) -> None:
    text = (
        'graph [ directed 0 node [ id 3 label "x&amp;y" graphics [ w 2 ] ]\n'
        'node [ id 5 label "x&#38;y" ]\n'
        "edge [ source 3 target 5 value -1.5e3 ] ]"
    )
    reading = read(put(tmp_path, "a.gml", text))
    assert pairs(reading.graph) == {(3, 5)}
    assert reading.graph.attributes is not None
    assert reading.graph.edge_attributes is not None
    assert reading.graph.attributes["label"].to_list() == ["x&y", "x&y"]
    assert reading.graph.edge_attributes["value"].to_list() == [-1500.0]
    assert reading.ignored == ("lists and repeated keys of a node (1)",)


def test_graphml_defaults_and_mixed_directions(tmp_path: Path) -> None:
    text = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
    <key id="c" for="node" attr.name="colour" attr.type="string"><default>red</default></key>
    <key id="t" for="node" attr.name="trusted" attr.type="boolean"/>
    <graph edgedefault="directed">
    <node id="a"><data key="t">true</data></node><node id="b"><data key="c">blue</data></node>
    <node id="z"/>
    <edge source="a" target="b"/><edge source="b" target="z" directed="false"/>
    </graph></graphml>"""
    reading = read(put(tmp_path, "a.graphml", text), directed="mutual")
    assert pairs(reading.graph) == {("b", "z")}
    assert reading.graph.attributes is not None
    assert reading.graph.attributes.to_dict(as_series=False) == {
        "colour": ["red", "blue", "red"],
        "trusted": [True, None, None],
    }


def test_a_large_list_is_read_by_either_way_alike(tmp_path: Path) -> None:
    graph = random_graph(500, 5000, Seeded(1))
    lines = pl.DataFrame(
        graph.edges[np.argsort(graph.edges[:, 1], kind="stable")], schema=["u", "v"]
    )
    fast = lines.write_csv(include_header=False)
    slow = '"0","1"\n' + fast
    assert read(put(tmp_path, "a.csv", fast)).graph.same_edges(graph)
    expected = Graph.of([*graph.edges.tolist(), (0, 1)], order=500)
    assert read(put(tmp_path, "b.csv", slow)).graph.same_edges(expected)


def test_progress_is_told(tmp_path: Path) -> None:
    stages: list[str] = []
    read(put(tmp_path, "a.csv", "0,1\n"), progress=lambda step: stages.append(step.stage))
    assert stages == ["read the file", "find the edges", "sort the edges"]


def test_examples_are_what_their_lists_say(tmp_path: Path) -> None:
    for graph in (g9(), karate()):
        assert graph.labels is not None
        text = "\n".join(f"{u + 1} {v + 1}" for u, v in graph.edges.tolist())
        assert read(put(tmp_path, "a.txt", text)).graph.same_edges(graph)


def test_numbers_beyond_all_measure_are_kept_as_texts(tmp_path: Path) -> None:
    huge = 10**400
    path = tmp_path / "graph.json"
    nodes = [{"id": huge, "x": huge}, {"id": huge + 1, "x": 1.5}]
    path.write_text(json.dumps({"nodes": nodes, "links": [{"source": huge, "target": huge + 1}]}))
    graph = read(path).graph
    assert graph.labels is not None
    assert graph.labels.to_list() == [str(huge), str(huge + 1)]
    assert graph.attributes is not None
    assert graph.attributes["x"].to_list() == [str(huge), "1.5"]


def test_numbers_of_more_than_64_bits_stay_different_names(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    nodes = [{"id": 2**63}, {"id": 2**63 + 1}]
    path.write_text(json.dumps({"nodes": nodes, "links": []}))
    labels = read(path).graph.labels
    assert labels is not None
    assert labels.to_list() == [str(2**63), str(2**63 + 1)]


def test_a_number_and_the_same_as_a_text_are_one_name(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    nodes: list[dict[str, object]] = [{"id": "a"}, {"id": 1}, {"id": "1"}]
    path.write_text(json.dumps({"nodes": nodes, "links": []}))
    with pytest.raises(InputError, match="record 3") as refused:
        read(path)
    assert refused.value.code == "CEL-G011"


def test_a_name_in_pajek_may_hold_any_sign_but_a_line_break(tmp_path: Path) -> None:
    path = tmp_path / "graph.net"
    names = ["a\u2028b", "c\x0bd", "e\x85f", "g\x1ch"]
    write(Graph.of([(0, 1), (2, 3)], labels=pl.Series("vertex", names)), path)
    for data in (path.read_bytes(), path.read_bytes().replace(b"\n", b"\r\n")):
        path.write_bytes(data)
        labels = read(path).graph.labels
        assert labels is not None
        assert labels.to_list() == names


def test_an_edge_without_direction_is_mutual_wherever_an_arc_stands(tmp_path: Path) -> None:
    path = tmp_path / "graph.net"
    for body in ("*Arcs\n1 2\n*Edges\n1 2\n", "*Edges\n1 2\n*Arcs\n1 2\n"):
        path.write_text(f"*Vertices 2\n{body}")
        assert read(path, directed="mutual").graph.size == 1
