"""Rows of attributes for the writers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import polars as pl

_PLAIN = (pl.Int64, pl.Float64, pl.Boolean, pl.String)


def records(frame: pl.DataFrame | None, count: int) -> Iterator[tuple[object, ...]]:
    """One tuple a row, of numbers, truth values and texts; empty ones where there is no table."""
    if frame is None:
        return repeat((), count)
    return plain(frame).iter_rows()


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with whole numbers, decimals, truth values and texts only."""

    def fitted(column: pl.Series) -> pl.Series:
        if column.dtype in _PLAIN:
            return column
        if column.dtype.is_integer() and column.dtype != pl.UInt64:
            return column.cast(pl.Int64)
        return column.cast(pl.Float64 if column.dtype.is_numeric() else pl.String)

    return frame.select(fitted(column) for column in frame.iter_columns())
