"""Disassociation: no item is altered; records are cut into chunks whose links are hidden.

Reference: Terrovitis, Liagouris, Mamoulis & Skiadopoulos 2012.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import PlainValues, parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.logs.method import MethodResult, SetContext, SetMethod
from celosia.logs.sets.km_anonymity import MOST_KNOWN, check_count
from celosia.logs.sets.transactions import Transactions

Subrecord = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cluster(PlainValues):
    """Some records: how many, their chunks of sub-records, and items whose records are not told."""

    records: int
    chunks: tuple[tuple[Subrecord, ...], ...]
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedChunk(PlainValues):
    """Sub-records of several clusters, which do not tell of which cluster each is."""

    clusters: tuple[int, ...]
    """The places of the clusters."""
    chunk: tuple[Subrecord, ...]


@dataclass(frozen=True, eq=False, repr=False)
class DisassociatedSets(PlainValues):
    """Clusters of records, in random order, and chunks that several of them share."""

    clusters: tuple[Cluster, ...]
    shared: tuple[SharedChunk, ...] = ()

    def chunks(self) -> Iterator[tuple[Subrecord, ...]]:
        """The chunks of the clusters and the shared ones."""
        for cluster in self.clusters:
            yield from cluster.chunks
        for each in self.shared:
            yield each.chunk

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

    With `joint` of 2 or more, items that are too rare in each of so many neighbouring clusters, and
    frequent enough in all together, are linked in a chunk that the clusters share. Any of its
    sub-records may belong to any record of the clusters, and each cluster has k records: whatever
    else is known of a record, k of them can hold a known set of a shared chunk as well.
    """

    method_name: ClassVar[str] = "disassociation"

    k: int = parameter(least=2, start=5, is_main=True)
    m: int = parameter(2, least=1, most=MOST_KNOWN, is_main=True)
    max_cluster: int = parameter(30, least=2)
    joint: int = parameter(1, least=1, most=100)

    def promise(self) -> str:
        return Message("logs.promise.disassociation", k=self.k, m=self.m)

    def leaves_open(self) -> tuple[str, ...]:
        return (Message("logs.open.cover"), Message("logs.open.more_items", m=self.m))

    def apply(self, data: Transactions, context: SetContext) -> MethodResult[DisassociatedSets]:
        """Split the records into clusters of at least k, and each cluster into chunks.

        Raises:
            PrivacyError: CEL-U040 fewer than k transactions.
        """
        check_count(data, self.k)
        rows = [[data.labels[item] for item in row] for row in data.rows()]
        drafts: list[_Draft] = []
        for members in _horizontal(data, self.k, max(self.max_cluster, 2 * self.k)):
            context.progress(Step(Message("logs.stage.clusters"), len(drafts)))
            drafts.append(_vertical([rows[one] for one in members], self.k, self.m))
        order = context.rng.permutation(len(drafts))
        place = np.argsort(order)
        shared: list[SharedChunk] = []
        for start in range(0, len(drafts) if self.joint > 1 else 0, self.joint):
            group = drafts[start : start + self.joint]
            where = tuple(sorted(place[start : start + self.joint].tolist()))
            records = [record for draft in group for record in draft.records]
            for part in _shared_parts(group, self.k, self.m):
                chunk = tuple(_projected(records, part, context.rng))
                shared.append(SharedChunk(where, chunk))
        clusters = [draft.cluster(context.rng) for draft in drafts]
        made = DisassociatedSets(tuple(clusters[one] for one in order), tuple(shared))
        facts = {
            "clusters": len(clusters),
            "chunks": sum(len(each.chunks) for each in clusters),
            "shared_chunks": len(shared),
            "terms": sum(len(each.terms) for each in clusters),
        }
        return MethodResult(data=made, facts=facts)


@dataclass(slots=True)
class _Draft:
    """A cluster in the making."""

    records: list[list[str]]
    parts: list[list[str]]
    """The items of each chunk."""
    terms: set[str]

    def cluster(self, rng: Source) -> Cluster:
        """The cluster as it is published."""
        chunks = tuple(tuple(_projected(self.records, part, rng)) for part in self.parts)
        return Cluster(len(self.records), chunks, tuple(sorted(self.terms)))


def _horizontal(data: Transactions, k: int, most: int) -> Iterator[list[int]]:
    """Clusters of similar records: split on the most frequent item that was not yet used.

    No part is smaller than k: a record with an item that only its cluster has would be known to be
    one of fewer.
    """
    waiting: list[tuple[NDArray[np.int64], frozenset[int]]] = [(np.arange(data.count), frozenset())]
    while waiting:
        members, used = waiting.pop()
        if len(members) < most:
            yield members.tolist()
            continue
        part = data.taken(members)
        counts = part.supports
        counts[list(used)] = 0
        counts[(counts < k) | (counts > len(members) - k)] = 0
        item = int(np.argmax(counts)) if counts.size else 0
        if not counts.size or counts[item] == 0:
            yield members.tolist()
            continue
        has = np.zeros(len(members), dtype=bool)
        has[part.owners[part.items == item]] = True
        waiting.append((members[~has], used))
        waiting.append((members[has], used | {item}))


def _vertical(records: list[list[str]], k: int, m: int) -> _Draft:
    """One cluster: chunks of items that stay k^m-anonymous together, and the terms."""
    counts = Counter(item for record in records for item in record)
    ranked = sorted(counts, key=lambda item: (-counts[item], item))
    terms = {item for item in ranked if counts[item] < k}
    parts = _parts(records, [item for item in ranked if counts[item] >= k], k, m)
    # Lemma 2 of the paper: with an empty term chunk, there must be enough sub-records for k
    # records to hold parts of several chunks. Otherwise the rarest item joins the terms.
    while parts and not terms and not _is_filled(records, parts, k, m):
        rarest = min(
            (item for part in parts for item in part), key=lambda item: (counts[item], item)
        )
        terms.add(rarest)
        parts = [kept for part in parts if (kept := [each for each in part if each != rarest])]
    return _Draft(records, parts, terms)


def _parts(records: list[list[str]], left: list[str], k: int, m: int) -> list[list[str]]:
    """Items in chunks, each k^m-anonymous; the first takes what fits, the next what is left."""
    parts: list[list[str]] = []
    while left:
        chosen: list[str] = []
        later: list[str] = []
        for item in left:
            fits = not chosen or _fits(records, chosen, item, k, m)
            (chosen if fits else later).append(item)
        parts.append(chosen)
        left = later
    return parts


def _shared_parts(group: list[_Draft], k: int, m: int) -> list[list[str]]:
    """Terms of joint clusters that become shared chunks; they leave the terms of the clusters.

    An item that a chunk of one of the clusters has stays a term of the others. A cluster without
    terms must still have enough sub-records of its own: else its rarest item stays a term.
    """
    records = [record for draft in group for record in draft.records]
    inside = {item for draft in group for part in draft.parts for item in part}
    counts = Counter(item for record in records for item in record if item not in inside)
    chosen = {item for item, count in counts.items() if count >= k}
    for draft in group:
        if chosen >= draft.terms and not _is_filled(draft.records, draft.parts, k, m):
            chosen -= set(sorted(draft.terms, key=lambda item: (counts[item], item))[:1])
    for draft in group:
        draft.terms -= chosen
    return _parts(records, sorted(chosen, key=lambda item: (-counts[item], item)), k, m)


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
