"""What a node would give, found from that of a node near by: the quick look of the anytime search.

The rows carry a hash of their labels at one node, the *place*. For another node the hashes of the
columns that differ are exchanged, and equal hashes are counted as one class. A look costs one pass
over the distinct combinations, whatever their number of columns.

Two different combinations of labels have the same hash with a chance of about 2^-64. They are then
taken for one class: the node seems better than it is by that class. So what a look says guides the
search, and the node that is published is evaluated again without hashes. A bound that is made from
`must_go` stays true, because it holds however a class is split, and these two are a split of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.tables.metrics.loss import LossMeasure
from celosia.tables.models import Model
from celosia.tables.recoding import _kernels
from celosia.tables.recoding.lattice import Lattice, judge_table
from celosia.tables.recoding.roll_up import ClassTable, Node


class NodeEvaluation(NamedTuple):
    """What is kept of a node that was looked at: its classes would fill the memory."""

    node: Node
    score: float
    suppressed: int
    must_go: int


class Trial:
    """Looks at nodes from one place; each thread has its own.

    Args:
        lattice: the table.
        models: what each class must meet.
        measure: the loss that is kept least.
    """

    def __init__(self, lattice: Lattice, models: Sequence[Model], measure: LossMeasure):
        self._lattice, self._models, self._measure = lattice, models, measure
        self._base = lattice.class_table((0,) * len(lattice.shape))
        codes, self._sizes = lattice.combination_codes()
        self._codes = np.array(codes, dtype=np.int32)
        # The hashes need not be secret: nothing that is released depends on them.
        random = np.random.default_rng(0)
        self._hashes = [
            [random.integers(0, 2**64, of.max() + 1, dtype=np.uint64)[of] for of in levels]
            for levels in lattice.codes_by_level()
        ]
        self._leaves = lattice.leaves_by_level()
        self._begin()

    def _begin(self) -> None:
        """Rows at the top of the lattice, and room for one look at a time."""
        rows = self._sizes.size
        self._slots = np.zeros(_kernels.slots_for(rows), dtype=np.int64)
        self._stamp = 0
        self._keys = np.empty(rows, dtype=np.uint64)
        self._class_of = np.empty(rows, dtype=np.int32)
        self._counts = np.empty(rows, dtype=np.int64)
        self._gone = np.empty(rows, dtype=np.int32)
        self._row_hash = np.zeros(rows, dtype=np.uint64)
        self._row_leaves = np.empty((rows, len(self._codes)), dtype=np.int32)
        self.place = self._lattice.top
        for column, level in enumerate(self.place):
            self._row_hash ^= self._hashes[column][level][self._codes[column]]
            self._row_leaves[:, column] = self._leaves[column][level][self._codes[column]]

    def another(self) -> Trial:
        """A trial for another thread; what never changes is shared."""
        other = copy(self)
        other._begin()
        return other

    def look(self, node: Node) -> NodeEvaluation:
        """What a node would give."""
        table, class_of = self._classes(node)
        verdict = judge_table(table, self._models)
        rows = _kernels.rows_where(~verdict.satisfied, class_of, self._gone)
        gone = self._gone[:rows]
        suppressed = int(self._sizes[gone].sum())
        must_go = int(verdict.must_go.sum())
        score = self._measure.score_of(self._leaf_sums(node, gone, suppressed))
        return NodeEvaluation(node, score, suppressed, must_go)

    def move(self, node: Node) -> None:
        """Look from another node from now on: nodes near the place cost least."""
        for codes, change in self._changes(node):
            self._row_hash ^= change[codes]
        for column in self._changed(node):
            leaves = self._leaves[column][node[column]]
            self._row_leaves[:, column] = leaves[self._codes[column]]
        self.place = node

    def _changed(self, node: Node) -> list[int]:
        return [column for column, level in enumerate(self.place) if level != node[column]]

    def _changes(self, node: Node) -> list[tuple[NDArray[np.int32], NDArray[np.uint64]]]:
        """For each column that differs, the codes of its rows and what changes their hashes."""
        return [
            (
                self._codes[column],
                self._hashes[column][self.place[column]] ^ self._hashes[column][node[column]],
            )
            for column in self._changed(node)
        ]

    def _classes(self, node: Node) -> tuple[ClassTable, NDArray[np.int32]]:
        keys = self._row_hash
        changes = self._changes(node)
        nothing = np.zeros(1, dtype=np.uint64)
        column, change = changes[0] if changes else (self._codes[0], nothing)
        for codes, other in changes[1:]:
            keys = keys ^ other[codes]
        self._stamp += 1
        classes = _kernels.group_hashes(
            keys,
            column,
            change,
            self._sizes,
            self._slots,
            self._stamp,
            self._keys,
            self._counts,
            self._class_of,
        )
        none = np.empty((0, 1), dtype=np.uint64)
        table = self._base.merged(none, self._counts[:classes].copy(), self._class_of)
        return table, self._class_of

    def _leaf_sums(self, node: Node, gone: NDArray[np.int32], suppressed: int) -> list[int]:
        scale = self._measure.scale
        lost = _kernels.sum_rows(gone, self._sizes, self._row_leaves)
        for column in self._changed(node):
            codes, leaves = self._codes[column], self._leaves[column][node[column]]
            lost[column] = _kernels.leaves_at(gone, self._sizes, codes, leaves)
        return [
            scale.leaf_sums[column][level] - left + suppressed * scale.leaves[column]
            for column, (level, left) in enumerate(zip(node, lost.tolist(), strict=True))
        ]
