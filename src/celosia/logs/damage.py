"""Lines, records and values that cannot be used: how many, by the reason, and the first of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from celosia.core.errors import InputError

DamagedRecords = Literal["refuse", "drop"]
"""What happens to a log with damaged records: it is refused, or they are dropped and counted."""

_CODES = {
    "bad_encoding": "CEL-U014.encoding",
    "no_person": "CEL-U014.person",
    "no_text": "CEL-U014.query",
    "long_text": "CEL-U014.long",
    "times_unread": "CEL-U014.time",
    "ip_unread": "CEL-U014.ip",
    "url_unread": "CEL-U014.url",
    "referrer_unread": "CEL-U014.url",
}
"""The error of each reason; lines that no access log has are counted and never refused."""


@dataclass(slots=True)
class Damage:
    """What was found damaged, over the blocks of a file."""

    counts: dict[str, int] = field(default_factory=dict)
    firsts: dict[str, int] = field(default_factory=dict)
    """The first line or record of each reason, from 1."""
    before: int = 0
    """Lines or records of earlier blocks."""

    def add(self, reason: str, is_damaged: pl.Series) -> None:
        """Count what is damaged in a block."""
        count = int(is_damaged.sum())
        if count:
            self.counts[reason] = self.counts.get(reason, 0) + count
            place = is_damaged.arg_max()
            self.firsts.setdefault(reason, self.before + 1 + (place or 0))

    def check(self, damaged: DamagedRecords) -> None:
        """Refuse what was found, where it is not to be dropped.

        Raises:
            InputError: CEL-U014 something is damaged.
        """
        if damaged == "refuse":
            for reason, code in _CODES.items():
                if reason in self.counts:
                    raise InputError(code, count=self.counts[reason], row=self.firsts[reason])


def together(*parts: Damage) -> Mapping[str, int]:
    """The counts of several parts, by the reason."""
    found: dict[str, int] = {}
    for part in parts:
        for reason, count in part.counts.items():
            found[reason] = found.get(reason, 0) + count
    return found
