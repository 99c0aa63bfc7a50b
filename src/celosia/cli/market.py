"""`celosia market`: prices of answers, invoices of analysts, compensation of people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.cli.frame import JsonOutputs, ReportOutputs, with_options
from celosia.cli.ledger import open_ledger
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.accounting.ledger import Record
    from celosia.queries.policy import Policy
    from celosia.queries.policy.market import Market

app = typer.Typer(
    no_args_is_help=True,
    help="""Show prices of answers, and make invoices and compensation from the ledger.

    A policy has prices where it has a section [market].

    **Examples**

    `celosia market prices policy.toml`

    `celosia market invoice policy.toml --analyst ana --month 2026-11 --report invoice.html`

    `celosia market compensation policy.toml --month 2026-11`
    """,
)

PolicyFile = Annotated[Path, "argument POLICY", "The policy file."]
Month = Annotated[str | None, "YYYY-MM", "One month, in universal time; all of them without it."]
SHOWN = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
"""Epsilons whose prices are printed."""


def prices(policy: PolicyFile, outputs: JsonOutputs) -> None:
    """Show the price list of a policy, which never makes it cheaper to buy an answer in parts.

    **Example**

    `celosia market prices policy.toml`
    """
    from fractions import Fraction

    from celosia.queries.policy.market import market_facts
    from celosia.queries.sales import format_money

    declared = _load(policy)
    market = _market(declared)
    analysts = [None, *(name for name, _ in market.factors)]

    def show_lines() -> None:
        console.show_table(
            say("cli.market.prices", currency=market.currency),
            ["epsilon", *(name or say("cli.market.list_price") for name in analysts)],
            [
                [
                    console.number(epsilon, "g"),
                    *(format_money(market.price(Fraction(str(epsilon)), one)) for one in analysts),
                ]
                for epsilon in SHOWN
                if Fraction(str(epsilon)) >= declared.least_epsilon
            ],
        )
        if market.factors:
            console.note(say("cli.market.resale"))

    outputs.show(lambda: market_facts(market), show_lines, say("cli.market.no_arbitrage"))


def invoice(
    policy: PolicyFile,
    outputs: ReportOutputs,
    analyst: Annotated[str, "NAME", "Whose invoice."],
    month: Month = None,
) -> None:
    """Make the invoice of an analyst from the ledger of a policy.

    **Examples**

    `celosia market invoice policy.toml --analyst ana --month 2026-11`

    `celosia market invoice policy.toml --analyst ana --report invoice.html --json`
    """
    from celosia.queries.sales import format_money, make_invoice

    outputs.check(inputs=(policy,))
    declared = _load(policy)
    _market(declared)  # before its ledger, which it may not have
    made = make_invoice(declared, _records(policy), analyst=analyst, month=month)
    outputs.write_report(made.document)

    def show_lines() -> None:
        console.show_table(
            say("cli.market.sales"),
            console.columns("entry", "at", "question", "epsilon:.6g", "price"),
            [
                [
                    str(each.sequence),
                    each.at,
                    each.question,
                    float(each.epsilon),
                    format_money(each.price),
                ]
                for each in made.sales
            ],
        )

    total = format_money(made.total)
    last = say("cli.market.owes", analyst=analyst, total=total, currency=made.currency)
    outputs.show(made.as_dict, show_lines, last)


def compensation(policy: PolicyFile, outputs: JsonOutputs, month: Month = None) -> None:
    """Show what the people in the data are paid; it follows from public facts only.

    **Example**

    `celosia market compensation policy.toml --month 2026-11`
    """
    from celosia.queries.sales import format_money, make_compensation

    declared = _load(policy)
    _market(declared)
    made = make_compensation(declared, _records(policy), month=month)
    facts = made.as_dict()

    def show_lines() -> None:
        console.show(say("cli.market.income", amount=facts["income"], currency=made.currency))
        console.show(say("cli.market.pool", amount=facts["pool"], currency=made.currency))
        console.show(say("cli.market.people", amount=facts["people"]))
        console.note(say("cli.market.equal_shares"))

    last = say(
        "cli.market.per_person",
        amount=facts["per_person"],
        currency=made.currency,
        kept=format_money(made.income - made.per_person * made.people),
    )
    outputs.show(lambda: facts, show_lines, last)


def _load(policy: Path) -> Policy:
    from celosia.queries import load_policy

    with console.noted_warnings(of_policy=True):
        return load_policy(policy)


def _market(policy: Policy) -> Market:
    if policy.market is None:
        raise InputError("CEL-Q331.no_market")
    return policy.market


def _records(policy: Path) -> tuple[Record, ...]:
    with open_ledger(str(policy)) as (ledger, _):
        return ledger.history()


for _command in (prices, invoice, compensation):
    app.command()(with_options(_command))
