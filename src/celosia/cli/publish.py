"""`celosia publish`: protect a table and write it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options

if TYPE_CHECKING:
    from celosia.tables import TableRelease

EXAMPLES = """**Examples**

`celosia publish people.csv --schema people.toml --k 5 -o safe.csv --report report.html`

`celosia publish people.csv -q age -q zip --sensitive disease --k 5 --suppress 2% -o safe.parquet`

`celosia publish people.csv -s people.toml --k 5 --json`  (write nothing, print the figures)
"""


def publish(
    table: options.Input,
    k: Annotated[int, typer.Option("--k", help="Each released record is one of at least K alike.")],
    schema: options.SchemaFile = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the release goes; its suffix names the format."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    suppress: Annotated[
        str, typer.Option(help="Largest share of records to suppress; 100% for no limit.")
    ] = "5%",
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="With -q: released as it is.")
    ] = None,
    identifiers: Annotated[
        list[str] | None,
        typer.Option("--identifier", metavar="COLUMN", help="With -q: never released."),
    ] = None,
    others: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE", help="With -q: the role of other columns (insensitive, identifier)."
        ),
    ] = None,
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Do not shuffle the rows (weaker: see the docs).")
    ] = False,
    drop_suppressed: Annotated[
        bool, typer.Option("--drop-suppressed", help="Leave suppressed records out of the file.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Repeat the shuffle; makes the release a simulation.")
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Publish a table with k-anonymity, losing as little information as can be."""
    from celosia import KAnonymity, tables
    from celosia.core.files import check_writable
    from celosia.core.randomness import source
    from celosia.frames import read

    for path in (output, report):
        if path is not None:  # before any work, not after minutes of it
            check_writable(path, overwrite=force)
    model = KAnonymity(k)
    limit = options.share(suppress, option="--suppress")
    roles = options.schema_from(
        schema, quasi_identifiers, identifiers=identifiers, sensitive=sensitive, others=others
    )
    reading = options.Reading(delimiter, encoding, header)
    with console.progress_bar(quiet=as_json) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them, and they are shown below
        release = tables.publish(
            read(table, types=roles.types(), **reading.as_arguments()),
            roles,
            model,
            suppression=limit,
            keep_order=keep_order,
            drop_suppressed=drop_suppressed,
            randomness=source(seed),
            progress=progress,
        )
    if output is not None:
        release.save(output, overwrite=force)
    if report is not None:
        release.report(report, overwrite=force)
    if as_json:
        console.show_json(release.certificate())
    else:
        show_release(release, output, report)


publish.__doc__ = f"{publish.__doc__}\n\n{EXAMPLES}"


def show_release(release: TableRelease, output: Path | None, report: Path | None) -> None:
    """Print levels, risk before and after, warnings and files, the most important line last."""
    solution, risk, before = release.solution, release.risk, release.risk_before
    console.show_table(
        "Generalisation",
        ["column", "level", "of", "loss"],
        [
            [column.name, str(column.level), str(column.height), f"{column.loss:.2%}"]
            for column in solution.columns
        ],
    )
    console.show_table(
        "Re-identification risk",
        ["", "original", "released"],
        [
            ["average", f"{before.average:.3%}", f"{risk.average:.3%}"],
            ["highest", f"{before.maximum:.3%}", f"{risk.maximum:.3%}"],
            [f"records above {risk.threshold:.0%}", f"{before.at_risk:.2%}", f"{risk.at_risk:.2%}"],
            ["classes", f"{before.classes:,}", f"{risk.classes:,}"],
        ],
    )
    for warning in release.warnings:
        console.note(f"Warning: {warning}")
    if release.guarantee.simulation:
        console.note("Simulation: made with a seed, not for release.")
    for what, path in (("data", output), ("report", report)):
        if path is not None:
            console.show(f"{what}: {path}")
    if output is None:
        console.note("Nothing was written: give -o FILE to keep the release.")
    console.show(f"[bold]{release}[/]")
