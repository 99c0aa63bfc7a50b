"""The ledger: the durable, exact record of the budget that was spent on a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.queries.ledger.ceilings import Ceilings
    from celosia.queries.ledger.chain import Head
    from celosia.queries.ledger.exports import verify_export
    from celosia.queries.ledger.incidents import Incident
    from celosia.queries.ledger.ledger import Ledger
    from celosia.queries.ledger.records import Record, Reservation, StoredAnswer
    from celosia.queries.ledger.request import Request
    from celosia.queries.ledger.view import LedgerView

__all__ = [
    "Ceilings",
    "Head",
    "Incident",
    "Ledger",
    "LedgerView",
    "Record",
    "Request",
    "Reservation",
    "StoredAnswer",
    "verify_export",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "ceilings": ("Ceilings",),
        "chain": ("Head",),
        "exports": ("verify_export",),
        "incidents": ("Incident",),
        "ledger": ("Ledger",),
        "records": ("Record", "Reservation", "StoredAnswer"),
        "request": ("Request",),
        "view": ("LedgerView",),
    },
)
