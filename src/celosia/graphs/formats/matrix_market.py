"""MatrixMarket: the entries of a sparse matrix, one a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from celosia.graphs.formats.cells import decimal, lines, whole_number
from celosia.graphs.formats.parsed_graph import ParsedGraph, malformed

_FIELDS = ("pattern", "real", "integer", "double")
_SYMMETRIES = ("general", "symmetric")


def read_matrix_market(data: bytes, path: Path) -> ParsedGraph:
    """The graph of a matrix: an entry in row i and column j is an edge from i to j.

    A symmetric matrix has no directions. A matrix that is not square has two sides: its rows and
    its columns are different vertices. Entries other than 1 are weights; entries of 0 are no edges.
    """
    first = data.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    head = first.decode("ascii", "replace").lower().split()
    right = len(head) == 5 and head[:3] == ["%%matrixmarket", "matrix", "coordinate"]
    if not right or head[3] not in _FIELDS or head[4] not in _SYMMETRIES:
        raise malformed(path, 1, "CEL-G003.matrix_head")
    rows = lines(data, path, comment="%", blank=False)
    line, sizes = next(rows, (2, []))
    if len(sizes) != 3:
        raise malformed(path, line, "CEL-G003.matrix_sizes")
    height, width, count = (whole_number(cell, path, line) for cell in sizes)
    if max(height, width) > max(len(data), 10_000_000):
        raise malformed(path, line, "CEL-G003.too_few_vertices")
    width_of_row = 2 if head[3] == "pattern" else 3
    ends, values = [], []
    for line, cells in rows:
        if len(cells) != width_of_row:
            raise malformed(path, line, "CEL-G003.cells", cells=len(cells), expected=width_of_row)
        one = whole_number(cells[0], path, line, most=height) - 1
        other = whole_number(cells[1], path, line, most=width) - 1
        value = decimal(cells[2], path, line) if width_of_row == 3 else 1.0
        if value:
            ends.append((one, other))
            values.append(value)
        count -= 1
    if count:
        raise malformed(path, line, "CEL-G003.matrix_entries", count=abs(count))
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    symmetric, square = head[4] == "symmetric", height == width
    order = height if square else height + width
    plain = all(value == 1.0 for value in values)
    return ParsedGraph(
        names=pl.Series("vertex", np.arange(1, order + 1)),
        sources=pairs[:, 0],
        targets=pairs[:, 1] + (0 if square else height),
        directed=np.full(len(pairs), square and not symmetric, dtype=np.bool_),
        edge_attributes=None if plain else pl.DataFrame({"weight": values}),
    )
