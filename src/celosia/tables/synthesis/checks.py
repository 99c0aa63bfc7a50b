"""What a step that makes new rows must be given: the whole table, and a number of rows."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from celosia.core.errors import InputError
from celosia.core.methods import Parameter
from celosia.tables.masking.method import check_columns

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


NEW_ROWS = Parameter(least=1, most=MOST_ROWS)
"""How many rows are made; None stands for as many as are given, or for a noisy number."""
