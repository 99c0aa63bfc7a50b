"""Other files as frames: Parquet, Arrow, Excel and JSON lines."""

from __future__ import annotations

import datetime as dt
import io
import json
import math
import numbers
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, cast

import polars as pl
import polars.selectors as cs

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.resources import WorkFolder
from celosia.frames.columns import (
    check_flat,
    check_names,
    distinct_names,
    mixed_column,
    nested_columns,
)
from celosia.frames.dialect import open_text, pieces, place_of
from celosia.frames.formats import empty, unreadable

Columnar = Literal["parquet", "arrow"]


def read_columnar(path: Path, format: Columnar, columns: tuple[str, ...] | None) -> pl.DataFrame:
    """The whole file, or some of its columns, as one frame."""
    return next(columnar_chunks(path, format, columns, rows=None))


def columnar_names(path: Path, format: Columnar) -> list[str]:
    """The names of the columns, read without their data."""
    names = None
    with suppress(pl.exceptions.PolarsError, OSError):
        names = _scan(path, format).collect_schema().names()
    if names is None:
        raise _damaged(path, format)
    return check_names(names, path=path)


def columnar_chunks(
    path: Path, format: Columnar, columns: tuple[str, ...] | None, *, rows: int | None
) -> Iterator[pl.DataFrame]:
    """Slices of `rows` rows; a file without rows gives one empty frame."""
    start, height = 0, 0
    while start == 0 or (rows is not None and height == rows):
        frame = None
        with suppress(pl.exceptions.PolarsError, OSError):
            lazy = _scan(path, format)
            wanted = lazy if columns is None else lazy.select(cs.by_name(columns))
            frame = wanted.slice(start, rows).collect()
        if frame is None:
            raise _damaged(path, format)
        height = frame.height
        if height or start == 0:
            yield check_flat(frame)
        start += height or 1


def _scan(path: Path, format: Columnar) -> pl.LazyFrame:
    # A name such as [ab].parquet is a name, not a pattern for other files.
    if format == "parquet":
        return pl.scan_parquet(path, glob=False)
    return pl.scan_ipc(path, glob=False)


def _damaged(path: Path, format: Columnar) -> Exception:
    return unreadable("CEL-F014.columnar", path, format=format)


NESTED = "a list or record"
NUMBER = "a number"
ZONED_TIME = "a time and zone"
_MESSAGES = {
    "text": "frames.kind.string",
    "true or false": "frames.kind.boolean",
    NUMBER: "frames.kind.number",
    "a date with time": "frames.kind.moment",
    "a date with time and zone": "frames.kind.zoned_moment",
    "a date": "frames.kind.date",
    "a time": "frames.kind.time",
    ZONED_TIME: "frames.kind.zoned_time",
    "a duration": "frames.kind.duration",
}
"""The kinds of values, and how a message calls each."""


def kind_of(value: object) -> str | None:
    """The kind of one value in words; None if it is missing.

    >>> kind_of(3), kind_of("x"), kind_of(True), kind_of(float("nan")), kind_of([1])
    ('a number', 'text', 'true or false', None, 'a list or record')
    """
    if is_missing(value):
        return None
    # Order matters: a boolean is an integer in Python, and a datetime a date.
    named: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (str, "text"),
        (bool, "true or false"),
        ((numbers.Real, Decimal), NUMBER),
        (dt.datetime, "a date with time"),
        (dt.date, "a date"),
        (dt.time, "a time"),
        (dt.timedelta, "a duration"),
    )
    if type(value).__name__ in {"bool", "bool_"}:
        return "true or false"
    kind = next((name for kinds, name in named if isinstance(value, kinds)), NESTED)
    zoned = isinstance(value, dt.datetime | dt.time) and value.tzinfo is not None
    return f"{kind} and zone" if zoned else kind


