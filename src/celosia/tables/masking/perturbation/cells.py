"""What perturbing methods ask of a column: more than one value, and where its cells are filled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.tables.masking.columns import categories, cells

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]


def check_varied(values: NDArray[np.generic], column: str, method: str) -> None:
    """Refuse a column whose filled cells hold fewer than two different values."""
    if values.size == 0 or values.min() == values.max():
        key = "CEL-V202.empty" if values.size == 0 else "CEL-V202.one_value"
        raise InputError(key, method=method, column=column)


def filled_cells(matrix: Matrix, place: int) -> Rows:
    """The rows whose cell in a column is not empty."""
    return np.flatnonzero(~np.isnan(matrix[:, place]))


def too_large(column: str, method: str) -> InputError:
    """The error for numbers whose squares or sums leave the range of their type."""
    return InputError("CEL-V203.too_large", method=method, column=column)


def ordered_cells(
    frame: pl.DataFrame, column: str, order: Sequence[str], method: str
) -> tuple[Rows, NDArray[np.generic]]:
    """The rows of the filled cells of a column, and numbers that sort as their values do.

    Numbers, dates, times and truth values have an order of their own, and so have enumerations;
    other texts need `order`, from least to greatest.

    Raises:
        InputError: CEL-V210 texts without an order, CEL-V005 infinite numbers, CEL-V006 an order
            that does not fit.

    >>> frame = pl.DataFrame({"size": ["L", None, "S"]})
    >>> rows, keys = ordered_cells(frame, "size", ("S", "M", "L"), "rank-swap")
    >>> rows.tolist(), keys.tolist()
    ([0, 2], [2, 0])
    """
    series = cells(frame, column)
    dtype = series.dtype
    if order:
        codes = categories(frame, column, order)[0]
        rows = np.flatnonzero(codes >= 0)
        return rows, codes[rows]
    if not (dtype.is_numeric() or dtype.is_temporal() or dtype in (pl.Boolean, pl.Enum)):
        raise InputError("CEL-V210", dtype=dtype, method=method, column=column)
    if dtype.is_float():
        series = series.fill_nan(None)
    elif dtype.is_decimal():
        series = series.cast(pl.Float64)
    keys = series.to_physical()
    rows = np.flatnonzero(keys.is_not_null().to_numpy())
    found = keys.drop_nulls().to_numpy()
    if found.dtype.kind == "f" and np.isinf(found).any():
        raise InputError("CEL-V005.computing", column=column)
    return rows, found
