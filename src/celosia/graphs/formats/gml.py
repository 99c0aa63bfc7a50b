"""GML: keys with numbers, quoted texts or lists in brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from html.entities import html5
from pathlib import Path
from typing import IO

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.graphs.formats.parsed_graph import (
    GraphBuilder,
    ParsedGraph,
    Value,
    declared_twice,
    malformed,
    utf8,
)
from celosia.graphs.formats.records import records
from celosia.graphs.graph import Graph

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
    |(?P<bracket>[\[\]])
    |(?P<text>"[^"]*")
    |(?P<decimal>[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?|[+-]?(?:INF|NAN)\b)
    |(?P<whole>[+-]?\d{1,4000})
    |(?P<key>[A-Za-z_]\w*)""",
    re.VERBOSE,
)
_KEY = re.compile(r"[A-Za-z]\w*", re.ASCII)
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));", re.ASCII)
_OWN = ("id", "label", "source", "target")
DEEPEST = 50

Entry = tuple[str, Value, int]
"""A key, its value (a list of entries where it has brackets) and the line of the key."""


def read_gml(data: bytes, path: Path) -> ParsedGraph:
    """The graph of a GML file; vertices are named by their labels where each has one of its own."""
    builder = GraphBuilder(path)
    tokens = _tokens(utf8(data, path), path, builder)
    entries = _entries(tokens, path, depth=0)
    graphs = [entry for entry in entries if entry[0] == "graph"]
    if len(graphs) != 1 or not isinstance(graphs[0][1], list):
        raise malformed(path, 1, "CEL-G003.not_one_graph")
    own = [entry for entry in graphs[0][1] if entry[0] not in ("directed", "node", "edge")]
    builder.ignore(Message("graphs.ignored.graph_attributes"), len(entries) - 1 + len(own))
    return _graph(graphs[0][1], path, builder)


def _graph(entries: list[Entry], path: Path, builder: GraphBuilder) -> ParsedGraph:
    directed = any(key == "directed" and value == 1 for key, value, _ in entries)
    nodes = [_fields(entry, path, builder) for entry in entries if entry[0] == "node"]
    numbers = [_number(node, "id", line, path) for node, line in nodes]
    labels = [node.pop("label", None) for node, _ in nodes]
    named = None not in labels and len(set(labels)) == len(labels)
    name_of: dict[int, str | int] = {}
    for (node, line), number, label in zip(nodes, numbers, labels, strict=True):
        if number in name_of:
            raise declared_twice(path, line)
        name_of[number] = str(label) if named else number
        extra = {} if named or label is None else {"label": label}
        builder.vertex(name_of[number], extra | node, line)
    for entry in entries:
        if entry[0] == "edge":
            values, line = _fields(entry, path, builder)
            ends = [_number(values, end, line, path) for end in ("source", "target")]
            one, other = (name_of.get(end, f"\0{end}") for end in ends)  # \0: no name has it
            builder.edge(one, other, directed=directed, values=values, line=line)
    return builder.finish()


def _fields(entry: Entry, path: Path, builder: GraphBuilder) -> tuple[dict[str, Value], int]:
    kind, held, line = entry
    if not isinstance(held, list):
        raise malformed(path, line, "CEL-G003.no_brackets", kind=kind)
    found: dict[str, Value] = {}
    for key, value, _ in held:
        if isinstance(value, list) or key in found:
            builder.ignore(Message("graphs.ignored.lists", kind=kind))
        else:
            found[key] = value
    return found, line


def _number(values: dict[str, Value], key: str, line: int, path: Path) -> int:
    number = values.pop(key, None)
    if not isinstance(number, int) or number < 0:
        raise InputError("CEL-G004.number", path=path, key=key, line=line)
    return number


def _tokens(text: str, path: Path, builder: GraphBuilder) -> Iterator[tuple[str, str, int]]:
    position, line = 0, 1
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise malformed(path, line, "CEL-G003.not_gml")
        kind, piece = str(found.lastgroup), found.group()
        if kind != "space":
            yield kind, piece, line
        elif piece[0] == "#":
            builder.ignore(Message("graphs.ignored.comments"))
        line += piece.count("\n")
        position = found.end()


def _entries(tokens: Iterator[tuple[str, str, int]], path: Path, *, depth: int) -> list[Entry]:
    found: list[Entry] = []
    line = 1
    for kind, key, line in tokens:
        if kind == "bracket" and key == "]" and depth:
            return found
        if kind != "key":
            raise malformed(path, line, "CEL-G003.no_key")
        kind, piece, _ = next(tokens, ("", "", line))  # noqa: PLW2901 - the value of the key
        if kind == "bracket" and piece == "[" and depth < DEEPEST:
            found.append((key, _entries(tokens, path, depth=depth + 1), line))
        elif kind in ("whole", "decimal"):
            found.append((key, int(piece) if kind == "whole" else float(piece), line))
        elif kind == "text":
            found.append((key, _ENTITY.sub(_sign, piece[1:-1]), line))
        else:
            raise malformed(path, line, "CEL-G003.no_value")
    if depth:
        raise malformed(path, line, "CEL-G003.open_bracket")
    return found


def _sign(found: re.Match[str]) -> str:
    """What an entity stands for; an unknown one is left as it is."""
    whole, hexadecimal, name = found.groups()
    if name is not None:
        return html5.get(f"{name};", found.group())
    number = int(whole) if whole is not None else int(hexadecimal, 16)
    plain = number < 0xD800 or 0xE000 <= number < 0x110000  # no halves of signs
    return chr(number) if plain else found.group()


def write_gml(graph: Graph, stream: IO[bytes]) -> None:
    """All of a graph; truth values become 0 and 1."""
    stream.write(b"graph [\n  directed 0\n")
    heads = _heads(graph)
    columns = [] if graph.attributes is None else graph.attributes.columns
    for head, values in zip(heads, records(graph.attributes, graph.order), strict=True):
        stream.write(f"  node [ {head}{_attributes(columns, values)}]\n".encode())
    columns = [] if graph.edge_attributes is None else graph.edge_attributes.columns
    for (one, other), values in zip(
        graph.edges.tolist(), records(graph.edge_attributes, graph.size), strict=True
    ):
        attributes = _attributes(columns, values)
        stream.write(f"  edge [ source {one} target {other} {attributes}]\n".encode())
    stream.write(b"]\n")


def _heads(graph: Graph) -> Iterator[str]:
    labels = graph.labels
    for vertex in range(graph.order):
        label = "" if labels is None else f"label {_quote(str(labels[vertex]))} "
        yield f"id {vertex} {label}"


def _attributes(columns: list[str], values: tuple[Value, ...]) -> str:
    pairs = zip(columns, values, strict=bool(values))
    return "".join(f"{key} {_value(value)} " for key, value in pairs if value is not None)


def _value(value: Value) -> str:
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, float):
        return repr(value).upper()  # GML writes INF, NAN and E
    return str(int(value))  # type: ignore[call-overload]


def _quote(text: str) -> str:
    # GML is ASCII by its definition; other signs are numbers.
    return '"' + escape(text).encode("ascii", "xmlcharrefreplace").decode() + '"'


def check_gml(graph: Graph) -> None:
    """The names of attributes must be keys of GML."""
    for frame in (graph.attributes, graph.edge_attributes):
        for name in [] if frame is None else frame.columns:
            if not _KEY.fullmatch(name) or name in _OWN:
                raise InputError("CEL-G013.gml_key", name=name, own=", ".join(_OWN))
