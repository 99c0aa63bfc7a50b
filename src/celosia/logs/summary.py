"""A log in counts: how many persons, queries and records, and what thresholds would keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from celosia.core.messages import say, say_of
from celosia.core.methods import PlainValues
from celosia.core.randomness import Source
from celosia.logs.arrays import people_per_item
from celosia.logs.attacks.result import LogAttack
from celosia.logs.attacks.unicity import known_items
from celosia.logs.log import Log
from celosia.logs.readers import transactions_of

THRESHOLDS = (2, 5, 10, 20)
KNOWN = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class ThresholdRow(PlainValues):
    """What a threshold of k persons keeps."""

    k: int
    queries: int
    """Different queries that at least k persons asked."""
    records: float
    """The share of the records that have one of them."""
    wrong: int
    """Queries that a threshold over records would keep and fewer than k persons asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSummary(PlainValues):
    """Counts of a log; none of its values."""

    records: int
    persons: int | None
    queries: int | None
    largest_share: float | None
    """The share of the records that the most active person has."""
    thresholds: tuple[ThresholdRow, ...]
    attacks: tuple[LogAttack, ...]
    left_out: dict[str, int]

    def __str__(self) -> str:
        if self.persons is None:
            return say("logs.summary.only_records", records=self.records)
        return say_of("logs.summary.log", self, queries=0 if self.queries is None else self.queries)


def summarise(log: Log, *, rng: Source) -> LogSummary:
    """Describe a log in counts."""
    has_people = log.declaration.unit == "person" and log.declaration.person is not None
    has_items = log.item_role in log.declaration.columns
    if not has_people:
        return LogSummary(
            records=log.records,
            persons=None,
            queries=len(log.queries[1]) if has_items else None,
            largest_share=None,
            thresholds=(),
            attacks=(),
            left_out=dict(log.unread),
        )
    largest = float(np.bincount(log.people).max() / log.records)
    thresholds: tuple[ThresholdRow, ...] = ()
    attacks: tuple[LogAttack, ...] = ()
    if has_items:
        thresholds = threshold_rows(log)
        items = transactions_of(log)
        attacks = tuple(known_items(items, items=each, rng=rng) for each in KNOWN)
    return LogSummary(
        records=log.records,
        persons=log.persons,
        queries=len(log.queries[1]) if has_items else None,
        largest_share=largest,
        thresholds=thresholds,
        attacks=attacks,
        left_out=dict(log.unread),
    )


def threshold_rows(log: Log, ks: tuple[int, ...] = THRESHOLDS) -> tuple[ThresholdRow, ...]:
    """What thresholds of several sizes keep."""
    codes, texts = log.queries
    held = people_per_item(log.people, codes, len(texts))
    records = np.bincount(codes, minlength=len(texts))
    return tuple(
        ThresholdRow(
            k,
            int((held >= k).sum()),
            float(records[held >= k].sum() / log.records),
            int(((records >= k) & (held < k)).sum()),
        )
        for k in ks
    )
