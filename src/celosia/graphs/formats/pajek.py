"""Pajek's .net: a list of vertices, then lists of arcs and edges."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import IO

import polars as pl

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.graphs.formats import parsed_graph
from celosia.graphs.graph import Graph

_CELL = re.compile(r'"([^"]*)"|(\S+)')
_SECTIONS = ("*vertices", "*arcs", "*edges", "*arcslist", "*edgeslist", "*network")
BARE = 10_000_000
"""Vertices that a file may declare without a line for each; one number could ask for any memory."""

_COORDINATES = ("x", "y", "z")


def read_pajek(data: bytes, path: Path) -> parsed_graph.ParsedGraph:
    """The network of a Pajek file; weights and coordinates are kept, shapes and colours are not."""
    reader = _Reader(path, most=max(len(data), BARE))
    # Not splitlines(): it also ends a line at signs that a name may hold, such as U+2028.
    for line, text in enumerate(parsed_graph.utf8(data, path).replace("\r\n", "\n").split("\n"), 1):
        cells = [match[0] or match[1] for match in _CELL.findall(text)]
        if text.lstrip().startswith("%"):
            reader.builder.ignore(Message("graphs.ignored.comments"))
        elif cells:
            reader.take(cells, line)
    return reader.finish()


class _Reader:
    def __init__(self, path: Path, *, most: int) -> None:
        self.path = path
        self.most = most
        self.builder = parsed_graph.GraphBuilder(path)
        self.section = ""
        self.order = -1
        self.declared: dict[int, tuple[str, dict[str, parsed_graph.Value], int]] = {}

    def take(self, cells: list[str], line: int) -> None:
        if cells[0].startswith("*"):
            self._open(cells, line)
        elif self.section == "*vertices":
            self._vertex(cells, line)
        elif self.section in ("*arcs", "*edges"):
            self._edge(cells, line)
        elif self.section in ("*arcslist", "*edgeslist"):
            for other in cells[1:]:
                self._join(cells[0], other, {}, line)
        else:
            raise parsed_graph.malformed(self.path, line, "CEL-G003.before_vertices")

    def finish(self) -> parsed_graph.ParsedGraph:
        if self.order < 0:
            raise parsed_graph.malformed(self.path, 1, "CEL-G003.no_vertices")
        names = {number: held[0] for number, held in self.declared.items()}
        distinct = len(set(names.values())) == len(names) == self.order
        for number in range(1, self.order + 1):
            name, values, line = self.declared.get(number, ("", {}, 1))
            if not distinct and name:
                values = {"label": name} | values
            self.builder.vertex(number, values, line)
        parsed = self.builder.finish()
        if not distinct:
            return parsed
        return replace(
            parsed, names=parsed_graph.names_of([names[each] for each in range(1, self.order + 1)])
        )

    def _open(self, cells: list[str], line: int) -> None:
        self.section = cells[0].lower()
        if self.section not in _SECTIONS:
            raise parsed_graph.malformed(self.path, line, "CEL-G003.unknown_section")
        if self.section == "*vertices":
            if self.order >= 0:
                raise parsed_graph.malformed(self.path, line, "CEL-G003.second_vertices")
            self.order = self._whole(cells[1] if len(cells) > 1 else "", line)
            if self.order > self.most:
                raise parsed_graph.malformed(self.path, line, "CEL-G003.too_few_vertices")

    def _vertex(self, cells: list[str], line: int) -> None:
        number = self._known(cells[0], line)
        if number in self.declared:
            raise parsed_graph.declared_twice(self.path, line)
        values: dict[str, parsed_graph.Value] = {}
        rest = cells[2:]
        for axis in _COORDINATES:
            if rest and (at := _decimal(rest[0])) is not None:
                values[axis] = at
                rest = rest[1:]
        if rest:
            self.builder.ignore(Message("graphs.ignored.vertex_shapes"))
        self.declared[number] = (cells[1] if len(cells) > 1 else "", values, line)

    def _edge(self, cells: list[str], line: int) -> None:
        if len(cells) < 2:
            raise parsed_graph.malformed(self.path, line, "CEL-G003.one_vertex")
        weight = _decimal(cells[2]) if len(cells) > 2 else None
        if len(cells) > 2 + (weight is not None):
            self.builder.ignore(Message("graphs.ignored.edge_shapes"))
        self._join(cells[0], cells[1], {} if weight is None else {"weight": weight}, line)

    def _join(self, one: str, other: str, values: dict[str, parsed_graph.Value], line: int) -> None:
        self.builder.edge(
            self._known(one, line),
            self._known(other, line),
            directed=self.section.startswith("*arcs"),
            values=values,
            line=line,
        )

    def _known(self, cell: str, line: int) -> int:
        number = self._whole(cell, line)
        if not 1 <= number <= self.order:
            raise InputError(
                "CEL-G005.no_such_number", path=self.path, order=max(self.order, 0), line=line
            )
        return number

    def _whole(self, cell: str, line: int) -> int:
        if not re.fullmatch(r"-?\d{1,18}", cell, re.ASCII):
            raise parsed_graph.malformed(self.path, line, "CEL-G003.no_whole_number")
        number = int(cell)
        if number < 0:
            raise InputError("CEL-G004.whole", path=self.path, line=line)
        return number


def _decimal(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def write_pajek(graph: Graph, stream: IO[bytes]) -> None:
    """Names and weights of a graph."""
    stream.write(f"*Vertices {graph.order}\n".encode())
    names = range(graph.order) if graph.labels is None else graph.labels
    for number, name in enumerate(names, 1):
        stream.write(f'{number} "{name}"\n'.encode())
    stream.write(b"*Edges\n")
    ends = pl.DataFrame(graph.edges + 1, schema=["source", "target"])
    if graph.edge_attributes is not None and "weight" in graph.edge_attributes.columns:
        ends = ends.with_columns(graph.edge_attributes["weight"])
    ends.write_csv(stream, include_header=False, separator=" ")


def check_pajek(graph: Graph) -> None:
    """Names must fit between quotes on one line."""
    labels = graph.labels
    if labels is not None and labels.cast(pl.String).str.contains(r'["\r\n]|^$').any():
        raise InputError("CEL-G013.pajek_name")
