"""`celosia assess individual`: the risk of each record of a weighted survey."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli import console, options
from celosia.cli.frame import ReportOutputs
from celosia.core.errors import InputError
from celosia.core.messages import Message


def individual(
    table: options.Input,
    keys: options.KeyOptions,
    reading: options.Reading,
    outputs: ReportOutputs,
    weights: Annotated[
        str | None,
        "COLUMN",
        "Column of weights: how many people of the population a record represents.",
    ] = None,
    household: Annotated[
        str | None, "COLUMN", "Column of the household: if one member is found, all are."
    ] = None,
    missing: Annotated[
        str, "How to treat an empty key: own (a value of its own) or any (matches all)."
    ] = "own",
    threshold: Annotated[float, "Records with a higher risk are counted as exposed."] = 0.1,
    suda: Annotated[bool, "--suda", "Score how special records are (SUDA, DIS-SUDA)."] = False,
    at_most: Annotated[
        int | None, "With --suda: maximum number of columns in a set; all by default."
    ] = None,
    log_linear: Annotated[
        str | None,
        "INTERACTIONS",
        "Fit a log-linear model with main effects (none) and pairs of keys (two-way).",
    ] = None,
    sampling_fraction: options.SamplingFraction = None,
    sensitive: Annotated[
        list[str] | None, "COLUMN", "Measure l and t of a column; may be repeated."
    ] = None,
    output: Annotated[
        Path | None, "--output -o", "File for the risk of each record, one row per record."
    ] = None,
) -> None:
    """Measure the risk of each record: by weights, SUDA, a log-linear model, or sensitive values.

    A record is at risk if few people of the population share its keys, in the sample or not. With
    --sensitive, l and t tell what the records with its keys give away of a column.

    **Examples**

    `celosia assess individual survey.csv -q region -q age -q sex --weights weight`

    `celosia assess individual survey.csv -q region -q age --weights weight --household home --json`

    `celosia assess individual survey.csv -s survey.toml --weights weight -o risks.csv`

    `celosia assess individual survey.csv -s survey.toml --suda --at-most 4 -o scores.csv`

    `celosia assess individual survey.csv -q age -q job --log-linear two-way --sampling-fraction
    0.05`

    `celosia assess individual safe.csv -q age -q zip --sensitive disease`
    """
    from celosia.assess.individual_report import figures_of, individual_document
    from celosia.assess.risk import record_risks
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
        found = record_risks(
            frame,
            keys=names,
            weights=weights,
            missing="own" if missing == "own" else "any",
            household=household,
            threshold=threshold,
            suda=suda,
            at_most=at_most,
            log_linear=log_linear,
            sampling_fraction=sampling_fraction,
            sensitive=sensitive or (),
            progress=progress,
        )
    outputs.write_table(output, found.frame)
    outputs.write_report(lambda: individual_document(found))
    outputs.show(found.as_dict, lambda: _show(figures_of(found)), found, risks=output)


def _show(parts: list[tuple[str, dict[str, str]]]) -> None:
    for title, figures in parts:
        console.show_table(title, console.columns("measure", "value"), list(figures.items()))
