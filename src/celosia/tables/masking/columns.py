"""Columns as arrays and back: numbers with gaps as NaN, categories as codes with gaps as -1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean


def check_columns(frame: pl.DataFrame, columns: Sequence[str], method: str) -> None:
    """Refuse a list of columns that is empty, has one twice, or names one that is not there."""
    if not columns:
        raise InputError("CEL-V001", method=method)
    twice = sorted({name for name in columns if list(columns).count(name) > 1})
    if twice:
        raise InputError(
            "CEL-V002", method=method, twice=", ".join(map(repr, twice)), columns=twice
        )
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise InputError("CEL-V003", hint=did_you_mean(absent[0], frame.columns), column=absent[0])


def cells(frame: pl.DataFrame, column: str) -> pl.Series:
    """A column without its name: Polars reads a name such as '^x$' as a pattern.

    >>> cells(pl.DataFrame({"^x$": [1, 2]}), "^x$").unique().to_list()
    [1, 2]
    """
    return frame.get_column(column).alias("")


def numbers(frame: pl.DataFrame, columns: Sequence[str], method: str) -> NDArray[np.float64]:
    """The columns as a matrix of numbers, one row a record; an empty cell is NaN.

    >>> numbers(pl.DataFrame({"age": [20, None]}), ["age"], "noise").tolist()
    [[20.0], [nan]]
    """
    check_columns(frame, columns, method)
    matrix = np.empty((frame.height, len(columns)), dtype=np.float64, order="F")
    for place, name in enumerate(columns):
        series = cells(frame, name)
        if not series.dtype.is_numeric():
            raise InputError("CEL-V004", dtype=series.dtype, method=method, column=name)
        values = series.cast(pl.Float64).to_numpy()
        if np.isinf(values).any():
            raise InputError("CEL-V005.computing", column=name)
        matrix[:, place] = values
    return matrix


def with_numbers(
    frame: pl.DataFrame,
    columns: Sequence[str],
    matrix: NDArray[np.float64],
    *,
    integer: bool = False,
) -> pl.DataFrame:
    """The table with a matrix in place of columns; NaN becomes an empty cell.

    Decimals are kept, also where a column held whole numbers: to cut them would move the mean.
    With `integer` they are rounded to the nearest whole number.
    """
    masked = []
    for place, name in enumerate(columns):
        series = pl.Series(np.ascontiguousarray(matrix[:, place])).fill_nan(None)
        masked.append((series.round(0).cast(pl.Int64) if integer else series).alias(name))
    return frame.with_columns(masked)


def categories(
    frame: pl.DataFrame, column: str, order: Sequence[str] | None = None
) -> tuple[NDArray[np.int64], pl.Series]:
    """A column as codes, -1 for an empty cell, and its distinct values in order of their codes.

    Args:
        frame: the table.
        column: its name.
        order: the values from least to greatest, for a column whose own order is not meant.

    >>> codes, values = categories(pl.DataFrame({"sex": ["m", "f", None]}), "sex")
    >>> codes.tolist(), values.to_list()
    ([1, 0, -1], ['f', 'm'])
    """
    series = cells(frame, column)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if order is None:
        values = series.drop_nulls().unique().sort()
    else:
        values = pl.Series(list(order)).cast(series.dtype, strict=False)
        unknown = int((~series.drop_nulls().is_in(values.implode())).sum())
        if unknown or values.null_count() or values.n_unique() != len(values):
            raise InputError("CEL-V006", unknown=unknown, column=column)
    numbered = pl.DataFrame({"value": values, "code": np.arange(len(values), dtype=np.int64)})
    joined = series.to_frame("value").join(numbered, on="value", how="left", maintain_order="left")
    found = joined.get_column("code")
    return found.fill_null(-1).to_numpy().astype(np.int64), values


def with_categories(
    frame: pl.DataFrame, column: str, codes: NDArray[np.int64], values: pl.Series
) -> pl.DataFrame:
    """The table with codes in place of a column; -1 becomes an empty cell."""
    places = pl.Series(codes).replace(-1, None)
    return frame.with_columns(values.gather(places).alias(column))
