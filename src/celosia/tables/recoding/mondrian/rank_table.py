"""The table as the kernels see it: records side by side as ranks, moved about as they are cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.tables.coded_table import CodedColumn
from celosia.tables.recoding.mondrian._plain_kernels import kernels_for
from celosia.tables.recoding.mondrian.axis import Axis, RangedAxis, TreeAxis, is_ranged

Nodes = NDArray[np.int64]
"""Stretches of the sheet, one a row: where it starts, and where it ends (not included)."""


def axis_of(column: CodedColumn) -> Axis:
    """The order of a column: by size for numbers and dates, along the hierarchy for others."""
    return RangedAxis(column) if is_ranged(column) else TreeAxis(column)


class RankTable:
    """All records as rows of ranks, in the smallest type that holds them.

    Args:
        columns: the quasi-identifiers.
        weights: how much the spread of each of them counts.
        relaxed: whether records with the same value may go to both sides of a cut.
        counts: how many records each row stands for, where the table was grouped before; no cut
            can then go through the records of a row.
    """

    def __init__(
        self,
        columns: Sequence[CodedColumn],
        weights: NDArray[np.float64],
        *,
        relaxed: bool,
        counts: NDArray[np.int64] | None = None,
    ):
        self.axes = tuple(axis_of(column) for column in columns)
        records = columns[0].leaf_of_row.size
        kind = np.min_scalar_type(max(axis.leaves for axis in self.axes) - 1)
        # Bytes would gain little over pairs of them, and each type is one more to compile.
        kind = max(kind, np.dtype(np.uint16))
        self.matrix: NDArray[Any] = np.empty((records, len(columns)), dtype=kind)
        self._kernels = kernels_for(self.matrix.size)
        for number, (column, axis) in enumerate(zip(columns, self.axes, strict=True)):
            table = axis.rank_of_leaf.astype(kind)
            self._kernels.fill(self.matrix, number, table, column.leaf_of_row)
        self.rows = np.arange(records, dtype=np.int32)
        """The row of the table that each row of the matrix came from."""
        self.firsts = np.zeros(records, dtype=np.bool_)
        """Whether a row is the first of its part."""
        self.firsts[:1] = True
        self._weights = weights
        self._relaxed = relaxed
        self.counts = np.empty(0, dtype=np.int64) if counts is None else counts
        """How many records each row of the table stands for; empty for one each."""
        self._facts, self._ancestors, self._under = _tables(self.axes)

    @property
    def records(self) -> int:
        """Number of rows, each of one record or more."""
        return self.rows.size

    def sizes(self, nodes: Nodes) -> NDArray[np.int64]:
        """The records of each node."""
        if self.counts.size == 0:
            return nodes[:, 1] - nodes[:, 0]
        before = np.append(0, np.cumsum(self.counts[self.rows]))
        sizes: NDArray[np.int64] = before[nodes[:, 1]] - before[nodes[:, 0]]
        return sizes

    def split_each(
        self, nodes: Nodes, skips: NDArray[np.int64], least: int
    ) -> tuple[Nodes, NDArray[np.int64], NDArray[np.int64]]:
        """Cut each node once; the parts, where each node's begin, and the turns taken for each."""
        return self._split(nodes, skips, False, least)

    def split_to_the_end(self, nodes: Nodes, least: int) -> None:
        """Cut each node until no part can be cut, and mark the first row of every part."""
        self._split(nodes, np.zeros(nodes.shape[0], dtype=np.int64), True, least)

    def bring_behind(self, parts: Nodes, behind: NDArray[np.bool_]) -> int:
        """Move some parts of a node behind its others; returns where they begin.

        `parts` are all of the node's, one after the other; those that stay get their new ends.
        """
        stretches = [np.arange(start, end) for start, end in parts]
        order = np.concatenate(
            [stretches[part] for late in (False, True) for part in np.flatnonzero(behind == late)]
        )
        start, end = int(parts[0, 0]), int(parts[-1, 1])
        self.matrix[start:end] = self.matrix[order]
        self.rows[start:end] = self.rows[order]
        sizes = (parts[:, 1] - parts[:, 0])[~behind]
        parts[~behind, 1] = start + np.cumsum(sizes)
        parts[~behind, 0] = parts[~behind, 1] - sizes
        return start + int(sizes.sum())

    def bounds(self) -> NDArray[np.int64]:
        """Where each part starts, and where the last one ends."""
        return np.append(np.flatnonzero(self.firsts), self.records)

    def ends(self, bounds: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The lowest and the highest rank of each part in each column."""
        shape = bounds.size - 1, len(self.axes)
        lowest, highest = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
        self._kernels.describe(self.matrix, bounds, lowest, highest)
        return lowest.astype(np.int32), highest.astype(np.int32)

    def _split(
        self, nodes: Nodes, skips: NDArray[np.int64], to_the_end: bool, least: int
    ) -> tuple[Nodes, NDArray[np.int64], NDArray[np.int64]]:
        columns = self.matrix.shape[1]
        # No part has fewer than `least` records, or no row.
        rows = (nodes[:, 1] - nodes[:, 0]) // (1 if self.counts.size else least)
        waiting = np.empty((1 + int(rows.sum()), 2), dtype=np.int64)
        begins = np.zeros(nodes.shape[0] + 1, dtype=np.int64)
        turns = np.full(nodes.shape[0], columns, dtype=np.int64)
        self._kernels.split(
            self.matrix, self.rows, self.counts, self.firsts, nodes, skips, to_the_end, least,
            self._relaxed, self._facts, self._weights, self._ancestors, self._under,
            self._kernels.scratch_for(max(axis.leaves for axis in self.axes)),
            np.empty((2, columns), dtype=np.int64), np.empty(columns), waiting, begins, turns,
        )  # fmt: skip
        return waiting[: begins[-1]], begins, turns


def _tables(
    axes: Sequence[Axis],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Facts of each column, and the trees of all columns one after the other."""
    facts, ancestors, under = [], [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int32)]
    start = 0
    for axis in axes:
        ordered = axis.ordered if isinstance(axis, RangedAxis) else axis.leaves
        facts.append((isinstance(axis, RangedAxis), ordered, axis.leaves, start))
        if isinstance(axis, TreeAxis):
            ancestors.append(axis.ancestors.reshape(-1))
            under.append(axis.leaves_under.reshape(-1).astype(np.int32))
            start += axis.ancestors.size
    return np.array(facts, dtype=np.int64), np.concatenate(ancestors), np.concatenate(under)
