"""`celosia assess individual`: the risk of each record of a weighted survey."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console, options
from celosia.core.errors import InputError
from celosia.core.messages import Message, say

EXAMPLES = """**Examples**

`celosia assess individual survey.csv -q region -q age -q sex --weights weight`

`celosia assess individual survey.csv -q region -q age --weights weight --household house --json`

`celosia assess individual survey.csv -s survey.toml --weights weight -o risks.csv`
"""


def individual(
    table: options.Input,
    weights: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="Column of weights: how many people of the population a record represents.",
        ),
    ],
    schema: options.SchemaFile = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    household: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column of the household: if one member is found, all are."
        ),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            help="How to treat an empty key: own (a value of its own) or any (matches all)."
        ),
    ] = "own",
    threshold: Annotated[
        float, typer.Option(help="Records with a higher risk are counted as exposed.")
    ] = 0.1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File for the risk of each record, one row per record."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Estimate the risk of each record of a sample survey, by its weights.

    A record is at risk if few people of the population share its keys, in the sample or not.
    """
    from celosia.assess.individual_report import bands, individual_document
    from celosia.assess.risk import individual_risk
    from celosia.core.files import replacing
    from celosia.core.progress import Step
    from celosia.frames import format_of, read, write
    from celosia.tables import Role

    places = {"risks": output, "report": report}
    options.check_outputs(places, inputs=(table, schema), overwrite=overwrite)
    if output is not None:
        format_of(output)
    if missing not in ("own", "any"):
        raise InputError("CEL-A290.missing", missing=missing)
    keys = options.schema_from(schema, quasi_identifiers).named(Role.QUASI_IDENTIFIER)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        progress(Step(Message("cli.step.reading_file"), 0))
        frame = read(table, **reading)
        progress(Step(Message("cli.step.estimating_risks"), 0))
        found = individual_risk(
            frame,
            keys=keys,
            weights=weights,
            missing="own" if missing == "own" else "any",
            household=household,
            threshold=threshold,
        )
    if output is not None:
        with replacing(output, overwrite=overwrite) as draft:
            write(found.frame(), draft, format=format_of(output))
    if report is not None:
        options.write_text(report, individual_document(found).html(), overwrite)
    if as_json:
        console.show_json(found.as_dict())
        return
    console.show_table(
        say("cli.assess.records_their_risk"),
        [say("cli.column.risk"), say("cli.column.records")],
        [[name, console.number(count, ",")] for name, count in bands(found).items()],
    )
    for what, path in (("risks", output), ("report", report)):
        if path is not None:
            console.show(f"{what}: {path}")
    console.show(str(found), strong=True)


individual.__doc__ = f"{individual.__doc__}\n\n{EXAMPLES}"
