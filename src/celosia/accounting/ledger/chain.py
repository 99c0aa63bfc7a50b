"""A chain of entries, each hashed together with the one before it.

The hash of an entry covers the hash of the entry before it, and so all entries up to it: to edit,
remove, insert or move one changes every later hash. The hash has no key, so whoever can write the
file could compute a whole new chain. What they cannot do is make that chain pass through a head
that a release has printed, since SHA-256 is collision resistant. This is why heads are printed,
and why `Ledger.open` and `verify` take one as `anchor`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import ceil
from typing import Any

from celosia.accounting.filters import Price
from celosia.core.errors import InputError, PrivacyError

STEPS = 720720 * 10**30
"""The resolution of charges. Decimals of 30 places and halves to sixteenths are exact.

Without a common denominator an analyst could make each sum slower than the last, by charges with
ever new denominators.
"""


def round_up_to_step(amount: Fraction) -> Fraction:
    """The least multiple of 1/STEPS that is not below an amount.

    >>> round_up_to_step(Fraction(1, 10)), round_up_to_step(Fraction(1, 3))
    (Fraction(1, 10), Fraction(1, 3))
    >>> round_up_to_step(Fraction(1, 10**99)) > 0
    True
    """
    return Fraction(ceil(amount * STEPS), STEPS)


def round_price_up(price: Price) -> Price:
    """Round each currency of a price up."""
    return Price(
        {
            name: None if amount is None else round_up_to_step(amount)
            for name, amount in price.amounts.items()
        }
    )


def format_fraction(amount: Fraction) -> str:
    """A fraction as `numerator/denominator`.

    >>> format_fraction(Fraction(0.5)), format_fraction(Fraction(2))
    ('1/2', '2/1')
    """
    return f"{amount.numerator}/{amount.denominator}"


def parse_amount(text: object) -> Fraction:
    """The fraction that a text stands for."""
    top, slash, bottom = text.partition("/") if isinstance(text, str) else ("", "", "")
    if not (slash and _digits(top) and _digits(bottom) and int(bottom)):
        raise PrivacyError("CEL-Q104.not_an_amount")
    return Fraction(int(top), int(bottom))


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


START = "0" * 64
"""The previous hash of the first entry."""
FORMAT = "celosia ledger 1"
"""Begins every hashed text, so that no hash of another format or purpose is one of an entry."""

_HEAD = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a chain; it commits to all entries before it.

    >>> Head.parse(f"7:{START}").sequence
    7
    """

    sequence: int
    hash: str

    @classmethod
    def parse(cls, text: str) -> Head:
        """Read what `str` wrote, as it is printed in a release.

        Raises:
            InputError: CEL-Q105 it is not the head of a ledger.
        """
        found = _HEAD.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise InputError("CEL-Q105")
        return cls(int(found[1]), found[2])

    def as_dict(self) -> dict[str, Any]:
        return {"sequence": self.sequence, "hash": self.hash}

    def __str__(self) -> str:
        return f"{self.sequence}:{self.hash}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as it is stored."""

    sequence: int
    previous: str
    body: str
    """Canonical JSON; the hash is of this very text."""
    hash: str

    @classmethod
    def create(cls, head: Head | None, values: dict[str, Any]) -> Entry:
        """The entry that follows a head, the first one for None."""
        sequence, previous = (0, START) if head is None else (head.sequence + 1, head.hash)
        body = canonical(values)
        return cls(sequence, previous, body, digest(sequence, previous, body))

    @property
    def head(self) -> Head:
        """The chain up to this entry."""
        return Head(self.sequence, self.hash)

    def follows(self, head: Head | None) -> bool:
        """Whether this is the entry after a head, unchanged since it was written."""
        sequence, previous = (0, START) if head is None else (head.sequence + 1, head.hash)
        return self.sequence == sequence and self.previous == previous and self.is_unchanged

    @property
    def is_unchanged(self) -> bool:
        """Whether the hash is that of what the entry says."""
        return self.hash == digest(self.sequence, self.previous, self.body)

    def values(self) -> dict[str, Any]:
        """The content of the entry."""
        found = json.loads(self.body)
        if not isinstance(found, dict):
            raise broken_chain_error(self.sequence)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, from which anybody can compute the hash again."""
        return {
            "sequence": self.sequence,
            "previous": self.previous,
            "body": self.body,
            "hash": self.hash,
        }


def canonical(values: object) -> str:
    """The one way to write plain values: keys in order, no spaces, ASCII only.

    The same values are the same text on every machine, and so have the same hash.

    >>> print(canonical({"b": 1, "a": [None, "x"]}))
    {"a":[null,"x"],"b":1}
    """
    return json.dumps(
        values, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def digest(sequence: int, previous: str, body: str) -> str:
    """SHA-256 of an entry and of all that came before it, which `previous` stands for.

    No part before the body can hold a line break, so two different entries are two different texts.
    """
    return sha256(f"{FORMAT}\n{sequence}\n{previous}\n{body}".encode()).hexdigest()


def check_chain(entries: Iterable[Entry], *, anchor: Head | None = None) -> Head | None:
    """The head of a whole chain, each link of which was checked.

    Raises:
        PrivacyError: CEL-Q104 an entry was edited, removed or moved; CEL-Q104 the chain does not
            hold the anchor.
    """
    # Whoever rewrites all entries can compute all hashes again: only a head that is known from
    # elsewhere, such as one printed in a release, shows it.
    head: Head | None = None
    met = anchor is None
    for entry in entries:
        if not entry.follows(head):
            raise broken_chain_error(0 if head is None else head.sequence + 1)
        head = entry.head
        met = met or head == anchor
    if not met:
        raise rollback_error()
    return head


def broken_chain_error(sequence: int) -> PrivacyError:
    """The refusal of a chain that was changed at an entry."""
    return PrivacyError("CEL-Q104.changed_entry", sequence=sequence)


def rollback_error() -> PrivacyError:
    """The refusal of a chain that lacks an entry known from elsewhere."""
    return PrivacyError("CEL-Q104.rolled_back")
