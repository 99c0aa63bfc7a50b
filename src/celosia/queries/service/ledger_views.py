"""What the service tells of the ledger: to analysts their own part, to curators all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from celosia.accounting.prices import Price
from celosia.core.work_folders import WorkFolder
from celosia.queries.ledger import Ledger
from celosia.queries.ledger.amounts import format_amount
from celosia.queries.policy.values import Policy
from celosia.queries.service.tokens import Token


def ledger_view(ledger: Ledger, policy: Policy, holder: Token, *, most: int) -> dict[str, Any]:
    """The ledger as a holder may see it, with the last charges; amounts as fractions.

    Raises:
        QueryRefused: CEL-Q109 the policy does not name the analyst.
    """
    if holder.role == "analyst":
        own = _account(ledger, holder.name)
        charges = ledger.history(holder.name)
    else:
        own = {"spent": _price(ledger.spent), "remaining": _price(ledger.remaining)}
        own["analysts"] = {name: _account(ledger, name) for name, _ in policy.analysts}
        charges = ledger.history()
    return own | {
        "head": str(ledger.head),
        "charges": [charge.as_dict() for charge in charges[-most:]],
        "left_out": max(0, len(charges) - most),
    }


def ledger_lines(ledger: Ledger) -> dict[str, Any]:
    """The whole chain, as `Ledger.export` writes it."""
    with WorkFolder() as folder:
        path = Path(folder, "ledger.jsonl")
        head = ledger.export(path)
        return {"head": str(head), "lines": path.read_text("ascii").splitlines()}


def _account(ledger: Ledger, analyst: str) -> dict[str, Any]:
    return {
        "spent": _price(ledger.spent_by(analyst)),
        "remaining": _price(ledger.remaining_of(analyst)),
    }


def _price(price: Price) -> dict[str, str | None]:
    return {
        name: None if amount is None else format_amount(amount)
        for name, amount in price.amounts.items()
    }
