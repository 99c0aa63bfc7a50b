"""A privacy budget: an account that never exceeds its allowance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Any

from celosia.accounting.amounts import delta_amount
from celosia.accounting.explanation import Explanation, explain
from celosia.accounting.filters import Allowance, Price
from celosia.accounting.group_privacy import convert
from celosia.accounting.losses import Loss
from celosia.core.errors import BudgetExceeded, InputError
from celosia.core.messages import say
from celosia.core.methods import PlainValues
from celosia.core.neighbours import Neighbours


@dataclass(frozen=True, slots=True)
class Charge(PlainValues):
    """One entry of an account."""

    label: str
    loss: Loss
    """What the release cost, converted to the neighbours of the budget."""
    price: Price

    def __str__(self) -> str:
        return f"{self.label or say('accounting.budget.release')}: {self.price}"


@dataclass(frozen=True, slots=True)
class Statement:
    """What the charges of a budget amount to.

    Only the rule of the allowance was kept while the charges were made. The bounds are what the
    same charges would have cost as a list that was fixed beforehand: taking the least of them
    afterwards is no promise to people whose data were asked adaptively.
    """

    allowance: Allowance
    spent: Price
    remaining: Price
    fixed: Explanation | None
    """All bounds for a fixed list of the same charges; None before the first charge."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "allowance": self.allowance.as_dict(),
            "spent": self.spent.as_dict(),
            "remaining": self.remaining.as_dict(),
            "fixed": None if self.fixed is None else self.fixed.as_dict(),
        }

    def __str__(self) -> str:
        why = self.allowance.rule.why
        lines = [
            say("accounting.statement.promised", allowance=str(self.allowance), why=why),
            say("accounting.statement.spent", spent=self.spent),
            say("accounting.statement.left", left=self.remaining),
        ]
        if self.fixed is not None:
            lines += [say("accounting.statement.fixed"), str(self.fixed)]
        return "\n".join(lines)


