"""`celosia assess`: what risk a table leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.core.errors import InputError, PrivacyError
from celosia.core.progress import Progress, Step

if TYPE_CHECKING:
    import polars as pl

    from celosia.assess.risk import RiskProfile

app = typer.Typer(
    no_args_is_help=True,
    help="""Assess what risk a table leaves.

    **Example**

    `celosia assess risk safe.csv --schema people.toml`
    """,
)

EXAMPLES = """**Examples**

`celosia assess risk safe.csv --schema people.toml`

`celosia assess risk people.csv -q age -q zip --threshold 0.2 --json`

`celosia assess risk safe.csv -s people.toml --k 5`  (exit code 1 unless every class has 5 records)
"""


def risk(
    table: options.Input,
    schema: options.SchemaFile = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    threshold: Annotated[
        float, typer.Option(help="Count the records whose chance of being picked is above this.")
    ] = 0.1,
    k: Annotated[
        int | None, typer.Option("--k", help="Fail (exit code 1) if a class has fewer records.")
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure how easily the records of a table, raw or released, can be re-identified."""
    from celosia.assess.risk import measure
    from celosia.frames import read_chunks
    from celosia.tables import KAnonymity, Role

    wished = None if k is None else KAnonymity(k)
    roles = options.schema_from(schema, quasi_identifiers)
    reading = options.Reading(delimiter, encoding, header)
    with console.progress_bar(quiet=as_json) as progress:
        profile = measure(
            _watched(read_chunks(table, **reading.as_arguments()), progress),
            roles.named(Role.QUASI_IDENTIFIER),
            threshold=threshold,
        )
    if profile.records == 0:
        raise InputError("CEL-P015", f"{table} has no rows.", fix="Check the file.")
    if wished is not None and profile.smallest < wished.k:
        raise PrivacyError(
            "CEL-A010",
            f"{wished.promise()} does not hold: the smallest class has {profile.smallest} records.",
            why=f"The most exposed record can be picked with a chance of {profile.maximum:.1%}.",
            fix=f"Publish it again with --k {wished.k}.",
            **profile.as_dict(),
        )
    if as_json:
        console.show_json(profile.as_dict())
    else:
        _tell(profile)


risk.__doc__ = f"{risk.__doc__}\n\n{EXAMPLES}"
app.command("risk")(risk)


def _watched(chunks: Iterator[pl.DataFrame], progress: Progress) -> Iterator[pl.DataFrame]:
    """The same chunks, with a step after each."""
    done = 0
    progress(Step("Reading the file", done))
    for chunk in chunks:
        yield chunk
        done += chunk.height
        progress(Step("Reading the file", done))


def _tell(profile: RiskProfile) -> None:
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
    console.show(
        f"smallest class {profile.smallest:,}: average risk {profile.average:.3%}, "
        f"highest {profile.maximum:.3%}",
        strong=True,
    )
