"""Tables as integer codes: leaves of hierarchies, and numbers of sensitive values."""

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
from celosia.frames import Codes, as_frame, as_text, encode
from celosia.tables.hierarchies import MISSING, ROOT, Hierarchy, Ordered
from celosia.tables.models import SensitiveColumn
from celosia.tables.released_table import ReleasedColumn
from celosia.tables.schema import Column, Role, Schema
from celosia.tables.units import CodedUnits, code_units


@dataclass(frozen=True, eq=False, slots=True)
class CodedColumn:
    """A column whose every cell is known by its place among the leaves of a hierarchy."""

    name: str
    hierarchy: Hierarchy
    leaf_of_row: NDArray[np.int32] = field(repr=False)
    has_missing: bool = False
    """Whether the last leaf stands for empty cells."""
    value_of_leaf: pl.Series | None = field(default=None, repr=False)
    """A raw value for each leaf that occurs, in the column's own type."""
    suppress_missing: bool = False
    """Whether records with an empty cell here are suppressed."""

    def raw(self) -> pl.Series:
        """The ungeneralised column: one value a leaf, though several may have the same text.

        -0.0 and 0.0 share a leaf; released as they are, one of them could stand alone.
        """
        assert self.value_of_leaf is not None
        return self.value_of_leaf.gather(self.leaf_of_row).alias(self.name)

    def released_raw(self) -> ReleasedColumn:
        """The ungeneralised column as it is released."""
        assert self.value_of_leaf is not None
        return ReleasedColumn.of(self.value_of_leaf.alias(self.name), self.leaf_of_row)

    def labels_at(self, level: int | NDArray[np.int16]) -> pl.Series:
        """The released text of every record at a level, or at its own; empty cells stay empty."""
        return self.released_at(level).series()

    def released_at(
        self, level: int | NDArray[np.int16], starred: NDArray[np.bool_] | None = None
    ) -> ReleasedColumn:
        """As `labels_at`, for release; those that are starred show the root instead."""
        texts: list[str | None] = []
        starts = []
        for number, labels in enumerate(self.hierarchy.labels):
            starts.append(len(texts))
            texts += labels
            if self.has_missing and number < self.hierarchy.height:
                texts[starts[-1] + self.hierarchy.nodes[number, -1]] = None
        kind = np.min_scalar_type(len(texts))
        if isinstance(level, int):
            places = (starts[level] + self.hierarchy.nodes[level]).astype(kind)[self.leaf_of_row]
        else:
            nodes = self.hierarchy.nodes[level, self.leaf_of_row]
            places = (np.array(starts, np.int32)[level] + nodes).astype(kind)
        if starred is not None:
            places[starred] = len(texts)
            texts.append(ROOT)
        return ReleasedColumn.of(pl.Series(self.name, texts, dtype=pl.String), places)


def code_column(series: pl.Series, column: Column, *, origin: Groups | None = None) -> CodedColumn:
    """Find each cell of a quasi-identifier in its hierarchy.

    Where the table was grouped before, `origin` tells from which rows the cells come.

    Raises:
        InputError: CEL-T010 empty cells where the schema does not allow them, CEL-T011 values that
            the hierarchy does not cover.
    """
    codes = encode(series)
    if codes.missing and column.missing == "refuse":
        raise _empty_cells(column.name, codes.codes < 0, origin)
    if len(codes.values) == 0:  # nothing but empty cells, which are a value of their own
        nothing = Hierarchy.from_paths([(MISSING, ROOT)])
        empty = pl.Series([None], dtype=series.dtype)
        gone = column.missing == "suppress"
        return CodedColumn(column.name, nothing, np.zeros_like(codes.codes), True, empty, gone)
    texts = as_text(codes.values).to_list()
    if ROOT in texts and len(texts) > 1:  # a column of nothing else suppresses no record
        raise _starred(column.name)
    hierarchy = column.hierarchy_for(codes.values)
    leaf_of_value = np.array([hierarchy.index.get(text, -1) for text in texts], dtype=np.int32)
    if (leaf_of_value < 0).any():
        raise _uncovered(column.name, leaf_of_value < 0, codes.codes, origin)
    if codes.missing:
        hierarchy = hierarchy.with_missing()
    # Missing cells have code -1, which picks the last entry: the leaf that with_missing added.
    table = np.append(leaf_of_value, np.int32(len(hierarchy.leaves) - 1))
    place_of_leaf = np.full(len(hierarchy.leaves), -1)
    place_of_leaf[leaf_of_value] = np.arange(leaf_of_value.size)
    places = pl.Series(place_of_leaf).replace(-1, None)  # leaves that do not occur have no value
    return CodedColumn(
        column.name,
        hierarchy,
        table[codes.codes],
        codes.missing,
        codes.values.gather(places),
        codes.missing and column.missing == "suppress",
    )


def _empty_cells(name: str, empty: NDArray[np.bool_], origin: Groups | None) -> InputError:
    rows, first = _rows(empty, origin)
    place = "" if first is None else Message("tables.place.first_row", row=first)
    return InputError("CEL-T010", place=place, column=name, rows=rows, row=first)


def _uncovered(
    name: str, lost: NDArray[np.bool_], codes: NDArray[np.int32], origin: Groups | None
) -> InputError:
    # A trailing False keeps code -1 (an empty cell) out of the count.
    rows, first = _rows(np.append(lost, False)[codes], origin)
    place = "" if first is None else Message("tables.place.and_first_row", row=first)
    return InputError(
        "CEL-T011", place=place, column=name, values=int(lost.sum()), rows=rows, row=first
    )


def _starred(name: str) -> InputError:
    return InputError("CEL-T012", root=ROOT, column=name)


