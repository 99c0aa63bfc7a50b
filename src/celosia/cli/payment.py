"""Who pays for a private release: the option `--ledger`, and the budget that it opens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.cli.addresses import resolve_address
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.accounting.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """The ledger that a private release is charged to."""

    ledger: Annotated[
        str | None,
        "PLACE",
        "Charge the release to the budget of this ledger, before the data is touched; begun by "
        "celosia ledger declare.",
    ] = None

    @contextmanager
    def budget(self, epsilon: float | None) -> Iterator[Budget | None]:
        """The budget, which is asked once before any data is read; None where nobody pays.

        Args:
            epsilon: what the release will cost.

        Raises:
            InputError: CEL-Q207 there is no ledger.
            BudgetExceeded: CEL-Q110 it does not fit; no data was read.
        """
        if self.ledger is None:
            yield None
            return
        from celosia.accounting.amounts import epsilon_amount
        from celosia.accounting.ledger import LedgerBudget
        from celosia.accounting.losses import PureLoss

        with LedgerBudget.open(resolve_address(self.ledger)) as budget:
            if epsilon is not None and budget.allowance.filter == "basic":
                budget.check(PureLoss(epsilon_amount(epsilon)))
            yield budget
            head = budget.ledger.head
            console.note(say("cli.ledger.charged", left=budget.remaining, head=head))
