"""Whatever table the caller has, as a Polars frame."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.frames.columns import check_flat, check_names
from celosia.frames.kinds import check_one_kind


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
        InputError: CEL-F001 ... CEL-F007.

    >>> as_frame({"age": [39, None], "sex": ["Male", "Female"]}).shape
    (2, 2)
    """
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
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
    raise InputError(
        "CEL-F001",
        f"a {type(data).__name__} is not a table.",
        fix="Give a Polars, pandas or Arrow table, or a mapping of column names to values.",
    )


def _from_arrow(data: Any) -> pl.DataFrame:
    import pyarrow as pa  # noqa: PLC0415 - slow to load, and only needed for Arrow data

    if isinstance(data, pa.RecordBatch):
        table = pa.Table.from_batches([data])
    elif isinstance(data, pa.Table):
        table = data
    else:
        table = pa.RecordBatchReader.from_stream(data).read_all()
    check_names(table.schema.names)
    return cast(pl.DataFrame, pl.from_arrow(table))


def _from_pandas(data: Any) -> pl.DataFrame:
    names = check_names(list(data.columns))
    if type(data.index).__name__ != "RangeIndex":
        raise InputError(
            "CEL-F004",
            "the pandas frame has an index of its own.",
            why="An index is a column in disguise, and could hold identifiers.",
            fix="Call reset_index() to make it a column, or reset_index(drop=True) to drop it.",
        )
    for name in names:
        if data[name].dtype == object:
            check_one_kind(name, data[name])
    return pl.DataFrame([_series(name, data[name]) for name in names])


def _from_mapping(data: Mapping[str, Iterable[object]]) -> pl.DataFrame:
    names = check_names(list(data))
    columns = [_series(name, values) for name, values in zip(names, data.values(), strict=True)]
    lengths = {column.name: len(column) for column in columns}
    if len(set(lengths.values())) > 1:
        raise InputError(
            "CEL-F007",
            f"the columns have different lengths: {lengths}.",
            why="Every row needs a cell in every column.",
            fix="Give every column the same number of values.",
            lengths=lengths,
        )
    return pl.DataFrame(columns)


def _series(name: str, values: Any) -> pl.Series:
    """One column; values that bring no type are first checked to be of one kind."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(
            "CEL-F001",
            f"column {name!r}: a {type(values).__name__} is not a sequence of values.",
            fix="Give a list, an array or a series.",
        )
    if str(getattr(values, "dtype", "object")) != "object":
        series = pl.Series(name, values)
    elif hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return pl.Series(name, values)
    else:
        series = _from_objects(name, list(values))
    return series.fill_nan(None) if series.dtype.is_float() else series


def _from_objects(name: str, values: list[object]) -> pl.Series:
    check_one_kind(name, values)
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    floats = any(isinstance(value, float) for value in plain)
    return pl.Series(name, plain, dtype=pl.Float64 if floats else None, strict=not floats)
