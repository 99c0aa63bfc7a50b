"""JSON lines as frames: one record in each line, each column of one kind."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import polars as pl

from celosia.core.errors import InputError
from celosia.frames.columns import check_flat, check_names
from celosia.frames.encoding import open_text, pieces
from celosia.frames.formats import empty, unreadable
from celosia.frames.kinds import KindWatch


def read_json_lines(path: Path) -> pl.DataFrame:
    """The whole file as one frame."""
    return pl.concat(json_lines_chunks(path))


def json_lines_chunks(path: Path) -> Iterator[pl.DataFrame]:
    """The file as frames of a few megabytes each; a first pass settles names and types."""
    schema = None
    for block in _blocks(path):
        found = _parsed(path, block, None).schema
        schema = found if schema is None else _merged(path, schema, found)
    if schema is None:
        raise empty(path)
    check_names(schema.names, path=path)
    for block in _blocks(path):
        table = _parsed(path, block, schema).select(schema.names)
        yield check_flat(cast(pl.DataFrame, pl.from_arrow(table)))


def _blocks(path: Path) -> Iterator[bytes]:
    """Whole lines of the file, a few megabytes at a time; blank lines alone give no block."""
    rest = b""
    for piece in pieces(path):
        lines, mark, tail = (rest + piece).rpartition(b"\n")
        rest = tail
        if lines.strip():
            yield lines + mark
    if rest.strip():
        yield rest


def _parsed(path: Path, block: bytes, schema: Any) -> Any:
    """One block as an Arrow table; Arrow's own messages may quote cells and are not shown."""
    import pyarrow as pa  # slow to load, and not every caller reads files
    import pyarrow.json as arrow

    parse = arrow.ParseOptions(explicit_schema=schema) if schema is not None else None
    table = None
    try:
        # A line may be longer than Arrow's usual megabyte.
        size = arrow.ReadOptions(block_size=max(1 << 20, len(block) + 1))
        table = arrow.read_json(io.BytesIO(block), parse_options=parse, read_options=size)
    except ValueError:
        pass
    if table is None:
        raise _find_fault(path)
    if schema is None:
        table = _without_guesses(pa, table)
    return table


def _without_guesses(pa: Any, table: Any) -> Any:
    """The same table with its text as text: Arrow takes what looks like a moment for one."""
    return table.cast(
        pa.schema(
            (name, pa.string() if pa.types.is_timestamp(kind) else kind)
            for name, kind in zip(table.schema.names, table.schema.types, strict=True)
        )
    )


def _merged(path: Path, known: Any, found: Any) -> Any:
    """The names and types of two blocks together."""
    import pyarrow as pa

    types = dict(zip(known.names, known.types, strict=True))
    for name, kind in zip(found.names, found.types, strict=True):
        before = types.get(name, pa.null())
        pair = {before, kind}
        if len(pair) == 2 and pa.null() not in pair and pair != {pa.int64(), pa.float64()}:
            raise _find_fault(path)
        if pa.types.is_null(before) or pa.types.is_floating(kind):
            types[name] = before if pa.types.is_null(kind) else kind
    return pa.schema(types.items())


def _find_fault(path: Path) -> InputError:
    """The first line that is no record, or whose values are not of the kind of those before."""
    watch = KindWatch()
    row = 0
    with open_text(path, "utf-8", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                continue
            row += 1
            pairs = _pairs(line)
            if pairs is None:
                return InputError("CEL-F023.broken", path=str(path), row=row)
            names = [name for name, _ in pairs]
            if len(set(names)) < len(names):
                return InputError("CEL-F023.twice", path=str(path), row=row)
            fault = watch.fault(row, pairs)
            if fault is not None:
                return fault
    return unreadable("CEL-F014.lines", path)


def _pairs(line: str) -> list[tuple[str, object]] | None:
    """The names and values of one line; None if it is not a JSON object."""
    try:
        found = json.loads(line, object_pairs_hook=tuple)
    except ValueError:
        return None
    is_object = isinstance(found, tuple) and line.lstrip().startswith("{")
    return list(found) if is_object else None
