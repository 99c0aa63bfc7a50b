"""`celosia assess synthetic`: what a synthetic table discloses, and its utility."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console, options
from celosia.cli.assess import comparison_options
from celosia.core.messages import Message, say

EXAMPLES = """**Examples**

`celosia assess synthetic people.csv made.csv`

`celosia assess synthetic people.csv made.csv --holdout others.csv --report made.html`

`celosia assess synthetic people.csv made.csv --sensitive disease --nominal zip --json`
"""


def synthetic(
    original: Annotated[Path, typer.Argument(help="The original table.")],
    made: Annotated[Path, typer.Argument(metavar="SYNTHETIC", help="The synthetic table.")],
    columns: comparison_options.ComparedColumns = None,
    nominal: comparison_options.NominalColumns = None,
    sensitive: comparison_options.SensitiveColumns = None,
    regression: comparison_options.Regressions = None,
    holdout: Annotated[
        Path | None,
        typer.Option(
            help="Table of people who were not in the original, for membership inference."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed for the split of the people.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (HTML); do not publish it.")
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure what a synthetic table discloses about real people, and its utility.

    The command counts the unique original records that the synthetic table repeats, infers
    membership from distances (with a holdout), and compares distributions, moments and a model of
    both tables. Reading options apply to all files.
    """
    from celosia.assess.account_report import PRIVATE, synthetic_document
    from celosia.assess.accounts import synthetic_account
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.frames import read

    options.check_outputs({"report": report}, inputs=(original, made, holdout), overwrite=overwrite)
    models = comparison_options.regressions(regression)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        progress(Step(Message("cli.step.reading_files"), 0))
        found = synthetic_account(
            read(original, **reading),
            read(made, **reading),
            columns or None,
            holdout=None if holdout is None else read(holdout, **reading),
            nominal=nominal or (),
            sensitive=sensitive or (),
            regressions=models,
            rng=source(seed),
            progress=progress,
        )
    if report is not None:
        options.write_text(report, synthetic_document(found).html(), overwrite)
    if as_json:
        console.show_json(found.as_dict())
        return
    console.show_table(
        say("cli.assess.how_far_distributions_moved"),
        [say("cli.column.column"), say("cli.column.hellinger"), say("cli.column.total_variation")],
        [
            [
                each.column,
                console.number(each.hellinger, ".4f"),
                console.number(each.total_variation, ".4f"),
            ]
            for each in found.utility.marginals
        ],
    )
    for each in found.attributes:
        console.show(str(each))
    for model in found.utility.regressions:
        console.show(str(model))
    if found.utility.moments is not None:
        console.show(str(found.utility.moments))
    console.note(say("cli.assess.synthetic_table_made_without"))
    if report is not None:
        console.show(say("cli.assess.report", report=report))
        console.note(PRIVATE)
    console.show(str(found), strong=True)


synthetic.__doc__ = f"{synthetic.__doc__}\n\n{EXAMPLES}"
