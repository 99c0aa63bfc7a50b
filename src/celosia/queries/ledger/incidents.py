"""Incidents while questions were answered: late and failed ones, for the curator only.

How long a question runs, and whether it fails, may depend on the rows. So an incident is no entry
of the chain, which analysts see in part and whose head every release prints: it is a row of a table
beside the chain.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import say

EXCEEDED_DEADLINE = "exceeded-deadline"
"""The question was not answered by its deadline."""
FAILED_QUERY = "failed-query"
"""The database failed while the question was answered."""
COUNTED_KINDS = frozenset({EXCEEDED_DEADLINE, FAILED_QUERY})
"""The kinds that count against `exceeded_per_day`: both are answered by noise on zero, which may
tell that the question was too much for the rows."""

_KIND = re.compile(r"[a-z0-9-]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One incident: when, who had asked, the entry that was charged, and what happened."""

    at: str
    """In universal time, as ISO 8601."""
    analyst: str
    entry: int
    kind: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return say("queries.ledger.incident", **asdict(self))


def check_kind(kind: object) -> None:
    """Refuse a kind that is not a short word: a message may hold values of the data.

    Raises:
        InputError: CEL-Q303.
    """
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise InputError("CEL-Q303", example=EXCEEDED_DEADLINE)


def day_of(at: str) -> str:
    """The day of a time in universal time.

    >>> print(day_of("2026-03-01T23:59:59+00:00"))
    2026-03-01
    """
    return at[:10]


def now_in_utc() -> datetime:
    """The clock of a ledger."""
    return datetime.now(UTC)
