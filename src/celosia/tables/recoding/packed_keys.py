"""Quasi-identifier values packed into machine words, and the tables that move them up a level.

Each column takes as many bits as its values in the data need, within one word; a key has as many
words as the columns need, so that no table is too wide. Codes at a higher level are smaller numbers
in the same bits: going up rewrites a few bits and touches nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.tables.hierarchies import Hierarchy
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

    def raise_in_place(self, keys: NDArray[np.uint64], level: int) -> None:
        """Take this column from level 0 to `level` in every key."""
        rest = ~(np.uint64(self.place.mask) << np.uint64(self.place.bit))
        raised = self.step(0, level)[self.place.codes(keys)]
        keys[:, self.place.word] = (keys[:, self.place.word] & rest) | raised


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
