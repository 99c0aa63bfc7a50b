"""`celosia synthesise`: a synthetic table."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.cli.mask import show_masked_table
from celosia.core.errors import InputError
from celosia.core.messages import Message

if TYPE_CHECKING:
    from celosia.tables.masking import MaskingMethod

EXAMPLES = """**Examples**

`celosia synthesise people.csv --method trees -o fake.csv --report report.html`

`celosia synthesise people.csv --method copula --identifier name --rows 5000 -o fake.csv`

`celosia synthesise people.csv --method trees --holdout others.csv`  (membership inference)

`celosia synthesise people.csv -o fake.csv  --method
'marginals:epsilon=1,bounds={age=[0,100]},domains={sex=["F","M"]}'`  (differentially private)
"""


def synthesise(
    table: options.Input,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME:KEY=VALUE,...",
            help="copula, trees, bayesian-network or distribution, with parameters; marginals with "
            "noise that promises something (see celosia mask --methods).",
        ),
    ] = "copula",
    rows: Annotated[
        int | None,
        typer.Option(help="Number of synthetic rows; by default as many as in the table."),
    ] = None,
    identifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--identifier", metavar="COLUMN", help="An identifier, left out; may be repeated."
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Measure how well the other columns predict it."),
    ] = None,
    holdout: Annotated[
        Path | None,
        typer.Option(help="Records outside the table, for membership inference."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Output file; its suffix sets the format."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the random draws; makes the release a simulation.")
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Make a synthetic table, and measure its disclosure risk and its utility.

    Without noise there is no guarantee: the report counts the real records that are repeated.
    """
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.core.release import certificate_path
    from celosia.frames import format_of
    from celosia.tables import Role, Schema, masking
    from celosia.tables.masking.readers import read_for_methods

    certificate = None if output is None else certificate_path(output)
    places = {"release": output, "certificate": certificate, "report": report}
    options.check_outputs(places, inputs=(table, holdout), overwrite=overwrite)
    if output is not None:
        format_of(output)
    if rows is not None:
        method += f"{',' if ':' in method else ':'}rows={rows}"
    made = masking.method_from_text(method)
    _check_new_rows(made)
    roles = Schema.of(
        quasi_identifiers=(),
        identifiers=identifiers or (),
        sensitive=sensitive or (),
        other_columns=Role.INSENSITIVE,
    )
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them, and they are shown below
        progress(Step(Message("cli.step.reading_file"), 0))
        frame = read_for_methods(table, [made], **reading)
        names = [name for name in frame.columns if name not in (identifiers or ())]
        recipe = masking.Recipe.of(roles, [(made, names)])
        others = None if holdout is None else read_for_methods(holdout, [made], **reading)
        release = masking.mask(frame, recipe, holdout=others, rng=source(seed), progress=progress)
        if output is not None:
            release.save(output, overwrite=overwrite)
    if report is not None:
        release.report(report, overwrite=overwrite)
    show_masked_table(release, output, report, as_json=as_json)


def _check_new_rows(method: MaskingMethod) -> None:
    """Refuse a method that keeps the rows of real people, which are not synthetic."""
    from celosia.tables import private, synthesis

    makers = (*synthesis.METHODS, *private.METHODS)
    if not isinstance(method, makers):
        raise InputError(
            "CEL-V022",
            method=method.method_name,
            makers=[each.method_name for each in makers],
        )


synthesise.__doc__ = f"{synthesise.__doc__}\n\n{EXAMPLES}"
