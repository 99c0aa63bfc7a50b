"""All small sets of columns, each grouped by refining the groups of a smaller set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from celosia.assess.risk._kernels import refine

Subset = tuple[int, ...]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SubsetCounts:
    """Counts for one set of columns."""

    columns: Subset
    unique: int
    """Records that are alone."""
    classes: int
    minimal: Rows
    """Distinct rows that are alone here and on no part of the set."""


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """The rows that are not yet alone on a set of columns, with the group of each."""

    rows: Rows
    groups: NDArray[np.int32]
    alone: int


class Subsets:
    """The distinct rows of a coded table; equal records are one row with a weight."""

    def __init__(self, codes: list[NDArray[np.int32]], weights: NDArray[np.int64]):
        self._codes = codes
        self._weights = weights
        self.rows = weights.size
        self.row_of: NDArray[np.int32] = np.arange(self.rows, dtype=np.int32)
        """The distinct row of each record."""
        slots = 1 << max(4, (2 * self.rows - 1).bit_length())
        self._keys = np.empty(slots, dtype=np.int64)
        self._owners = np.full(slots, -1, dtype=np.int32)

    @classmethod
    def of(cls, codes: Sequence[NDArray[np.int32]], records: int) -> Subsets:
        """The lattice of a table given by codes, of which -1 is an empty cell."""
        shifted = [np.asarray(column, dtype=np.int32) + np.int32(1) for column in codes]
        whole = cls(shifted, np.ones(records, dtype=np.int64))
        row_of = np.zeros(records, dtype=np.int32)
        weights = np.empty(0, dtype=np.int64)
        for column in shifted:
            row_of, weights = refine(row_of, column, whole._weights, whole._keys, whole._owners)
        first = np.empty(weights.size, dtype=np.int64)
        first[row_of[::-1]] = np.arange(records - 1, -1, -1)  # the first record of a row comes last
        merged = cls([column[first] for column in shifted], weights)
        merged.row_of = row_of
        return merged

    def walk(self, largest: int) -> Iterator[SubsetCounts]:
        """Every set of up to `largest` columns, smaller ones first.

        A row that is alone on a part of a set is so on the set, so sizes are walked one by one
        and the flags of one size tell what is minimal in the next.
        """
        before: dict[Subset, NDArray[np.uint8]] = {}
        everyone = _Groups(np.arange(self.rows), np.zeros(self.rows, dtype=np.int32), 0)
        for size in range(1, largest + 1):
            now: dict[Subset, NDArray[np.uint8]] = {}
            for looked, alone in self._descend((), everyone, size, before):
                if size < largest:
                    now[looked.columns] = np.packbits(alone, bitorder="little")
                yield looked
            before = now

    def _descend(
        self, prefix: Subset, held: _Groups, size: int, before: dict[Subset, NDArray[np.uint8]]
    ) -> Iterator[tuple[SubsetCounts, NDArray[np.bool_]]]:
        """The sets of one size that start with these columns."""
        start = prefix[-1] + 1 if prefix else 0
        for column in range(start, len(self._codes) - (size - len(prefix)) + 1):
            subset = (*prefix, column)
            weights = self._weights[held.rows]
            split, sizes = refine(
                held.groups, self._codes[column][held.rows], weights, self._keys, self._owners
            )
            single = sizes[split] == 1
            newly = held.rows[single]
            alone = held.alone + newly.size
            if len(subset) < size:
                rest = _Groups(held.rows[~single], split[~single], alone)
                yield from self._descend(subset, rest, size, before)
                continue
            minimal = newly
            for part in combinations(subset, size - 1) if size > 1 else ():
                minimal = minimal[~_flags(before[part], minimal)]
            flags = np.ones(self.rows, dtype=np.bool_)
            flags[held.rows[~single]] = False
            yield SubsetCounts(subset, alone, held.alone + sizes.size, minimal), flags


def _flags(bits: NDArray[np.uint8], rows: Rows) -> NDArray[np.bool_]:
    return np.asarray((bits[rows >> 3] >> (rows & 7).astype(np.uint8)) & 1, dtype=np.bool_)
