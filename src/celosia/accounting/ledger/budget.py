"""A budget that is kept in a ledger: the private releases of one data set, in one account."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from celosia.accounting.amounts import delta_amount, epsilon_amount
from celosia.accounting.budget import Budget, Charge
from celosia.accounting.currencies import RULES, SLACK, spending_of
from celosia.accounting.filters import DELTA, EPSILON, Price, epsilon_delta_of
from celosia.accounting.ledger.charges import Request, Reservation, stated_loss
from celosia.accounting.ledger.ledger import Ledger
from celosia.accounting.ledger.terms import Limit
from celosia.accounting.losses import Loss
from celosia.core.errors import CelosiaError, InputError, PrivacyError
from celosia.core.neighbours import Neighbours
from celosia.core.resources import Closeable

CURATOR = "curator"
"""Whose charges private releases are: they are made by whoever holds the data."""
DECLARED = "releases"
"""The policy of a ledger whose budget was declared for private releases, and not by a policy."""


class LedgerBudget(Budget, Closeable):
    """A budget on disk, shared by all commands and programs that name its file.

    Guarantee: as for `Budget`, over all releases that were ever charged to the ledger. A price is
    on disk before the mechanism sees the data, and stays there whatever fails afterwards.
    """

    def __init__(self, ledger: Ledger) -> None:
        """Use `LedgerBudget.begin` or `LedgerBudget.open`."""
        terms = ledger.terms
        if terms.neighbours is None:
            raise PrivacyError("CEL-Q118")
        total = terms.total
        if total.rho is None:
            rule = terms.rule if total.delta else "basic"
            amount: dict[str, Any] = {"epsilon": total.epsilon, "filter": rule}
        else:
            amount = {"rho": total.rho}
        super().__init__(delta=total.delta, neighbours=terms.neighbours, **amount)
        self.ledger = ledger

    @classmethod
    def begin(
        cls,
        location: str | Path,
        *,
        dataset: str,
        epsilon: float | Fraction | None = None,
        delta: float | Fraction = 0,
        rho: float | Fraction | None = None,
        unit: str = "person",
        rule: str = "basic",
    ) -> Self:
        """Declare a budget: begin its ledger, or lower the budget of one that stands.

        Args:
            location: a file, or the URL of a PostgreSQL database.
            dataset: what the ledger is kept for.
            epsilon: the most that all releases may cost together.
            delta: the same for delta.
            rho: the most in rho of zero-concentrated differential privacy, instead of epsilon; half
                of delta is then for releases with a delta of their own, at the other half rho is
                told as an epsilon.
            unit: who is protected: one person, row, edge or vertex.
            rule: how charges add up, see `Allowance`.

        Raises:
            InputError: CEL-B060 not exactly one of epsilon and rho.
            PrivacyError: CEL-Q102 a ledger of something else; CEL-Q103 a larger budget.
        """
        if (epsilon is None) == (rho is None):
            raise InputError("CEL-B060.epsilon_or_rho")
        if rho is not None:
            total: Limit = spending_of(rho=rho, delta=delta)
            rule = RULES["rho"]
        else:
            total = (epsilon_amount(epsilon), delta_amount(delta, zero=True))
        ledger = Ledger.open(
            location,
            dataset=dataset,
            total=total,
            policy_hash=DECLARED,
            rule=rule,
            neighbours=Neighbours(unit=unit),
        )
        return cls._of(ledger)

    @classmethod
    def open(cls, location: str | Path) -> Self:
        """The budget of a ledger that stands.

        Raises:
            InputError: CEL-Q207 there is none.
            PrivacyError: CEL-Q118 it is the ledger of a policy.
        """
        view = Ledger.open_view(location)
        if view is None:
            raise InputError("CEL-Q207")
        with view:
            terms = view.terms
        if terms.neighbours is None:
            raise PrivacyError("CEL-Q118")
        ledger = Ledger.open(
            location,
            dataset=terms.dataset,
            total=terms.total,
            policy_hash=terms.policy,
            analysts=terms.analysts,
            rule=terms.rule,
            neighbours=terms.neighbours,
        )
        return cls._of(ledger)

    @classmethod
    def _of(cls, ledger: Ledger) -> Self:
        try:
            return cls(ledger)
        except BaseException:
            ledger.close()
            raise

    @property
    def spent(self) -> Price:
        """The sum of all charges, also of releases that failed."""
        return self.ledger.spent

    @property
    def remaining(self) -> Price:
        return self.ledger.remaining

    @property
    def history(self) -> tuple[Charge, ...]:
        return tuple(
            Charge(
                record.question,
                stated_loss(record.epsilon, record.delta),
                Price({EPSILON: record.epsilon, DELTA: record.delta}),
            )
            for record in self.ledger.history()
        )

    def close(self) -> None:
        """Let go of the ledger."""
        self.ledger.close()

    def _priced(
        self,
        loss: Loss,
        delta: float | Fraction | None,
        neighbours: Neighbours | None,
        rows_per_unit: int | None,
    ) -> tuple[Loss, Price]:
        converted, _ = super()._priced(loss, delta, neighbours, rows_per_unit)
        failure = None if delta is None else delta_amount(delta)
        total = self.ledger.terms.total
        if failure is None and total.rho is not None:
            failure = total.delta * SLACK  # what is stated of a loss that is charged by its rho
        epsilon, chance = epsilon_delta_of(converted, failure)
        return converted, Price({EPSILON: epsilon, DELTA: chance})

    def _check(self, charge: Charge) -> None:
        self.ledger.check(_request(charge))

    def _record(self, charge: Charge) -> Price:
        with self._paying(charge):
            pass
        return self.remaining

    @contextmanager
    def _paying(self, charge: Charge) -> Iterator[None]:
        # Afresh: the ledger does not see the data, so that an equal question is a new release.
        reservation = self.ledger.reserve(_request(charge), fresh=True)
        assert isinstance(reservation, Reservation), "a fresh request is charged"
        try:
            yield
        except BaseException as error:
            # Whether a release fails may depend on the data: a failure is paid as well.
            self.ledger.fail(reservation, error.code if isinstance(error, CelosiaError) else "stop")
            raise
        self.ledger.seal(reservation, charge.label)


def _request(charge: Charge) -> Request:
    """A charge as the ledger keeps it; both amounts are stated ones."""
    epsilon, delta = charge.price[EPSILON], charge.price[DELTA]
    assert epsilon is not None, "a ledger is charged an epsilon"
    return Request(
        analyst=CURATOR,
        question=charge.label or DECLARED,
        epsilon=epsilon,
        delta=delta or Fraction(0),
        loss=charge.loss,
    )
