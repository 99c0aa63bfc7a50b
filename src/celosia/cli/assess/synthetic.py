"""`celosia assess synthetic`: what a synthetic table discloses, and its utility."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.assess.comparison_options import ComparisonOptions, show_account, show_models
from celosia.cli.frame import PrivateReportOutputs
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.assess.accounts import SyntheticAccount


def synthetic(
    original: Annotated[Path, "argument", "The original table."],
    made: Annotated[Path, "argument SYNTHETIC", "The synthetic table."],
    compared: ComparisonOptions,
    reading: options.Reading,
    outputs: PrivateReportOutputs,
    holdout: Annotated[
        Path | None, "Table of people who were not in the original, for membership inference."
    ] = None,
    seed: Annotated[int | None, "Seed for the split of the people."] = None,
) -> None:
    """Measure what a synthetic table discloses about real people, and its utility.

    The command counts the unique original records that the synthetic table repeats, infers
    membership from distances (with a holdout), and compares distributions, moments and a model of
    both tables. Reading options apply to all files.

    **Examples**

    `celosia assess synthetic people.csv made.csv`

    `celosia assess synthetic people.csv made.csv --holdout others.csv --report made.html`

    `celosia assess synthetic people.csv made.csv --sensitive disease --nominal zip --json`
    """
    from celosia.assess.account_report import synthetic_document
    from celosia.assess.accounts import synthetic_account
    from celosia.core.randomness import source

    outputs.check(inputs=(original, made, holdout))
    models = compared.models()
    with outputs.working("cli.step.reading_files") as progress:
        found = synthetic_account(
            reading.read(original),
            reading.read(made),
            compared.columns or None,
            holdout=None if holdout is None else reading.read(holdout),
            nominal=compared.nominal or (),
            sensitive=compared.sensitive or (),
            regressions=models,
            rng=source(seed),
            progress=progress,
        )
    show_account(outputs, found, lambda: synthetic_document(found), lambda: _show(found))


def _show(found: SyntheticAccount) -> None:
    console.show_table(
        say("cli.assess.how_far_distributions_moved"),
        console.columns("column", "hellinger:.4f", "total_variation:.4f"),
        [[each.column, each.hellinger, each.total_variation] for each in found.utility.marginals],
    )
    for each in found.attributes:
        console.show(str(each))
    show_models(found.utility)
    console.note(say("cli.assess.synthetic_table_made_without"))
