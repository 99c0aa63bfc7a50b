"""Small random tables of numbers, dates and values of random hierarchies, with empty cells."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import polars as pl
from hypothesis import strategies as st
from tests.tables.recoding.strategies import paths

from celosia.tables.coding import CodedColumn, code_column
from celosia.tables.hierarchies import Hierarchy
from celosia.tables.schema import Column, Role


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


@st.composite
def domains(draw: st.DrawFn) -> tuple[list[Any], pl.DataType, Hierarchy]:
    """Values that a column may have, their type, and a hierarchy that has more of them."""
    kind = draw(st.sampled_from(["whole", "real", "date", "tree", "tree"]))
    many = draw(st.integers(1, 12))
    if kind == "whole":
        numbers = list(range(-3, many))
        shuffled = draw(st.permutations([str(number) for number in range(-4, many + 2)]))
        return numbers, pl.Int64(), flat(shuffled)
    if kind == "real":
        halves = [number / 2 for number in range(many)]
        return halves, pl.Float64(), flat([f"{half:g}" for half in halves])
    if kind == "date":
        days = [date(2024, 2, 25) + timedelta(days=number) for number in range(many)]
        return days, pl.Date(), flat([day.isoformat() for day in reversed(days)])
    tree = draw(paths())
    return [path[0] for path in tree], pl.String(), Hierarchy.from_paths(tree)


@st.composite
def raw_tables(
    draw: st.DrawFn, max_columns: int = 3, max_rows: int = 40, missing: bool = True
) -> list[RawColumn]:
    """Columns of equal length."""
    rows = draw(st.integers(1, max_rows))
    columns = []
    for number in range(draw(st.integers(1, max_columns))):
        values, kind, hierarchy = draw(domains())
        cell = st.sampled_from([*values, None] if missing and draw(st.booleans()) else values)
        cells = draw(st.lists(cell, min_size=rows, max_size=rows))
        columns.append(RawColumn(pl.Series(f"c{number}", cells, dtype=kind), hierarchy))
    return columns
