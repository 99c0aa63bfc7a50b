"""`celosia lab`: published results, computed again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.cli.frame import check_outputs
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.lab import Findings

app = typer.Typer(
    no_args_is_help=True,
    help="""Reproduce published tables and figures, cell by cell.

    **Examples**

    `celosia lab list`

    `celosia lab run tables --report tables.html`
    """,
)


@app.command("list")
def list_studies(as_json: options.AsJson = False) -> None:
    """List the studies: what was published, and where.

    **Example**

    `celosia lab list --json`
    """
    from celosia import lab

    if as_json:
        console.show_json([study.as_dict() for study in lab.studies()])
        return
    for study in lab.studies():
        console.show(study.name, strong=True)
        console.show(f"    {study.title}")
        console.show(f"    {study.source}")
    console.note(say("cli.lab.run_one_celosia_lab"))


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="A name that `celosia lab list` shows.")],
    report: Annotated[
        Path | None, "Write a report, with figures where the study has some (one HTML file)."
    ] = None,
    output: Annotated[Path | None, "--output -o", "Write all cells to a table."] = None,
    path: Annotated[
        Path | None, "--path", "The file or folder that holds the original data."
    ] = None,
    triples: Annotated[
        int | None, "The number of triples of the graph, if a study makes one."
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Run a study: exit code 1 unless every published cell is reproduced.

    **Examples**

    `celosia lab run tables --report tables.html -o cells.csv`

    `celosia lab run tables/k-anonymity --json`

    `celosia lab run tables/reference --path adult.data`

    `celosia lab run sparql --triples 1000000`

    `celosia lab run masking --path sdcmicro-tables`
    """
    from celosia import lab
    from celosia.core.files import replacing
    from celosia.frames import format_of, write

    # Before any work, not after a minute of it.
    study = lab.find(name)
    places = {"report": report, "cells": output}
    check_outputs(places, inputs=(path,), overwrite=overwrite)
    if output is not None:
        format_of(output)
    with console.progress_bar(quiet=as_json) as progress:
        findings = study.run(path=path, triples=triples, progress=progress)
        if output is not None:
            with replacing(output, overwrite=overwrite) as draft:
                write(findings.frame(), draft)
        if report is not None:
            page = lab.document(study, findings, progress=progress).html()
            with replacing(report, overwrite=overwrite) as draft:
                draft.write_text(page, "utf-8")
    if as_json:
        # The bare object, without the envelope of other commands, as benchmarks print theirs.
        typer.echo(json.dumps(findings.as_dict(), indent=2))
    else:
        _show(findings)
    if not findings.is_reproduced:
        raise typer.Exit(1)


def _show(findings: Findings) -> None:
    console.show_table(
        say("cli.lab.published_cells_computed_again"),
        console.columns("run", "cells", "match"),
        [
            [name, str(len(rows)), str(sum(row.matches for row in rows))]
            for name, rows in findings.by_run().items()
        ],
    )
    wrong = [row for row in findings.rows if not row.matches]
    if wrong:
        console.show_table(
            say("cli.lab.what_differs"),
            console.columns("run", "cell", "published", "computed"),
            [[row.run, row.cell, str(row.published), str(row.computed)] for row in wrong],
            numbers=False,
        )
    console.show(str(findings), strong=True)
