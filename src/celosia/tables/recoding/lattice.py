"""The generalisation lattice over a table: every node is a vector of levels, one per column.

The table is reduced once to its distinct combinations of quasi-identifier values with their counts;
the classes of a node are rolled up from those of other nodes, so its cost falls from records to
classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from celosia.tables.coding import CodedColumn
from celosia.tables.metrics.loss import Loss
from celosia.tables.models import Classes, Model, hold_all
from celosia.tables.recoding import _kernels
from celosia.tables.recoding.packing import PackedColumn, lay_out, pack
from celosia.tables.recoding.roll_up import ClassTable, Node, RollUp


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a node gives: its product (see `Loss`), who must go, and the loss per column."""

    node: Node
    product: float
    suppressed: int
    leaf_sums: tuple[int, ...]


class Lattice:
    """All generalisations of a coded table, evaluated one node at a time.

    Args:
        columns: the quasi-identifiers; each of their rows stands for one record,
        counts: or for this many records, where the table was grouped before.
    """

    def __init__(self, columns: Sequence[CodedColumn], counts: NDArray[np.int64] | None = None):
        self.columns = tuple(columns)
        rows = columns[0].leaf_of_row.size
        self.rows = rows if counts is None else int(counts.sum())
        seen = [column.leaf_counts(counts) for column in columns]
        present = [np.flatnonzero(counts) for counts in seen]
        places, words = lay_out([leaves.size for leaves in present])
        keys = pack([column.leaf_of_row for column in columns], present, places, words)
        self._combination_of, first = _group(keys)
        groups = first.size
        self._counts = _add_up(self._combination_of, counts, groups)
        self._packed = [
            PackedColumn(column.hierarchy, leaves, place)
            for column, leaves, place in zip(columns, present, places, strict=True)
        ]
        self.shape: Node = tuple(column.hierarchy.levels for column in columns)
        self.loss = self._loss_facts(seen)
        self._base = ClassTable(keys[first], self._counts)
        self._roll_up = RollUp(self._base, self._packed)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return prod(self.shape)

    def class_table(self, node: Node) -> ClassTable:
        """The classes of a node."""
        return self._roll_up.table(node)

    def evaluate(self, node: Node, models: Sequence[Model]) -> Outcome:
        """Suppress every class that fails any model, and add up what is lost."""
        table = self.class_table(node)
        kept = hold_all(Classes(table.sizes), models)
        places, leaves = self._leaf_tables(node)
        gone = np.zeros(len(node), dtype=np.int64)
        suppressed = _kernels.suppressed_leaves(table.keys, table.sizes, kept, places, leaves, gone)
        sums = tuple(
            self.loss.leaf_sums[column][level]
            - int(gone[column])
            + int(suppressed) * self.loss.leaves[column]
            for column, level in enumerate(node)
        )
        return Outcome(node, self.loss.product(sums), int(suppressed), sums)

    def classes_of_rows(self, node: Node) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each row the number of its class at a node, and the records of each class."""
        keys = self._base.keys.copy()
        for packed, level in zip(self._packed, node, strict=True):
            packed.raise_in_place(keys, level)
        class_of, first = _group(keys)
        return class_of[self._combination_of], _add_up(class_of, self._counts, first.size)

    def _leaf_tables(self, node: Node) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        rows, tables, start = [], [], 0
        for packed, level in zip(self._packed, node, strict=True):
            table = packed.leaves[level]
            rows.append((packed.place.word, packed.place.bit, packed.place.mask, start))
            tables.append(table)
            start += table.size
        return np.array(rows, dtype=np.uint64), np.concatenate(tables)

    def _loss_facts(self, seen: Sequence[NDArray[np.int64]]) -> Loss:
        sums, widest = [], []
        for column, counts in zip(self.columns, seen, strict=True):
            under = [
                column.hierarchy.leaves_under(level) for level in range(column.hierarchy.levels)
            ]
            sums.append(tuple(int(counts @ leaves) for leaves in under))
            widest.append(tuple(int(leaves[counts > 0].max()) for leaves in under))
        return Loss(
            rows=self.rows,
            leaves=tuple(len(column.hierarchy.leaves) for column in self.columns),
            leaf_sums=tuple(sums),
            widest=tuple(widest),
        )


def _group(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each key the number of its group, and the first row of each group."""
    slots = np.full(_kernels.slots_for(keys.shape[0]), -1, dtype=np.int64)
    group_of, first, groups = _kernels.group_rows(keys, slots)
    return group_of, first[:groups]


def _add_up(
    group_of: NDArray[np.int64], counts: NDArray[np.int64] | None, groups: int
) -> NDArray[np.int64]:
    """The number of records of each group."""
    if counts is None:
        return np.bincount(group_of, minlength=groups).astype(np.int64)
    sums = np.zeros(groups, dtype=np.int64)
    np.add.at(sums, group_of, counts)
    return sums
