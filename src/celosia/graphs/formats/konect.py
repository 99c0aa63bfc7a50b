"""KONECT's out.* files: an edge list under a line that says what its columns mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from celosia.graphs.formats.cells import decimal, lines, whole_number
from celosia.graphs.formats.parsed_graph import ParsedGraph, malformed

_KINDS = ("sym", "asym", "bip")
_WEIGHTS = (
    *("unweighted", "positive", "posweighted", "signed", "multisigned", "weighted"),
    *("multiweighted", "multiposweighted", "dynamic"),
)


def read_konect(data: bytes, path: Path) -> ParsedGraph:
    """The network of a KONECT file: `% sym`, `% asym` or `% bip`, then its kind of weights.

    The columns are two numbers of vertices, a weight and a time. `asym` has directions. In `bip`
    the numbers of both columns are different vertices, called 1:NUMBER and 2:NUMBER.
    """
    kind, weights = _head(data, path)
    ends: list[tuple[int, int]] = []
    named: dict[str, list[float]] = {"weight": [], "time": []}
    width = 0
    for line, cells in lines(data, path, comment="%", blank=False):
        width = width or len(cells)
        if len(cells) != width or not 2 <= width <= 4:
            raise malformed(path, line, "CEL-G003.cells", cells=len(cells), expected=width or 2)
        one, other = (whole_number(cell, path, line, least=1) for cell in cells[:2])
        ends.append((one, other))
        for column, cell in zip(named.values(), cells[2:], strict=False):
            column.append(decimal(cell, path, line))
    if weights == "unweighted":
        del named["weight"]  # a column of ones that keeps the place of the time
    known = pl.DataFrame({name: column for name, column in named.items() if column})
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    ones, others = (np.unique(column) for column in pairs.T)
    if kind == "bip":
        texts = [f"1:{number}" for number in ones] + [f"2:{number}" for number in others]
        names = pl.Series("vertex", texts, dtype=pl.String)
    else:
        ones = others = np.union1d(ones, others)
        names = pl.Series("vertex", ones)
    return ParsedGraph(
        names=names,
        sources=np.searchsorted(ones, pairs[:, 0]),
        targets=np.searchsorted(others, pairs[:, 1]) + (len(ones) if kind == "bip" else 0),
        directed=np.full(len(pairs), kind == "asym", dtype=np.bool_),
        edge_attributes=known if known.width else None,
    )


def _head(data: bytes, path: Path) -> tuple[str, str]:
    first = data.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    words = first.decode("ascii", "replace").lower().removeprefix("%").split()[:2]
    known = len(words) == 2 and words[0] in _KINDS and words[1] in _WEIGHTS
    if not first.startswith(b"%") or not known:
        raise malformed(path, 1, "CEL-G003.konect_head")
    return words[0], words[1]
