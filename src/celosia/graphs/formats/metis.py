"""METIS: the number of vertices and edges, then a line of neighbours for each vertex."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from celosia.core.messages import Message
from celosia.graphs.formats.cells import decimal, lines, whole_number
from celosia.graphs.formats.parsed_graph import ParsedGraph, describe_counts, malformed

Row = tuple[int, list[str]]


def read_metis(data: bytes, path: Path) -> ParsedGraph:
    """The graph of a METIS file; weights of edges are kept, those of vertices are counted.

    Each edge stands in the lines of both its vertices; it must, and with the same weight.
    """
    rows = list(lines(data, path, comment="%", blank=True))
    order, size, extra, weighted = _head(rows, path)
    body = rows[1:]
    while len(body) > order and not body[-1][1]:
        body.pop()
    if len(body) != order:
        raise malformed(path, 1, "CEL-G003.metis_lines", expected=order, lines=len(body))
    found = _arcs(body, extra, weighted, path)
    pairs = [pair for pair in found if pair[0] <= pair[1]]
    if len(pairs) != size:
        raise malformed(path, 1, "CEL-G003.metis_edges", expected=size, edges=len(pairs))
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    weights = pl.DataFrame({"weight": [found[pair] for pair in pairs]})
    return ParsedGraph(
        names=pl.Series("vertex", np.arange(1, order + 1)),
        sources=ends[:, 0],
        targets=ends[:, 1],
        directed=np.zeros(len(ends), dtype=np.bool_),
        edge_attributes=weights if weighted else None,
        ignored=describe_counts({Message("graphs.ignored.vertex_weights"): extra * order}),
    )


def _head(rows: list[Row], path: Path) -> tuple[int, int, int, bool]:
    """Vertices, edges, numbers before the neighbours of each vertex, and whether edges weigh."""
    line, cells = rows[0] if rows else (1, [])
    code = cells[2].zfill(3) if len(cells) > 2 else "000"
    if not 2 <= len(cells) <= 4 or set(code) - {"0", "1"} or len(code) > 3:
        raise malformed(path, line, "CEL-G003.metis_head")
    order, size = (whole_number(cell, path, line) for cell in cells[:2])
    weights = whole_number(cells[3], path, line) if len(cells) > 3 else 1
    extra = int(code[0]) + (weights if code[1] == "1" else 0)
    return order, size, extra, code[2] == "1"


def _arcs(body: list[Row], extra: int, weighted: bool, path: Path) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], float] = {}
    step = 2 if weighted else 1
    for vertex, (line, cells) in enumerate(body):
        row = cells[extra:]
        if len(cells) < extra or len(row) % step:
            raise malformed(path, line, "CEL-G003.metis_weight")
        for place in range(0, len(row), step):
            other = whole_number(row[place], path, line, most=len(body)) - 1
            if (vertex, other) in found:
                raise malformed(path, line, "CEL-G003.metis_twice")
            found[vertex, other] = decimal(row[place + 1], path, line) if weighted else 1.0
    for (one, other), weight in found.items():
        if found.get((other, one)) != weight:
            raise malformed(path, body[one][0], "CEL-G003.metis_one_way")
    return found
