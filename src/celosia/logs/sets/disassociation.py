"""Disassociation: no item is altered; records are cut into chunks whose links are hidden.

Reference: Terrovitis, Liagouris, Mamoulis & Skiadopoulos 2012.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.logs.method import MethodResult, SetContext, SetMethod
from celosia.logs.sets.km_anonymity import MOST_KNOWN, check_count
from celosia.logs.sets.transactions import Transactions

Subrecord = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Some records: how many, their chunks of sub-records, and items whose records are not told."""

    records: int
    chunks: tuple[tuple[Subrecord, ...], ...]
    terms: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "records": self.records,
            "chunks": [[list(each) for each in chunk] for chunk in self.chunks],
            "terms": list(self.terms),
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Cluster:
        """The inverse of `as_dict`."""
        chunks = tuple(tuple(tuple(each) for each in chunk) for chunk in given["chunks"])
        return cls(int(given["records"]), chunks, tuple(given["terms"]))


@dataclass(frozen=True, eq=False)
class DisassociatedSets:
    """Clusters of records, in random order."""

    clusters: tuple[Cluster, ...] = field(repr=False)

    @property
    def count(self) -> int:
        """How many records there are."""
        return sum(each.records for each in self.clusters)

    def __repr__(self) -> str:
        return f"DisassociatedSets(clusters={len(self.clusters)}, count={self.count})"


@dataclass(frozen=True, kw_only=True)
class Disassociation(SetMethod[DisassociatedSets]):
    """Records in clusters, cut into chunks so that known items lead to no fewer than k records.

    Guarantee: for every set of up to m items that an attacker knows of a record, there is an
    original that could have led to the publication in which at least k records have the set.
    It promises that such an original exists, not that a guess is right with a chance of 1 / k.
    """

    method_name: ClassVar[str] = "disassociation"

    k: int = parameter(least=2, start=5, is_main=True)
    m: int = parameter(2, least=1, most=MOST_KNOWN, is_main=True)
    max_cluster: int = parameter(30, least=2)

    def promise(self) -> str:
        return Message("logs.promise.disassociation", k=self.k, m=self.m)

    def leaves_open(self) -> tuple[str, ...]:
        return (Message("logs.open.cover"), Message("logs.open.more_items", m=self.m))

    def apply(
        self,
        data: Transactions,
        context: SetContext,
        *,
        rng: Source,
        progress: Progress = silent,
    ) -> MethodResult[DisassociatedSets]:
        """Split the records into clusters of at least k, and each cluster into chunks.

        Raises:
            PrivacyError: CEL-U040 fewer than k transactions.
        """
        check_count(data, self.k)
        rows = [[data.labels[item] for item in row] for row in data.rows()]
        clusters: list[Cluster] = []
        for members in _horizontal(data, self.k, max(self.max_cluster, 2 * self.k)):
            progress(Step(Message("logs.stage.clusters"), len(clusters)))
            clusters.append(_vertical([rows[one] for one in members], self.k, self.m, rng))
        order = rng.permutation(len(clusters))
        made = DisassociatedSets(tuple(clusters[place] for place in order))
        hidden = sum(len(each.terms) for each in clusters)
        facts = {
            "clusters": len(clusters),
            "chunks": sum(len(each.chunks) for each in clusters),
            "terms": hidden,
        }
        return MethodResult(data=made, facts=facts)


def _horizontal(data: Transactions, k: int, most: int) -> Iterator[list[int]]:
    """Clusters of similar records: split on the most frequent item that was not yet used.

    No part is smaller than k: a record with an item that only its cluster has would be known to be
    one of fewer.
    """
    waiting: list[tuple[NDArray[np.int64], frozenset[int]]] = [(np.arange(data.count), frozenset())]
    lengths = np.diff(data.offsets)
    while waiting:
        members, used = waiting.pop()
        if len(members) < most:
            yield members.tolist()
            continue
        sizes = lengths[members]
        ends = np.cumsum(sizes)
        places = np.arange(int(sizes.sum())) + np.repeat(
            data.offsets[members] - ends + sizes, sizes
        )
        items = data.items[places]
        counts = np.bincount(items, minlength=len(data.labels))
        counts[list(used)] = 0
        counts[(counts < k) | (counts > len(members) - k)] = 0
        item = int(np.argmax(counts)) if counts.size else 0
        if not counts.size or counts[item] == 0:
            yield members.tolist()
            continue
        has = np.zeros(len(members), dtype=bool)
        has[np.repeat(np.arange(len(members)), sizes)[items == item]] = True
        waiting.append((members[~has], used))
        waiting.append((members[has], used | {item}))


def _vertical(records: list[list[str]], k: int, m: int, rng: Source) -> Cluster:
    """One cluster: chunks of items that stay k^m-anonymous together, and the terms."""
    counts = Counter(item for record in records for item in record)
    ranked = sorted(counts, key=lambda item: (-counts[item], item))
    terms = [item for item in ranked if counts[item] < k]
    left = [item for item in ranked if counts[item] >= k]
    parts: list[list[str]] = []
    while left:
        chosen: list[str] = []
        later: list[str] = []
        for item in left:
            fits = not chosen or _fits(records, chosen, item, k, m)
            (chosen if fits else later).append(item)
        parts.append(chosen)
        left = later
    # Lemma 2 of the paper: with an empty term chunk, there must be enough sub-records for k
    # records to hold parts of several chunks. Otherwise the rarest item joins the terms.
    while parts and not terms and not _is_filled(records, parts, k, m):
        rarest = min(
            (item for part in parts for item in part), key=lambda item: (counts[item], item)
        )
        terms.append(rarest)
        parts = [kept for part in parts if (kept := [each for each in part if each != rarest])]
    chunks = tuple(tuple(_projected(records, part, rng)) for part in parts)
    return Cluster(len(records), chunks, tuple(sorted(terms)))


def _fits(records: list[list[str]], chosen: list[str], item: str, k: int, m: int) -> bool:
    """Whether a k^m-anonymous chunk stays so with one more item."""
    inside = set(chosen)
    found: Counter[tuple[str, ...]] = Counter()
    for record in records:
        if item in record:
            others = [each for each in record if each in inside]
            for size in range(1, min(m - 1, len(others)) + 1):
                found.update(combinations(others, size))
    return all(count >= k for count in found.values())


def _is_filled(records: list[list[str]], parts: list[list[str]], k: int, m: int) -> bool:
    total = sum(
        any(item in part for item in record) for part in map(set, parts) for record in records
    )
    return total >= len(records) + k * (min(m, len(parts)) - 1)


def _projected(records: list[list[str]], part: list[str], rng: Source) -> list[Subrecord]:
    """The non-empty sub-records of a chunk, in an order that tells nothing."""
    inside = set(part)
    found = [
        kept for record in records if (kept := tuple(sorted(x for x in record if x in inside)))
    ]
    return [found[place] for place in rng.permutation(len(found))]