def _rows(bad: NDArray[np.bool_], origin: Groups | None) -> tuple[int, int | None]:
    """How many rows of the table are bad, and the first of them, counted from 1, if it is known."""
    if origin is None:
        return int(bad.sum()), int(np.argmax(bad)) + 1
    rows = int(origin.sizes[bad].sum())
    return rows, None if origin.first_rows is None else int(origin.first_rows[bad].min()) + 1


@dataclass(frozen=True, eq=False, slots=True)
class CodedSensitive:
    """A sensitive column: the number of each row's value, and what is public of the column.

    An empty cell is a value of its own: an attacker who learns that a cell is empty has learnt
    something.
    """

    column: SensitiveColumn
    value_of_row: NDArray[np.int32] = field(repr=False)


def code_sensitive(
    series: pl.Series, column: Column, counts: NDArray[np.int64] | None = None
) -> CodedSensitive:
    """Number the values of a sensitive column; `counts` says how many records each row stands for.

    Numbers and dates come by size, texts in the order that an `Ordered` rule gives them, else by
    the leaves of their hierarchy, whose order means nothing; an empty cell last.

    Raises:
        InputError: CEL-T013 values that the column's hierarchy does not cover.
    """
    codes = encode(series)
    _check_one_kind_of_empty(codes, column.name)
    values = codes.values
    value_of_row = codes.codes
    nodes = None
    if column.hierarchy is not None and len(values):
        hierarchy = column.hierarchy_for(values)
        leaf_of_value = _leaves(values, hierarchy, column.name)
        places = np.arange(len(values)) if _has_order(values.dtype) else leaf_of_value
        order = np.argsort(places, kind="stable")
        nodes = hierarchy.nodes[:, leaf_of_value[order]]
        place = np.empty(order.size, dtype=np.int32)
        place[order] = np.arange(order.size, dtype=np.int32)
        value_of_row = np.append(place, np.int32(-1))[value_of_row]
    if codes.missing:  # one more value, alone below the root of the hierarchy
        value_of_row = np.where(value_of_row < 0, np.int32(len(values)), value_of_row)
        nodes = None if nodes is None else _with_one_more(nodes)
    totals = np.zeros(len(values) + codes.missing, dtype=np.int64)
    np.add.at(totals, value_of_row, 1 if counts is None else counts)
    # An empty cell has no place among numbers.
    means_something = _has_order(values.dtype) or isinstance(column.hierarchy, Ordered)
    is_ordered = not codes.missing and means_something
    return CodedSensitive(
        SensitiveColumn(column.name, totals, is_ordered, nodes), value_of_row.astype(np.int32)
    )


def _check_one_kind_of_empty(codes: Codes, name: str) -> None:
    """Refuse what a file of text would show as the same: the models would count values in vain."""
    values = codes.values
    nothing = values.is_nan() if values.dtype.is_float() else as_text(values) == ""
    if codes.missing and nothing.any():
        is_nan = values.dtype.is_float()
        raise InputError("CEL-T014.nan" if is_nan else "CEL-T014.empty_text", column=name)


def _leaves(values: pl.Series, hierarchy: Hierarchy, name: str) -> NDArray[np.int32]:
    texts = as_text(values).to_list()
    leaves = np.array([hierarchy.index.get(text, -1) for text in texts], dtype=np.int32)
    lost = int((leaves < 0).sum())
    if lost:
        raise InputError("CEL-T013", column=name, values=lost)
    return leaves


def _with_one_more(nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    own = nodes.max(axis=1) + 1
    own[-1] = nodes[-1, 0]
    return np.column_stack([nodes, own]).astype(np.int32)


def _has_order(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind.is_temporal()


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
    units: CodedUnits | None = field(default=None, repr=False)
    """The people or households that models count, where the schema names their column."""

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.columns[0].leaf_of_row.size)

    def records(self, rows: NDArray[np.int64] | NDArray[np.bool_] | None = None) -> int:
        """How many records all rows, or some of them, stand for."""
        if self.counts is None:
            return self.height if rows is None else np.arange(self.height)[rows].size
        return int(self.counts.sum() if rows is None else self.counts[rows].sum())

    def weight(self, rows: NDArray[np.int64] | NDArray[np.bool_] | None = None) -> int:
        """What all rows, or some of them, weigh in metrics and suppression: records, or units."""
        if self.units is None:
            return self.records(rows)
        return int(self.units.weights.sum() if rows is None else self.units.weights[rows].sum())

    @property
    def weights(self) -> NDArray[np.int64] | None:
        """What each row weighs; None for 1."""
        return self.counts if self.units is None else self.units.weights

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
            units=None if self.units is None else self.units.some(rows),
        )

    def empty_cells_to_suppress(self) -> NDArray[np.bool_]:
        """Which rows have an empty cell in a column whose empty cells are suppressed."""
        gone = np.zeros(self.height, dtype=np.bool_)
        for column in self.columns:
            if column.suppress_missing:
                gone |= column.leaf_of_row == len(column.hierarchy.leaves) - 1
        return gone


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
    coded_sensitive = tuple(code_sensitive(frame[each.name], each, counts) for each in wanted)
    return CodedTable(
        columns=tuple(columns),
        sensitive=coded_sensitive,
        counts=counts,
        population=None if people is None else tuple(leaves),
        units=_units(frame, schema, coded_sensitive, counts),
    )


def _units(
    frame: pl.DataFrame,
    schema: Schema,
    sensitive: Sequence[CodedSensitive],
    counts: NDArray[np.int64] | None,
) -> CodedUnits | None:
    """The people or households of a table, if its schema names their column."""
    if schema.unit_column is None:
        return None
    return code_units(frame[schema.unit_column], counts).with_values(sensitive)


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
