"""User-level microaggregation of query logs: k persons share one log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.logs.arrays import people_per_item
from celosia.logs.log import Log
from celosia.logs.method import LogMethod, MethodResult
from celosia.logs.records.identifiers import holds_identifier

GROUP = "group"
COPIES = "persons"


@dataclass(frozen=True, kw_only=True)
class UserMicroaggregation(LogMethod):
    """Persons with similar queries form groups of at least k; a group publishes one common log.

    Groups are made by MDAV on the angle between the words of the persons' queries. The log of a
    group has the queries that at least `shared` of its persons asked, the most common first, as
    many as a person of the group has on average. It is published once, with the number of persons
    for whom it stands.

    Guarantee: user k-anonymity: the k persons of a group have the same published log, so that no
    set of published queries leads to fewer than k persons.

    Reference: Navarro-Arribas, Torra, Erola and Castella-Roca 2012.
    """

    method_name: ClassVar[str] = "user-microaggregation"

    k: int = parameter(least=2, start=5, is_main=True)
    shared: int = parameter(2, least=1)

    def promise(self) -> str:
        return Message("logs.promise.users", k=self.k)

    def leaves_open(self) -> tuple[str, ...]:
        gaps: list[str] = [Message("logs.open.group_query")]
        if self.shared == 1:
            gaps.append(Message("logs.open.single_query"))
        return tuple(gaps)

    def apply(self, log: Log, *, rng: Source, progress: Progress = silent) -> MethodResult[Log]:
        """The common logs of groups of persons.

        Raises:
            InputError: CEL-U010 no person or no query.
            PrivacyError: CEL-U040 fewer than k persons; CEL-U041 no query is shared.
        """
        codes, texts = log.queries
        _, people = np.unique(log.people, return_inverse=True)
        persons = int(people.max()) + 1
        if persons < self.k:
            raise PrivacyError("CEL-U040", k=self.k, count=persons)
        named = holds_identifier(texts)
        groups = mdav_by_angle(_word_vectors(people, codes, texts), self.k, progress)
        order = rng.permutation(int(groups.max()) + 1)
        groups = order[groups]
        chosen = _common_queries(people, codes, groups, self.shared, named)
        if not len(chosen):
            raise PrivacyError("CEL-U041", k=self.k)
        sizes = np.bincount(groups)
        column = log.declaration.columns["text"]
        frame = pl.DataFrame(
            {
                GROUP: chosen[:, 0] + 1,
                COPIES: sizes[chosen[:, 0]],
                column: texts.gather(chosen[:, 1]),
            }
        )
        made = replace(
            log,
            frame=frame,
            hidden=frozenset(),
            units=chosen[:, 0].astype(np.int32),
            copies=sizes[chosen[:, 0]],
        )
        facts: dict[str, Any] = {
            "groups": len(sizes),
            "smallest_group": int(sizes.min()),
            "queries_before": len(texts),
            "queries_after": int(np.unique(chosen[:, 1]).size),
        }
        return MethodResult(data=made, facts=facts)


def _word_vectors(people: NDArray[np.intp], codes: NDArray[np.int32], texts: pl.Series) -> Any:
    """The words of each person's queries as a sparse matrix of unit rows."""
    from scipy.sparse import csr_array, diags_array

    words = texts.str.split(" ").explode()
    word_codes = words.rank("dense").to_numpy().astype(np.int64) - 1
    lengths = texts.str.split(" ").list.len().to_numpy().astype(np.int64)
    owner = np.repeat(np.arange(len(texts)), lengths)
    shape = (len(texts), int(word_codes.max(initial=0)) + 1)
    by_query = csr_array((np.ones(len(owner)), (owner, word_codes)), shape=shape)
    size = (int(people.max()) + 1, len(texts))
    asked = csr_array((np.ones(len(codes)), (people, codes)), shape=size)
    found = csr_array(asked @ by_query)
    norms = np.sqrt(found.multiply(found).sum(axis=1))
    return csr_array(diags_array(1 / np.maximum(norms, 1e-300)) @ found)


def mdav_by_angle(vectors: Any, k: int, progress: Progress = silent) -> NDArray[np.int64]:
    """The group of each row: maximum distance to average, with groups of k to 2k - 1 rows.

    Reference: Domingo-Ferrer and Torra 2005, with the cosine in the place of the distance.
    """
    count = vectors.shape[0]
    groups = np.full(count, -1, dtype=np.int64)
    left = np.arange(count)
    number = 0

    def take(centre: Any) -> None:
        nonlocal left, number
        nearness = np.asarray(vectors[left] @ centre).reshape(-1)
        nearest = left[np.argsort(-nearness, kind="stable")[:k]]
        groups[nearest] = number
        number += 1
        left = left[groups[left] < 0]

    def farthest(centre: Any) -> int:
        nearness = np.asarray(vectors[left] @ centre).reshape(-1)
        return int(left[np.argmin(nearness)])

    while len(left) >= 3 * k:
        progress(Step(Message("logs.stage.groups"), count - len(left), count))
        mean = np.asarray(vectors[left].mean(axis=0)).reshape(-1)
        one = farthest(mean)
        row = vectors[[one]].toarray().reshape(-1)
        other = farthest(row)
        second = vectors[[other]].toarray().reshape(-1)
        take(row)
        take(second)
    if len(left) >= 2 * k:
        mean = np.asarray(vectors[left].mean(axis=0)).reshape(-1)
        take(vectors[[farthest(mean)]].toarray().reshape(-1))
    groups[left] = number
    return groups


def _common_queries(
    people: NDArray[np.intp],
    codes: NDArray[np.int32],
    groups: NDArray[np.int64],
    shared: int,
    named: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Rows (group, query) of the queries that a group publishes."""
    queries = len(named)
    keys = groups[people] * queries + codes
    distinct, places = np.unique(keys, return_inverse=True)
    held = people_per_item(people, places.reshape(-1), len(distinct))
    records = np.bincount(places.reshape(-1))
    group, query = np.divmod(distinct, queries)
    sizes = np.bincount(groups)
    mean = np.bincount(group, weights=held) / sizes[: int(group.max()) + 1]
    # The most persons first, then the most records; the last key sorts first.
    order = np.lexsort((query, -records, -held, group))
    rank = np.empty(len(order), dtype=np.int64)
    starts = np.searchsorted(group[order], group[order])
    rank[order] = np.arange(len(order)) - starts
    is_kept = (held >= np.minimum(shared, sizes[group])) & (rank < np.ceil(mean[group]))
    is_kept &= ~named[query]
    return np.stack([group[is_kept], query[is_kept]], axis=1)
