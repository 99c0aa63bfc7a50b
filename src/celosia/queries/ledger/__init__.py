"""The ledger: what was spent of a data set, durable, exact, and never more than was promised."""

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
