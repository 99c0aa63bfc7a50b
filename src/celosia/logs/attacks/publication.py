"""Published sets as an attacker reads them: how many records hold some items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from celosia.logs.attacks.unicity import Postings
from celosia.logs.sets.disassociation import DisassociatedSets, Subrecord
from celosia.logs.sets.item_tree import ItemTree, chains_of
from celosia.logs.sets.transactions import Transactions


class Publication(ABC):
    """Published sets, read with the same chance for each original that could have led to them."""

    @abstractmethod
    def expected(self, items: Iterable[str]) -> float:
        """How many records hold all of some items, on average."""

    @abstractmethod
    def is_gone(self, item: str) -> bool:
        """Whether an item is nowhere: an attacker sees that it was removed."""


class GeneralisedSets(Publication):
    """Transactions whose items may be groups; each item of a group is as likely as the others."""

    def __init__(self, made: Transactions, tree: ItemTree | None = None) -> None:
        order = np.argsort(made.items, kind="stable")
        ends = np.searchsorted(made.items[order], np.arange(len(made.labels) + 1))
        owners = made.owners[order]
        self._holders = {
            label: owners[ends[node] : ends[node + 1]]
            for node, label in enumerate(made.labels)
            if ends[node + 1] > ends[node]
        }
        self._chains = chains_of(tree)
        self.count = made.count

    def holders(self, item: str) -> Iterator[tuple[NDArray[np.int64], int]]:
        """The transactions with the item or a group of it, and how many items each stands for."""
        for label, size in self._chains.get(item, [(item, 1)]):
            if label in self._holders:
                yield self._holders[label], size

    def expected(self, items: Iterable[str]) -> float:
        chance = np.ones(self.count)
        for item in items:
            one = np.zeros(self.count)
            for owners, size in self.holders(item):
                one[owners] = np.maximum(one[owners], 1 / size)
            chance *= one
        return float(chance.sum())

    def is_gone(self, item: str) -> bool:
        return next(self.holders(item), None) is None

    def postings(self, labels: Iterable[str]) -> Postings:
        """For each item of the original the transactions that may hold it."""
        names = list(labels)
        found = [
            (item, owners) for item, name in enumerate(names) for owners, _ in self.holders(name)
        ]
        empty = np.empty(0, dtype=np.int64)
        postings = Postings.of(
            np.concatenate([empty, *(np.full(len(units), item) for item, units in found)]),
            np.concatenate([empty, *(units for _, units in found)]),
            count=len(names),
        )
        return Postings(postings.starts, postings.units, self.count, None, postings.is_gone)


class ChunkedSets(Publication):
    """Disassociated records; chunks are joined at random, and a term belongs to one record."""

    def __init__(self, release: DisassociatedSets) -> None:
        self._records = [cluster.records for cluster in release.clusters]
        self._where: dict[str, dict[int, tuple[int, int]]] = {}
        """For each item, the clusters that have it: in which chunk, and in which rows of it (the
        bits of a number). Terms are in no chunk."""
        self._sizes: list[int | None] = []
        """For each chunk the records its rows may belong to; None: those of its cluster."""
        for place, cluster in enumerate(release.clusters):
            for item in cluster.terms:
                self._where.setdefault(item, {})[place] = (-1, 0)
            for chunk in cluster.chunks:
                self._add(chunk, [place], None)
        for each in release.shared:
            self._add(each.chunk, each.clusters, sum(self._records[one] for one in each.clusters))

    def _add(self, chunk: tuple[Subrecord, ...], places: Iterable[int], size: int | None) -> None:
        rows: dict[str, int] = {}
        for number, row in enumerate(chunk):
            for item in row:
                rows[item] = rows.get(item, 0) | 1 << number
        for item, bits in rows.items():
            for place in places:
                self._where.setdefault(item, {})[place] = (len(self._sizes), bits)
        self._sizes.append(size)

    def _matches(self, items: Iterable[str]) -> Iterator[tuple[int, list[tuple[int, int]], int]]:
        """The clusters that have all the items.

        Of each: the rows of its chunks that have theirs (chunk, count), and how many of the items
        are terms.
        """
        where = [self._where.get(item, {}) for item in items]
        for place in set.intersection(*map(set, where)) if where else range(len(self._records)):
            rows: dict[int, int] = {}
            terms = 0
            for each in where:
                chunk, bits = each[place]
                if chunk < 0:
                    terms += 1
                else:
                    rows[chunk] = rows.get(chunk, bits) & bits
            yield place, [(chunk, bits.bit_count()) for chunk, bits in rows.items()], terms

    def expected(self, items: Iterable[str]) -> float:
        total = 0.0
        for place, rows, terms in self._matches(items):
            records = self._records[place]
            share = (1 / records) ** terms
            for chunk, count in rows:
                share *= count / (self._sizes[chunk] or records)
            total += records * share
        return total

    def most(self, items: Iterable[str]) -> int:
        """How many records may hold all of some items; how often a term occurs is not told."""
        return sum(
            min([self._records[place], *(count for _, count in rows)])
            for place, rows, _terms in self._matches(items)
        )

    def is_gone(self, item: str) -> bool:
        return item not in self._where


def publication_of(
    made: Transactions | DisassociatedSets, tree: ItemTree | None = None
) -> GeneralisedSets | ChunkedSets:
    """Published sets, as an attacker reads them."""
    if isinstance(made, DisassociatedSets):
        return ChunkedSets(made)
    return GeneralisedSets(made, tree)
