"""Generalised graphs as one JSON file, written atomically."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.numbers import whole
from celosia.frames.formats import check_readable, open_bytes, unreadable
from celosia.frames.writers import open_output
from celosia.graphs.generalisation.graph import GeneralisedGraph

FORMAT = "celosia generalised graph 1"


def as_plain(graph: GeneralisedGraph) -> dict[str, Any]:
    """The graph as JSON has it."""
    rows = [{}] * len(graph.sizes) if graph.attributes is None else graph.attributes.to_dicts()
    numbers = zip(graph.sizes.tolist(), graph.internal.tolist(), rows, strict=True)
    return {
        "format": FORMAT,
        "vertices": graph.order,
        "edges": graph.size,
        "super_vertices": [
            {"size": size, "internal_edges": internal, **({"attributes": row} if row else {})}
            for size, internal, row in numbers
        ],
        "super_edges": [
            {"between": pair, "edges": count}
            for pair, count in zip(graph.super_edges.tolist(), graph.between.tolist(), strict=True)
        ],
    }


def write_generalised(graph: GeneralisedGraph, path: str | Path, *, overwrite: bool = True) -> None:
    """Write a generalised graph; a name that ends in .gz is compressed."""
    text = json.dumps(as_plain(graph), indent=1, ensure_ascii=False)
    with replacing(Path(path), overwrite=overwrite) as draft, open_output(draft) as stream:
        stream.write(text.encode() + b"\n")


def read_generalised(path: str | Path) -> GeneralisedGraph:
    """Read a file that `write_generalised` wrote.

    Raises:
        InputError: CEL-G213 it is no such file; CEL-G210 its numbers contradict each other.
    """
    file = Path(path)
    check_readable(file)
    try:
        with open_bytes(file) as stream:
            plain = json.loads(stream.read())
    except (OSError, EOFError, zlib.error):
        raise unreadable("CEL-F014.damaged", file) from None
    except (ValueError, RecursionError):
        raise _no_graph(file) from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise _no_graph(file)
    try:
        vertices, edges = plain["super_vertices"], plain["super_edges"]
        sizes = [_number(each["size"]) for each in vertices]
        internal = [_number(each["internal_edges"]) for each in vertices]
        between = {
            (_number(one), _number(other)): _number(each["edges"])
            for each in edges
            for one, other in [each["between"]]
        }
        rows = [each.get("attributes", {}) for each in vertices]
        columns = list(rows[0]) if rows else []
        table = {name: [_text(row[name]) for row in rows] for name in columns}
        whole_rows = all(len(row) == len(columns) for row in rows)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _no_graph(file) from None
    if not whole_rows or len(between) != len(edges):
        raise _no_graph(file)
    frame = pl.DataFrame(table, schema=dict.fromkeys(columns, pl.String)) if columns else None
    made = GeneralisedGraph.of(sizes=sizes, internal=internal, between=between, attributes=frame)
    if (plain.get("vertices"), plain.get("edges")) != (made.order, made.size):
        raise _no_graph(file)
    return made


def _number(value: object) -> int:
    number = whole(value)
    if number is None or not 0 <= number < 2**62:  # so that sums and arrays hold it
        raise ValueError
    return number


def _text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError
    return value


def _no_graph(file: Path) -> InputError:
    return InputError("CEL-G213", file=file, path=str(file))
