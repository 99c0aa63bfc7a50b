"""The ledger: the durable, exact record of the budget that was spent on a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.accounting.ledger.budget import LedgerBudget
    from celosia.accounting.ledger.chain import Head
    from celosia.accounting.ledger.charges import Record, Request, Reservation, StoredAnswer
    from celosia.accounting.ledger.ledger import Ledger
    from celosia.accounting.ledger.store import Incident
    from celosia.accounting.ledger.terms import Ceilings
    from celosia.accounting.ledger.view import LedgerView, verify_export

__all__ = [
    "Ceilings",
    "Head",
    "Incident",
    "Ledger",
    "LedgerBudget",
    "LedgerView",
    "Record",
    "Request",
    "Reservation",
    "StoredAnswer",
    "verify_export",
]

__getattr__, __dir__ = on_first_use(__name__)
