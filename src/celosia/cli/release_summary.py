"""The summary of a published table on the terminal: levels, risk, warnings and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from celosia.cli import console
from celosia.cli.advice import own_groups
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.core.release import Release
    from celosia.tables import Schema
    from celosia.tables.release import PublishedTable


def show_release(
    release: PublishedTable, output: Path | None, report: Path | None, schema: Schema | None = None
) -> None:
    """Print levels, risk before and after, warnings and files, the most important line last."""
    from celosia.core.release import certificate_path
    from celosia.tables.search_report import describe_search

    solution, risk, before = release.solution, release.risk, release.risk_before
    console.show_table(
        say("cli.release_summary.generalisation"),
        [
            say("cli.column.column"),
            say("cli.column.level"),
            say("cli.column.of"),
            say("cli.column.loss"),
        ],
        [
            [
                column.name,
                say("cli.word.by_record") if column.level is None else str(column.level),
                str(column.height),
                console.number(column.loss, ".2%"),
            ]
            for column in solution.columns
        ],
    )
    console.show_table(
        say("cli.release_summary.re_identification_risk"),
        ["", say("cli.column.original"), say("cli.column.released")],
        [
            [
                say("cli.column.average"),
                console.number(before.average, ".3%"),
                console.number(risk.average, ".3%"),
            ],
            [
                say("cli.column.highest"),
                console.number(before.maximum, ".3%"),
                console.number(risk.maximum, ".3%"),
            ],
            [
                say("cli.risk.above", share=risk.threshold),
                console.number(before.at_risk, ".2%"),
                console.number(risk.at_risk, ".2%"),
            ],
            [
                say("cli.column.classes"),
                console.number(before.classes, ","),
                console.number(risk.classes, ","),
            ],
        ],
    )
    chosen = release.provenance.parameters.get("levels") is not None
    console.show(
        say(
            "cli.release_summary.method_metric",
            method=solution.method,
            metric=solution.metric,
            score=solution.score,
        )
    )
    console.show(
        say("cli.release_summary.search", describe_search=describe_search(solution, chosen=chosen))
    )
    show_warnings(release)
    if schema is not None:
        _advise(release, schema)
    beside = None if output is None else certificate_path(output)
    certificate = getattr(release, "certificate_file", beside)  # or elsewhere
    console.show_files({"data": output, "certificate": certificate, "report": report})
    if output is None:
        console.note(say("cli.graph.release_written_give_o"))
    console.show(str(release), strong=True)


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


def show_warnings(release: Release) -> None:
    """Say what the release warns of, and whether it is only a simulation."""
    for warning in release.warnings:
        console.note(say("cli.query.warning", warning=warning))
    if release.guarantee.simulation:
        console.note(say("cli.magnitude.simulation_made_seed_release"))
