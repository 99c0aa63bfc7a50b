"""What private mechanisms see of a log: the distinct keys of each person, at most so many."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.frames.codes import encode
from celosia.logs.arrays import distinct
from celosia.logs.log import Log
from celosia.logs.normalisation import normalise
from celosia.logs.sets.transactions import Transactions

Of = Literal["queries", "clicks", "query-clicks", "pairs"]
"""What is named: queries or items, addresses, queries with the address, or pairs of items."""

JOIN = " | "
"""Between the parts of a key that has two."""

MOST_ITEMS = 200
"""Items of a person of which pairs are made: a limit of each person by itself, not of the data."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyData:
    """The persons and the keys of records as numbers, and what the keys are called."""

    people: NDArray[np.int64]
    codes: NDArray[np.int64]
    labels: pl.Series = field(repr=False)

    @property
    def size(self) -> int:
        """How many different keys there are; private."""
        return len(self.labels)


def key_data(log: Log | Transactions, of: Of = "queries") -> KeyData:
    """The keys of a log, or of transactions: their items or pairs of items.

    Raises:
        InputError: CEL-U010 the log has no person, or not the fields that are named; CEL-U060 its
            unit is the record.
    """
    if isinstance(log, Transactions):
        if of not in ("queries", "pairs"):
            raise InputError("CEL-U010", role="url")
        items = KeyData(log.owners, log.items.astype(np.int64), pl.Series(log.labels))
        return _pairs(items) if of == "pairs" else items
    if log.declaration.unit != "person":
        raise InputError("CEL-U060")
    people = log.people.astype(np.int64)
    if of in ("queries", "pairs"):
        codes, labels = log.queries
        queries = KeyData(people, codes.astype(np.int64), labels)
        return _pairs(queries) if of == "pairs" else queries
    column = log.column("url").cast(pl.String)
    if of == "query-clicks":
        how = log.declaration.normalise
        texts = encode(log.column("text").cast(pl.String))
        forms = normalise(texts.values, how).gather(pl.Series(texts.codes))
        column = forms + JOIN + column  # missing where nothing was clicked
    coded = encode(column)
    is_there = coded.codes >= 0
    return KeyData(people[is_there], coded.codes[is_there].astype(np.int64), coded.values)


def _pairs(data: KeyData) -> KeyData:
    """Every pair of different items of a person; of very many items, of the first in their order.

    The order is that of the labels, so that it depends on nothing but the person's own items.
    """
    labels, count = data.labels, data.size
    found = distinct(data.people * count + data.codes)
    who, item = np.divmod(found, count)
    starts = np.flatnonzero(np.r_[True, who[1:] != who[:-1]])
    ends = np.r_[starts[1:], len(who)]
    people: list[NDArray[np.int64]] = []
    pairs: list[NDArray[np.int64]] = []
    for start, end in zip(starts.tolist(), np.minimum(ends, starts + MOST_ITEMS).tolist(),
                          strict=True):  # fmt: skip
        one, other = np.triu_indices(end - start, 1)
        mine = item[start:end]
        pairs.append(mine[one] * count + mine[other])
        people.append(np.full(len(one), who[start]))
    if not pairs:
        return KeyData(np.empty(0, np.int64), np.empty(0, np.int64), labels.clear())
    keys = np.concatenate(pairs)
    values = distinct(keys)
    left, right = np.divmod(values, count)
    names = labels.gather(left) + JOIN + labels.gather(right)
    return KeyData(np.concatenate(people), np.searchsorted(values, keys), names)


def bounded_pairs(
    data: KeyData, per_person: int, rng: Source
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """At most so many distinct keys of each person, chosen uniformly and for each independently.

    With the same coins two logs that differ in one person keep the same keys of everybody else;
    what holds for every outcome of the coins holds for their mixture. Repeated records of a person
    change nothing.
    """
    size = max(1, data.size)
    pairs = distinct(data.people * size + data.codes)
    who, what = np.divmod(pairs, size)
    if not len(who):
        return who, what
    starts = np.flatnonzero(np.r_[True, who[1:] != who[:-1]])
    if int(np.diff(np.r_[starts, len(who)]).max()) <= per_person:
        return who, what
    order = np.lexsort((rng.words(len(who)), who))
    first = np.repeat(starts, np.diff(np.r_[starts, len(who)]))
    is_kept = np.arange(len(who)) - first < per_person
    chosen = np.sort(order[is_kept])
    return who[chosen], what[chosen]
