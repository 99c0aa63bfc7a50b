"""The units of a table, people or households: which records are whose, and what each weighs.

Models count distinct units. Metrics and suppression add up weights: the records of one unit weigh
1 together, so a unit with many records counts no more than one with a single record, and a unit
half of whose records are suppressed counts as half. Weights are whole numbers, a unit is `scale`,
so that sums are exact and do not depend on the order of the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import lcm
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.methods import PlainValues
from celosia.frames import encode
from celosia.tables.models.classes import Classes, Histogram, SensitiveColumn
from celosia.tables.models.units import PARTS, UnitValues, unit_classes
from celosia.tables.released_table import ReleasedColumn, class_numbers


class SensitiveValues(Protocol):
    """A sensitive column, and the number of each row's value."""

    @property
    def column(self) -> SensitiveColumn:
        """What is public of the column."""

    @property
    def value_of_row(self) -> NDArray[np.int32]:
        """The number of each row's value."""


@dataclass(frozen=True, eq=False, slots=True)
class CodedUnits:
    """The unit of each row by number, and the weight of each row."""

    of_row: NDArray[np.int32] = field(repr=False)
    number: int
    """How many units the whole table has."""
    records: NDArray[np.int64] = field(repr=False)
    """How many records each row stands for."""
    weights: NDArray[np.int64] = field(repr=False)
    scale: int
    """What the rows of one unit weigh together."""
    values: tuple[UnitValues, ...] = ()
    """For each sensitive column that models ask about, which unit has which values."""

    def some(self, rows: NDArray[np.int64]) -> CodedUnits:
        """Some of the rows; what is public of the whole table stays."""
        return replace(
            self,
            of_row=self.of_row[rows],
            records=self.records[rows],
            weights=self.weights[rows],
            values=tuple(replace(each, pair_of_row=each.pair_of_row[rows]) for each in self.values),
        )

    def with_values(self, sensitive: Iterable[SensitiveValues]) -> CodedUnits:
        """The same, knowing which unit has which values of sensitive columns."""
        values = (UnitValues.of_rows(e.column, self.of_row, e.value_of_row) for e in sensitive)
        return replace(self, values=tuple(values))

    @property
    def as_column(self) -> SensitiveColumn:
        """The units as values of a column, for histograms."""
        return SensitiveColumn("", np.ones(self.number, dtype=np.int64))

    def records_of(self) -> NDArray[np.int64]:
        """The number of records of each unit."""
        totals = np.zeros(self.number, dtype=np.int64)
        np.add.at(totals, self.of_row, self.records)
        return totals

    def classes(self, class_of: NDArray[np.int64], classes: int) -> Classes:
        """Classes as models see them, from the class of each row."""
        return unit_classes(
            Histogram.of_rows(self.as_column, class_of, self.of_row, classes),
            [
                Histogram.of_rows(each.as_column, class_of, each.pair_of_row, classes)
                for each in self.values
            ],
            self.values,
        )


def code_units(series: pl.Series, counts: NDArray[np.int64] | None = None) -> CodedUnits:
    """Number the units of a table; `counts` says how many records each row stands for.

    Raises:
        InputError: CEL-T015 records without a unit.
    """
    codes = encode(series)
    if codes.missing:
        empty = codes.codes < 0
        rows = int(empty.sum() if counts is None else counts[empty].sum())
        raise InputError("CEL-T015", column=series.name, rows=rows)
    of_row = codes.codes.astype(np.int32)
    records = np.ones(of_row.size, dtype=np.int64) if counts is None else counts
    weights, scale = _weights(of_row, records, len(codes.values))
    return CodedUnits(of_row, len(codes.values), records, weights, scale)


def check_one_record_each(column: str, cells: int, distinct: int) -> None:
    """Refuse an identifier that several records share: records would be counted for people.

    Raises:
        InputError: CEL-P068.
    """
    if distinct < cells:
        raise InputError("CEL-P068", column=column, records=cells, distinct=distinct)


def _weights(
    of_row: NDArray[np.int32], records: NDArray[np.int64], number: int
) -> tuple[NDArray[np.int64], int]:
    """Whole weights in proportion to records that add up to the same scale for every unit."""
    totals = np.zeros(number, dtype=np.int64)
    np.add.at(totals, of_row, records)
    scale = 1
    for total in np.unique(totals).tolist():
        scale = lcm(scale, total)
        if scale > PARTS:  # shares are rounded, and each row keeps a weight
            scale = max(PARTS, int(totals.max(initial=1)))
            break
    # Along the records of a unit the weight so far is rounded, not each weight: the sum is exact.
    order = np.argsort(of_row, kind="stable")
    so_far = np.cumsum(records[order])
    before = so_far - records[order]
    start = np.zeros(number + 1, dtype=np.int64)
    np.cumsum(totals, out=start[1:])
    unit = of_row[order]
    begin = (before - start[unit]) * scale // totals[unit]
    end = (so_far - start[unit]) * scale // totals[unit]
    weights = np.empty(of_row.size, dtype=np.int64)
    weights[order] = end - begin
    return weights, scale


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitOutcome(PlainValues):
    """What becomes of the people or households of a table; numbers of units."""

    unit: str
    """`person` or `household`."""
    number: int
    several: int
    """Those who have more than one record."""
    suppressed: int
    """Those of whom every record is suppressed."""
    partly: int
    """Those of whom some records are suppressed, but not all."""
    singled_out: int
    """Those whom an attacker who knows all their records tells from all others: no other unit has
    the same number of released records in each class."""

    @classmethod
    def of(
        cls,
        unit: str,
        units: CodedUnits,
        hidden: NDArray[np.bool_],
        released: Sequence[ReleasedColumn],
    ) -> UnitOutcome:
        """Count the units of a release."""
        gone = np.bincount(units.of_row[hidden], minlength=units.number) > 0
        kept = np.bincount(units.of_row[~hidden], minlength=units.number) > 0
        number_of = units.records_of()
        return cls(
            unit=unit,
            number=units.number,
            several=int((number_of > 1).sum()),
            suppressed=int((gone & ~kept).sum()),
            partly=int((gone & kept).sum()),
            singled_out=_singled_out(units, hidden, released),
        )


def _singled_out(
    units: CodedUnits, hidden: NDArray[np.bool_], released: Sequence[ReleasedColumn]
) -> int:
    """Units that no other has the same released records as, class by class."""
    shown = pl.DataFrame({"class": class_numbers(released)})
    entries = (
        shown.with_columns(
            pl.Series("unit", units.of_row), pl.Series("records", units.records), hidden=hidden
        )
        .filter(~pl.col("hidden"))
        .group_by("unit", "class")
        .agg(pl.col("records").sum())
        .sort("unit", "class")
        .group_by("unit", maintain_order=True)
        .agg("class", "records")
    )
    return int(entries.select(pl.struct("class", "records").is_unique().sum()).item())
