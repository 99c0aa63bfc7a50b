"""Files as frames, whole or in chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.frames.columnar import (
    columnar_chunks,
    columnar_names,
    json_lines_chunks,
    read_columnar,
    read_excel,
    read_json_lines,
)
from celosia.frames.columns import convert, pick
from celosia.frames.csv import csv_chunks, read_csv
from celosia.frames.formats import (
    ColumnType,
    Mark,
    ReadOptions,
    SourceFormat,
    check_readable,
    is_address,
    names_in,
    source_format_of,
)


def read(
    path: str | Path,
    *,
    format: SourceFormat | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: Mark | None = None,
    types: Mapping[str, ColumnType] | None = None,
    missing: Iterable[str] = ("",),
    columns: Iterable[str] | None = None,
    query: str | None = None,
    codes: Iterable[str] = (),
) -> pl.DataFrame:
    """The table in a file, with nothing dropped, padded or guessed in silence.

    Delimited text is first read as text; then each column gets the narrowest type that all its
    values have: integer (no leading zeros), decimal, date (yyyy-mm-dd), else text. Cells keep their
    blanks. Excel sheets and JSON lines must hold one kind of value in each column.

    In a file delimited by semicolons or tabulators a column may also have decimal commas, and then
    points between thousands: `3,14`, `1.234,5`. Where each comma of a column may stand between
    thousands as well (`1,234`) the column is read as text, unless another column has a comma that
    can only be decimal; if one has, columns with points such as `1.234` alone are read as text.
    Columns declared as text, whole numbers or dates have no say in it. Give `decimal` to say what
    holds for all columns.

    Args:
        path: a file ending in .csv, .tsv, .txt (also with .gz), .parquet, .arrow, .feather, .ipc,
            .jsonl, .ndjson or .xlsx; of SPSS (.sav, .zsav, .por), Stata (.dta) or SAS (.sas7bdat,
            .xpt); of SQLite (.sqlite, .sqlite3, .db); or the address of a database:
            `postgresql://...` for SQLAlchemy, `mysql://...` or `mariadb://...` for PyMySQL,
            `adbc+DRIVER:URI` for a driver of ADBC.
        format: the format, where the name does not say it.
        delimiter: of delimited text; found out if left open.
        encoding: of delimited text; found out if left open.
        header: whether the first line holds names; found out if left open. Without a header the
            columns are called column_1, column_2 ...
        decimal: what stands before the decimals in delimited text, a point or a comma; found out
            for each column if left open.
        types: what certain columns must hold.
        missing: cells of delimited text that mean "no value", quoted or not.
        columns: the columns to read, in this order.
        query: the table of a database, or a SELECT; a SQLite file with one table needs none.
        codes: columns of SPSS, Stata or SAS whose codes are kept instead of their labels; "*" for
            all.

    Raises:
        InputError: CEL-F002 ... CEL-F030 and CEL-F060, with column and row (counted from 1 after
            the header).
    """
    options = _options(delimiter, encoding, header, decimal, types, missing, columns, query, codes)
    kind = _checked(path, format, options)
    file = Path(path)
    if kind == "csv" or kind == "tsv":  # noqa: PLR1714 - narrows the type
        return read_csv(file, kind, options)
    if kind == "parquet" or kind == "arrow":  # noqa: PLR1714 - narrows the type
        options.check_names(columnar_names(file, kind))
        return _finished(read_columnar(file, kind, options.columns), options)
    return _finished(_known(_whole(path, kind, options), options), options)


def read_chunks(
    path: str | Path,
    *,
    rows: int = 250_000,
    format: SourceFormat | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: Mark | None = None,
    types: Mapping[str, ColumnType] | None = None,
    missing: Iterable[str] = ("",),
    columns: Iterable[str] | None = None,
    query: str | None = None,
    codes: Iterable[str] = (),
) -> Iterator[pl.DataFrame]:
    """The table in a file as frames of `rows` rows, in memory that does not grow with the file.

    The frames put together are what `read` gives, types included: a first pass over text settles
    them; statistical files are read twice, too. Workbooks, portable files of SPSS (.por) and
    databases are read whole. There is always at least one frame.
    """
    options = _options(delimiter, encoding, header, decimal, types, missing, columns, query, codes)
    if (whole(rows) or 0) < 1:
        raise InputError("CEL-F021.rows", rows=rows)
    kind = _checked(path, format, options)
    return _chunks(path, kind, options, rows)


def _options(  # noqa: PLR0917 - the keywords of `read`, in their order
    delimiter: str | None,
    encoding: str | None,
    header: bool | None,
    decimal: Mark | None,
    types: Mapping[str, ColumnType] | None,
    missing: Iterable[str],
    columns: Iterable[str] | None,
    query: str | None,
    codes: Iterable[str],
) -> ReadOptions:
    return ReadOptions(
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        decimal=decimal,
        types=dict(types or {}),
        missing=names_in(missing),
        columns=None if columns is None else names_in(columns),
        query=query,
        codes=names_in(codes),
    )


def _whole(source: str | Path, kind: SourceFormat, options: ReadOptions) -> pl.DataFrame:
    """The table of a source that is read whole."""
    file = Path(source)
    if kind == "jsonl":
        return read_json_lines(file)
    if kind == "excel":
        return read_excel(file, header=options.header)
    if kind == "statistical":
        from celosia.frames.statistical import read_statistical

        return read_statistical(file, options)
    from celosia.frames.databases import read_address, read_sqlite

    return (
        read_sqlite(file, options.query)
        if kind == "sqlite"
        else read_address(str(source), options.query)
    )


def _chunks(
    source: str | Path, kind: SourceFormat, options: ReadOptions, rows: int
) -> Iterator[pl.DataFrame]:
    file = Path(source)
    if kind == "csv" or kind == "tsv":  # noqa: PLR1714 - narrows the type
        yield from _sized(csv_chunks(file, kind, options), rows)
        return
    if kind == "jsonl":
        parts = _sized((_known(part, options) for part in json_lines_chunks(file)), rows)
    elif kind == "parquet" or kind == "arrow":  # noqa: PLR1714 - narrows the type
        options.check_names(columnar_names(file, kind))
        parts = columnar_chunks(file, kind, options.columns, rows=rows)
    elif kind == "statistical":
        from celosia.frames.statistical import statistical_chunks

        parts = statistical_chunks(file, options, rows)
    else:
        parts = _sized(iter([_known(_whole(source, kind, options), options)]), rows)
    before = 0
    for part in parts:
        yield _finished(part, options, rows_before=before)
        before += part.height


def _checked(source: str | Path, format: SourceFormat | None, options: ReadOptions) -> SourceFormat:
    if not is_address(source):
        check_readable(Path(source))
    kind = source_format_of(source, format)
    options.check_format(kind)
    return kind


def _known(frame: pl.DataFrame, options: ReadOptions) -> pl.DataFrame:
    """The same frame, once it is sure that it has every column the options speak of."""
    options.check_names(frame.columns)
    return frame


def _finished(frame: pl.DataFrame, options: ReadOptions, *, rows_before: int = 0) -> pl.DataFrame:
    """The columns asked for, with the types declared."""
    chosen = frame if options.columns is None else pick(frame, options.columns)
    return chosen.with_columns(
        convert(chosen.get_column(name), wanted, rows_before=rows_before)
        for name, wanted in options.types.items()
        if name in chosen.columns
    )


def _sized(parts: Iterator[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """The same rows cut into frames of equal height, the last one shorter."""
    held: pl.DataFrame | None = None
    for part in parts:
        held = part if held is None else pl.concat([held, part])
        while held.height > rows:
            yield held.head(rows)
            held = held.slice(rows)
    if held is not None:
        yield held
