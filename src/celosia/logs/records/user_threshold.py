"""Only queries that several persons asked: a threshold over persons, not over records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.logs.arrays import people_per_item
from celosia.logs.fields.times import parse_times, periods
from celosia.logs.log import Log
from celosia.logs.method import LogMethod, MethodResult
from celosia.logs.records.identifiers import holds_identifier


@dataclass(frozen=True, kw_only=True)
class UserThreshold(LogMethod):
    """Keep a record only if at least k different persons have its query in the period.

    Queries are compared in their normal form. A query that holds an identifier (an e-mail address,
    a card, a phone or identity number) is dropped whatever its support: many may look for one
    person.

    Guarantee: every published query was asked by at least k persons. It is a condition on queries:
    several queries of one pseudonym together may still be unique (Adar 2007).
    """

    method_name: ClassVar[str] = "user-threshold"

    k: int = parameter(least=2, start=5, is_main=True)
    period: Literal["whole", "month", "week", "day"] = parameter("whole")
    identifiers: Literal["drop", "drop-names", "keep"] = parameter("drop")

    def promise(self) -> str:
        return Message("logs.promise.threshold", k=self.k)

    def leaves_open(self) -> tuple[str, ...]:
        gaps: list[str] = [Message("logs.open.combinations"), Message("logs.open.counts")]
        if self.identifiers == "keep":
            gaps.append(Message("logs.open.identifiers"))
        return tuple(gaps)

    def apply(self, log: Log, *, rng: Source, progress: Progress = silent) -> MethodResult[Log]:
        """Drop the records of queries with too few persons.

        Raises:
            InputError: CEL-U010 no person, no query, or no time for a period.
            PrivacyError: CEL-U040 fewer than k persons; CEL-U041 no record is left.
        """
        progress(Step(self.method_name, 0))
        if log.persons < self.k:
            raise PrivacyError("CEL-U040", k=self.k, count=log.persons)
        codes, texts = log.queries
        keys = codes.astype(np.int64)
        if self.period != "whole":
            # Days that were floored before say no zone: they are those of the declared one.
            zoned = replace(log.declaration, zone=log.declaration.zone or "UTC")
            moments = parse_times(log.column("time"), zoned)
            when = periods(moments, self.period, log.declaration.zone)
            _, keys = np.unique(
                np.stack([codes.astype(np.int64), when], axis=1), axis=0, return_inverse=True
            )
            keys = keys.reshape(-1)
        count = int(keys.max(initial=-1)) + 1
        held = people_per_item(log.people, keys, count)
        is_kept = held[keys] >= self.k
        named = np.zeros(len(texts), dtype=bool)
        if self.identifiers != "keep" and log.item_role == "text":
            named = holds_identifier(texts, names=self.identifiers == "drop-names")
            is_kept &= ~named[codes]
        if not is_kept.any():
            raise PrivacyError("CEL-U041", k=self.k)
        records = np.bincount(keys, minlength=count)
        facts = {
            "queries_before": len(texts),
            "queries_after": int(np.unique(codes[is_kept]).size),
            "records_kept": int(is_kept.sum()),
            "share_of_records_kept": float(is_kept.mean()),
            "queries_with_identifiers": int(named.sum()),
            "kept_by_a_record_threshold_only": int(((records >= self.k) & (held < self.k)).sum()),
        }
        return MethodResult(data=log.kept(is_kept), facts=facts)
