"""`celosia assess utility`: the utility of a release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from celosia.cli import console, options
from celosia.cli.assess.readers import read_released
from celosia.cli.frame import ReportOutputs
from celosia.core.messages import say, say_of

if TYPE_CHECKING:
    from celosia.assess.utility import UtilityReport

NAMING_VALUES = ("minimum", "maximum", "mode", "mode_count")
"""Aggregates that are cells of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityOutputs(ReportOutputs):
    """The outputs of a command whose report shows values in plots."""

    report: Annotated[
        Path | None, "Write a report with plots (.html, .pdf); do not publish it: it shows values."
    ] = None


def utility(
    original: Annotated[Path, "argument", "The table before it was released."],
    released: Annotated[Path, "argument", "The table as it was released."],
    keys: options.KeyOptions,
    reading: options.Reading,
    outputs: UtilityOutputs,
    target: Annotated[
        str | None, "COLUMN", "Also measure how well this column can be predicted."
    ] = None,
    queries: Annotated[int, "Number of random counts to compare."] = 1_000,
    seed: Annotated[int | None, "Seed for the random counts and folds."] = None,
    values: Annotated[
        bool, "--values", "With --json: also results that show values of the original."
    ] = False,
) -> None:
    """Measure the utility of a release: compare it with its original.

    The hierarchies of the schema say what released labels stand for. Reading options apply to the
    original.

    **Examples**

    `celosia assess utility people.csv safe.csv --schema people.toml`

    `celosia assess utility people.csv safe.csv -s people.toml --target disease --report use.html`

    `celosia assess utility people.csv safe.csv -s people.toml --queries 5000 --seed 7 --json`
    """
    from celosia.assess import utility as measures
    from celosia.assess import utility_report
    from celosia.core.randomness import source
    from celosia.tables import Role
    from celosia.tables.meanings import meanings

    outputs.check(inputs=(original, released, keys.schema))
    roles = keys.load()
    with outputs.working("cli.step.reading_files") as progress:
        before = reading.read(original, roles.types())
        found = measures.utility(
            before,
            read_released(released, roles),
            quasi_identifiers=roles.named(Role.QUASI_IDENTIFIER),
            meanings=meanings(roles, original=before),
            rng=source(seed),
            target=target,
            queries=queries,
            progress=progress,
        )
    outputs.write_report(lambda: utility_report.document(found))
    outputs.show(
        lambda: facts(found, values=values),
        lambda: _show(found),
        say(
            "cli.assess.median_relative_error_random",
            queries=found.queries.queries,
            median=found.queries.median,
            mean_change=found.associations.mean_change,
        ),
        note=None if outputs.report is None else utility_report.PRIVATE,
    )


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
        console.columns("column", "hellinger:.4f", "total_variation:.4f", "earth_mover_s:.4f"),
        [
            [each.column, each.hellinger, each.total_variation, each.earth_mover]
            for each in found.distances
        ],
    )
    if found.associations.pairs:
        console.show_table(
            say("cli.assess.association_pairs_columns"),
            console.columns("columns", "measure", "original:.3f", "released:.3f"),
            [
                [f"{pair.first}, {pair.second}", pair.measure, pair.before, pair.after]
                for pair in found.associations.pairs
            ],
        )
    if found.aggregates:
        console.show_table(
            say("cli.assess.means"),
            console.columns("column", "original", "released"),
            [[each.column, mean(each.before), mean(each.after)] for each in found.aggregates],
        )
    if found.learning is not None:
        console.show_table(
            say_of("cli.assess.predicting_majority_guess", found.learning),
            console.columns("classifier", "from_original:.1%", "from_release:.1%", "kept:.1%"),
            [
                [str(lesson.title), lesson.original_accuracy, lesson.accuracy, lesson.kept]
                for lesson in found.learning.lessons
            ],
        )
    console.show(str(found.queries))
    console.show(say_of("cli.assess.records_suppressed", found))
