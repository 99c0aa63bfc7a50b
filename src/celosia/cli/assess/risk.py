"""`celosia assess risk`: how easily records can be re-identified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.assess.readers import report_progress
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.assess.risk import AttackerRisks, RiskProfile

EXAMPLES = """**Examples**

`celosia assess risk safe.csv --schema people.toml`

`celosia assess risk people.csv -q age -q zip --threshold 0.2 --json`

`celosia assess risk people.csv -s people.toml --sampling-fraction 0.1`  (journalist, marketer)

`celosia assess risk people.csv -s people.toml --population all.csv`  (counted, not estimated)

`celosia assess risk safe.csv -s people.toml --k 5`  (exit code 1 unless every class has 5 records)
"""


def risk(
    table: options.Input,
    schema: options.SchemaFile = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    threshold: Annotated[
        float, typer.Option(help="Count the records whose re-identification risk is above this.")
    ] = 0.1,
    k: Annotated[
        int | None, typer.Option("--k", help="Fail (exit code 1) if a class has fewer records.")
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(help="Table of the whole population, with the same labels."),
    ] = None,
    sampling_fraction: options.SamplingFraction = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure how easily the records of a table, raw or released, can be re-identified."""
    from celosia.assess.risk import attacker_risks, measure
    from celosia.frames import read_chunks
    from celosia.tables import KAnonymity, Role

    wished = None if k is None else KAnonymity(k)
    names = options.schema_from(schema, quasi_identifiers).named(Role.QUASI_IDENTIFIER)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    others: AttackerRisks | None = None
    with console.progress_bar(quiet=as_json) as progress:
        profile = measure(
            report_progress(read_chunks(table, **reading), progress), names, threshold=threshold
        )
        if population is not None or sampling_fraction is not None:
            others = attacker_risks(
                report_progress(read_chunks(table, **reading), progress),
                names,
                population=None if population is None else read_chunks(population),
                sampling_fraction=sampling_fraction,
                threshold=threshold,
            )
    if profile.records == 0:
        raise InputError("CEL-P015.risk", table=table)
    if wished is not None and profile.smallest < wished.k:
        raise PrivacyError(
            "CEL-A010.risk",
            **profile.as_dict(),
            promise=wished.promise(),
            k=wished.k,
        )
    if as_json:
        facts: dict[str, Any] = {} if others is None else {"attackers": others.as_dict()}
        console.show_json(profile.as_dict() | facts)
        return
    _show(profile)
    if others is not None:
        _show_attackers(others)
    console.show(
        say(
            "cli.assess.smallest_class_average_risk",
            smallest=profile.smallest,
            average=profile.average,
            maximum=profile.maximum,
        ),
        strong=True,
    )


risk.__doc__ = f"{risk.__doc__}\n\n{EXAMPLES}"


def _show(profile: RiskProfile) -> None:
    console.show_table(
        say("cli.assess.re_identification_risk_attacker"),
        [say("cli.column.measure"), say("cli.column.value")],
        [
            [say("cli.column.average_risk"), console.number(profile.average, ".3%")],
            [say("cli.risk.highest"), console.number(profile.maximum, ".3%")],
            [
                say("cli.column.records_above", value=100 * profile.threshold),
                console.number(profile.at_risk, ".2%"),
            ],
            [say("cli.risk.alone"), console.number(profile.unique, ",")],
            [say("cli.column.classes"), console.number(profile.classes, ",")],
            [say("cli.risk.smallest"), console.number(profile.smallest, ",")],
            [say("cli.risk.average_class"), console.number(profile.average_size, ",.2f")],
            [say("cli.risk.largest"), console.number(profile.largest, ",")],
            [say("cli.column.records"), console.number(profile.records, ",")],
            [say("cli.risk.suppressed"), console.number(profile.suppressed, ",")],
        ],
    )


def _show_attackers(found: AttackerRisks) -> None:
    kinds = {
        say("cli.risk.prosecutor"): found.prosecutor,
        say("cli.risk.journalist"): found.journalist,
        say("cli.risk.marketer"): found.marketer,
    }
    how = Message("cli.risk.counted" if found.basis == "population" else "cli.risk.expected")
    console.show_table(
        say("cli.assess.attacker_people_classes_table", population=found.population, how=how),
        [
            say("cli.column.attacker"),
            say("cli.column.average"),
            say("cli.column.highest"),
            say("cli.column.records_above", value=100 * found.threshold),
        ],
        [
            [
                name,
                console.number(each.average, ".3%"),
                console.number(each.maximum, ".3%"),
                console.number(each.at_risk, ".2%"),
            ]
            for name, each in kinds.items()
        ],
    )
