"""Uncertain graphs as lists of pairs with probabilities: `u,v,p`, written atomically.

The first line is a comment with what the list itself cannot say, as JSON: how many vertices there
are, the grid of the chances, and the names of the vertices where they have any. Whatever reads
weighted edge lists and skips comments reads the rest.
"""

from __future__ import annotations

import io
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.numbers import whole
from celosia.frames.formats import check_readable, open_bytes, unreadable
from celosia.frames.writers import open_output
from celosia.graphs.uncertain.graph import UncertainGraph

_TITLES = ["u", "v", "p"]
_MARK = "# "


def write_uncertain(graph: UncertainGraph, path: str | Path, *, overwrite: bool = True) -> None:
    """Write an uncertain graph; a name that ends in .gz is compressed."""
    about: dict[str, Any] = {"vertices": graph.order, "grid": graph.grid}
    table = pl.DataFrame(graph.pairs, schema=_TITLES[:2])
    if graph.labels is not None:
        about["names"] = graph.labels.to_list()
        names = graph.labels.cast(pl.String)
        table = table.select(names.gather(column).alias(column.name) for column in table)
    table = table.with_columns(pl.Series("p", graph.probabilities))
    with replacing(Path(path), overwrite=overwrite) as draft, open_output(draft) as stream:
        stream.write(f"{_MARK}{json.dumps(about)}\n".encode())
        table.write_csv(stream)


def read_uncertain(path: str | Path) -> UncertainGraph:
    """Read a list that `write_uncertain` wrote, or any list `u,v,p` with vertex numbers.

    Without the first line, vertices are numbered up to the greatest, and chances are rounded to
    millionths.

    Raises:
        InputError: CEL-G205 the file is no such list; CEL-G200 it has no such pairs or chances.
    """
    file = Path(path)
    check_readable(file)
    try:
        with open_bytes(file) as stream:
            data = stream.read()
    except (OSError, EOFError, zlib.error):
        raise unreadable("CEL-F014.damaged", file) from None
    about: dict[str, Any] = {}
    try:
        head, _, _ = data.partition(b"\n")
        if head.startswith(_MARK.encode()):
            about = json.loads(head[len(_MARK) :])
        frame = pl.read_csv(
            io.BytesIO(data), comment_prefix="#", infer_schema=False, raise_if_empty=False
        )
    except (ValueError, pl.exceptions.PolarsError):
        raise _no_list(file) from None
    if not isinstance(about, dict) or frame.columns != _TITLES:
        raise _no_list(file)
    return _graph(file, frame, about)


def _graph(file: Path, frame: pl.DataFrame, about: dict[str, Any]) -> UncertainGraph:
    names, order = about.get("names"), about.get("vertices")
    if order is not None and (whole(order) is None or order < 0):
        raise _no_list(file)
    ends = frame.select("u", "v")
    labels = None
    if names is not None:
        alike = isinstance(names, list) and len({type(name) for name in names}) <= 1
        if not alike or not len({*map(str, names)}) == len(names) == order:
            raise _no_list(file)
        labels = pl.Series("vertex", names)
        known = labels.cast(pl.String)
        number = pl.Series(np.arange(len(names), dtype=np.int64))
        ends = ends.select(
            pl.all().replace_strict(known, number, default=None, return_dtype=pl.Int64)
        )
    ends = ends.select(pl.all().cast(pl.Int64, strict=False))
    chances = frame["p"].cast(pl.Float64, strict=False)
    if chances.null_count() or any(column.null_count() for column in ends):
        raise _no_list(file)
    options = {} if "grid" not in about else {"grid": about["grid"]}
    return UncertainGraph.from_arrays(
        ends.to_numpy().reshape(-1, 2), chances.to_numpy(), order=order, labels=labels, **options
    )


def _no_list(file: Path) -> InputError:
    return InputError("CEL-G205", file=file, path=str(file))
