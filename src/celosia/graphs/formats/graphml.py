"""GraphML: XML with typed attributes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.graphs.formats.parsed_graph import ParsedGraph, Value
from celosia.graphs.formats.records import records
from celosia.graphs.formats.xml_reader import XmlReader
from celosia.graphs.graph import Graph

_TYPES = {"Int64": "long", "Float64": "double", "Boolean": "boolean"}
_OPEN = ("node", "edge", "key", "graph")
"""Tags that hold data."""
_IGNORED = ("hyperedge", "port", "endpoint")


def read_graphml(data: bytes, path: Path) -> ParsedGraph:
    """The first graph of a GraphML file; document types and entities are refused unread."""
    return _Reader(path).read(data)


class _Reader(XmlReader):
    """Follows the tags: keys first, then vertices and edges with their data."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._keys: dict[str, tuple[str, str]] = {}
        self._defaults: dict[str, dict[str, Value]] = {"node": {}, "edge": {}}
        self._key = ""

    def start(self, name: str, given: dict[str, str], line: int) -> None:
        if name == "key":
            self._key = given.get("id", "")
            self._keys[self._key] = given.get("attr.name", self._key), given.get("attr.type", "")
        elif name == "graph":
            self.graph(line, directed=given.get("edgedefault") == "directed")
        elif name == "data":
            self._key = given.get("key", "")
        elif name in _IGNORED:
            self.builder.ignore(f"<{name}>")
        if name in _OPEN:
            self.open.append((name, given, {}, line))

    def end(self, name: str, line: int) -> None:
        if name in ("data", "default") and self.open:
            attribute, typed = self._keys.get(self._key, (self._key, ""))
            value = self.value(self.text, typed, line)
            kind, given, values, _ = self.open[-1]
            if kind == "key":
                for each in ("node", "edge"):
                    if given.get("for", "all") in (each, "all"):
                        self._defaults[each][attribute] = value
            else:
                values[attribute] = value
        elif name in _OPEN:
            self._finish(*self.open.pop())

    def _finish(
        self, kind: str, given: dict[str, str], values: dict[str, Value], line: int
    ) -> None:
        if kind == "node":
            self.vertex(given, self._defaults["node"] | values, line)
        elif kind == "edge":
            directed = {"true": True, "false": False}.get(given.get("directed", ""), self.directed)
            self.edge(given, self._defaults["edge"] | values, line, directed=directed)
        elif kind == "graph":
            self.builder.ignore(Message("graphs.ignored.graph_attributes"), len(values))


def write_graphml(graph: Graph, stream: IO[bytes]) -> None:
    """All of a graph: names, attributes of vertices and of edges."""
    for part in _parts(graph):
        stream.write(part.encode())


def _parts(graph: Graph) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for letter, kind, frame in (
        ("v", "node", graph.attributes),
        ("e", "edge", graph.edge_attributes),
    ):
        for number, column in enumerate(() if frame is None else frame.iter_columns()):
            typed = _TYPES.get(str(column.dtype), "string")
            yield (
                f'  <key id="{letter}{number}" for="{kind}" '
                f'attr.name={quoteattr(column.name)} attr.type="{typed}"/>\n'
            )
    yield '  <graph edgedefault="undirected">\n'
    names = range(graph.order) if graph.labels is None else graph.labels
    quoted = [quoteattr(str(name)) for name in names]
    for name, values in zip(quoted, records(graph.attributes, graph.order), strict=True):
        yield f"    <node id={name}" + _close("node", "v", values)
    for (one, other), values in zip(
        graph.edges.tolist(), records(graph.edge_attributes, graph.size), strict=True
    ):
        yield f"    <edge source={quoted[one]} target={quoted[other]}" + _close("edge", "e", values)
    yield "  </graph>\n</graphml>\n"


def _close(tag: str, letter: str, values: tuple[Value, ...]) -> str:
    data = [
        f'<data key="{letter}{number}">{_value_text(value)}</data>'
        for number, value in enumerate(values)
        if value is not None
    ]
    return f">{''.join(data)}</{tag}>\n" if data else "/>\n"


def _value_text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else escape(str(value))


def check_graphml(graph: Graph) -> None:
    """GraphML holds every graph whose texts have no control characters."""
    for series in text_columns(graph):
        if series.str.contains(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{fffe}\x{ffff}]").any():
            raise InputError("CEL-G013.control_character")


def text_columns(graph: Graph) -> list[pl.Series]:
    """The names and attributes of a graph that are text."""
    found = [] if graph.labels is None else [graph.labels]
    for frame in (graph.attributes, graph.edge_attributes):
        found += [] if frame is None else frame.get_columns()
    return [series for series in found if series.dtype == pl.String]
