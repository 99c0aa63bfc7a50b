"""The summary of a published table on the terminal: its levels and its risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.cli import console
from celosia.cli.advice import own_groups
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.tables import Schema
    from celosia.tables.release import PublishedTable


def show_release(release: PublishedTable, schema: Schema | None = None) -> None:
    """Print the levels, the risk before and after, and how the solution was found."""
    from celosia.tables.solution import describe_search

    solution, risk, before = release.solution, release.risk, release.risk_before
    console.show_table(
        say("cli.release_summary.generalisation"),
        console.columns("column", "level", "of", "loss:.2%"),
        [
            [
                column.name,
                say("cli.word.by_record") if column.level is None else column.level,
                column.height,
                column.loss,
            ]
            for column in solution.columns
        ],
    )
    measures: list[tuple[str, float, float, str]] = [
        (say("cli.column.average"), before.average, risk.average, ".3%"),
        (say("cli.column.highest"), before.maximum, risk.maximum, ".3%"),
        (say("cli.risk.above", share=risk.threshold), before.at_risk, risk.at_risk, ".2%"),
        (say("cli.column.classes"), before.classes, risk.classes, ","),
    ]
    console.show_table(
        say("cli.release_summary.re_identification_risk"),
        console.columns("", "original", "released"),
        [
            [label, console.number(raw, form), console.number(released, form)]
            for label, raw, released, form in measures
        ],
    )
    console.show(
        say(
            "cli.release_summary.method_metric",
            method=solution.method,
            metric=solution.metric,
            score=solution.score,
        )
    )
    chosen = release.provenance.parameters.get("levels") is not None
    console.show(
        say("cli.release_summary.search", describe_search=describe_search(solution, chosen=chosen))
    )
    if schema is not None:
        _advise(release, schema)


def _advise(release: PublishedTable, schema: Schema) -> None:
    """Say which columns became `*` because nothing says how their values group."""
    from celosia.tables import Automatic

    rules = {column.name: column.hierarchy for column in schema.quasi_identifiers}
    lost = [
        f"'{column.name}'"
        for column in release.solution.columns
        if column.level == column.height == 1 and isinstance(rules[column.name], Automatic | None)
    ]
    if lost:
        console.note(
            say(
                "cli.release_summary.no_hierarchy_says_which",
                lost=", ".join(lost),
                own_groups=own_groups(),
            )
        )
