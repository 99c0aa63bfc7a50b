"""Ledgers and requests as the tests need them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from celosia.accounting.ledger import Ledger, Request, Reservation

TENTH = Fraction(1, 10)


def opened(place: str | Path, *, total: Any = (1, 0), **changes: Any) -> Ledger:
    """A ledger of the data set of the tests."""
    terms: dict[str, Any] = {"dataset": "shop", "policy_hash": "p1", "total": total}
    return Ledger.open(place, **(terms | changes))


def asking(question: str, epsilon: Any = TENTH, **changes: Any) -> Request:
    """A request of Ada."""
    given: Mapping[str, Any] = {"analyst": "ada", "question": question, "epsilon": epsilon}
    return Request(**{**given, **changes})


def reserved(ledger: Ledger, request: Request) -> Reservation:
    """A reservation, and not an answer from before."""
    found = ledger.reserve(request)
    assert isinstance(found, Reservation)
    return found
