"""JSON with lists of nodes and links, as NetworkX and d3 have it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.graphs.formats.parsed_graph import GraphBuilder, ParsedGraph, Value, malformed, utf8
from celosia.graphs.formats.records import records
from celosia.graphs.graph import Graph


def read_node_link(data: bytes, path: Path) -> ParsedGraph:
    """The graph of a node-link file; the edges may be called `edges` or `links`."""
    try:
        document = json.loads(utf8(data, path))
    except json.JSONDecodeError as error:
        raise malformed(path, error.lineno, "CEL-G003.broken_json") from None
    except (RecursionError, ValueError):
        raise malformed(path, 1, "CEL-G003.too_deep") from None
    nodes = document.get("nodes") if isinstance(document, dict) else None
    links = document.get("links", document.get("edges")) if isinstance(document, dict) else None
    if not isinstance(nodes, list) or not isinstance(links, list):
        raise malformed(path, 1, "CEL-G003.no_lists")
    builder = GraphBuilder(path)
    for number, node in enumerate(nodes, 1):
        values = _fields(node, number, path)
        builder.vertex(_name(values, "id", number, path), values, -number)
    known = document.get("graph")
    builder.ignore(
        Message("graphs.ignored.graph_attributes"), len(known) if isinstance(known, dict) else 0
    )
    directed = document.get("directed") is True
    for number, link in enumerate(links, 1):
        values = _fields(link, number, path)
        ends = [_name(values, end, number, path) for end in ("source", "target")]
        if isinstance(values.pop("key", 0), str):  # a number is which of several edges it is
            builder.ignore(Message("graphs.ignored.edge_keys"))
        builder.edge(ends[0], ends[1], directed=directed, values=values, line=-number)
    return builder.finish()


def _fields(record: object, number: int, path: Path) -> dict[str, Value]:
    if not isinstance(record, dict):
        raise malformed(path, -number, "CEL-G003.no_object")
    return dict(record)


def _name(values: dict[str, Value], key: str, number: int, path: Path) -> str | int:
    name = values.pop(key, None)
    if isinstance(name, str) or (isinstance(name, int) and not isinstance(name, bool)):
        return name
    raise malformed(path, -number, "CEL-G003.no_name", attribute=key)


def write_node_link(graph: Graph, stream: IO[bytes]) -> None:
    """All of a graph, one node or link a line."""
    names = list(range(graph.order)) if graph.labels is None else graph.labels.to_list()
    stream.write(b'{"directed": false, "multigraph": false, "graph": {},\n"nodes": [\n')
    columns = [] if graph.attributes is None else graph.attributes.columns
    nodes = (
        {"id": name} | _attributes(columns, values)
        for name, values in zip(names, records(graph.attributes, graph.order), strict=True)
    )
    _list(nodes, stream)
    stream.write(b'],\n"links": [\n')
    columns = [] if graph.edge_attributes is None else graph.edge_attributes.columns
    links = (
        {"source": names[one], "target": names[other]} | _attributes(columns, values)
        for (one, other), values in zip(
            graph.edges.tolist(), records(graph.edge_attributes, graph.size), strict=True
        )
    )
    _list(links, stream)
    stream.write(b"]}\n")


def _list(things: object, stream: IO[bytes]) -> None:
    between = ""
    for thing in things:  # type: ignore[attr-defined]
        stream.write((between + json.dumps(thing, ensure_ascii=False)).encode())
        between = ",\n"
    stream.write(b"\n")


def _attributes(columns: list[str], values: tuple[Value, ...]) -> dict[str, Value]:
    pairs = zip(columns, values, strict=bool(values))
    return {key: value for key, value in pairs if value is not None}


def check_node_link(graph: Graph) -> None:
    """No attribute may have a name that the format uses itself."""
    for frame, own in ((graph.attributes, ("id",)), (graph.edge_attributes, _EDGE_KEYS)):
        taken = [] if frame is None else [name for name in frame.columns if name in own]
        if taken:
            raise InputError("CEL-G013.json_name", taken=taken[0])


_EDGE_KEYS = ("source", "target", "key")
