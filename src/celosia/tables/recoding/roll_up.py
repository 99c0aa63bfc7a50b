"""The equivalence classes of a node, made from those of a node that differs in one column.

Columns are raised in a fixed order, those with most values first, because they merge most. So a
node is reached through tables that other nodes share, and only the last steps are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.tables.recoding import _kernels
from celosia.tables.recoding.packing import PackedColumn

Node = tuple[int, ...]
"""A level for each quasi-identifier, in the order of the schema."""

KNOWN_CLASSES = 8_000_000
"""How many classes on the way to nodes are kept for the next ones: about 128 MB."""


@dataclass(frozen=True, slots=True)
class ClassTable:
    """The equivalence classes of a node before suppression: packed labels and sizes."""

    keys: NDArray[np.uint64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)


class RollUp:
    """Class tables of nodes over one base table, sharing the steps that lead to them."""

    def __init__(self, base: ClassTable, packed: Sequence[PackedColumn]):
        self._packed = packed
        self._order = sorted(range(len(packed)), key=lambda column: -packed[column].place.mask)
        self._known: dict[Node, ClassTable] = {(): base}
        self._room = KNOWN_CLASSES
        self._slots = np.zeros(_kernels.slots_for(base.sizes.size), dtype=np.int64)
        self._stamp = 0
        self._keys = np.empty_like(base.keys)
        self._sizes = np.empty_like(base.sizes)

    def table(self, node: Node) -> ClassTable:
        """The classes of a node."""
        levels = tuple(node[column] for column in self._order)
        depth = next(d for d in range(len(levels), -1, -1) if levels[:d] in self._known)
        table = self._known[levels[:depth]]
        for step in range(depth, len(levels)):
            if levels[step] > 0:
                table = self._raise(table, self._packed[self._order[step]], levels[step])
                # A whole node is asked for once; what leads to it is shared.
                if step + 1 < len(levels) and table.sizes.size <= self._room:
                    self._room -= table.sizes.size
                    self._known[levels[: step + 1]] = table
        return table

    def _raise(self, source: ClassTable, column: PackedColumn, level: int) -> ClassTable:
        """The classes once a column that is raw in `source` has gone to a level."""
        self._stamp += 1
        classes = _kernels.roll_up(
            source.keys,
            source.sizes,
            column.place.word,
            column.place.bit,
            column.place.mask,
            column.raised[level],
            self._slots,
            self._stamp,
            self._keys,
            self._sizes,
        )
        return ClassTable(self._keys[:classes].copy(), self._sizes[:classes].copy())
