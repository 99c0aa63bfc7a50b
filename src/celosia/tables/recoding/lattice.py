"""The generalisation lattice over a table: every node is a vector of levels, one per column.

The table is reduced once to its distinct combinations of quasi-identifier values with their counts;
the classes of a node are rolled up from those of other nodes, so its cost falls from records to
classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.tables.coded_table import CodedColumn, CodedSensitive, CodedTable
from celosia.tables.metrics.loss import LossScale
from celosia.tables.models import Classes, FullHistogram, Histogram, Model, Verdict, judge_all
from celosia.tables.models.units import unit_classes
from celosia.tables.recoding import _kernels
from celosia.tables.recoding.roll_up import (
    BitField,
    ClassTable,
    Node,
    PackedColumn,
    RollUp,
    lay_out,
    merge_histogram,
    pack,
)
from celosia.tables.units import CodedUnits


@dataclass(frozen=True)
class Outcome:
    """What a node gives: who is suppressed, and what that and generalisation cost each column."""

    node: Node
    suppressed: int
    must_go: int
    """How many records every node below must suppress at least."""
    table: ClassTable = field(repr=False, compare=False)
    kept: NDArray[np.bool_] = field(repr=False, compare=False)
    """Which classes of the table are kept."""
    lattice: Lattice = field(repr=False, compare=False)

    @cached_property
    def leaf_sums(self) -> tuple[int, ...]:
        """For each column, the leaves that all cells together may stand for (see `LossScale`).

        Added up when asked for: a search asks only at nodes that suppress few enough.
        """
        return self.lattice.leaf_sums(self)

    @property
    def kept_sizes(self) -> NDArray[np.int64]:
        """The number of records of each class that is kept; weights, where units are counted."""
        return self.table.sizes[self.kept]

    @property
    def kept_units(self) -> NDArray[np.int64]:
        """The number of units, or else records, of each class that is kept."""
        if self.table.units is None:
            return self.kept_sizes
        return np.diff(self.table.histograms[0].starts)[self.kept]


class Lattice:
    """All generalisations of a coded table, evaluated one node at a time.

    Args:
        columns: the quasi-identifiers; each of their rows stands for one record,
        counts: or for this many records, where the table was grouped before.
        sensitive: the sensitive columns that models ask about.
        population: the leaves of the population that the table is a sample of, column by column.
        units: the people or households that models count, instead of `counts` and `sensitive`;
            what is added up are then their weights.
    """

    def __init__(
        self,
        columns: Sequence[CodedColumn],
        counts: NDArray[np.int64] | None = None,
        *,
        sensitive: Sequence[CodedSensitive] = (),
        population: Sequence[NDArray[np.int32]] | None = None,
        units: CodedUnits | None = None,
    ):
        self.columns = tuple(columns)
        if units is not None:
            counts, sensitive = units.weights, _unit_columns(units)
        rows = columns[0].leaf_of_row.size
        self.rows = rows if counts is None else int(counts.sum())
        self.shape: Node = tuple(column.hierarchy.levels for column in columns)
        leaf_of_row = [column.leaf_of_row for column in columns]
        if population is not None:
            leaf_of_row = [
                np.concatenate(both) for both in zip(leaf_of_row, population, strict=True)
            ]
        present = [
            np.flatnonzero(_kernels.occurring(leaves, len(column.hierarchy.leaves)))
            for column, leaves in zip(columns, leaf_of_row, strict=True)
        ]
        places, words = lay_out([leaves.size for leaves in present])
        keys = pack(leaf_of_row, present, places, words)
        combination_of, first = _group(keys)
        self._combination_of = combination_of[:rows]
        self._packed = [
            PackedColumn(column.hierarchy, leaves, place)
            for column, leaves, place in zip(columns, present, places, strict=True)
        ]
        self._places = np.array(
            [(place.word, place.bit, place.mask, 0) for place in places], dtype=np.uint64
        )
        tables = [table for packed in self._packed for table in packed.leaves]
        self._leaves = np.concatenate(tables)
        ends = np.cumsum([table.size for table in tables]).tolist()
        starts = iter([0, *ends])
        self._starts = [[next(starts) for _ in packed.leaves] for packed in self._packed]
        """For each column and level, where its leaf counts begin in `_leaves`."""
        self._base = ClassTable(
            keys[first],
            _add_up(self._combination_of, counts, first.size),
            tuple(_histogram(each, self._combination_of, first.size, counts) for each in sensitive),
            None if population is None else _add_up(combination_of[rows:], None, first.size),
            None if units is None else units.values,
        )
        self._roll_up = RollUp(self._base, self._packed)
        self.leaf_counts = [
            self._leaf_counts(*each) for each in zip(columns, present, places, strict=True)
        ]
        """For each column, how many records have each leaf."""
        self.loss = self._loss_scale()

    @classmethod
    def of(cls, table: CodedTable, rows: NDArray[np.int64] | None = None) -> Lattice:
        """The generalisations of all rows of a table, or of some.

        Raises:
            InputError: CEL-P067 records that the population does not have.
        """
        part = table if rows is None else table.some(rows)
        lattice = cls(
            part.columns,
            part.counts,
            sensitive=part.sensitive,
            population=part.population,
            units=part.units,
        )
        raw = lattice.class_table((0,) * len(part.columns))
        if raw.population is not None and (raw.population < raw.sizes).any():
            strangers = int((raw.sizes - raw.population).clip(0).sum())
            raise InputError("CEL-P067", records=strangers)
        return lattice

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return prod(self.shape)

    @property
    def top(self) -> Node:
        """The node that generalises every column fully."""
        return tuple(levels - 1 for levels in self.shape)

    def class_table(self, node: Node) -> ClassTable:
        """The classes of a node."""
        return self._roll_up.table(node)

    def evaluate(self, node: Node, models: Sequence[Model]) -> Outcome:
        """Suppress every class that fails any model, and add up what is lost."""
        table = self.class_table(node)
        if table.plain and models and all(model.asks_size_alone for model in models):
            least = max(model.smallest for model in models)
            kept, suppressed = _kernels.large_enough(table.sizes, least)
            # No part of a class that is too small is large enough: so many must go below as well.
            return Outcome(node, suppressed, suppressed, table, kept, self)
        asked = any(model.needs_information for model in models)
        kept, must_go = judge_table(table, models, self.information(node, table) if asked else None)
        suppressed = int(table.sizes[~kept].sum())
        return Outcome(node, suppressed, int(must_go.sum()), table, kept, self)

    def leaf_sums(self, outcome: Outcome) -> tuple[int, ...]:
        """For each column, the leaves that all cells of an evaluated node may stand for."""
        gone = np.zeros(len(outcome.node), dtype=np.int64)
        if outcome.suppressed:
            table, places = outcome.table, self._places.copy()
            places[:, 3] = [
                starts[level] for starts, level in zip(self._starts, outcome.node, strict=True)
            ]
            _kernels.suppressed_leaves(
                table.keys, table.sizes, outcome.kept, places, self._leaves, gone
            )
        return tuple(
            sums[level] - lost + outcome.suppressed * leaves
            for sums, level, lost, leaves in zip(
                self.loss.leaf_sums, outcome.node, gone.tolist(), self.loss.leaves, strict=True
            )
        )

    def one_class(self) -> Classes:
        """All records as one class."""
        table = self.class_table(self.top)
        return _classes(table)[0]

    def class_of_combinations(self, node: Node) -> NDArray[np.int32]:
        """For each distinct combination of values its class at a node, numbered as its table is."""
        return self._roll_up.class_of_base(node)

    def class_of_rows(self, node: Node) -> NDArray[np.int32]:
        """For each row the number of its class in the table of a node."""
        return self.class_of_combinations(node)[self._combination_of]

    def combination_codes(self) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
        """The raw codes of each distinct combination, by column, and its number of records."""
        return [packed.place.codes(self._base.keys) for packed in self._packed], self._base.sizes

    def codes_by_level(self) -> list[list[NDArray[np.int64]]]:
        """For each column and level: raw code -> code there."""
        return [packed.codes for packed in self._packed]

    def leaves_by_level(self) -> list[list[NDArray[np.int64]]]:
        """For each column and level: raw code -> how many leaves its label there stands for."""
        return [
            [leaves[codes] for leaves, codes in zip(packed.leaves, packed.codes, strict=True)]
            for packed in self._packed
        ]

    def labels_in_data(self) -> list[list[int]]:
        """For each column and level, how many labels occur."""
        return [[leaves.size for leaves in packed.leaves] for packed in self._packed]

    def leaves_of_classes(self, outcome: Outcome) -> list[NDArray[np.int64]]:
        """For each column and class of an evaluated node, how many leaves its label stands for."""
        return [
            packed.leaves[level][packed.place.codes(outcome.table.keys)]
            for packed, level in zip(self._packed, outcome.node, strict=True)
        ]

    def information(self, node: Node, table: ClassTable) -> NDArray[np.float64]:
        """For each class of a node, the share of its digits that a record keeps.

        One less the logarithms of the leaves that its labels stand for, over those of all leaves.
        """
        digits = np.zeros(table.sizes.size)
        for packed, level in zip(self._packed, node, strict=True):
            digits += np.log(packed.leaves[level])[packed.place.codes(table.keys)]
        return 1 - digits / self._all_digits()

    def lost_digits(self) -> list[NDArray[np.float64]]:
        """For each column and level, what it takes from the information of all records together."""
        whole = self._all_digits()
        return [
            np.array(
                [
                    float(counts @ np.log(column.hierarchy.leaves_under(level))) / whole
                    for level in range(column.hierarchy.levels)
                ]
            )
            for column, counts in zip(self.columns, self.leaf_counts, strict=True)
        ]

    def _all_digits(self) -> float:
        """The logarithms of all leaves; 1 where no column has two, and nothing can be lost."""
        return float(np.log(self.loss.leaves).sum()) or 1.0

    def _leaf_counts(
        self, column: CodedColumn, present: NDArray[np.int64], place: BitField
    ) -> NDArray[np.int64]:
        # From the combinations, which are far fewer than the rows.
        counts = np.zeros(len(column.hierarchy.leaves), dtype=np.int64)
        counts[present] = _kernels.add_up(
            place.codes(self._base.keys), self._base.sizes, present.size
        )
        return counts

    def _loss_scale(self) -> LossScale:
        sums, widest = [], []
        for column, counts in zip(self.columns, self.leaf_counts, strict=True):
            under = [
                column.hierarchy.leaves_under(level) for level in range(column.hierarchy.levels)
            ]
            sums.append(tuple(int(counts @ leaves) for leaves in under))
            widest.append(tuple(int(leaves[counts > 0].max()) for leaves in under))
        return LossScale(
            rows=self.rows,
            leaves=tuple(len(column.hierarchy.leaves) for column in self.columns),
            leaf_sums=tuple(sums),
            widest=tuple(widest),
        )


def judge_table(
    table: ClassTable, models: Sequence[Model], information: NDArray[np.float64] | None = None
) -> Verdict:
    """What the models say of each class of a table; classes without records are not kept."""
    classes, occupied = _classes(table, max((model.smallest for model in models), default=0))
    if information is not None:
        classes = replace(
            classes, information=information if occupied is None else information[occupied]
        )
    verdict = judge_all(classes, models)
    if table.units is not None:  # all records of a class must go, whatever they weigh, or none
        return Verdict(verdict.satisfied, np.where(verdict.must_go > 0, table.sizes, 0))
    if occupied is None:
        return verdict
    satisfied = np.zeros(table.sizes.size, dtype=np.bool_)
    must_go = np.zeros(table.sizes.size, dtype=np.int64)
    satisfied[occupied], must_go[occupied] = verdict
    return Verdict(satisfied, must_go)


def _classes(table: ClassTable, least: int = 0) -> tuple[Classes, NDArray[np.bool_] | None]:
    """The table as models see it, and which of its classes they see if not all."""
    if table.units is not None:
        return unit_classes(table.histograms[0], table.histograms[1:], table.units), None
    histograms = {each.column.name: each for each in table.histograms}
    classes = Classes(table.sizes, histograms, table.population, least=least)
    if table.population is None:
        return classes, None
    occupied = table.sizes > 0
    return replace(classes.where(occupied), unmatched=int((~occupied).sum())), occupied


def _unit_columns(units: CodedUnits) -> list[CodedSensitive]:
    """The units, and the pairs of unit and value, as columns of which histograms are kept."""
    return [
        CodedSensitive(units.as_column, units.of_row),
        *(CodedSensitive(each.as_column, each.pair_of_row) for each in units.values),
    ]


def _histogram(
    sensitive: CodedSensitive,
    class_of: NDArray[np.int64],
    classes: int,
    counts: NDArray[np.int64] | None,
) -> Histogram:
    """The histogram of rows, each of which is at first a class of its own."""
    rows = class_of.size
    full = FullHistogram.of_classes(
        sensitive.column, class_of, sensitive.value_of_row, classes, counts
    )
    if full is not None:
        return full
    single = Histogram(
        sensitive.column,
        np.arange(rows + 1),
        sensitive.value_of_row,
        np.ones(rows, dtype=np.int64) if counts is None else counts,
    )
    return merge_histogram(single, class_of.astype(np.int32), classes)


def _group(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each key the number of its group, and the first row of each group."""
    if keys.shape[1] == 1:
        group_of, first, groups = _kernels.group_words(keys[:, 0])
    else:
        slots = np.full(_kernels.slots_for(keys.shape[0]), -1, dtype=np.int64)
        group_of, first, groups = _kernels.group_rows(keys, slots)
    return group_of, first[:groups]


def _add_up(
    group_of: NDArray[np.int64], counts: NDArray[np.int64] | None, groups: int
) -> NDArray[np.int64]:
    """The number of records of each group."""
    if counts is None:
        return np.bincount(group_of, minlength=groups).astype(np.int64)
    return np.asarray(_kernels.add_up(group_of, counts, groups))
