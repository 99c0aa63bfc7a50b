"""Values that the ledger returns: reservations, stored answers, and lines of its history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from celosia.accounting.amounts import format_amount
from celosia.core.messages import say
from celosia.queries.ledger.amounts import format_fraction, parse_amount
from celosia.queries.ledger.chain import Entry, Head

Status = Literal["reserved", "sealed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A charge that is on disk: now, and only now, the data may be touched."""

    sequence: int
    hash: str
    key: str
    analyst: str
    epsilon: Fraction
    delta: Fraction

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, amounts as fractions."""
        return {
            "sequence": self.sequence,
            "hash": self.hash,
            "key": self.key,
            "analyst": self.analyst,
            "epsilon": format_fraction(self.epsilon),
            "delta": format_fraction(self.delta),
        }

    def __str__(self) -> str:
        amounts = _amounts(self.epsilon, self.delta)
        return say(
            "queries.ledger.reservation",
            sequence=self.sequence,
            amounts=amounts,
            analyst=self.analyst,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """An answer that was released, and may be given again for free."""

    answer: Any
    """The plain JSON values that were sealed."""
    reservation: int
    """The entry that was charged for it."""
    head: Head
    """The entry that holds the answer: what the release prints."""
    at: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "answer": self.answer,
            "reservation": self.reservation,
            "head": str(self.head),
            "at": self.at,
        }

    def __str__(self) -> str:
        return say("queries.ledger.answer", entry=self.reservation, at=self.at, head=str(self.head))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One charge with what became of it."""

    sequence: int
    analyst: str
    question: str
    epsilon: Fraction
    delta: Fraction
    at: str
    status: Status = "reserved"
    ended: str | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, amounts as fractions."""
        return {
            "sequence": self.sequence,
            "analyst": self.analyst,
            "question": self.question,
            "epsilon": format_fraction(self.epsilon),
            "delta": format_fraction(self.delta),
            "at": self.at,
            "status": self.status,
            "ended": self.ended,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        what = self.status + (f" ({self.reason})" if self.reason else "")
        spent = _amounts(self.epsilon, self.delta)
        return f"{self.sequence} {self.at} {self.analyst}: {self.question}: {spent}, {what}"


def read_stored_answer(entry: Entry) -> StoredAnswer:
    """The answer that a `sealed` entry holds."""
    values = entry.values()
    return StoredAnswer(
        answer=values["answer"],
        reservation=values["reservation"],
        head=entry.head,
        at=values["at"],
    )


def list_records(entries: Iterable[Entry], *, analyst: str | None) -> tuple[Record, ...]:
    """The charges of a chain in order, of one analyst or of all."""
    records: dict[int, Record] = {}
    for entry in entries:
        values = entry.values()
        kind, at = values["kind"], values["at"]
        if kind == "reserved" and analyst in {None, values["analyst"]}:
            records[entry.sequence] = Record(
                sequence=entry.sequence,
                analyst=values["analyst"],
                question=values["question"],
                epsilon=parse_amount(values["epsilon"]),
                delta=parse_amount(values["delta"]),
                at=at,
            )
        elif kind in {"sealed", "failed"} and values["reservation"] in records:
            begun = records[values["reservation"]]
            records[begun.sequence] = replace(
                begun, status=kind, ended=at, reason=values.get("reason")
            )
    return tuple(records.values())


def _amounts(epsilon: Fraction, delta: Fraction) -> str:
    key = "queries.ledger.epsilon_delta" if delta else "queries.ledger.epsilon"
    return say(key, epsilon=format_amount(epsilon), delta=format_amount(delta))
