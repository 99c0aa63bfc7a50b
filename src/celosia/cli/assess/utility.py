"""`celosia assess utility`: the utility of a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.assess.readers import read_released
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.assess.utility import UtilityReport

EXAMPLES = """**Examples**

`celosia assess utility people.csv safe.csv --schema people.toml`

`celosia assess utility people.csv safe.csv -s people.toml --target disease --report use.html`

`celosia assess utility people.csv safe.csv -s people.toml --queries 5000 --seed 7 --json`
"""
NAMING_VALUES = ("minimum", "maximum", "mode", "mode_count")
"""Aggregates that are cells of the table."""


def utility(
    original: Annotated[Path, typer.Argument(help="The table before it was released.")],
    released: Annotated[Path, typer.Argument(help="The table as it was released.")],
    schema: options.SchemaFile = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Also measure how well this column can be predicted."),
    ] = None,
    queries: Annotated[int, typer.Option(help="Number of random counts to compare.")] = 1_000,
    seed: Annotated[int | None, typer.Option(help="Seed for the random counts and folds.")] = None,
    values: Annotated[
        bool,
        typer.Option(
            "--values", help="With --json: also results that show values of the original."
        ),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(help="Write a report (HTML) with plots; do not publish it: it shows values."),
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure the utility of a release: compare it with its original.

    The hierarchies of the schema say what released labels stand for. Reading options apply to the
    original.
    """
    from celosia.assess import utility as measures
    from celosia.assess import utility_report
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.frames import read
    from celosia.tables import Role
    from celosia.tables.meanings import meanings

    options.check_outputs(
        {"report": report}, inputs=(original, released, schema), overwrite=overwrite
    )
    roles = options.schema_from(schema, quasi_identifiers)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        progress(Step(Message("cli.step.reading_files"), 0))
        before = read(original, types=roles.types(), **reading)
        after = read_released(released, roles)
        found = measures.utility(
            before,
            after,
            quasi_identifiers=roles.named(Role.QUASI_IDENTIFIER),
            meanings=meanings(roles, original=before),
            rng=source(seed),
            target=target,
            queries=queries,
            progress=progress,
        )
    if report is not None:
        options.write_text(report, utility_report.document(found).html(), overwrite)
    if as_json:
        console.show_json(facts(found, values=values))
        return
    _show(found)
    if report is not None:
        console.show(say("cli.assess.report", report=report))
        console.note(utility_report.PRIVATE)
    console.show(
        say(
            "cli.assess.median_relative_error_random",
            queries=found.queries.queries,
            median=found.queries.median,
            mean_change=found.associations.mean_change,
        ),
        strong=True,
    )


utility.__doc__ = f"{utility.__doc__}\n\n{EXAMPLES}"


def facts(found: UtilityReport, *, values: bool) -> dict[str, Any]:
    """The report as plain values; what names values of the original only if asked for."""
    plain = found.as_dict()
    if values:
        return plain
    plain.pop("distributions")
    for change in plain["aggregates"]:
        for side in ("before", "after"):
            for name in NAMING_VALUES:
                change[side].pop(name)
    return plain


def _show(found: UtilityReport) -> None:
    from celosia.assess.utility_report import mean

    console.show_table(
        say("cli.assess.how_far_distributions_moved"),
        [
            say("cli.column.column"),
            say("cli.column.hellinger"),
            say("cli.column.total_variation"),
            say("cli.column.earth_mover_s"),
        ],
        [
            [
                each.column,
                console.number(each.hellinger, ".4f"),
                console.number(each.total_variation, ".4f"),
                console.number(each.earth_mover, ".4f"),
            ]
            for each in found.distances
        ],
    )
    if found.associations.pairs:
        console.show_table(
            say("cli.assess.association_pairs_columns"),
            [
                say("cli.column.columns"),
                say("cli.column.measure"),
                say("cli.column.original"),
                say("cli.column.released"),
            ],
            [
                [
                    f"{pair.first}, {pair.second}",
                    pair.measure,
                    console.number(pair.before, ".3f"),
                    console.number(pair.after, ".3f"),
                ]
                for pair in found.associations.pairs
            ],
        )
    if found.aggregates:
        console.show_table(
            say("cli.assess.means"),
            [say("cli.column.column"), say("cli.column.original"), say("cli.column.released")],
            [[each.column, mean(each.before), mean(each.after)] for each in found.aggregates],
        )
    if found.learning is not None:
        console.show_table(
            say(
                "cli.assess.predicting_majority_guess",
                target=found.learning.target,
                majority=found.learning.majority,
            ),
            [
                say("cli.column.classifier"),
                say("cli.column.from_original"),
                say("cli.column.from_release"),
                say("cli.column.kept"),
            ],
            [
                [
                    str(lesson.title),
                    console.number(lesson.original_accuracy, ".1%"),
                    console.number(lesson.accuracy, ".1%"),
                    console.number(lesson.kept, ".1%"),
                ]
                for lesson in found.learning.lessons
            ],
        )
    console.show(str(found.queries))
    console.show(
        say(
            "cli.assess.records_suppressed",
            rows_after=found.rows_after,
            rows_before=found.rows_before,
            suppressed=found.suppressed,
        )
    )
