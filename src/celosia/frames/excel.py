"""The first sheet of an Excel workbook as a frame, and back."""

from __future__ import annotations

import datetime as dt
import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.work_folders import WorkFolder
from celosia.frames.columns import check_names, mixed_column
from celosia.frames.formats import empty, unreadable

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
        names, skip = check_names(first.row(0), path=path), 1
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
