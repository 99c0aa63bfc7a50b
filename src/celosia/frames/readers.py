"""Any table as a frame: files, whole or in chunks; Polars, pandas, Arrow; marks for empty cells."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, Unpack, cast, runtime_checkable

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.frames.columnar import (
    NUMBER,
    ZONED_TIME,
    check_one_kind,
    columnar_chunks,
    columnar_names,
    is_missing,
    json_lines_chunks,
    read_columnar,
    read_excel,
    read_json_lines,
)
from celosia.frames.columns import (
    check_flat,
    check_names,
    convert,
    infer,
    narrow,
    pick,
    unfit_columns,
)
from celosia.frames.csv import csv_chunks, read_csv
from celosia.frames.formats import (
    ColumnType,
    Mark,
    ReadKeywords,
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
    options = _options(
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        decimal=decimal,
        types=types,
        missing=missing,
        columns=columns,
        query=query,
        codes=codes,
    )
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
    **keywords: Unpack[ReadKeywords],
) -> Iterator[pl.DataFrame]:
    """The table in a file as frames of `rows` rows, in memory that does not grow with the file.

    The frames put together are what `read` gives, types included: a first pass over text settles
    them; statistical files are read twice, too. Workbooks, portable files of SPSS (.por) and
    databases are read whole. There is always at least one frame.

    Args:
        path: as for `read`.
        rows: of a frame, at the most.
        keywords: those of `read`.
    """
    options = _options(**keywords)
    if (whole(rows) or 0) < 1:
        raise InputError("CEL-F021.rows", rows=rows)
    kind = _checked(path, keywords.get("format"), options)
    return _chunks(path, kind, options, rows)


def _options(**keywords: Unpack[ReadKeywords]) -> ReadOptions:
    columns = keywords.get("columns")
    return ReadOptions(
        delimiter=keywords.get("delimiter"),
        encoding=keywords.get("encoding"),
        header=keywords.get("header"),
        decimal=keywords.get("decimal"),
        types=dict(keywords.get("types") or {}),
        missing=names_in(keywords.get("missing", ("",))),
        columns=None if columns is None else names_in(columns),
        query=keywords.get("query"),
        codes=names_in(keywords.get("codes", ())),
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


MISSING_MARKS = frozenset(
    (
        *("", "-", "--", "---", "?", "??", ".", "..", "#n/a", "n/a", "na", "<na>", "n.a.", "nan"),
        *("nat", "nil", "null", "none", "missing", "unknown", "not available", "not known"),
        *("n/d", "nd", "n.d.", "s/d", "sd", "s.d.", "sin dato", "sin datos", "desconocido"),
        *("desconocida", "no consta", "no disponible"),
    )
)
"""In lower case, in English and Spanish. None of them is a number, a date or a code."""


def stands_for_missing(texts: pl.Series) -> pl.Series:
    """Which texts commonly stand for a missing value; an empty cell is none of them.

    A hint, never a reason to change a cell: `NA` is also the code of Namibia.

    >>> stands_for_missing(pl.Series(["NA", " n/a ", "31", None])).to_list()
    [True, True, False, False]
    """
    plain = texts.str.strip_chars().str.to_lowercase()
    return plain.is_in(list(MISSING_MARKS)).fill_null(value=False)


def without_marks(column: pl.Series) -> pl.Series:
    """A column of text with empty cells in place of such texts, in the type that the rest has.

    Columns without such texts, and columns of other types, stay as they are.

    >>> without_marks(pl.Series(["31", "NA", "40"])).to_list()
    [31, None, 40]
    """
    if column.dtype != pl.String or not (marks := stands_for_missing(column)).any():
        return column
    return infer(column.set(marks, None), narrow((".",)))[1]


_T = TypeVar("_T")

_FAILURES = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    ArithmeticError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What Polars, Arrow, pandas and NumPy raise for values they cannot take, often quoting them."""


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that can hand over its rows by the Arrow C interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The capsule of the stream."""


TableLike: TypeAlias = pl.DataFrame | pl.LazyFrame | ArrowStream | Mapping[str, Iterable[object]]
"""What `as_frame` takes; pandas frames and Arrow tables are Arrow streams as well."""


def as_frame(data: TableLike) -> pl.DataFrame:
    """The same table as a Polars frame; the input stays as it was.

    Takes Polars frames, pandas frames, Arrow tables and batches, anything with an Arrow stream, and
    mappings of column names to values. NaN counts as missing where it comes from pandas, NumPy or
    lists, which have no other mark for it.

    Raises:
        InputError: CEL-F001 ... CEL-F008.

    >>> as_frame({"age": [39, None], "sex": ["Male", "Female"]}).shape
    (2, 2)
    """
    if isinstance(data, pl.LazyFrame):
        data = _collected(data)
    if isinstance(data, pl.DataFrame):
        check_names(data.columns)
        return check_flat(data)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return check_flat(_from_pandas(data))
    if isinstance(data, Mapping):
        return check_flat(_from_mapping(data))
    if isinstance(data, ArrowStream):
        return check_flat(_from_arrow(data))
    raise InputError("CEL-F001.table", type=type(data).__name__)


def _attempt(make: Callable[[], _T]) -> _T | None:
    """What `make` gives, or None; an error of ours is then raised with no trace of theirs."""
    with suppress(*_FAILURES):
        return make()
    return None


def _collected(data: pl.LazyFrame) -> pl.DataFrame:
    frame = _attempt(data.collect)
    if frame is None:
        raise InputError("CEL-F008.lazy")
    return frame


def _from_arrow(data: Any) -> pl.DataFrame:
    import pyarrow as pa  # slow to load, and only needed for Arrow data

    if isinstance(data, pa.RecordBatch):
        table = pa.Table.from_batches([data])
    elif isinstance(data, pa.Table):
        table = data
    else:
        table = _attempt(lambda: pa.RecordBatchReader.from_stream(data).read_all())
    if table is None:
        raise InputError("CEL-F008.stream")
    names = check_names(table.schema.names)
    frame = _attempt(lambda: pl.from_arrow(table))
    if frame is None:
        raise unfit_columns([name for name in names if _is_unfit(table.select([name]))])
    return cast(pl.DataFrame, frame)


def _is_unfit(table: Any) -> bool:
    return _attempt(lambda: pl.from_arrow(table)) is None


def _from_pandas(data: Any) -> pl.DataFrame:
    names = check_names(list(data.columns))
    if type(data.index).__name__ != "RangeIndex":
        raise InputError("CEL-F004")
    return pl.DataFrame([_series(name, data[name]) for name in names])


def _from_mapping(data: Mapping[str, Iterable[object]]) -> pl.DataFrame:
    names = check_names(list(data))
    columns = [_series(name, values) for name, values in zip(names, data.values(), strict=True)]
    lengths = {column.name: len(column) for column in columns}
    if len(set(lengths.values())) > 1:
        raise InputError("CEL-F007", lengths=lengths)
    return pl.DataFrame(columns)


def _series(name: str, values: Any) -> pl.Series:
    """One column; values that bring no type are first checked to be of one kind."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError("CEL-F001.column", column=name, type=type(values).__name__)
    dtype = getattr(values, "dtype", None)
    is_arrow = hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__")
    if str(dtype) == "object" or (dtype is None and not is_arrow):
        return _from_objects(name, list(values))
    series = _attempt(lambda: pl.Series(name, values))
    if series is None:
        raise unfit_columns([name])
    # Arrow tells NaN from missing; pandas and NumPy, which have a dtype, do not.
    return series.fill_nan(None) if dtype is not None and series.dtype.is_float() else series


def _from_objects(name: str, values: list[object]) -> pl.Series:
    kind = check_one_kind(name, values)
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    present = [None if is_missing(value) else value for value in plain]
    if any(isinstance(value, Decimal) for value in present):
        # NaN says nothing about the type here, and whole numbers are decimals as well.
        plain = present
        if not any(isinstance(value, float) for value in present):
            present = [Decimal(value) if isinstance(value, int) else value for value in present]
    floats = kind in (NUMBER, None) and any(isinstance(value, float) for value in plain)
    dtype = pl.Float64 if floats else None
    series = _attempt(lambda: pl.Series(name, present, dtype=dtype, strict=not floats))
    # Polars drops numbers that do not fit, and the zone of a time without a date.
    lost = series is not None and series.null_count() != sum(value is None for value in present)
    if series is None or lost or kind == ZONED_TIME:
        raise unfit_columns([name])
    return series
