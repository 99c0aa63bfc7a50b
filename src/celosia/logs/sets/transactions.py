"""Transactions: sets of items, as two arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from celosia.logs.arrays import distinct


@dataclass(frozen=True, eq=False)
class Transactions:
    """Sets of items; the items of transaction i are items[offsets[i]:offsets[i + 1]], sorted.

    >>> Transactions.of([["b", "a", "b"], ["c"]]).sets()
    [('a', 'b'), ('c',)]
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    labels: tuple[str, ...] = field(repr=False)
    """What each item is called, by its number."""
    unread: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, sets: Iterable[Iterable[str]]) -> Self:
        """Transactions of texts; an item that is named twice counts once."""
        number: dict[str, int] = {}
        owners: list[int] = []
        items: list[int] = []
        count = 0
        for count, each in enumerate(sets, 1):
            for item in each:
                owners.append(count - 1)
                items.append(number.setdefault(item, len(number)))
        labels = sorted(number)
        place = np.empty(len(labels), dtype=np.int32)
        place[[number[label] for label in labels]] = np.arange(len(labels), dtype=np.int32)
        codes = place[np.array(items, dtype=np.int64)] if items else np.empty(0, np.int32)
        return cls.from_pairs(np.array(owners, np.int64), codes, tuple(labels), count=count)

    @classmethod
    def from_pairs(
        cls,
        owners: NDArray[np.integer],
        items: NDArray[np.integer],
        labels: tuple[str, ...],
        *,
        count: int | None = None,
    ) -> Self:
        """The distinct items of each owner, in the order of their numbers."""
        size = max(1, len(labels))
        pairs = distinct(owners.astype(np.int64) * size + items)
        who, what = np.divmod(pairs, size)
        if count is None:  # numbers of owners may have gaps; transactions do not
            # Sorted already: the number of an owner is how many others came before.
            who = np.cumsum(np.diff(who, prepend=who[:1]) > 0)
            count = int(who[-1]) + 1 if len(who) else 0
        offsets = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(who, minlength=count), out=offsets[1:])
        return cls(offsets, what.astype(np.int32), labels)

    @property
    def count(self) -> int:
        """How many transactions there are."""
        return len(self.offsets) - 1

    @property
    def owners(self) -> NDArray[np.int64]:
        """The transaction of each occurrence."""
        return np.repeat(np.arange(self.count), np.diff(self.offsets))

    @property
    def supports(self) -> NDArray[np.int64]:
        """How many transactions have each item."""
        return np.bincount(self.items, minlength=len(self.labels))

    def first_with(self, items: NDArray[np.integer]) -> int:
        """The number of the first transaction, from 1, that has one of the items."""
        place = int(np.isin(self.items, items).argmax())
        return int(np.searchsorted(self.offsets, place, side="right"))

    def sets(self) -> list[tuple[str, ...]]:
        """The transactions as labels."""
        return [tuple(self.labels[item] for item in each) for each in self.rows()]

    def rows(self) -> Iterator[list[int]]:
        """The transactions as numbers of items."""
        items, ends = self.items.tolist(), self.offsets.tolist()
        for start, end in itertools.pairwise(ends):
            yield items[start:end]

    def recoded(self, node_of: NDArray[np.integer], labels: tuple[str, ...]) -> Self:
        """Each item replaced by another; equal ones count once, those below 0 are left out."""
        new = node_of[self.items]
        is_kept = new >= 0
        found = type(self).from_pairs(self.owners[is_kept], new[is_kept], labels, count=self.count)
        return replace(found, unread=self.unread)

    def taken(self, members: NDArray[np.integer]) -> Self:
        """Some of the transactions, in the order in which they are named."""
        lengths = np.diff(self.offsets)[members]
        offsets = np.zeros(len(members) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        places = np.repeat(self.offsets[members] - offsets[:-1], lengths)
        places += np.arange(int(offsets[-1]))
        return replace(self, offsets=offsets, items=self.items[places])

    def __repr__(self) -> str:
        return f"Transactions(count={self.count}, items={len(self.labels)})"
