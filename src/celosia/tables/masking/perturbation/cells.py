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
        raise InputError(
            "CEL-V202",
            f"column '{column}' has {'no values' if values.size == 0 else 'one value only'}, and "
            f"{method} has nothing to work with.",
            why="A column that does not vary cannot be blurred by its own variation.",
            fix="Leave the column out of the step, or suppress it.",
            column=column,
        )


def filled_cells(matrix: Matrix, place: int) -> Rows:
    """The rows whose cell in a column is not empty."""
    return np.flatnonzero(~np.isnan(matrix[:, place]))


def too_large(column: str, method: str) -> InputError:
    """The error for numbers whose squares or sums leave the range of their type."""
    return InputError(
        "CEL-V203",
        f"column '{column}' has numbers too large for {method}.",
        why="Their squares or sums could not be computed.",
        fix="Write the column in a larger unit.",
        column=column,
    )


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
        raise InputError(
            "CEL-V210",
            f"column '{column}' holds {dtype}, and {method} needs to know its order.",
            why="It moves values to neighbours, and the alphabet is seldom the order meant.",
            fix='Give the values from least to greatest: order = ["low", "middle", "high"].',
            column=column,
        )
    if dtype.is_float():
        series = series.fill_nan(None)
    elif dtype.is_decimal():
        series = series.cast(pl.Float64)
    keys = series.to_physical()
    rows = np.flatnonzero(keys.is_not_null().to_numpy())
    found = keys.drop_nulls().to_numpy()
    if found.dtype.kind == "f" and np.isinf(found).any():
        raise InputError(
            "CEL-V005",
            f"column '{column}' has infinite values.",
            why="No mean or distance can be taken with them.",
            fix="Replace them, or leave their cells empty.",
            column=column,
        )
    return rows, found
