"""Delimited text as frames of text, whole or in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import polars as pl

from celosia.frames.columns import pick
from celosia.frames.csv_faults import find_fault
from celosia.frames.dialect import Layout
from celosia.frames.encoding import codec
from celosia.frames.formats import is_gzip, unreadable
from celosia.frames.options import ReadOptions

_BLOCK, _LARGEST_BLOCK = 1 << 23, (1 << 31) - 1
"""Bytes parsed in one go when all is read; a row must fit in them, so the second is tried too."""

_CHUNK_BLOCK = 1 << 22
"""The same for chunks. Arrow reads some thirty blocks ahead, which is the memory that it takes."""

_Result = TypeVar("_Result")


def whole_text(layout: Layout, options: ReadOptions) -> pl.DataFrame:
    """All rows of the columns asked for, every cell as it is written."""
    import pyarrow.csv as arrow  # slow to load, and not every caller reads files

    def load(block: int) -> Any:
        with _input(layout.path) as stream:
            return arrow.read_csv(stream, **_arrow_options(layout, options, block))

    for block in (_BLOCK, _LARGEST_BLOCK):
        with suppress(_RowBeyondBlock):
            table = _guarded(layout, partial(load, block))
            return _selected(_named(table, layout), options)
    raise unreadable("CEL-F014.row", layout.path)


def text_chunks(layout: Layout, options: ReadOptions) -> Iterator[pl.DataFrame]:
    """The same rows in frames of a few megabytes each; the first has none, but the columns."""
    import pyarrow.csv as arrow

    with _input(layout.path) as stream, suppress(_RowBeyondBlock):
        arguments = _arrow_options(layout, options, _CHUNK_BLOCK)
        reader = _guarded(layout, lambda: arrow.open_csv(stream, **arguments))
        yield pl.DataFrame(schema=dict.fromkeys(options.columns or layout.names, pl.String))
        while (batch := _guarded(layout, lambda: next(reader, None))) is not None:
            yield _selected(_named(batch, layout), options)
        return
    raise unreadable("CEL-F014.row_in_chunks", layout.path, megabytes=_CHUNK_BLOCK >> 20)


def _input(path: Path) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression="gzip" if is_gzip(path) else None)


def _arrow_options(layout: Layout, options: ReadOptions, block: int) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.csv as arrow

    place_of = {name: str(place) for place, name in enumerate(layout.names)}
    places = list(place_of.values())
    name = codec(layout.dialect.encoding)
    return {
        "read_options": arrow.ReadOptions(
            column_names=places,
            skip_rows=layout.blank_lines,
            skip_rows_after_names=int(layout.dialect.header),
            encoding="utf8" if name == "utf-8-sig" else name,
            block_size=block,
        ),
        "parse_options": arrow.ParseOptions(
            delimiter=layout.dialect.delimiter,
            newlines_in_values=layout.quoted,
            # With a single column a blank line is a row without a value.
            ignore_empty_lines=len(places) > 1,
        ),
        "convert_options": arrow.ConvertOptions(
            column_types=dict.fromkeys(places, pa.string()),
            null_values=list(options.missing),
            strings_can_be_null=bool(options.missing),
            include_columns=[place_of[name] for name in options.columns or layout.names],
        ),
    }


class _RowBeyondBlock(Exception):  # noqa: N818 - a signal between two functions of this module
    """A row is longer than the block it should fit in."""


def _guarded(layout: Layout, action: Callable[[], _Result]) -> _Result:
    """The result of the action; what Arrow says of a failure quotes cells, so it is not shown."""
    problem = ""
    try:
        return action()
    except (ValueError, OSError) as error:  # ArrowInvalid is a ValueError
        problem = str(error)
    if "straddling" in problem:
        raise _RowBeyondBlock
    raise find_fault(layout) or unreadable("CEL-F014.delimited", layout.path)


def _named(table: Any, layout: Layout) -> pl.DataFrame:
    frame = cast(pl.DataFrame, pl.from_arrow(table))
    return frame.rename({place: layout.names[int(place)] for place in frame.columns})


def _selected(frame: pl.DataFrame, options: ReadOptions) -> pl.DataFrame:
    return frame if options.columns is None else pick(frame, options.columns)
