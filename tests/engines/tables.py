"""Tables for tests of engines, and what they must become."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from math import inf, nan
from typing import Any

import polars as pl

ODD = [
    "",
    "*x",
    "it's",
    'say "hi"',
    "NULL",
    "null",
    "a\\b",
    "\\N",
    "tab\tend",
    "line\nend",
    "ñ 🦓 ",
]

CELLS: dict[str, tuple[pl.DataType, list[Any]]] = {
    "whole": (pl.Int64(), [2**62, -(2**62), 0, None]),
    "close": (pl.Int64(), [17, 90, -4, None]),
    "small": (pl.Int16(), [1, -1, 32767, None]),
    "float": (pl.Float64(), [0.1, nan, inf, -inf, 1e300, 5.0, None]),
    "zero": (pl.Float64(), [-0.0, 2.5, None]),
    "single": (pl.Float32(), [0.1, 2.5, None]),
    "boolean": (pl.Boolean(), [True, False, None]),
    "date": (pl.Date(), [dt.date(2026, 1, 1), dt.date(1900, 2, 28), None]),
    "moment": (
        pl.Datetime("us"),
        [dt.datetime(2026, 1, 1, 1, 2, 3, 456), dt.datetime(1900, 1, 1), None],
    ),
    "zoned": (
        pl.Datetime("us", "UTC"),
        [dt.datetime(2026, 7, 1, tzinfo=dt.UTC), dt.datetime(1960, 1, 1, tzinfo=dt.UTC), None],
    ),
    "decimal": (pl.Decimal(12, 2), [Decimal("1.50"), Decimal("-0.01"), Decimal("9999"), None]),
    "text": (pl.String(), [*ODD, None]),
    "accents": (pl.String(), ["a", "A", "á", "a ", " a", "Å"]),
}
"""A column of each type, with the values that get lost most easily."""


def column(name: str, *, copies: int = 3) -> pl.Series:
    """Each value several times, so that the column needs no generalisation."""
    kind, values = CELLS[name]
    return pl.Series("cell", values * copies, dtype=kind)


def table_of(name: str) -> pl.DataFrame:
    """A quasi-identifier of some type, and the same as a column that is not recoded."""
    cells = column(name)
    return pl.DataFrame(
        [
            cells,
            cells.alias("other"),
            pl.Series("row", range(len(cells)), dtype=pl.Int64),
            pl.Series("group", ["g"] * len(cells)),
        ]
    )


def as_rows(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    """All rows in an order of their own, with cells that can be compared; types count, too."""
    return sorted(tuple(map(repr, row)) for row in frame.rows())


def same_rows(left: pl.DataFrame, right: pl.DataFrame, *, but: Iterable[str] = ()) -> bool:
    """Whether two tables have the same columns, types and rows, in whatever order."""
    kinds = [{n: k for n, k in each.schema.items() if n not in but} for each in (left, right)]
    return kinds[0] == kinds[1] and as_rows(left) == as_rows(right)
