"""A coded table: its quasi-identifiers, sensitive columns, population and suppressed records."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.engines import Groups
from celosia.frames import as_frame, as_text
from celosia.tables.coded_column import CodedColumn, code_column
from celosia.tables.coded_sensitive import CodedSensitive, code_sensitive
from celosia.tables.recoding import Lattice
from celosia.tables.schema import Column, Role, Schema

THREADS = 2
"""Columns are coded side by side; more would hold more of the table in memory at a time."""

FEW_ROWS = 10_000
"""Up to this number of rows, threads cost more than they save."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class CodedTable:
    """What protecting a table needs; each row stands for one record, or for several."""

    columns: tuple[CodedColumn, ...]
    sensitive: tuple[CodedSensitive, ...] = ()
    counts: NDArray[np.int64] | None = field(default=None, repr=False)
    """How many records each row stands for, where the table was grouped before."""
    population: tuple[NDArray[np.int32], ...] | None = field(default=None, repr=False)
    """The leaves of the population that the table is a sample of, column by column."""

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.columns[0].leaf_of_row.size)

    def records(self, rows: NDArray[np.int64] | NDArray[np.bool_] | None = None) -> int:
        """How many records all rows, or some of them, stand for."""
        if self.counts is None:
            return self.height if rows is None else np.arange(self.height)[rows].size
        return int(self.counts.sum() if rows is None else self.counts[rows].sum())

    def some(self, rows: NDArray[np.int64]) -> CodedTable:
        """The same table with some of its rows; what is public of a column stays."""
        return replace(
            self,
            columns=tuple(
                replace(column, leaf_of_row=column.leaf_of_row[rows]) for column in self.columns
            ),
            sensitive=tuple(
                replace(each, value_of_row=each.value_of_row[rows]) for each in self.sensitive
            ),
            counts=None if self.counts is None else self.counts[rows],
        )

    def empty_cells_to_suppress(self) -> NDArray[np.bool_]:
        """Which rows have an empty cell in a column whose empty cells are suppressed."""
        gone = np.zeros(self.height, dtype=np.bool_)
        for column in self.columns:
            if column.suppress_missing:
                gone |= column.leaf_of_row == len(column.hierarchy.leaves) - 1
        return gone

    def lattice(self, rows: NDArray[np.int64] | None = None) -> Lattice:
        """The generalisations of all rows, or of some."""
        part = self if rows is None else self.some(rows)
        lattice = Lattice(
            part.columns, part.counts, sensitive=part.sensitive, population=part.population
        )
        raw = lattice.class_table((0,) * len(part.columns))
        if raw.population is not None and (raw.population < raw.sizes).any():
            strangers = int((raw.sizes - raw.population).clip(0).sum())
            raise InputError("CEL-P067", records=strangers)
        return lattice


def code_table(
    frame: pl.DataFrame,
    schema: Schema,
    sensitive: Sequence[str] = (),
    *,
    groups: Groups | None = None,
    population: Any = None,
    progress: Progress = silent,
) -> CodedTable:
    """Find each cell of a table in its column's hierarchy, and number its sensitive values.

    Args:
        frame: the table, or what `groups` holds if it was grouped before.
        schema: roles and hierarchies.
        sensitive: the sensitive columns that models ask about.
        groups: the groups that the rows of `frame` stand for.
        population: a table with the same quasi-identifiers that contains this one.
        progress: called for each column.
    """
    people = None if population is None else _population(population, schema)
    quasi_identifiers = schema.quasi_identifiers

    def code(column: Column) -> CodedColumn:
        cells = frame[column.name]
        if people is not None:  # one hierarchy for both, whichever values each of them has
            cells = pl.concat([cells, _cast_population(people[column.name], cells.dtype)])
        return code_column(cells, column, origin=groups)

    columns, leaves = [], []
    with ThreadPoolExecutor(THREADS) if frame.height > FEW_ROWS else nullcontext() as pool:
        by_column = map if pool is None else pool.map
        for number, coded in enumerate(by_column(code, quasi_identifiers)):
            progress(Step(Message("tables.stage.reading_columns"), number, len(quasi_identifiers)))
            leaves.append(coded.leaf_of_row[frame.height :])
            columns.append(replace(coded, leaf_of_row=coded.leaf_of_row[: frame.height]))
    counts = None if groups is None else groups.sizes
    wanted = [column for column in schema.columns if column.name in sensitive]
    return CodedTable(
        columns=tuple(columns),
        sensitive=tuple(code_sensitive(frame[each.name], each, counts) for each in wanted),
        counts=counts,
        population=None if people is None else tuple(leaves),
    )


def _cast_population(series: pl.Series, kind: pl.DataType) -> pl.Series:
    """A column of the population in the type of the table's, where no value changes by that."""
    if series.dtype == kind:
        return series
    try:
        cast = series.cast(kind, strict=False)
        same = (as_text(cast).eq_missing(as_text(series))).all()
    except pl.exceptions.PolarsError:
        same = False
    if not same:
        raise InputError("CEL-P065", kind=kind, dtype=series.dtype, column=series.name) from None
    return cast


def _population(population: Any, schema: Schema) -> pl.DataFrame:
    frame = as_frame(population)
    names = schema.named(Role.QUASI_IDENTIFIER)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise InputError("CEL-P009", column=absent[0])
    return pl.DataFrame([frame[name] for name in names])
