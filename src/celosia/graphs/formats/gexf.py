"""GEXF, the format of Gephi: XML with vertices, edges and declared attributes."""

from __future__ import annotations

from pathlib import Path

from celosia.graphs.formats.parsed_graph import ParsedGraph, Value
from celosia.graphs.formats.xml_reader import XmlReader

_OWN = {"weight": "double", "start": "string", "end": "string"}
"""Attributes of an edge that GEXF itself names, with their types."""
_DIRECTED = {"directed": True, "undirected": False, "mutual": False}
_DRAWN = ("position", "size", "color", "shape", "thickness", "spell")


def read_gexf(data: bytes, path: Path) -> ParsedGraph:
    """The graph of a GEXF file; document types and entities are refused unread.

    An edge `mutual` is one without a direction. Places, sizes and colours are counted and left out.
    """
    return _Reader(path).read(data)


class _Reader(XmlReader):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._class = ""
        self._titles: dict[tuple[str, str], tuple[str, str]] = {}

    def start(self, name: str, given: dict[str, str], line: int) -> None:
        if name == "graph":
            self.graph(line, directed=given.get("defaultedgetype") == "directed")
        elif name == "attributes":
            self._class = given.get("class", "")
        elif name == "attribute":
            key = given.get("id", "")
            self._titles[self._class, key] = given.get("title", key), given.get("type", "string")
        elif name in ("node", "edge"):
            self.open.append((name, given, {}, line))
        elif name == "attvalue" and self.open:
            kind, _, values, _ = self.open[-1]
            key = given.get("for", given.get("id", ""))
            title, typed = self._titles.get((kind, key), (key, "string"))
            values[title] = self.value(given.get("value", ""), typed, line)
        elif name in _DRAWN:
            self.builder.ignore(f"<{name}>")

    def end(self, name: str, line: int) -> None:
        if name not in ("node", "edge"):
            return
        kind, given, values, began = self.open.pop()
        if kind == "node":
            label = given.get("label", given.get("id"))
            named: dict[str, Value] = {} if label == given.get("id") else {"label": label}
            self.vertex(given, named | values, began)
            return
        for own, typed in _OWN.items():
            if own in given:
                values[own] = self.value(given[own], typed, began)
        directed = _DIRECTED.get(given.get("type", ""), self.directed)
        self.edge(given, values, began, directed=directed)
