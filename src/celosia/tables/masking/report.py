"""The report of a masked table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.assess.account_report import PRIVATE, masked_blocks, synthetic_blocks
from celosia.assess.accounts import MaskedAccount, SyntheticAccount
from celosia.core import figures
from celosia.core.guarantee import Guarantee
from celosia.core.provenance import Provenance
from celosia.core.release_report import facts_block, made_blocks, promise_blocks
from celosia.core.report import (
    Block,
    Document,
    Figure,
    Heading,
    Notice,
    Paragraph,
    Table,
)
from celosia.core.wording import sentence
from celosia.tables.masking.account import Account

Told = tuple[str, Sequence[str], Mapping[str, Any]]
"""A step: its method, its columns, its facts."""


def document(  # noqa: PLR0913 - the parts of a release, one by one
    guarantee: Guarantee,
    provenance: Provenance,
    warnings: Sequence[str],
    steps: Sequence[Told],
    account: Account,
    *,
    rows: int,
) -> Document:
    """The whole report, as blocks."""
    blocks: list[Block] = []
    if guarantee.simulation:
        blocks.append(Notice(str(guarantee), tone="simulation"))
    blocks += [Notice(warning, tone="warning") for warning in warnings]
    if account.compared is not None:
        blocks.append(Notice(PRIVATE, tone="warning"))
    blocks += promise_blocks(guarantee)
    blocks += _steps(steps)
    blocks += _classes(account)
    if isinstance(account.compared, MaskedAccount):
        blocks += masked_blocks(account.compared)
    elif isinstance(account.compared, SyntheticAccount):
        blocks += synthetic_blocks(account.compared)
    blocks += made_blocks(provenance)
    return Document("Masked table", f"{sentence(guarantee.promise)} {rows:,} records.", blocks)


def _steps(steps: Sequence[Told]) -> list[Block]:
    blocks: list[Block] = [
        Heading("What was done"),
        Table(
            ["Step", "Method", "Columns"],
            [
                [str(number), method, ", ".join(columns)]
                for number, (method, columns, _) in enumerate(steps, 1)
            ],
            "The steps of the recipe, in order",
        ),
    ]
    for number, (method, _, facts) in enumerate(steps, 1):
        blocks += facts_block(f"Step {number}: {method}", facts)
    return blocks


def _classes(account: Account) -> list[Block]:
    before, after = account.risk_before, account.risk
    if before is None or after is None:
        return []
    chart = figures.bars(
        ["Average", "Highest", f"Records above {after.threshold:.0%}"],
        {
            "Original": [before.average, before.maximum, before.at_risk],
            "Released": [after.average, after.maximum, after.at_risk],
        },
        title="Risk before and after",
        y_label="chance or share",
        percent=True,
    )
    words = (
        f"Average risk {before.average:.2%} before, {after.average:.2%} after; smallest class "
        f"{before.smallest:,} before, {after.smallest:,} after."
    )
    return [
        Heading("Classes of equal quasi-identifiers"),
        Paragraph(words),
        Figure(chart, "Risk of an attacker who knows all quasi-identifiers exactly", words),
    ]
