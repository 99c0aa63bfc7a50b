"""Delimited text as frames: read as text, then typed over all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import polars as pl

from celosia.frames.columns import pick
from celosia.frames.csv_faults import find_fault, quotes_are_tidy
from celosia.frames.dialect import Layout, lay_out
from celosia.frames.encoding import codec
from celosia.frames.formats import Format, is_gzip, unreadable
from celosia.frames.inference import NARROW, Narrow, convert, infer, parse
from celosia.frames.options import ColumnType, Options

_BLOCK, _LARGEST_BLOCK = 1 << 23, (1 << 31) - 1
"""Bytes parsed in one go when all is read; a row must fit in them, so the second is tried too."""

_CHUNK_BLOCK = 1 << 22
"""The same for chunks. Arrow reads some thirty blocks ahead, which is the memory that it takes."""

_Result = TypeVar("_Result")


def read_csv(path: Path, format: Format, options: Options) -> pl.DataFrame:
    """The whole file as one frame."""
    layout = _checked_layout(path, format, options)
    text = _selected(_whole_text(layout, options), options)
    return text.with_columns(
        convert(column, options.types[column.name])
        if column.name in options.types
        else infer(column)
        for column in text.iter_columns()
    )


def csv_chunks(path: Path, format: Format, options: Options) -> Iterator[pl.DataFrame]:
    """The file as frames of a few megabytes each, with the types that `read_csv` would give.

    The first frame has no rows, so that the columns are known even if the file has none.
    """
    layout = _checked_layout(path, format, options)
    types = _settle_types(layout, options)
    before = 0
    for text in _text_chunks(layout, options):
        yield text.with_columns(
            convert(column, types[column.name], rows_before=before)
            for column in text.iter_columns()
        )
        before += text.height


def _checked_layout(path: Path, format: Format, options: Options) -> Layout:
    layout = lay_out(path, options, delimiter="\t" if format == "tsv" else None)
    options.check_names(layout.names)
    if not quotes_are_tidy(layout):
        fault = find_fault(layout)
        if fault is not None:
            raise fault
    return layout


def _settle_types(layout: Layout, options: Options) -> dict[str, ColumnType]:
    """The type of each column after a pass over all rows."""
    possible: dict[str, tuple[Narrow, ...]] = {}
    filled: set[str] = set()
    for text in _text_chunks(layout, options):
        for column in text.iter_columns():
            left = possible.get(column.name, NARROW)
            possible[column.name] = tuple(
                wanted for wanted in left if parse(column, wanted) is not None
            )
            if column.null_count() < len(column):
                filled.add(column.name)
    inferred: dict[str, ColumnType] = {
        name: left[0] if left and name in filled else "string" for name, left in possible.items()
    }
    return inferred | dict(options.types)


def _whole_text(layout: Layout, options: Options) -> pl.DataFrame:
    import pyarrow.csv as arrow  # noqa: PLC0415 - slow to load, and not every caller reads files

    def load(block: int) -> Any:
        with _input(layout.path) as stream:
            return arrow.read_csv(stream, **_arrow_options(layout, options, block))

    for block in (_BLOCK, _LARGEST_BLOCK):
        with suppress(_RowBeyondBlock):
            return _named(_guarded(layout, partial(load, block)), layout)
    raise unreadable(layout.path, "a row is longer than 2 gigabytes")


def _text_chunks(layout: Layout, options: Options) -> Iterator[pl.DataFrame]:
    import pyarrow.csv as arrow  # noqa: PLC0415 - as above

    with _input(layout.path) as stream, suppress(_RowBeyondBlock):
        arguments = _arrow_options(layout, options, _CHUNK_BLOCK)
        reader = _guarded(layout, lambda: arrow.open_csv(stream, **arguments))
        yield pl.DataFrame(schema=dict.fromkeys(options.columns or layout.names, pl.String))
        while (batch := _guarded(layout, lambda: next(reader, None))) is not None:
            yield _selected(_named(batch, layout), options)
        return
    raise unreadable(
        layout.path,
        f"a row is longer than {_CHUNK_BLOCK >> 20} megabytes",
        fix="Read the file whole instead of in chunks.",
    )


def _input(path: Path) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - as above

    return pa.input_stream(str(path), compression="gzip" if is_gzip(path) else None)


def _arrow_options(layout: Layout, options: Options, block: int) -> dict[str, Any]:
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.csv as arrow  # noqa: PLC0415

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
    raise find_fault(layout) or unreadable(
        layout.path, "it could not be read as delimited text", fix="Check its delimiter."
    )


def _named(table: Any, layout: Layout) -> pl.DataFrame:
    frame = cast(pl.DataFrame, pl.from_arrow(table))
    return frame.rename({place: layout.names[int(place)] for place in frame.columns})


def _selected(frame: pl.DataFrame, options: Options) -> pl.DataFrame:
    return frame if options.columns is None else pick(frame, options.columns)