def check_one_kind(column: str, values: Iterable[object]) -> str | None:
    """The kind of a column; refused if it changes, naming the row where it does."""
    first: str | None = None
    for row, value in enumerate(values, 1):
        kind = kind_of(value)
        if kind is None:
            continue
        if kind == NESTED:
            raise nested_columns([column])
        if first is not None and kind != first:
            raise _changed_kind(column, row, first, kind)
        first = kind
    return first


class KindWatch:
    """Remembers the kind of each column, row after row."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}

    def fault(self, row: int, cells: Iterable[tuple[str, object]]) -> InputError | None:
        """What is wrong with the kinds of a row, if anything."""
        for column, value in cells:
            kind = kind_of(value)
            if kind is None:
                continue
            if kind == NESTED:
                return nested_columns([column])
            before = self._kinds.setdefault(column, kind)
            if before != kind:
                return _changed_kind(column, row, before, kind)
        return None


def _changed_kind(column: str, row: int, before: str, after: str) -> InputError:
    return mixed_column(column, row, Message(_MESSAGES[before]), Message(_MESSAGES[after]))


def is_missing(value: object) -> bool:
    """Whether a value stands for none: None, NaN of any sort, or a mark of pandas."""
    # pandas has missing marks of its own (NA, NaT), told by name so as not to import pandas.
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, Decimal) and value.is_nan())
        or type(value).__name__ in {"NAType", "NaTType"}
    )


_ROWS, _COLUMNS, _LETTERS = 1_048_576, 16_384, 32_767
"""The most that one sheet and one cell can hold, by Microsoft's specification."""

_EXACT = 2**53
"""Excel keeps every number as a float; larger whole numbers lose digits."""


def read_excel(path: Path, *, header: bool | None) -> pl.DataFrame:
    """The first sheet; its first line holds the names unless `header` is False."""
    book = _open(path)
    first = _load(book, dtypes="string", n_rows=1)
    if first is None or first.is_empty():
        raise empty(path)
    if header is False:
        names, skip = [f"column_{place}" for place in range(1, first.width + 1)], 0
    else:
        names, skip = distinct_names(first.row(0), path=path), 1
    frame = _load(book, skip_rows=skip, dtype_coercion="strict", schema_sample_rows=None)
    if frame is None:
        _refuse_mixed(book, names, skip)
        frame = _load(book, skip_rows=skip, schema_sample_rows=None)
    if frame is None:
        raise unreadable("CEL-F014.sheet", path)
    frame.columns = names
    return frame.with_columns(_plain(column) for column in frame.iter_columns())


def write_excel(frame: pl.DataFrame, path: Path) -> None:
    """One sheet with the names in its first line; refused if Excel cannot hold the data."""
    import xlsxwriter  # slow to load, and few callers write workbooks

    _refuse_oversized(frame)
    # Text stays text: a cell that starts with = must not become a formula.
    settings: dict[str, Any] = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "nan_inf_to_errors": True,
    }
    packed = io.BytesIO()
    # A folder of its own: xlsxwriter leaves its temporary files behind when it fails.
    with WorkFolder() as folder:
        try:
            with xlsxwriter.Workbook(packed, settings | {"tmpdir": folder}) as book:
                _fill(book, frame)
        except xlsxwriter.exceptions.FileCreateError as error:
            raise error.args[0] from None  # the OSError that it wraps, as other formats raise
    path.write_bytes(packed.getbuffer())


def _fill(book: Any, frame: pl.DataFrame) -> None:
    sheet = book.add_worksheet()
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    sheet.write_row(0, 0, frame.columns)
    for row, values in enumerate(frame.iter_rows(), 1):
        for column, value in enumerate(values):
            if isinstance(value, dt.date):
                style = moment if isinstance(value, dt.datetime) else day
                sheet.write_datetime(row, column, value, style)
            elif value is not None:
                sheet.write(row, column, value)


