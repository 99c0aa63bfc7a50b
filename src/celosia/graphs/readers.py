"""Readers of graph files, with stated rules and a count of their use."""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step, silent
from celosia.frames.codes import encode
from celosia.frames.formats import check_readable, open_bytes, unreadable
from celosia.frames.readers import read as read_table
from celosia.graphs.formats.edge_list import read_edge_list
from celosia.graphs.formats.gml import read_gml
from celosia.graphs.formats.graphml import read_graphml
from celosia.graphs.formats.node_link import read_node_link
from celosia.graphs.formats.pajek import read_pajek
from celosia.graphs.formats.parsed_graph import ParsedGraph
from celosia.graphs.formats.rules import (
    Counts,
    DirectionRule,
    LoopRule,
    RepeatedEdgeRule,
    Rules,
    simplify,
)
from celosia.graphs.graph import Graph

Format = Literal["edges", "csv", "tsv", "graphml", "gml", "pajek", "json"]
"""The kinds of file: `edges` is an edge list separated by spaces."""

SUFFIXES: dict[str, Format] = {
    ".edges": "edges",
    ".edgelist": "edges",
    ".txt": "edges",
    ".csv": "csv",
    ".tsv": "tsv",
    ".graphml": "graphml",
    ".xml": "graphml",
    ".gml": "gml",
    ".net": "pajek",
    ".json": "json",
}
"""What each ending of a file name means; `.gz` may follow."""

