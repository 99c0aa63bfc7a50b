"""Delimited text as frames: read as text, then typed over all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import polars as pl

from celosia.frames.csv_columns import DecimalTally, TypeTally, decimal_mark, doubt_in
from celosia.frames.csv_faults import find_fault, quotes_are_tidy
from celosia.frames.csv_text import text_chunks, whole_text
from celosia.frames.decimal_marks import Mark, in_doubt
from celosia.frames.dialect import Layout, lay_out
from celosia.frames.formats import Format
from celosia.frames.inference import Narrow, convert, infer, narrow
from celosia.frames.options import ColumnType, ReadOptions

MarkOfFile = Callable[[], Mark | None]


def read_csv(path: Path, format: Format, options: ReadOptions) -> pl.DataFrame:
    """The whole file as one frame."""
    layout = _checked_layout(path, format, options)
    text = whole_text(layout, options)

    @cache
    def mark_of_file() -> Mark | None:
        return decimal_mark([whole_text(layout, options.for_numbers(layout.names))])

    return text.with_columns(
        _typed(column, options.types.get(column.name), layout, mark_of_file)
        for column in text.iter_columns()
    )


def csv_chunks(path: Path, format: Format, options: ReadOptions) -> Iterator[pl.DataFrame]:
    """The file as frames of a few megabytes each, with the types that `read_csv` would give.

    The first frame has no rows, so that the columns are known even if the file has none.
    """
    layout = _checked_layout(path, format, options)
    types = _settle_types(layout, options)
    before = 0
    for text in text_chunks(layout, options):
        yield text.with_columns(
            convert(column, types[column.name], rows_before=before)
            for column in text.iter_columns()
        )
        before += text.height


def _checked_layout(path: Path, format: Format, options: ReadOptions) -> Layout:
    layout = lay_out(path, options, delimiter="\t" if format == "tsv" else None)
    options.check_names(layout.names)
    if not quotes_are_tidy(layout):
        fault = find_fault(layout)
        if fault is not None:
            raise fault
    return layout


def _typed(
    text: pl.Series, declared: ColumnType | None, layout: Layout, mark_of_file: MarkOfFile
) -> pl.Series:
    """A whole column as what it is declared, or found, to be."""
    if declared is None:
        found, values = infer(text, narrow(layout.marks))
        doubt = doubt_in(text, found) if len(layout.marks) > 1 else None
        return text if _is_open(doubt, mark_of_file) else values
    if declared != "decimal" or len(layout.marks) == 1:
        return convert(text, _as_written(declared, layout))
    tally = DecimalTally()
    tally.add(text)
    values = convert(text, tally.narrowest_type)
    if tally.doubt is not None and _is_open(tally.doubt, mark_of_file):
        raise in_doubt(text.name, tally.doubt)
    return values


def _settle_types(layout: Layout, options: ReadOptions) -> dict[str, ColumnType | Narrow]:
    """The type of each column after a pass over all rows."""

    @cache
    def mark_of_file() -> Mark | None:
        return decimal_mark(text_chunks(layout, options.for_numbers(layout.names)))

    tried, unsettled = narrow(layout.marks), layout.marks if len(layout.marks) > 1 else ()
    tallies: dict[str, TypeTally] = {}
    settled: dict[str, ColumnType | Narrow] = {}
    for name in options.columns or layout.names:
        declared = options.types.get(name)
        if declared is None:
            tallies[name] = TypeTally(tried, marks=unsettled)
        elif declared == "decimal" and len(layout.marks) > 1:
            tallies[name] = DecimalTally()
        else:
            settled[name] = _as_written(declared, layout)
    for text in text_chunks(layout, options):
        for name, tally in tallies.items():
            tally.add(text.get_column(name))
    for name, tally in tallies.items():
        is_open = _is_open(tally.doubt, mark_of_file)
        if is_open and tally.doubt is not None and name in options.types:
            raise in_doubt(name, tally.doubt)
        settled[name] = (
            "string" if is_open or tally.narrowest_type is None else tally.narrowest_type
        )
    return settled


def _as_written(declared: ColumnType, layout: Layout) -> ColumnType | Narrow:
    """The declared type in the way of writing that the file is said to have."""
    return "decimal comma" if declared == "decimal" and layout.marks == (",",) else declared


def _is_open(doubt: Mark | None, mark_of_file: MarkOfFile) -> bool:
    """Whether the rest of the file does not show that a mark in doubt is the decimal one.

    A comma is, where other numbers have a comma that can only be decimal; a point is, where none
    has.
    """
    return doubt is not None and (mark_of_file() == ",") != (doubt == ",")
