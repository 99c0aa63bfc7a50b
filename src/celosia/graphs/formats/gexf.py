"""GEXF, the format of Gephi: XML with vertices, edges and declared attributes."""

from __future__ import annotations

from pathlib import Path

from celosia.core.messages import Message
from celosia.graphs.formats.parsed_graph import GraphBuilder, ParsedGraph, Value, malformed
from celosia.graphs.formats.xml_reader import XmlReader

_NUMBERS = {"integer": int, "long": int, "float": float, "double": float}
_OWN = {"weight": float, "start": str, "end": str}
"""Attributes of an edge that GEXF itself names."""


def read_gexf(data: bytes, path: Path) -> ParsedGraph:
    """The graph of a GEXF file; document types and entities are refused unread.

    An edge `mutual` is one without a direction. Places, sizes and colours are counted and left out.
    """
    reader = _Reader(path)
    reader.parse(data)
    if not reader.graphs:
        raise malformed(path, 1, "CEL-G003.no_graph_element")
    return reader.builder.finish()


class _Reader(XmlReader):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.builder = GraphBuilder(path)
        self.graphs = 0
        self._directed = False
        self._class = ""
        self._titles: dict[tuple[str, str], tuple[str, str]] = {}
        self._things: list[tuple[str, dict[str, str], dict[str, Value], int]] = []

    def start(self, name: str, given: dict[str, str], line: int) -> None:
        if name == "graph":
            self.graphs += 1
            if self.graphs > 1:
                raise malformed(self.path, line, "CEL-G003.second_graph")
            self._directed = given.get("defaultedgetype") == "directed"
        elif name == "attributes":
            self._class = given.get("class", "")
        elif name == "attribute":
            key = given.get("id", "")
            self._titles[self._class, key] = given.get("title", key), given.get("type", "string")
        elif name in ("node", "edge"):
            self._things.append((name, given, {}, line))
        elif name == "attvalue" and self._things:
            kind, _, values, _ = self._things[-1]
            key = given.get("for", given.get("id", ""))
            title, typed = self._titles.get((kind, key), (key, "string"))
            values[title] = self._value(given.get("value", ""), typed, line)
        elif name in ("position", "size", "color", "shape", "thickness", "spell"):
            self.builder.ignore(f"<{name}>")

    def end(self, name: str, line: int) -> None:
        if name in ("node", "edge"):
            self._finish(*self._things.pop())

    def _finish(
        self, kind: str, given: dict[str, str], values: dict[str, Value], line: int
    ) -> None:
        if kind == "node":
            if "id" not in given:
                raise malformed(self.path, line, "CEL-G003.no_id")
            label = given.get("label", given["id"])
            named = {} if label == given["id"] else {"label": label}
            self.builder.vertex(given["id"], named | values, line)
            return
        if "source" not in given or "target" not in given:
            raise malformed(self.path, line, "CEL-G003.no_ends")
        way = {"directed": True, "undirected": False, "mutual": False}
        for name, typed in _OWN.items():
            if name in given:
                values[name] = self._value(given[name], "double" if typed is float else "", line)
        self.builder.edge(
            given["source"],
            given["target"],
            directed=way.get(given.get("type", ""), self._directed),
            values=values,
            line=line,
        )
        if "id" in given:
            self.builder.ignore(Message("graphs.ignored.edge_ids"))

    def _value(self, text: str, typed: str, line: int) -> Value:
        try:
            if typed in _NUMBERS:
                return _NUMBERS[typed](text)
            if typed == "boolean":
                return {"true": True, "false": False}[text.strip().lower()]
        except (ValueError, KeyError):
            raise malformed(self.path, line, "CEL-G003.wrong_type", type=typed) from None
        return text