_PARSERS = {
    "graphml": read_graphml,
    "gml": read_gml,
    "pajek": read_pajek,
    "json": read_node_link,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadResult:
    """A simple graph, and a report of what its reading changed."""

    graph: Graph
    counts: Counts
    rules: Rules
    ignored: tuple[str, ...] = ()
    """What a graph cannot hold, in words, with counts."""
    columns: tuple[str, ...] = ()
    """The columns of an edge list whose first line was taken for their names."""

    @property
    def edge_attributes(self) -> tuple[str, ...]:
        """The names of what is known of the edges, such as a weight or a time."""
        return self.graph.edge_attribute_names

    @property
    def changed(self) -> bool:
        """Whether some record became no edge of its own, lost its direction, or was ignored."""
        counts = self.counts
        used = counts.loops, counts.repeated, counts.both_ways, counts.one_way
        return any(used) or bool(self.ignored)

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values, without the graph."""
        return {
            "vertices": self.graph.order,
            "edges": self.graph.size,
            "isolated": self.graph.isolated,
            "columns": list(self.columns),
            "edge_attributes": list(self.edge_attributes),
            **asdict(self.counts),
            "rules": asdict(self.rules),
            "ignored": list(self.ignored),
        }

    def __str__(self) -> str:
        counts = self.counts
        dropped = self.rules.directed == "mutual"
        one_way = "graphs.reading.one_way_dropped" if dropped else "graphs.reading.undirected"
        changes = [
            say(key, count=count)
            for count, key in (
                (counts.loops, "graphs.reading.loops"),
                (counts.repeated, "graphs.reading.repeated"),
                (counts.both_ways, "graphs.reading.mutual"),
                (counts.one_way, one_way),
            )
            if count
        ]
        changes = changes or [say("graphs.reading.unchanged")]
        parts = [
            say(
                "graphs.reading.records",
                graph=str(self.graph),
                records=counts.records,
                changes=changes,
            )
        ]
        if counts.differing:
            parts.append(say("graphs.reading.differing", count=counts.differing))
        if self.graph.isolated:
            parts.append(say("graphs.reading.isolated", count=self.graph.isolated))
        if self.columns:
            parts.append(say("graphs.reading.columns", names=self.columns))
        if self.edge_attributes:
            parts.append(say("graphs.reading.edge_attributes", names=self.edge_attributes))
        if self.ignored:
            parts.append(say("graphs.reading.ignored", what=self.ignored))
        return "; ".join(parts)


def read(
    path: str | Path,
    *,
    format: Format | None = None,
    loops: LoopRule = "drop",
    repeated: RepeatedEdgeRule = "merge",
    directed: DirectionRule = "undirect",
    vertices: str | Path | None = None,
    header: bool | None = None,
    progress: Progress = silent,
) -> ReadResult:
    """A graph from a file, gzip included, with a report of what its rules did.

    An edge list says nothing of directions: its lines are edges, but arcs under
    `directed="mutual"`, which keeps the pairs that are there both ways.

    Args:
        path: the file; its ending says the format where `format` does not.
        format: `edges`, `csv`, `tsv`, `graphml`, `gml`, `pajek` or `json`.
        loops: what becomes of an edge from a vertex to itself.
        repeated: what becomes of an edge that comes again.
        directed: what becomes of directions.
        vertices: for edge lists, a table whose first column names every vertex; the others are
            attributes.
        header: whether the first line of an edge list names its columns; guessed if not given.
        progress: called when a stage begins.

    Raises:
        InputError: CEL-G002 to G011, with the line of the fault.
    """
    file = Path(path)
    rules = Rules(loops=loops, repeated=repeated, directed=directed)
    kind = format_of(file, format)
    check_readable(file)
    progress(Step(Message("graphs.stage.read"), 0, None))
    try:
        with open_bytes(file) as stream:
            data = stream.read()
    except (OSError, EOFError, zlib.error):
        raise unreadable("CEL-F014.damaged", file) from None
    progress(Step(Message("graphs.stage.find"), 0, None))
    if kind in _PARSERS:
        parsed = _PARSERS[kind](data, file)
        if vertices is not None:
            raise InputError("CEL-G002.vertices_beside", kind=kind)
    else:
        parsed = read_edge_list(data, file, header=header, arcs=directed == "mutual")
        parsed = parsed if vertices is None else _with_vertices(parsed, Path(vertices))
    del data
    progress(Step(Message("graphs.stage.sort"), 0, None))
    graph, counts = simplify(parsed, rules)
    return ReadResult(
        graph=graph,
        counts=counts,
        rules=rules,
        ignored=parsed.ignored,
        columns=parsed.columns,
    )


def format_of(path: Path, given: str | None = None) -> Format:
    """The format of a file: the one given, else what its name says.

    >>> format_of(Path("friends.graphml.gz")), format_of(Path("friends"), "gml")
    ('graphml', 'gml')
    """
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    found = given or SUFFIXES.get(name.suffix.lower())
    if found not in get_args(Format):
        formats, endings = get_args(Format), tuple(SUFFIXES)
        if given:
            raise InputError(
                "CEL-G002.unknown_format", format=given, formats=formats, endings=endings
            )
        key = "CEL-G002.unknown_ending" if name.suffix else "CEL-G002.no_ending"
        raise InputError(key, path=path, ending=name.suffix, formats=formats, endings=endings)
    return cast(Format, found)


def _with_vertices(parsed: ParsedGraph, path: Path) -> ParsedGraph:
    """The same records among the vertices of a table, isolated ones included.

    Raises:
        InputError: CEL-G005 an edge has a vertex that the table lacks; CEL-G011 one comes twice.
    """
    table = read_table(path)
    listed = table.to_series(0)
    names = parsed.names
    if listed.dtype != names.dtype:
        listed, names = listed.cast(pl.String), names.cast(pl.String)
    coded = encode(listed)
    if coded.missing or len(coded.values) != len(listed):
        raise InputError(
            "CEL-G011.unnamed_or_twice", path=path, extra=len(listed) - len(coded.values)
        )
    place_of = np.empty(len(listed), dtype=np.int64)
    place_of[coded.codes] = np.arange(len(listed))
    found = coded.values.search_sorted(names, side="left").to_numpy().astype(np.int64)
    inside = np.minimum(found, len(listed) - 1)
    known = (coded.values.gather(inside) == names).to_numpy()
    if not known.all():
        raise InputError("CEL-G005.not_in_table", path=path, count=int((~known).sum()))
    place = place_of[inside]
    rest = table.select(table.columns[1:])
    return replace(
        parsed,
        names=listed.alias("vertex"),
        sources=place[parsed.sources],
        targets=place[parsed.targets],
        attributes=rest if rest.width else None,
    )
