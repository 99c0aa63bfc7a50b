"""The report of a masked table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.assess.account_report import PRIVATE, masked_blocks, synthetic_blocks
from celosia.assess.accounts import MaskedAccount, SyntheticAccount
from celosia.core.guarantee import Guarantee
from celosia.core.messages import say
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
from celosia.tables.masking.fact_names import FACT_NAMES
from celosia.tables.report import risk_chart

Told = tuple[str, Sequence[str], Mapping[str, Any]]
"""A step: its method, its columns, its facts."""


def document(
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
    subtitle = say("masking.report.subtitle", promise=sentence(guarantee.promise), rows=rows)
    return Document(say("masking.report.title"), subtitle, blocks)


def _steps(steps: Sequence[Told]) -> list[Block]:
    blocks: list[Block] = [
        Heading(say("masking.report.done")),
        Table(
            [
                say("masking.report.step"),
                say("masking.report.method"),
                say("masking.report.columns"),
            ],
            [
                [str(number), method, ", ".join(columns)]
                for number, (method, columns, _) in enumerate(steps, 1)
            ],
            say("masking.report.steps_table"),
        ),
    ]
    for number, (method, columns, facts) in enumerate(steps, 1):
        title = say("masking.report.step_facts", number=number, method=method)
        # Facts may be those of columns: what a user calls a column is not translated.
        names = {name: key for name, key in FACT_NAMES.items() if name not in columns}
        blocks += facts_block(title, facts, names)
    return blocks


def _classes(account: Account) -> list[Block]:
    before, after = account.risk_before, account.risk
    if before is None or after is None:
        return []
    words = say(
        "masking.report.classes_words",
        average_before=before.average,
        average=after.average,
        smallest_before=before.smallest,
        smallest=after.smallest,
    )
    return [
        Heading(say("masking.report.classes_heading")),
        Paragraph(words),
        Figure(risk_chart(after, before), say("masking.report.risk_figure"), words),
    ]