def _open(path: Path) -> Any:
    import fastexcel  # slow to load, and few callers read workbooks

    book = None
    with suppress(fastexcel.FastExcelError, OSError):
        book = fastexcel.read_excel(str(path))
    if book is None:
        raise unreadable("CEL-F014.workbook", path)
    return book


def _load(book: Any, **settings: Any) -> pl.DataFrame | None:
    """The first sheet without regard to its header; None if the settings do not fit the cells."""
    import fastexcel

    try:
        return pl.DataFrame(book.load_sheet(0, header_row=None, **settings))
    except fastexcel.FastExcelError:
        return None


def _refuse_mixed(book: Any, names: list[str], skip: int) -> None:
    """Find by halving the first row where a column stops being of one type."""
    for place, name in enumerate(names):

        def uniform(rows: int | None, place: int = place) -> bool:
            settings: dict[str, Any] = {"dtype_coercion": "strict", "schema_sample_rows": rows}
            return (
                _load(book, skip_rows=skip, use_columns=[place], n_rows=rows, **settings)
                is not None
            )

        if uniform(None):
            continue
        whole = _load(book, skip_rows=skip, use_columns=[place])
        low, high = 1, whole.height if whole is not None else 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if uniform(middle) else (low, middle)
        raise mixed_column(name, high, Message("frames.kind.one"), Message("frames.kind.another"))


def _plain(column: pl.Series) -> pl.Series:
    """Whole numbers as integers and midnights as days: Excel has one type for each pair."""
    values = column.drop_nulls()
    if column.dtype == pl.Float64 and len(values):
        whole = (values == values.floor()) & (values.abs() <= _EXACT)
        return column.cast(pl.Int64) if whole.all() else column
    if isinstance(column.dtype, pl.Datetime) and len(values):
        return column.cast(pl.Date) if (values.dt.time() == dt.time()).all() else column
    return column


def _refuse_oversized(frame: pl.DataFrame) -> None:
    problems = []
    if frame.height >= _ROWS or frame.width > _COLUMNS:
        problems.append(Message("frames.excel.table", rows=frame.height, columns=frame.width))
    for column in frame.iter_columns():
        if column.dtype == pl.String and (column.str.len_chars() > _LETTERS).any():
            problems.append(Message("frames.excel.texts", column=column.name))
        elif not _is_exact(column):
            problems.append(Message("frames.excel.numbers", column=column.name))
    if problems:
        raise InputError("CEL-F024", problems=problems)


def _is_exact(column: pl.Series) -> bool:
    """Whether a column of integers or decimals comes through a float with all its digits."""
    if column.dtype.is_integer():
        bounds = [bound for bound in (column.min(), column.max()) if isinstance(bound, int)]
        return all(abs(bound) <= _EXACT for bound in bounds)
    if column.dtype.is_decimal():
        back = column.cast(pl.Float64).cast(column.dtype, strict=False)
        return back.eq_missing(column).all()
    return True


def read_json_lines(path: Path) -> pl.DataFrame:
    """The whole file as one frame."""
    return pl.concat(json_lines_chunks(path))


def json_lines_chunks(path: Path) -> Iterator[pl.DataFrame]:
    """The file as frames of a few megabytes each; a first pass settles names and types."""
    schema = None
    for block in _blocks(path):
        if not block.isascii() and not _is_utf8(block):  # Arrow does not look
            raise _find_fault(path)
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


def _is_utf8(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def _find_fault(path: Path) -> InputError:
    """The first line that is no record, or whose values are not of the kind of those before."""
    watch = KindWatch()
    row = 0
    with open_text(path, "utf-8", errors="surrogateescape") as lines:
        for line in lines:
            if not line.strip():
                continue
            row += 1
            if any("\udc80" <= letter <= "\udcff" for letter in line):
                place = Message("frames.first_at", place=place_of(row))
                return InputError(
                    "CEL-F018.lines", path=str(path), encoding="UTF-8", place=place, row=row
                )
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
