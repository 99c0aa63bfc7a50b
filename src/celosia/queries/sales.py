"""Sold answers: invoices of analysts, and the compensation of the people in the data.

Both follow from the ledger and the policy, which analysts may know: who was asked about, how many
rows an answer counted, or whether a question failed on the data, changes no amount.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from celosia.accounting.ledger.charges import Record
from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.report import Block, Document, KeyFigure, KeyFigures, Paragraph, Table
from celosia.queries.policy.values import Policy

_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
SMALLEST_SHARE = 10**6
"""The share of a person is rounded down to a millionth of the currency; the rest is kept."""


def sold_answers(
    records: Iterable[Record], *, analyst: str | None = None, month: str | None = None
) -> tuple[Record, ...]:
    """The charges that are invoiced: priced ones that were answered.

    A charge without an answer, such as one of a process that was killed, is visible to the analyst
    anyway. A question that fails on the rows is answered with noise, and invoiced like any other.

    Args:
        records: of a ledger, see `LedgerView.history`.
        analyst: only those of one analyst.
        month: only those of one month of universal time, as "2026-11".

    Raises:
        InputError: CEL-Q331 the month is not one.
    """
    if month is not None and not _MONTH.fullmatch(month):
        raise InputError("CEL-Q331.month")
    return tuple(
        each
        for each in records
        if each.price is not None
        and each.status == "sealed"
        and analyst in {None, each.analyst}
        and (month is None or each.at.startswith(month))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """What an analyst owes for the answers of a period."""

    dataset: str
    analyst: str
    month: str | None
    currency: str
    sales: tuple[Record, ...]

    @property
    def total(self) -> Fraction:
        """The sum of all prices, exact."""
        return total_price(self.sales)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; money as decimals with two places."""
        return {
            "dataset": self.dataset,
            "analyst": self.analyst,
            "month": self.month,
            "currency": self.currency,
            "total": format_money(self.total),
            "sales": [
                {
                    "entry": each.sequence,
                    "at": each.at,
                    "question": each.question,
                    "epsilon": float(each.epsilon),
                    "repeated": each.repeated,
                    "price": format_money(each.price),
                }
                for each in self.sales
            ],
        }

    def document(self) -> Document:
        """The invoice as a page."""
        total = f"{format_money(self.total)} {self.currency}"
        period = self.month or say("queries.sales.all_months")
        blocks: list[Block] = [
            KeyFigures(
                [
                    KeyFigure(say("queries.sales.total"), total),
                    KeyFigure(say("queries.sales.answers"), str(len(self.sales))),
                ]
            ),
            Table(
                [
                    say("queries.sales.entry"),
                    say("queries.sales.at"),
                    say("queries.sales.question"),
                    say("queries.sales.epsilon"),
                    say("queries.sales.price", currency=self.currency),
                ],
                [
                    [
                        str(each.sequence),
                        each.at,
                        each.question,
                        say("queries.sales.repeated") if each.repeated else f"{each.epsilon}",
                        format_money(each.price),
                    ]
                    for each in self.sales
                ],
            ),
            Paragraph(say("queries.sales.source")),
        ]
        title = say("queries.sales.invoice", analyst=self.analyst, dataset=self.dataset)
        return Document(title, period, tuple(blocks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensation:
    """What the people in the data are paid for the answers of a period, each the same."""

    month: str | None
    currency: str
    income: Fraction
    """What analysts owe."""
    pool: Fraction
    """The share of it for people."""
    people: int
    """A public bound on their number: what nobody claims stays in the pool."""

    @property
    def per_person(self) -> Fraction:
        """What each person may claim, rounded down."""
        return Fraction(floor(self.pool / self.people * SMALLEST_SHARE), SMALLEST_SHARE)

    def as_dict(self) -> dict[str, Any]:
        return {
            "month": self.month,
            "currency": self.currency,
            "income": format_money(self.income),
            "pool": format_money(self.pool),
            "people": self.people,
            "per_person": f"{float(self.per_person):.6f}",
            "kept": format_money(self.income - self.per_person * self.people),
        }


def make_invoice(
    policy: Policy, records: Iterable[Record], *, analyst: str, month: str | None = None
) -> Invoice:
    """The invoice of an analyst, from the records of a ledger.

    Raises:
        InputError: CEL-Q331 the policy has no market, or the month is not one.
    """
    if policy.market is None:
        raise InputError("CEL-Q331.no_market")
    return Invoice(
        dataset=policy.name,
        analyst=analyst,
        month=month,
        currency=policy.market.currency,
        sales=sold_answers(records, analyst=analyst, month=month),
    )


def make_compensation(
    policy: Policy, records: Iterable[Record], *, month: str | None = None
) -> Compensation:
    """The compensation of the people, from the records of a ledger.

    Each person gets the same, because who was counted in an answer is private: a payment that
    depended on it would be a release of its own, without noise.

    Raises:
        InputError: CEL-Q331 the policy has no market, no public number of people, or the month is
            not one.
    """
    market = policy.market
    if market is None:
        raise InputError("CEL-Q331.no_market")
    if not policy.people:
        raise InputError("CEL-Q331.no_people")
    income = total_price(sold_answers(records, month=month))
    return Compensation(
        month=month,
        currency=market.currency,
        income=income,
        pool=income * market.compensation,
        people=policy.people,
    )


def total_price(sales: Iterable[Record]) -> Fraction:
    """The sum of their prices, exact."""
    return sum((each.price or Fraction(0) for each in sales), Fraction(0))


def format_money(amount: Fraction | None) -> str:
    """An amount with two decimal places, rounded down where it has more; None is no money.

    >>> format_money(Fraction(5, 2)), format_money(Fraction(2, 3))
    ('2.50', '0.66')
    """
    cents = floor((amount or 0) * 100)
    return f"{cents // 100}.{cents % 100:02d}"


def price_note(policy: Policy, epsilon: Fraction, analyst: str | None) -> Message | None:
    """The price of an answer in words; None where the policy has no market."""
    if policy.market is None:
        return None
    price = format_money(policy.market.price(epsilon, analyst))
    return Message("queries.sales.costs", price=price, currency=policy.market.currency)
