"""The report of a masked table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.assess.account_report import PRIVATE, masked_blocks, synthetic_blocks
from celosia.assess.accounts import MaskedAccount, SyntheticAccount
from celosia.core import report
from celosia.core.messages import say, say_of, sentence
from celosia.core.release import Guarantee, Provenance
from celosia.core.release_report import facts_block, made_blocks, promise_blocks
from celosia.tables.masking.account import Account
from celosia.tables.report import risk_chart

FACT_NAMES = {
    "aic": "masking.fact.aic",
    "bottom": "masking.fact.bottom",
    "bounded": "masking.fact.bounded",
    "categories": "masking.fact.categories",
    "cells": "masking.fact.cells",
    "cells_by_column": "masking.fact.cells_by_column",
    "changed": "masking.fact.changed",
    "columns": "masking.fact.columns",
    "cost": "masking.fact.cost",
    "cost_of_greedy": "masking.fact.cost_of_greedy",
    "delta for domains": "masking.fact.delta_for_domains",
    "deviation of a mean": "masking.fact.deviation_of_a_mean",
    "deviation of counts": "masking.fact.deviation_of_counts",
    "deviation of one-way counts": "masking.fact.deviation_of_one_way_counts",
    "emptied_cells": "masking.fact.emptied_cells",
    "epsilon for domains": "masking.fact.epsilon_for_domains",
    "estimated_counts": "masking.fact.estimated_counts",
    "exchanged": "masking.fact.exchanged",
    "explained_by_given": "masking.fact.explained_by_given",
    "family": "masking.fact.family",
    "farthest_in_ranks": "masking.fact.farthest_in_ranks",
    "fraction": "masking.fact.fraction",
    "groups": "masking.fact.groups",
    "isolated": "masking.fact.isolated",
    "k": "masking.fact.k",
    "ks": "masking.fact.ks",
    "labels": "masking.fact.labels",
    "largest_group": "masking.fact.largest_group",
    "latent variables": "masking.fact.latent_variables",
    "least eigenvalue": "masking.fact.least_eigenvalue",
    "leaves": "masking.fact.leaves",
    "loss": "masking.fact.loss",
    "loss_percent": "masking.fact.loss_percent",
    "lower_bound": "masking.fact.lower_bound",
    "margins": "masking.fact.margins",
    "matrix": "masking.fact.matrix",
    "matrix_from_counts": "masking.fact.matrix_from_counts",
    "noise": "masking.fact.noise",
    "of": "masking.fact.of",
    "pairs": "masking.fact.pairs",
    "parents": "masking.fact.parents",
    "patterns_of_empty_cells": "masking.fact.patterns_of_empty_cells",
    "population": "masking.fact.population",
    "proved_minimal": "masking.fact.proved_minimal",
    "rare_before": "masking.fact.rare_before",
    "reading": "masking.fact.reading",
    "records_fully_blank": "masking.fact.records_fully_blank",
    "records_touched": "masking.fact.records_touched",
    "rows": "masking.fact.rows",
    "same_value": "masking.fact.same_value",
    "samples": "masking.fact.samples",
    "smallest_group": "masking.fact.smallest_group",
    "squared_error": "masking.fact.squared_error",
    "strata": "masking.fact.strata",
    "strata_left_out": "masking.fact.strata_left_out",
    "top": "masking.fact.top",
    "total_squares": "masking.fact.total_squares",
    "values": "masking.fact.values",
    "without_partner": "masking.fact.without_partner",
}
"""The key of the message for each name of a fact."""


MethodFacts = tuple[str, Sequence[str], Mapping[str, Any]]
"""A step: its method, its columns, its facts."""


def document(
    guarantee: Guarantee,
    provenance: Provenance,
    warnings: Sequence[str],
    steps: Sequence[MethodFacts],
    account: Account,
    *,
    rows: int,
    is_private: bool = False,
) -> report.Document:
    """The whole report; beside a private table what is exact has a heading of its own."""
    blocks: list[report.Block] = []
    if guarantee.simulation:
        blocks.append(report.Notice(str(guarantee), tone="simulation"))
    blocks += [report.Notice(warning, tone="warning") for warning in warnings]
    if account.compared is not None and not is_private:
        blocks.append(report.Notice(PRIVATE, tone="warning"))
    blocks += promise_blocks(guarantee)
    blocks += _steps(steps)
    if is_private and account.compared is not None:
        blocks.append(report.Heading(say("masking.report.curator_heading")))
        blocks.append(report.Notice(say("cli.mask.for_curator"), tone="warning"))
    blocks += _classes(account)
    if isinstance(account.compared, MaskedAccount):
        blocks += masked_blocks(account.compared)
    elif isinstance(account.compared, SyntheticAccount):
        blocks += synthetic_blocks(account.compared)
    blocks += made_blocks(provenance)
    subtitle = say("masking.report.subtitle", promise=sentence(guarantee.promise), rows=rows)
    return report.Document(say("masking.report.title"), subtitle, blocks)


def _steps(steps: Sequence[MethodFacts]) -> list[report.Block]:
    blocks: list[report.Block] = [
        report.Heading(say("masking.report.done")),
        report.Table(
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


def _classes(account: Account) -> list[report.Block]:
    before, after = account.risk_before, account.risk
    if before is None or after is None:
        return []
    words = say_of(
        "masking.report.classes_words",
        after,
        average_before=before.average,
        smallest_before=before.smallest,
    )
    return [
        report.Heading(say("masking.report.classes_heading")),
        report.Paragraph(words),
        report.Figure(risk_chart(after, before), say("masking.report.risk_figure"), words),
    ]
