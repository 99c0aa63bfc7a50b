"""Columns of any type as numbers that models work with, and numbers as columns again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.tables.masking.method import categories

LARGEST = 2**53
"""Whole numbers beyond it are not exact as floats; a column that has them holds identifiers."""


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A column as floats: its numbers, or the places of its values among `labels`.

    Dates and times are numbers (of days or ticks) as well. An empty cell is NaN.
    """

    name: str
    dtype: pl.DataType
    values: NDArray[np.float64]
    labels: pl.Series | None
    """The distinct values of a column of categories; None for numbers."""
    nominal: bool = False
    """Whether the order of the labels means nothing."""

    @property
    def present(self) -> NDArray[np.float64]:
        """The cells that are filled."""
        return self.values[~np.isnan(self.values)]

    def series(self, values: NDArray[np.float64]) -> pl.Series:
        """Model values as cells of the type of the column; never beyond its least and greatest."""
        found = self.present
        if not found.size:
            return pl.Series(self.name, [None] * values.size, dtype=self.dtype)
        filled = ~np.isnan(values)
        inside = np.clip(np.where(filled, values, found[0]), found.min(), found.max())
        empty = pl.Series(~filled)
        if self.dtype.is_float():
            cells = pl.Series(self.name, inside)
            return cells.set(empty, None).cast(self.dtype)
        places = pl.Series(self.name, np.rint(inside).astype(np.int64)).set(empty, None)
        if self.labels is not None:
            return self.labels.gather(places).alias(self.name)
        return places.cast(self.dtype)


def variable(frame: pl.DataFrame, name: str, order: Sequence[str] | None = None) -> Variable:
    """A column as a variable.

    Args:
        frame: the table.
        name: of the column.
        order: its values from least to greatest, where their own order is not meant.

    Raises:
        InputError: CEL-Y004 a column that no model fits, such as one of lists; CEL-V005 infinite
            values; CEL-V006 an order that lacks values.
    """
    series = frame[name]
    dtype = series.dtype
    if dtype.is_nested() or dtype in {pl.Object, pl.Binary, pl.Null}:
        raise InputError("CEL-Y004.type", dtype=dtype, column=name)
    if order is None and (dtype.is_numeric() or dtype.is_temporal()):
        numbers = series.to_physical() if dtype.is_temporal() else series
        values = numbers.cast(pl.Float64).to_numpy().copy()
        if np.isinf(values).any():
            raise InputError("CEL-V005.synthesis", column=name)
        if dtype.is_integer() and np.nanmax(np.abs(values), initial=0) > LARGEST:
            raise InputError("CEL-Y004.large", column=name)
        return Variable(name, dtype, values, None)
    codes, labels = categories(frame, name, order)
    values = np.where(codes < 0, np.nan, codes)
    nominal = order is None and not (dtype == pl.Boolean or isinstance(dtype, pl.Enum))
    return Variable(name, dtype, values, labels, nominal)


def variables(
    frame: pl.DataFrame, columns: Sequence[str], order: Mapping[str, Sequence[str]] | None = None
) -> list[Variable]:
    """Several columns as variables, in the order of their names in `columns`."""
    orders = order or {}
    return [variable(frame, name, orders.get(name)) for name in columns]
