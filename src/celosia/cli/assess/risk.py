"""`celosia assess risk`: how easily records can be re-identified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message, say, say_of

if TYPE_CHECKING:
    from celosia.assess.risk import AttackerRisks, RiskProfile


def risk(
    table: options.Input,
    keys: options.KeyOptions,
    reading: options.Reading,
    outputs: JsonOutputs,
    threshold: Annotated[
        float, "Count the records whose re-identification risk is above this."
    ] = 0.1,
    k: Annotated[int | None, "--k", "Fail (exit code 1) if a class has fewer records."] = None,
    population: Annotated[
        Path | None, "Table of the whole population, with the same labels."
    ] = None,
    sampling_fraction: options.SamplingFraction = None,
    weights: Annotated[
        str | None, "COLUMN", "Column of survey weights: how many people a record represents."
    ] = None,
) -> None:
    """Measure how easily the records of a table, raw or released, can be re-identified.

    **Examples**

    `celosia assess risk safe.csv --schema people.toml`

    `celosia assess risk people.csv -q age -q zip --threshold 0.2 --json`

    `celosia assess risk people.csv -s people.toml --sampling-fraction 0.1`  (journalist, marketer)

    `celosia assess risk people.csv -s people.toml --population all.csv`  (counted, not estimated)

    `celosia assess risk survey.sav -q region -q sex --weights weight`  (by survey weights)

    `celosia assess risk safe.csv -s people.toml --k 5`  (exit code 1 unless each class has 5)
    """
    from celosia.assess.risk import RiskProfile, attacker_risks, separation
    from celosia.assess.risk.profile import count_classes
    from celosia.frames import read_chunks
    from celosia.tables import KAnonymity

    wished = None if k is None else KAnonymity(k)
    names = keys.names()
    others: AttackerRisks | None = None
    with outputs.working(None) as progress:
        classes = count_classes(reading.read_chunks(table, progress), names)
        profile = RiskProfile.of_sizes(
            classes.sizes, suppressed=classes.suppressed, threshold=threshold
        )
        if population is not None or sampling_fraction is not None or weights is not None:
            others = attacker_risks(
                reading.read_chunks(table, progress),
                names,
                population=None if population is None else read_chunks(population),
                sampling_fraction=sampling_fraction,
                weights=weights,
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
    outputs.show(
        lambda: (
            profile.as_dict()
            | {"separation": separation(classes.sizes)}
            | ({} if others is None else {"attackers": others.as_dict()})
        ),
        lambda: _show(profile, separation(classes.sizes), others),
        say_of("cli.assess.smallest_class_average_risk", profile),
    )


def _show(profile: RiskProfile, separated: float, others: AttackerRisks | None) -> None:
    measures: list[tuple[str, float, str]] = [
        (say("cli.column.average_risk"), profile.average, ".3%"),
        (say("cli.risk.highest"), profile.maximum, ".3%"),
        (say("cli.column.records_above", value=100 * profile.threshold), profile.at_risk, ".2%"),
        (say("cli.risk.alone"), profile.unique, ","),
        (say("cli.column.classes"), profile.classes, ","),
        (say("cli.risk.smallest"), profile.smallest, ","),
        (say("cli.risk.average_class"), profile.average_size, ",.2f"),
        (say("cli.risk.largest"), profile.largest, ","),
        (say("cli.column.records"), profile.records, ","),
        (say("cli.risk.suppressed"), profile.suppressed, ","),
        (say("cli.risk.separation"), separated, ".3%"),
    ]
    console.show_table(
        say("cli.assess.re_identification_risk_attacker"),
        console.columns("measure", "value"),
        [[label, console.number(value, form)] for label, value, form in measures],
    )
    if others is not None:
        _show_attackers(others)


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
            *console.columns("attacker", "average:.3%", "highest:.3%"),
            console.Column(say("cli.column.records_above", value=100 * found.threshold), ".2%"),
        ],
        [[name, each.average, each.maximum, each.at_risk] for name, each in kinds.items()],
    )
