"""The equivalence classes of a node, made from those of the smallest known node below it.

A class table at a node is a coarsening of that of any node below, so its cost falls from records to
the classes of the nearest node that was looked at before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.tables.hierarchies import Hierarchy
from celosia.tables.models import FullHistogram, Histogram
from celosia.tables.models.units import UnitValues
from celosia.tables.recoding import _kernels

WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class BitField:
    """Where a column's code lies in a key."""

    word: int
    bit: int
    mask: int

    def codes(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The column's code in every key."""
        return ((keys[:, self.word] >> np.uint64(self.bit)) & np.uint64(self.mask)).astype(np.int64)


class PackedColumn:
    """One column of the keys: its place, and its codes at every level of its hierarchy.

    Only leaves that occur in the data get a code; that keeps keys short.
    """

    def __init__(self, hierarchy: Hierarchy, present: NDArray[np.int64], place: BitField):
        self.place = place
        self.codes: list[NDArray[np.int64]] = []
        """For each level: raw code -> code there."""
        self.leaves: list[NDArray[np.int64]] = []
        """For each level: code there -> how many leaves of the whole hierarchy have that label."""
        self._steps: dict[tuple[int, int], NDArray[np.uint64]] = {}
        for level in range(hierarchy.levels):
            _, first, codes = np.unique(
                hierarchy.nodes[level][present], return_index=True, return_inverse=True
            )
            self.codes.append(codes)
            self.leaves.append(hierarchy.leaves_under(level)[present[first]])

    def step(self, old: int, new: int) -> NDArray[np.uint64]:
        """Code at one level -> code at a higher one, already shifted into place."""
        if (old, new) not in self._steps:
            table = np.zeros(self.leaves[old].size, dtype=np.uint64)
            table[self.codes[old]] = self.codes[new].astype(np.uint64) << np.uint64(self.place.bit)
            self._steps[old, new] = table
        return self._steps[old, new]


def lay_out(cardinalities: Sequence[int]) -> tuple[list[BitField], int]:
    """A place for each column, given its number of values; and the number of words.

    >>> places, words = lay_out([5, 100])
    >>> places[1], words
    (BitField(word=0, bit=3, mask=127), 1)
    """
    places: list[BitField] = []
    word = bit = 0
    for cardinality in cardinalities:
        bits = max(1, (cardinality - 1).bit_length())
        if bit + bits > WORD_BITS:
            word, bit = word + 1, 0
        places.append(BitField(word, bit, (1 << bits) - 1))
        bit += bits
    return places, word + 1


def pack(
    columns: Sequence[NDArray[np.int32]],
    present: Sequence[NDArray[np.int64]],
    places: Sequence[BitField],
    words: int,
) -> NDArray[np.uint64]:
    """One key per row from each column's leaves; `present` lists the leaves that occur in it."""
    keys = np.zeros((columns[0].size, words), dtype=np.uint64)
    for leaf_of_row, leaves, place in zip(columns, present, places, strict=True):
        table = np.zeros(int(leaves[-1]) + 1, dtype=np.uint64)
        table[leaves] = np.arange(leaves.size, dtype=np.uint64) << np.uint64(place.bit)
        _kernels.pack_column(keys[:, place.word], leaf_of_row, table)
    return keys


Node = tuple[int, ...]
"""A level for each quasi-identifier, in the order of the schema."""

KNOWN_CLASSES = 8_000_000
"""How many classes of nodes seen before are kept for the next ones: about 128 MB."""

FEW_CLASSES = 4000
"""Tables up to this size are raised in one go; from larger ones, half-way tables are worth it."""


@dataclass(frozen=True, slots=True)
class ClassTable:
    """The equivalence classes of a node before suppression, numbered by first appearance."""

    keys: NDArray[np.uint64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    histograms: tuple[Histogram, ...] = ()
    population: NDArray[np.int64] | None = field(default=None, repr=False)
    units: tuple[UnitValues, ...] | None = field(default=None, repr=False)
    """Where units are counted: the first histogram is of the units, the others are of pairs of unit
    and value, which mean this. Sizes are then weights (see `tables.units`)."""

    @property
    def weight(self) -> int:
        """How much room the table takes, in classes of one word each."""
        entries = sum(each.weight for each in self.histograms)
        return int(self.sizes.size * self.keys.shape[1] + entries)

    @property
    def plain(self) -> bool:
        """Whether nothing but records is counted."""
        return not self.histograms and self.population is None and self.units is None

    def merged(
        self, keys: NDArray[np.uint64], sizes: NDArray[np.int64], class_of: NDArray[np.int32]
    ) -> ClassTable:
        """The table once each class has become part of a new one, of known key and size."""
        population = self.population
        return ClassTable(
            keys,
            sizes,
            tuple(merge_histogram(each, class_of, sizes.size) for each in self.histograms),
            None if population is None else _kernels.add_up(class_of, population, sizes.size),
            self.units,
        )


class RollUp:
    """Class tables of nodes over one base table."""

    def __init__(self, base: ClassTable, packed: Sequence[PackedColumn]):
        self._base, self._packed = base, packed
        self._order = sorted(range(len(packed)), key=lambda column: -packed[column].place.mask)
        self._slots = np.zeros(_kernels.slots_for(base.sizes.size), dtype=np.int64)
        self._stamp = 0
        self._keys = np.empty_like(base.keys)
        self._sizes = np.empty_like(base.sizes)
        self._known: list[ClassTable] = []
        self._by_node: dict[Node, ClassTable] = {}
        self._levels = np.zeros((64, len(packed)), dtype=np.int16)
        self._weights = np.zeros(64, dtype=np.int64)
        self._room = KNOWN_CLASSES + base.weight
        self._remember((0,) * len(packed), base)

    def table(self, node: Node) -> ClassTable:
        """The classes of a node."""
        if node in self._by_node:
            return self._by_node[node]
        known = self._nearest(node)
        source = self._known[known]
        below: Node = tuple(self._levels[known].tolist())
        rising = [column for column in self._order if node[column] > below[column]]
        if len(rising) > 1 and source.weight > FEW_CLASSES:
            half = set(rising[: len(rising) // 2])
            below = tuple(
                node[column] if column in half else level for column, level in enumerate(below)
            )
            source = self.table(below)
        table = self._raise(source, below, node)
        self._remember(node, table)
        return table

    def _nearest(self, node: Node) -> int:
        """Which known node at or below this one has the smallest table."""
        levels = np.array(node, dtype=np.int16)
        return int(_kernels.lightest_below(self._levels, self._weights, len(self._known), levels))

    def _remember(self, node: Node, table: ClassTable) -> None:
        weight = table.weight
        if weight > self._room:
            return
        count = len(self._known)
        if count == self._weights.size:
            self._levels = np.concatenate([self._levels, np.zeros_like(self._levels)])
            self._weights = np.concatenate([self._weights, np.zeros_like(self._weights)])
        self._levels[count] = node
        self._weights[count] = weight
        self._known.append(table)
        self._by_node[node] = table
        self._room -= weight

    def class_of_base(self, node: Node) -> NDArray[np.int32]:
        """For each row of the base table its class at a node, numbered as its table is."""
        class_of = np.arange(self._base.sizes.size, dtype=np.int32)
        if any(node):
            self._merge(self._base, (0,) * len(node), node, class_of)
        return class_of

    def _raise(self, source: ClassTable, below: Sequence[int], node: Node) -> ClassTable:
        whole = bool(source.histograms) or source.population is not None
        class_of = np.empty(source.sizes.size if whole else 0, dtype=np.int32)
        classes = self._merge(source, below, node, class_of)
        return source.merged(self._keys[:classes].copy(), self._sizes[:classes].copy(), class_of)

    def _merge(
        self, source: ClassTable, below: Sequence[int], node: Node, class_of: NDArray[np.int32]
    ) -> int:
        """Leave the classes of a node in the room for them, and say how many there are."""
        places, tables, start = [], [], 0
        for column, old, new in zip(self._packed, below, node, strict=True):
            if new > old:
                table = column.step(old, new)
                places.append((column.place.word, column.place.bit, column.place.mask, start))
                tables.append(table)
                start += table.size
        self._stamp += 1
        one_word = source.keys.shape[1] == 1
        kernel = _kernels.roll_up_word if one_word else _kernels.roll_up
        return int(
            kernel(
                source.keys[:, 0] if one_word else source.keys,
                source.sizes,
                np.array(places, dtype=np.uint64),
                np.concatenate(tables),
                self._slots,
                self._stamp,
                self._keys[:, 0] if one_word else self._keys,
                self._sizes,
                class_of,
            )
        )


def merge_histogram(histogram: Histogram, class_of: NDArray[np.int32], classes: int) -> Histogram:
    """The histogram once each class has become part of a new one."""
    if isinstance(histogram, FullHistogram):
        return histogram.merged(class_of, classes)
    return Histogram(
        histogram.column,
        *_kernels.merge_histograms(
            class_of,
            classes,
            histogram.starts,
            histogram.values,
            histogram.counts,
            histogram.column.totals.size,
        ),
    )
