"""Any table as a frame: Polars, pandas, Arrow; and the marks that stand for missing values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any, Protocol, TypeAlias, TypeVar, cast, runtime_checkable

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.frames.columnar import NUMBER, ZONED_TIME, check_one_kind, is_missing
from celosia.frames.columns import check_flat, check_names, infer, narrow, unfit_columns

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
