"""The sums of a ledger's entries, brought up to date entry by entry."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from celosia.accounting.filters import DELTA, EPSILON, Filter, Price
from celosia.accounting.loss_readers import loss_from_dict
from celosia.accounting.losses import Loss
from celosia.core.errors import BudgetExceeded, CelosiaError, PrivacyError, QueryRefused
from celosia.core.wording import did_you_mean
from celosia.queries.ledger.amounts import parse_amount, round_price_up
from celosia.queries.ledger.chain import Entry, Head, broken_chain_error
from celosia.queries.ledger.incidents import day_of
from celosia.queries.ledger.request import Request, stated_loss
from celosia.queries.ledger.terms import Terms
from celosia.queries.policy.values import Spending


@dataclass(frozen=True, slots=True)
class Charge:
    """The cost of a reservation, whether it was sealed, failed or never ended."""

    analyst: str
    epsilon: Fraction
    delta: Fraction
    loss: Loss
    key: str

    @classmethod
    def of(cls, request: Request, key: str) -> Charge:
        """The cost of a request, just as it will be read back from its entry."""
        loss = loss_from_dict((request.loss or request.stated).as_dict())
        return cls(request.analyst, request.epsilon, request.delta, loss, key)

    def price(self, rule: Filter) -> Price:
        """The price under a rule.

        Sums charge what was asked for. Other rules read the finer loss, or where it cannot be paid
        in their currency, what was asked for as well; which of the two depends on the loss alone.

        Raises:
            PrivacyError: CEL-B062 the rule has no price for it.
        """
        if rule.name == "basic":
            return Price({EPSILON: self.epsilon, DELTA: self.delta})
        try:
            return round_price_up(rule.price(self.loss))
        except PrivacyError:
            return round_price_up(rule.price(stated_loss(self.epsilon, self.delta)))


class Account:
    """A limit and what was spent of it."""

    def __init__(self, rule: Filter) -> None:
        self.rule = rule
        self.spent = rule.nothing

    def add(self, charge: Charge) -> None:
        """Count a charge."""
        self.spent = self.spent + charge.price(self.rule)

    @property
    def remaining(self) -> Price:
        """The remainder of each limit."""
        return self.spent.subtracted_from(self.rule.limits)

    def check(self, charge: Charge, code: str) -> None:
        """Refuse a charge that would exceed the limit.

        Raises:
            BudgetExceeded: with the code that is given, the price and what remains.
        """
        price = charge.price(self.rule)
        if self.rule.admits(self.spent + price):
            return
        raise BudgetExceeded(
            code,
            analyst=charge.analyst,
            price=price,
            left=self.remaining,
            requested=price.as_dict(),
            remaining=self.remaining.as_dict(),
        )


class State:
    """The sum of a chain. Entries only ever add to it: there is no way to give back."""

    def __init__(self) -> None:
        self.head: Head | None = None
        self._terms: Terms | None = None
        self.reservations: dict[int, tuple[str, Charge]] = {}
        """By number: the hash of the entry, and its charge."""
        self.ended: dict[int, Head] = {}
        """The entry with which a reservation was sealed or failed."""
        self.answers: dict[str, Head] = {}
        """The entry that holds the answer to a question.

        The first where there are several, or the last one that was asked for as a fresh one.
        """
        self.fresh: set[int] = set()
        """Reservations whose answer takes the place of the one before."""
        self.pending: Counter[Loss] = Counter()
        """Losses that the tight account has not counted yet."""
        self.question_counts: Counter[tuple[str, str]] = Counter()
        """Charged questions by analyst and day, in universal time."""
        self._total: Account | None = None
        self._accounts: dict[str, Account] = {}

    @property
    def terms(self) -> Terms:
        """The terms in force."""
        if self._terms is None:
            raise broken_chain_error(0)
        return self._terms

    @property
    def total(self) -> Account:
        """The account of the data set."""
        if self._total is None:
            raise broken_chain_error(0)
        return self._total

    def account(self, analyst: str) -> Account:
        """The account of an analyst; that of the data set where analysts have no limits.

        Raises:
            QueryRefused: CEL-Q109 the policy does not name the analyst.
        """
        if not self.terms.analysts:
            return self.total
        if analyst not in self._accounts:
            raise QueryRefused(
                "CEL-Q109", analyst=analyst, hint=did_you_mean(analyst, self._accounts)
            )
        return self._accounts[analyst]

    def check(self, charge: Charge) -> None:
        """Refuse a charge that the analyst or all analysts together may not make.

        Raises:
            QueryRefused: CEL-Q109 the policy does not name the analyst.
            BudgetExceeded: CEL-Q110 the limit of the data set, CEL-Q111 that of the analyst.
        """
        own = self.account(charge.analyst)
        self.total.check(charge, "CEL-Q110")
        own.check(charge, "CEL-Q111")

    def add(self, entry: Entry) -> None:
        """Count the next entry.

        Raises:
            PrivacyError: CEL-Q104 it does not follow from the entries before it.
        """
        if not entry.follows(self.head):
            raise broken_chain_error(entry.sequence)
        try:
            self._count(entry)
        except (KeyError, TypeError, ValueError, AttributeError, CelosiaError):
            # The hash fits and the content does not: written by another program.
            raise broken_chain_error(entry.sequence) from None
        self.head = entry.head

    def _count(self, entry: Entry) -> None:
        values = entry.values()
        kind = values["kind"]
        if (kind == "opened") != (entry.sequence == 0):
            raise broken_chain_error(entry.sequence)
        if kind in {"opened", "policy"}:
            self._enforce(Terms.from_dict(values["terms"]))
        elif kind == "reserved":
            self._charge(
                entry,
                Charge(
                    values["analyst"],
                    parse_amount(values["epsilon"]),
                    parse_amount(values["delta"]),
                    loss_from_dict(values["loss"]),
                    values["key"],
                ),
            )
            self.question_counts[values["analyst"], day_of(values["at"])] += 1
            if values.get("fresh") is True:
                self.fresh.add(entry.sequence)
        elif kind in {"sealed", "failed"}:
            begun = values["reservation"]
            if begun in self.ended:  # one charge pays for one answer
                raise broken_chain_error(entry.sequence)
            _, charge = self.reservations[begun]
            self.ended[begun] = entry.head
            if kind == "sealed" and begun in self.fresh:
                self.answers[charge.key] = entry.head
            elif kind == "sealed":
                self.answers.setdefault(charge.key, entry.head)
        else:
            raise broken_chain_error(entry.sequence)

    def _charge(self, entry: Entry, charge: Charge) -> None:
        self.total.add(charge)
        if charge.analyst in self._accounts:
            self._accounts[charge.analyst].add(charge)
        self.reservations[entry.sequence] = (entry.hash, charge)
        self.pending[charge.loss] += 1

    def _enforce(self, terms: Terms) -> None:
        # All charges so far count against the new limits too: a new policy forgives nothing.
        def opened(limit: Spending, who: str | None) -> Account:
            account = Account(terms.filter_of(limit))
            for _, charge in self.reservations.values():
                if who in {None, charge.analyst}:
                    account.add(charge)
            return account

        total = opened(terms.total, None)
        accounts = {name: opened(limit, name) for name, limit in terms.analysts.items()}
        self._terms, self._total, self._accounts = terms, total, accounts
