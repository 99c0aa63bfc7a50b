"""The budget of a piece of work: every private release of its data is charged to one ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from celosia.studio.visitors import Work

if TYPE_CHECKING:
    from celosia.accounting.ledger import LedgerBudget

LEDGER = "budget.ledger"
FIRST = {"budget": 3.0, "budget_delta": 1e-4}
"""What all releases may cost together, unless the visitor says otherwise before the first."""


@contextmanager
def budget_of(
    work: Work, wanted: Mapping[str, Any], *, dataset: str, unit: str
) -> Iterator[LedgerBudget]:
    """The budget of a work: that of its ledger, which the first release begins.

    Raises:
        PrivacyError: CEL-Q103 a larger budget than the ledger stands for.
    """
    from celosia.accounting.ledger import LedgerBudget

    with LedgerBudget.begin(
        work.path(LEDGER),
        dataset=dataset,
        epsilon=float(wanted["budget"]),
        delta=float(wanted.get("budget_delta", 0)),
        unit=unit,
    ) as budget:
        yield budget


def left_of(budget: LedgerBudget) -> dict[str, float]:
    """What the budget still allows."""
    left = budget.remaining
    return {name: float(left[name] or 0) for name in ("epsilon", "delta")}