class Budget:
    """An account of everything that is released about the same people.

    One budget may be charged by releases from several tables: whoever is in all of them is
    protected by the total (the adaptive experiment of Dwork & Roth 2014, section 3.5). Charges may
    come from several threads.

    Guarantee: all releases that were charged together keep the promise of the allowance, although
    each of them, and its loss, may have been chosen by the answers to the earlier ones. It holds as
    long as every release is charged before it is made.

    >>> budget = Budget(epsilon=1)
    >>> from celosia.accounting.losses import PureLoss
    >>> for _ in range(10):
    ...     left = budget.spend(PureLoss(Fraction(1, 10)))
    >>> print(left)
    epsilon 0, delta 0
    """

    def __init__(self, **allowance: Any):
        """Take the arguments of `Allowance`, or `allowance=` for one that was made before."""
        given = allowance.pop("allowance", None)
        if given is not None and (allowance or not isinstance(given, Allowance)):
            raise InputError("CEL-B060.two_allowances")
        self.allowance: Allowance = Allowance(**allowance) if given is None else given
        self._lock = Lock()
        self._total = self.allowance.rule.nothing
        self._history: list[Charge] = []

    def spend(
        self,
        loss: Loss,
        *,
        label: str = "",
        delta: float | Fraction | None = None,
        neighbours: Neighbours | None = None,
        rows_per_unit: int | None = None,
    ) -> Price:
        """Charge a loss before its release is made; returns what remains.

        Args:
            loss: of the release.
            label: what the history calls it, such as the name of the table.
            delta: the failure to charge, for a loss that states no (epsilon, delta) of its own.
            neighbours: what the loss was computed for, where that is not the budget's own.
            rows_per_unit: the most rows of one person, where the loss protects rows.

        Raises:
            BudgetExceeded: CEL-B063 it does not fit; nothing was recorded.
            PrivacyError: CEL-B062 the loss has no price in this budget; CEL-B045 it
                cannot be converted to the neighbours of the budget.
        """
        converted, price = self._priced(loss, delta, neighbours, rows_per_unit)
        return self._record(Charge(label, converted, price))

    def can_afford(
        self,
        loss: Loss,
        *,
        delta: float | Fraction | None = None,
        neighbours: Neighbours | None = None,
        rows_per_unit: int | None = None,
    ) -> bool:
        """Whether the loss would fit now; another thread may be faster."""
        converted, price = self._priced(loss, delta, neighbours, rows_per_unit)
        try:
            self._check(Charge("", converted, price))
        except BudgetExceeded:
            return False
        return True

    def check(
        self,
        loss: Loss,
        *,
        delta: float | Fraction | None = None,
        neighbours: Neighbours | None = None,
        rows_per_unit: int | None = None,
    ) -> None:
        """Refuse a loss that would not fit now, without recording anything.

        Raises:
            BudgetExceeded: CEL-B063 it does not fit.
        """
        converted, price = self._priced(loss, delta, neighbours, rows_per_unit)
        self._check(Charge("", converted, price))

    @contextmanager
    def paying(
        self,
        loss: Loss,
        *,
        label: str = "",
        delta: float | Fraction | None = None,
        neighbours: Neighbours | None = None,
    ) -> Iterator[None]:
        """Check a loss, let its release be made in the block, and charge it.

        A release that fails costs nothing: nothing of it has left the block. (In a ledger it does,
        see `LedgerBudget`.)

        Raises:
            BudgetExceeded: CEL-B063 it does not fit; the block was not entered.
        """
        converted, price = self._priced(loss, delta, neighbours, None)
        with self._paying(Charge(label, converted, price)):
            yield

    def _record(self, charge: Charge) -> Price:
        rule = self.allowance.rule
        with self._lock:
            total = self._total + charge.price
            if not rule.admits(total):
                raise self._exceeded(charge.price)
            self._total = total
            self._history.append(charge)
            return total.subtracted_from(rule.limits)

    def _check(self, charge: Charge) -> None:
        with self._lock:
            if not self.allowance.rule.admits(self._total + charge.price):
                raise self._exceeded(charge.price)

    @contextmanager
    def _paying(self, charge: Charge) -> Iterator[None]:
        self._check(charge)
        yield
        self._record(charge)

    def _priced(
        self,
        loss: Loss,
        delta: float | Fraction | None,
        neighbours: Neighbours | None,
        rows_per_unit: int | None,
    ) -> tuple[Loss, Price]:
        failure = None if delta is None else delta_amount(delta)
        if neighbours is not None:
            loss = convert(loss, neighbours, self.allowance.neighbours, rows_per_unit=rows_per_unit)
        return loss, self.allowance.rule.price(loss, delta=failure)

    def _exceeded(self, price: Price) -> BudgetExceeded:
        left = self._total.subtracted_from(self.allowance.rule.limits)
        return BudgetExceeded(
            "CEL-B063", price=price, left=left, requested=price.as_dict(), remaining=left.as_dict()
        )

    @property
    def spent(self) -> Price:
        """The sum of all charges."""
        with self._lock:
            return self._total

    @property
    def remaining(self) -> Price:
        """What is left of each limit."""
        return self.spent.subtracted_from(self.allowance.rule.limits)

    @property
    def history(self) -> tuple[Charge, ...]:
        """All charges, the first one first."""
        with self._lock:
            return tuple(self._history)

    def explain(self, *, delta: float | Fraction | None = None) -> Statement:
        """What the charges amount to by several bounds, side by side.

        Args:
            delta: at which to state them; that of the allowance where it is left out.
        """
        at = float(delta_amount(self.allowance.delta if delta is None else delta, zero=True))
        spent, history = self.spent, self.history
        fixed = explain([charge.loss for charge in history], delta=at) if history else None
        left = spent.subtracted_from(self.allowance.rule.limits)
        return Statement(self.allowance, spent, left, fixed)

    def as_dict(self) -> dict[str, Any]:
        return {
            "allowance": self.allowance.as_dict(),
            "spent": self.spent.as_dict(),
            "remaining": self.remaining.as_dict(),
            "history": [charge.as_dict() for charge in self.history],
        }

    def __str__(self) -> str:
        return say(
            "accounting.budget.summary",
            allowance=str(self.allowance),
            charges=len(self.history),
            remaining=self.remaining,
        )
