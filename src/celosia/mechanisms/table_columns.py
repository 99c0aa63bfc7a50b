"""The columns of a table or a file that a mechanism needs, refused where they do not fit.

What decides how a file is read (whether a column holds numbers or texts) comes from the mechanism
and not from the rows: a guess by the rows would let one of them change how all others count.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from celosia import frames
from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.mechanisms.guarantees import unwrap
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.selection.base import SelectionMechanism
from celosia.mechanisms.sparse.base import SparseMechanism
from celosia.mechanisms.statistics.columns import KeyKind, kind_of
from celosia.mechanisms.statistics.exponential_mean import ExponentialMean
from celosia.mechanisms.statistics.histogram import Histogram
from celosia.mechanisms.statistics.key_histogram import KeyHistogram
from celosia.mechanisms.statistics.most_frequent import MostFrequent
from celosia.mechanisms.statistics.quantiles import Quantile, Quantiles
from celosia.mechanisms.statistics.statistic import BoundedStatistic, Statistic
from celosia.mechanisms.statistics.sums import Count

AnyMechanism = Mechanism[Any, Any]

OF_ROWS = (Statistic, Quantile, Quantiles, ExponentialMean, MostFrequent)
"""Mechanisms whose input is one value of each row: their rows can be counted by unit."""
OF_NUMBERS = (
    BoundedStatistic,
    Quantile,
    Quantiles,
    ExponentialMean,
    SparseMechanism,
    SelectionMechanism,
)
CELLS: dict[KeyKind, frames.ColumnType] = {KeyKind.TEXT: "string", KeyKind.WHOLE: "integer"}


def read_columns(
    path: str | Path,
    mechanism: AnyMechanism,
    *,
    column: str | None = None,
    unit: str | None = None,
    cells: frames.ColumnType | None = None,
    reading: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """The columns of a file that a question needs, of the types that the mechanism takes.

    Args:
        path: of the table.
        mechanism: what will be asked.
        column: all columns are read where it is not given.
        unit: the column that tells whose row it is.
        cells: what the cells of a text file are read as; what the mechanism takes, if not given.
        reading: what `frames.read` is to be told of the file.

    Raises:
        InputError: CEL-F010 to CEL-F024, such as a cell that is not a number.
    """
    file = Path(path)
    types: dict[str, frames.ColumnType] = {}
    frames.check_readable(file)
    if frames.source_format_of(file) in {"csv", "tsv"}:
        if unit is not None:
            types[unit] = "string"
        wanted = _type_of_cells(mechanism) if cells is None else cells
        if column is not None and wanted is not None:
            types[column] = wanted
    names = None if column is None else list(dict.fromkeys(filter(None, (column, unit))))
    return frames.read(file, types=types, columns=names, **(reading or {}))


def _type_of_cells(mechanism: AnyMechanism) -> frames.ColumnType | None:
    """What the cells of a text file are to be read as."""
    core = unwrap(mechanism)
    if _takes_numbers(core):
        return "decimal"
    if isinstance(core, KeyHistogram):
        return "string"
    if isinstance(core, Histogram | MostFrequent):
        kind = kind_of((core.categories or ("",))[0])
        return None if kind is None else CELLS.get(kind)
    return None


def _takes_numbers(core: AnyMechanism) -> bool:
    return isinstance(core, OF_NUMBERS) or (isinstance(core, Histogram) and core.edges is not None)


def select_rows(
    frame: pl.DataFrame, mechanism: AnyMechanism, column: str | None, unit: str | None
) -> tuple[pl.Series, str | None]:
    """The column that is asked about, fit for the mechanism, and its name."""
    core = unwrap(mechanism)
    if column is None:
        if isinstance(core, Count):
            return pl.Series("row", [0], dtype=pl.Int8).new_from_index(0, frame.height), None
        others = [name for name in frame.columns if name != unit]
        if len(others) != 1:
            raise InputError("CEL-M120.not_named")
        column = others[0]
    rows = _select_column(frame, column)
    if isinstance(core, Count) and rows.dtype != pl.Boolean:
        raise _unfit(column, rows, Message("mechanisms.kind.flags"))
    if _takes_numbers(core):
        if not (rows.dtype.is_numeric() or rows.dtype == pl.Boolean):
            raise _unfit(column, rows, Message("mechanisms.kind.numbers"))
        if rows.dtype.is_decimal() or rows.dtype == pl.Boolean:
            rows = rows.cast(pl.Float64)
    missing = rows.null_count() + (int(rows.is_nan().sum()) if rows.dtype.is_float() else 0)
    if missing and isinstance(core, (*OF_ROWS, SparseMechanism, SelectionMechanism)):
        raise InputError(
            "CEL-M123",
            rows=len(rows),
            column=column,
            missing=missing,
        )
    return rows, column


def _select_column(frame: pl.DataFrame, column: str) -> pl.Series:
    if column not in frame.columns:
        raise InputError(
            "CEL-M121",
            hint=did_you_mean(column, frame.columns),
            columns=frame.columns,
            column=column,
        )
    return frame.get_column(column)


def select_units(frame: pl.DataFrame, unit: str) -> pl.Series:
    """The column that tells whose row it is.

    Raises:
        InputError: CEL-M121 there is none; CEL-M124 some rows have no unit.
    """
    units = _select_column(frame, unit)
    missing = units.null_count()
    if missing:
        raise InputError(
            "CEL-M124",
            rows=len(units),
            column=unit,
            missing=missing,
        )
    return units


def _unfit(column: str, rows: pl.Series, wanted: Message) -> InputError:
    return InputError("CEL-M122", held=_cells_of(rows.dtype), wanted=wanted, column=column)


def _cells_of(dtype: pl.DataType) -> Message:
    if dtype == pl.String:
        return Message("mechanisms.kind.texts")
    if dtype == pl.Boolean:
        return Message("mechanisms.kind.truth_values")
    if dtype.is_numeric():
        return Message("mechanisms.kind.numbers")
    return Message("mechanisms.kind.other", type=dtype)
