"""`celosia assess synthetic`: what a synthetic table gives away, and what it is good for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console, options
from celosia.cli.assess import compared

EXAMPLES = """**Examples**

`celosia assess synthetic people.csv made.csv`

`celosia assess synthetic people.csv made.csv --holdout others.csv --report made.html`

`celosia assess synthetic people.csv made.csv --sensitive disease --nominal zip --json`
"""


def synthetic(
    original: Annotated[Path, typer.Argument(help="The table that the synthetic one is made of.")],
    made: Annotated[Path, typer.Argument(metavar="SYNTHETIC", help="The synthetic table.")],
    columns: compared.Compared = None,
    nominal: compared.Nominal = None,
    sensitive: compared.Told = None,
    regression: compared.Regressions = None,
    holdout: Annotated[
        Path | None,
        typer.Option(help="People who were not in the original, to try membership inference."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Repeat the split of the people.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (HTML); not to be published.")
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """See what a synthetic table gives away of real people, and what it is good for.

    Counts the unique records that it repeats, tries to tell who was in the original by how near
    the table is (with a holdout), and compares distributions, moments and a model of both tables.
    Reading options are about all files.
    """
    from celosia.assess.masked import synthetic_account
    from celosia.assess.masked_report import PRIVATE, synthetic_document
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.frames import read

    options.check_output_paths(
        {"the report": report}, inputs=(original, made, holdout), overwrite=overwrite
    )
    models = compared.regressions(regression)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        progress(Step("Reading the files", 0))
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
        "How far distributions moved (0 kept, 1 nothing in common)",
        ["column", "Hellinger", "total variation"],
        [
            [each.column, f"{each.hellinger:.4f}", f"{each.total_variation:.4f}"]
            for each in found.utility.marginals
        ],
    )
    for each in found.attributes:
        console.show(str(each))
    for model in found.utility.regressions:
        console.show(str(model))
    if found.utility.moments is not None:
        console.show(str(found.utility.moments))
    console.note("A synthetic table that was made without noise promises nothing.")
    if report is not None:
        console.show(f"report: {report}")
        console.note(PRIVATE)
    console.show(str(found), strong=True)


synthetic.__doc__ = f"{synthetic.__doc__}\n\n{EXAMPLES}"
