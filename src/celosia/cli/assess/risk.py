"""`celosia assess risk`: how easily records can be re-identified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.assess.readers import report_progress
from celosia.core.errors import InputError, PrivacyError

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
        found = profile.as_dict() | {"smallest": profile.smallest, "maximum": profile.maximum}
        raise PrivacyError("CEL-A010.risk", **found | {"promise": wished.promise(), "k": wished.k})
    if as_json:
        facts: dict[str, Any] = {} if others is None else {"attackers": others.as_dict()}
        console.show_json(profile.as_dict() | facts)
        return
    _show(profile)
    if others is not None:
        _show_attackers(others)
    console.show(
        f"smallest class {profile.smallest:,}: average risk {profile.average:.3%}, "
        f"highest {profile.maximum:.3%}",
        strong=True,
    )


risk.__doc__ = f"{risk.__doc__}\n\n{EXAMPLES}"


def _show(profile: RiskProfile) -> None:
    console.show_table(
        "Re-identification risk (the attacker knows that the person is in the table)",
        ["measure", "value"],
        [
            ["average risk", f"{profile.average:.3%}"],
            ["highest risk", f"{profile.maximum:.3%}"],
            [f"records above {100 * profile.threshold:.4g}%", f"{profile.at_risk:.2%}"],
            ["records alone in their class", f"{profile.unique:,}"],
            ["classes", f"{profile.classes:,}"],
            ["smallest class (records)", f"{profile.smallest:,}"],
            ["average class (records)", f"{profile.average_size:,.2f}"],
            ["largest class (records)", f"{profile.largest:,}"],
            ["records", f"{profile.records:,}"],
            ["suppressed records", f"{profile.suppressed:,}"],
        ],
    )


def _show_attackers(found: AttackerRisks) -> None:
    kinds = {
        "prosecutor (knows who is in the table)": found.prosecutor,
        "journalist (knows the population)": found.journalist,
        "marketer (wants as many people as possible)": found.marketer,
    }
    how = "counted" if found.basis == "population" else "expected by the sampling fraction"
    console.show_table(
        f"By attacker ({found.population:,.0f} people in the classes of the table, {how})",
        ["attacker", "average", "highest", f"records above {100 * found.threshold:.4g}%"],
        [
            [name, f"{each.average:.3%}", f"{each.maximum:.3%}", f"{each.at_risk:.2%}"]
            for name, each in kinds.items()
        ],
    )
