"""`celosia assess individual`: the risk of each record of a weighted survey."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli import console, options
from celosia.cli.frame import ReportOutputs
from celosia.core.errors import InputError
from celosia.core.messages import Message, say


def individual(
    table: options.Input,
    keys: options.KeyOptions,
    reading: options.Reading,
    outputs: ReportOutputs,
    weights: Annotated[
        str, "COLUMN", "Column of weights: how many people of the population a record represents."
    ],
    household: Annotated[
        str | None, "COLUMN", "Column of the household: if one member is found, all are."
    ] = None,
    missing: Annotated[
        str, "How to treat an empty key: own (a value of its own) or any (matches all)."
    ] = "own",
    threshold: Annotated[float, "Records with a higher risk are counted as exposed."] = 0.1,
    output: Annotated[
        Path | None, "--output -o", "File for the risk of each record, one row per record."
    ] = None,
) -> None:
    """Estimate the risk of each record of a sample survey, by its weights.

    A record is at risk if few people of the population share its keys, in the sample or not.

    **Examples**

    `celosia assess individual survey.csv -q region -q age -q sex --weights weight`

    `celosia assess individual survey.csv -q region -q age --weights weight --household home --json`

    `celosia assess individual survey.csv -s survey.toml --weights weight -o risks.csv`
    """
    from celosia.assess.individual_report import bands, individual_document
    from celosia.assess.risk import individual_risk
    from celosia.core.progress import Step
    from celosia.frames import format_of

    outputs.check(inputs=(table, keys.schema), risks=output)
    if output is not None:
        format_of(output)
    if missing not in ("own", "any"):
        raise InputError("CEL-A290.missing", missing=missing)
    names = keys.names()
    with outputs.working() as progress:
        frame = reading.read(table)
        progress(Step(Message("cli.step.estimating_risks"), 0))
        found = individual_risk(
            frame,
            keys=names,
            weights=weights,
            missing="own" if missing == "own" else "any",
            household=household,
            threshold=threshold,
        )
    outputs.write_table(output, found.frame)
    outputs.write_report(lambda: individual_document(found))
    outputs.show(
        found.as_dict,
        lambda: console.show_table(
            say("cli.assess.records_their_risk"),
            console.columns("risk", "records:,"),
            list(bands(found).items()),
        ),
        found,
        risks=output,
    )
