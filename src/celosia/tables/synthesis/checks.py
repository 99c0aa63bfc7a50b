"""What a step that makes new rows must be given: the whole table, and a number of rows."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.tables.masking.columns import check_columns

MOST_ROWS = 2**31
"""Of a synthetic table: the places of its rows fit into 32 bits."""

NO_PROMISE = "masking.gap.synthetic"
"""The key of what every method of synthesis without noise leaves open."""


def check_whole_table(frame: pl.DataFrame, columns: Sequence[str], method: str) -> None:
    """Refuse a step that makes new rows and leaves out a column of the table.

    A new row comes from no row, so what the other columns hold beside it would be a stranger's.
    """
    check_columns(frame, columns, method)
    left = [name for name in frame.columns if name not in columns]
    if left:
        raise InputError("CEL-Y001", method=method, left=", ".join(map(repr, left)), columns=left)


def check_filled(frame: pl.DataFrame, method: str) -> None:
    """Refuse a table without rows, from which nothing can be learnt."""
    if not frame.height:
        raise InputError("CEL-Y003", method=method)


def check_rows(rows: object) -> None:
    """Refuse a number of rows that is none; None stands for as many as are given."""
    number = whole(rows)
    if rows is not None and (number is None or not 1 <= number <= MOST_ROWS):
        raise InputError("CEL-Y002", most_rows=MOST_ROWS, rows=rows)


def check_parameter(value: object, *, name: str, least: int, most: int) -> int:
    """A whole number in a range, as parameters of models are."""
    number = whole(value)
    if number is None or not least <= number <= most:
        raise InputError("CEL-Y005", name=name, least=least, most=most, value=value)
    return number
