"""Small random tables of numbers, dates and values of random hierarchies, with empty cells."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import polars as pl
from hypothesis import strategies as st
from tests.tables.recoding.strategies import paths

from celosia.tables.coded_table import CodedColumn, code_column
from celosia.tables.hierarchies import Hierarchy
from celosia.tables.schema import Column, Role

MOST_ROWS = 40


@dataclass(frozen=True)
class RawColumn:
    """A column before it is coded."""

    series: pl.Series
    hierarchy: Hierarchy

    def coded(self) -> CodedColumn:
        column = Column(
            self.series.name, Role.QUASI_IDENTIFIER, hierarchy=self.hierarchy, missing="value"
        )
        return code_column(self.series, column)


def flat(leaves: list[str]) -> Hierarchy:
    return Hierarchy.from_paths([(leaf, "*") for leaf in leaves])


# Made once, and a column's cells in one go: drawing takes longer than what is tested.
_kinds = st.sampled_from(["whole", "real", "date", "tree", "tree"])
_many = st.integers(1, 12)
_tree = paths()
_orders = {many: st.permutations([str(n) for n in range(-4, many + 2)]) for many in range(1, 13)}


def _domain(draw: st.DrawFn) -> tuple[list[Any], pl.DataType, Hierarchy]:
    """Values that a column may have, their type, and a hierarchy that has more of them."""
    kind = draw(_kinds)
    many = draw(_many)
    if kind == "whole":
        numbers = list(range(-3, many))
        return numbers, pl.Int64(), flat(draw(_orders[many]))
    if kind == "real":
        halves = [number / 2 for number in range(many)]
        return halves, pl.Float64(), flat([f"{half:g}" for half in halves])
    if kind == "date":
        days = [date(2024, 2, 25) + timedelta(days=number) for number in range(many)]
        return days, pl.Date(), flat([day.isoformat() for day in reversed(days)])
    tree = draw(_tree)
    return [path[0] for path in tree], pl.String(), Hierarchy.from_paths(tree)


_rows, _columns, _holes = st.integers(1, MOST_ROWS), st.integers(1, 3), st.booleans()
_cells = st.binary(min_size=MOST_ROWS, max_size=MOST_ROWS)


@st.composite
def raw_tables(draw: st.DrawFn, missing: bool = True) -> list[RawColumn]:
    """Columns of equal length."""
    rows = draw(_rows)
    columns = []
    for number in range(draw(_columns)):
        values, kind, hierarchy = _domain(draw)
        if missing and draw(_holes):
            values = [*values, None]
        cells = [values[chosen % len(values)] for chosen in draw(_cells)[:rows]]
        columns.append(RawColumn(pl.Series(f"c{number}", cells, dtype=kind), hierarchy))
    return columns
