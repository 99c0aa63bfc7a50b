"""`celosia publish`: protect a table and write it."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.tables.release import PublishedTable

GROWTH = 6
"""A table in memory, with what the work needs, takes up to this many times its file."""

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
        bool,
        typer.Option(
            "--keep-order", help="Do not shuffle the rows (their order may tell who is who)."
        ),
    ] = False,
    drop_suppressed: Annotated[
        bool, typer.Option("--drop-suppressed", help="Leave suppressed records out of the file.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Repeat the shuffle; makes the release a simulation.")
    ] = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--in-memory",
            help="Work in chunks from file to file; by default for files too large for memory.",
        ),
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Publish a table with k-anonymity, losing as little information as can be."""
    from celosia import KAnonymity, tables
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.frames import format_of, read

    # Before any work, not after minutes of it.
    certificate = None if output is None else _certificate(output)
    places = {"the release": output, "its certificate": certificate, "the report": report}
    options.check_places(places, inputs=(table, schema), overwrite=force)
    if output is not None:
        format_of(output)
    model = KAnonymity(k)
    roles = options.schema_from(
        schema, quasi_identifiers, identifiers=identifiers, sensitive=sensitive, others=others
    )
    reading = options.Reading(delimiter, encoding, header).as_arguments()
    wish: dict[str, Any] = {
        "suppression": options.share(suppress, option="--suppress"),
        "keep_order": keep_order,
        "drop_suppressed": drop_suppressed,
        "randomness": source(seed),
    }
    in_chunks = _in_chunks(table, output, wanted=stream)
    release: PublishedTable
    with console.progress_bar(quiet=as_json) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them, and they are shown below
        wish["progress"] = progress
        if in_chunks is not None:
            release = tables.publish_file(
                table, in_chunks, roles, model, overwrite=force, **wish, **reading
            )
        else:
            progress(Step("Reading the file", 0))
            frame = read(table, types=roles.types(), **reading)
            release = tables.publish(frame, roles, model, **wish)
            if output is not None:
                release.save(output, overwrite=force)
    if report is not None:
        release.report(report, overwrite=force)
    if as_json:
        _warn(release)
        console.show_json(release.certificate())
    else:
        show_release(release, output, report)


publish.__doc__ = f"{publish.__doc__}\n\n{EXAMPLES}"


def show_release(release: PublishedTable, output: Path | None, report: Path | None) -> None:
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
    _warn(release)
    certificate = None if output is None else _certificate(output)
    for what, path in (("data", output), ("certificate", certificate), ("report", report)):
        if path is not None:
            console.show(f"{what}: {path}")
    if output is None:
        console.note("The release was not written: give -o FILE to keep it.")
    console.show(str(release), strong=True)


def _warn(release: PublishedTable) -> None:
    for warning in release.warnings:
        console.note(f"Warning: {warning}")
    if release.guarantee.simulation:
        console.note("Simulation: made with a seed, not for release.")


def _certificate(output: Path) -> Path:
    from celosia.core.release import certificate_path

    return certificate_path(output)


def _in_chunks(table: Path, output: Path | None, *, wanted: bool | None) -> Path | None:
    """Where to publish to in chunks; None to do the work in memory."""
    if wanted and output is None:
        raise InputError(
            "CEL-I038",
            "--stream needs an output file.",
            why="It works from file to file.",
            fix="Add -o FILE.",
        )
    too_large = table.is_file() and table.stat().st_size * GROWTH > _memory()
    return output if (too_large if wanted is None else wanted) else None


def _memory() -> int:
    """Bytes of physical memory, or no limit where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize
