"""`celosia lab`: published results, computed again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.cli.frame import FileOutputs, JsonOutputs
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.lab import Findings, Row

app = typer.Typer(
    no_args_is_help=True,
    help="""Reproduce published tables and figures, cell by cell.

    **Examples**

    `celosia lab list`

    `celosia lab run tables --report tables.html`
    """,
)


@app.command("list")
def list_studies(
    outputs: JsonOutputs,
) -> None:
    """List the studies: what was published, and where.

    **Example**

    `celosia lab list --json`
    """
    from celosia import lab

    outputs.show(lambda: [study.as_dict() for study in lab.studies()], _show_studies)


def _show_studies() -> None:
    from celosia import lab

    for study in lab.studies():
        console.show(study.name, strong=True)
        console.show(f"    {study.title}")
        console.show(f"    {study.source}")
    console.note(say("cli.lab.run_one_celosia_lab"))


@app.command()
def run(
    name: Annotated[str, "argument", "A name that `celosia lab list` shows."],
    outputs: FileOutputs,
    report: Annotated[
        Path | None, "Write a report, with figures where the study has some (.html or .pdf)."
    ] = None,
    output: Annotated[Path | None, "--output -o", "Write all cells to a table."] = None,
    path: Annotated[
        Path | None, "--path", "The file or folder that holds the original data."
    ] = None,
    triples: Annotated[
        int | None, "The number of triples of the graph, if a study makes one."
    ] = None,
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
    from celosia.frames import format_of

    # Before any work, not after a minute of it.
    study = lab.find(name)
    outputs.check(inputs=(path,), report=report, cells=output)
    if output is not None:
        format_of(output)
    with outputs.working(None) as progress:
        findings = study.run(path=path, triples=triples, progress=progress)
        outputs.write_table(output, findings.frame)
        if report is not None:
            page = lab.document(study, findings, progress=progress)
            page.write(report, overwrite=outputs.overwrite)
    outputs.show(findings.as_dict, lambda: _show(findings), findings, bare=True)
    if not findings.is_reproduced:
        raise typer.Exit(1)


def _show(findings: Findings) -> None:
    console.show_table(
        say("cli.lab.published_cells_computed_again"),
        console.columns("run", "cells", "match"),
        [
            [name, str(sum(row.matches is not None for row in rows)), _matched(rows)]
            for name, rows in findings.by_run().items()
        ],
    )
    _show_rows(say("cli.lab.what_differs"), [row for row in findings.rows if row.differs])
    wrong = sum(bool(row.wrong) for row in findings.rows)
    if wrong:
        console.note(say("cli.lab.proved_wrong", wrong=wrong))
    reasons = Counter(str(row.not_run) for row in findings.rows if row.not_run)
    for reason, cells in reasons.items():
        console.note(say("cli.lab.not_compared", cells=cells, reason=reason))


def _matched(rows: Sequence[Row]) -> str:
    """How many cells match; of a run in which nothing was compared, that it was not checked."""
    if all(row.matches is None for row in rows):
        return say("cli.lab.not_checked")
    return str(sum(row.matches is True for row in rows))


def _show_rows(title: str, rows: Sequence[Row]) -> None:
    if rows:
        from celosia.lab.findings import cell_text

        console.show_table(
            title,
            console.columns("run", "cell", "published", "expected", "computed", "tolerance"),
            [
                [
                    row.run,
                    row.cell,
                    *map(cell_text, (row.published, row.expected, row.computed)),
                    str(row.tolerance),
                ]
                for row in rows
            ],
            numbers=False,
        )
