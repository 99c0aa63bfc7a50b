"""Delimited text as frames: parsed, checked for faults, typed, whole or in chunks."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, Unpack, cast

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.frames.columns import (
    Narrow,
    convert,
    has_mark,
    in_doubt,
    infer,
    is_certain,
    mark_of,
    misfits,
    narrow,
    parse,
    pick,
)
from celosia.frames.dialect import (
    Dialect,
    Layout,
    cells_of_any_length,
    codec,
    lay_out,
    open_text,
    pieces,
    place_of,
)
from celosia.frames.formats import (
    ColumnType,
    DialectKeywords,
    Format,
    Mark,
    ReadOptions,
    check_readable,
    is_gzip,
    unreadable,
)

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


_QUOTE = ord('"')


def find_fault(layout: Layout) -> InputError | None:
    """The first broken row of a file as an error to raise; None if all is well."""
    expected = len(layout.names)
    row = -1 if layout.dialect.header else 0
    problem = None
    with open_text(layout.path, layout.dialect.encoding) as lines, cells_of_any_length():
        reader = csv.reader(lines, delimiter=layout.dialect.delimiter, strict=True)
        try:
            for record in reader:
                if not record and (expected > 1 or row < 0):
                    continue
                row += 1
                if len(record or [""]) != expected:
                    return _wrong_width(layout, row, reader.line_num, len(record))
        except csv.Error as error:
            problem = str(error)
    return None if problem is None else _bad_quote(layout, row + 1, problem)


def quotes_are_tidy(layout: Layout) -> bool:
    """Whether each quotation mark opens a whole cell, closes one, or is one of a pair inside.

    In such a file the marks alternate: the first of each two stands at the start of a cell and the
    second at its end, where a doubled mark counts as an end and a start. Two cells left open in
    one file would otherwise swallow the rows between them without anyone noticing.
    """
    if not layout.quoted:
        return True
    is_edge = np.zeros(256, dtype=np.bool_)
    is_edge[list(f'{layout.dialect.delimiter}\r\n"'.encode())] = True
    inside, last = 0, np.frombuffer(b"\n", dtype=np.uint8)
    for piece in _utf8_pieces(layout):
        block = np.concatenate([last, np.frombuffer(piece, dtype=np.uint8)])
        # The last byte waits for the next piece, which says what follows it.
        marks = np.flatnonzero(block[1:-1] == _QUOTE) + 1
        opening, closing = marks[inside::2], marks[1 - inside :: 2]
        if not (is_edge[block[opening - 1]].all() and is_edge[block[closing + 1]].all()):
            return False
        inside = (inside + len(marks)) % 2
        last = block[-2:]
    return inside == 0


def _utf8_pieces(layout: Layout) -> Iterator[bytes]:
    """The file as UTF-8 without a byte order mark, with a line end after its last line."""
    name = codec(layout.dialect.encoding)
    if name == "utf-8-sig":
        first = True
        for piece in pieces(layout.path):
            yield piece.removeprefix(b"\xef\xbb\xbf") if first else piece
            first = False
    else:
        with open_text(layout.path, layout.dialect.encoding) as stream:
            while text := stream.read(1 << 20):
                yield text.encode()
    yield b"\n\n"


def _wrong_width(layout: Layout, row: int, line: int, found: int) -> InputError:
    expected = len(layout.names)
    return InputError(
        "CEL-F016",
        path=layout.path,
        place=place_of(row),
        row=row,
        line=line,
        expected=expected,
        found=found,
    )


def _bad_quote(layout: Layout, row: int, problem: str) -> InputError:
    key = "CEL-F017.open" if "end of data" in problem else "CEL-F017.followed"
    return InputError(key, path=layout.path, place=place_of(row), row=row)


_DECIMALS: tuple[Narrow, Narrow] = ("decimal", "decimal comma")


class TypeTally:
    """What a column whose type is not declared may be, after the parts of it that were seen.

    Args:
        tried: the types it may have.
        marks: the decimal marks that may be taken for marks between thousands; none, if it is
            known which is decimal.
    """

    def __init__(self, tried: Sequence[Narrow], *, marks: Sequence[Mark] = ()) -> None:
        self._left = tuple(tried)
        self._filled = False
        self._watched = set(marks)
        self._marked: set[Mark] = set()

    def add(self, text: pl.Series) -> None:
        """Look at the next part."""
        fitting: list[Narrow] = []
        for wanted in self._left:
            if _fits(text, wanted, fitting):
                fitting.append(wanted)
        self._left = tuple(fitting)
        self._filled = self._filled or text.null_count() < len(text)
        if "integer" not in fitting:
            self._look_at_marks(text)

    def _look_at_marks(self, text: pl.Series) -> None:
        for mark in self._watched & {mark_of(wanted) for wanted in self._left}:
            if is_certain(text, mark):
                self._marked.add(mark)
                self._watched.discard(mark)
            elif mark not in self._marked and has_mark(text, mark):
                self._marked.add(mark)

    @property
    def narrowest_type(self) -> Narrow | None:
        """The narrowest type that all values have; None is text."""
        return self._left[0] if self._left and self._filled else None

    @property
    def mark(self) -> Mark | None:
        """The decimal mark, if there is one in the column."""
        mark = None if self.narrowest_type is None else mark_of(self.narrowest_type)
        return mark if mark in self._marked else None

    @property
    def doubt(self) -> Mark | None:
        """The decimal mark, if each of them may stand between thousands."""
        return self.mark if self.mark in self._watched else None

    @property
    def is_text(self) -> bool:
        """Whether no further part can change that the column is text."""
        return not self._left


class DecimalTally(TypeTally):
    """The same for a column declared as decimal, which has one decimal mark or the other."""

    def __init__(self) -> None:
        super().__init__(_DECIMALS, marks=(".", ","))
        self._misfits = [0, 0]

    def add(self, text: pl.Series) -> None:
        for place, wanted in enumerate(_DECIMALS):
            self._misfits[place] += misfits(text, wanted)
        self._look_at_marks(text)

    @property
    def narrowest_type(self) -> Narrow:
        """The way of writing that most values have; with a point if it makes no difference."""
        points, commas = self._misfits
        return "decimal comma" if commas < points else "decimal"

    @property
    def doubt(self) -> Mark | None:
        """The decimal mark, if each may stand between thousands and all cells are numbers."""
        return None if min(self._misfits) else super().doubt


def _fits(text: pl.Series, wanted: Narrow, others: Sequence[Narrow]) -> bool:
    """Whether all values are of the type, where they are known to be of these others."""
    if wanted == "decimal comma" and "decimal" in others:
        # Numbers without any mark are written alike, and those with a point have no comma.
        return "integer" in others or not has_mark(text, ".")
    return parse(text, wanted) is not None


def doubt_in(text: pl.Series, found: Narrow | None) -> Mark | None:
    """The decimal mark of a whole column, if each may stand between thousands.

    >>> doubt_in(pl.Series(["1,234"]), "decimal comma"), doubt_in(pl.Series(["1.5"]), "decimal")
    (',', None)
    """
    mark = None if found is None else mark_of(found)
    if mark is None or is_certain(text, mark) or not has_mark(text, mark):
        return None
    return mark


def decimal_mark(parts: Iterable[pl.DataFrame]) -> Mark | None:
    """The decimal mark of a file where it may be either, from the text of all its columns.

    It is a comma if there is a column of numbers with a comma that can only be decimal, open if
    there are only such as may stand between thousands, and else a point.
    """
    tallies: dict[str, TypeTally] = {}
    for part in parts:
        for column in part.iter_columns():
            tally = tallies.setdefault(column.name, TypeTally(["decimal comma"], marks=(",",)))
            if not tally.is_text:
                tally.add(column)
        if all(tally.is_text for tally in tallies.values()):
            break
    marked = [tally for tally in tallies.values() if tally.mark == ","]
    if any(tally.doubt is None for tally in marked):
        return ","
    return None if marked else "."


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


def sniff(
    path: str | Path,
    **known: Unpack[DialectKeywords],
) -> Dialect:
    """How a delimited text file is written, told from its content; what is given is taken.

    The header is a guess when no column tells its first cell from the others: it is then taken to
    be there unless that line holds a number, a date or nothing at all. The decimal mark is that by
    which `read` goes; if the delimiter is a semicolon or a tabulator it takes a look at all rows.
    """
    layout = _layout(path, **known)
    if len(layout.marks) == 1 or not any(b"," in piece for piece in pieces(layout.path)):
        return layout.dialect
    found: Mark | None = "."
    with suppress(InputError):  # a broken row is for `read` to refuse
        found = decimal_mark(text_chunks(layout, ReadOptions()))
    return replace(layout.dialect, decimal=found)


def possible_marks(
    path: str | Path,
    **known: Unpack[DialectKeywords],
) -> tuple[Mark, ...]:
    """The decimal marks that a delimited text file may have, whatever its numbers are.

    They follow from the delimiter alone: where no cell may decide how others are read, as under
    differential privacy, `with_points` reads each of them by itself.
    """
    return _layout(path, **known).marks


def _layout(path: str | Path, **known: Unpack[DialectKeywords]) -> Layout:
    file = Path(path)
    check_readable(file)
    options = ReadOptions(**known)
    ending = (file.with_suffix("") if file.suffix.lower() == ".gz" else file).suffix.lower()
    return lay_out(file, options, delimiter="\t" if ending == ".tsv" else None, naming=False)
