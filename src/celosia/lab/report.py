"""The report of a study: figures, then every published cell beside the computed one."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core.progress import Progress, silent
from celosia.core.report import (
    Block,
    Details,
    Document,
    Facts,
    Heading,
    KeyFigure,
    KeyFigures,
    Notice,
    Table,
)
from celosia.core.wording import counted
from celosia.lab.findings import Findings, Row
from celosia.lab.study import Study


def document(study: Study, findings: Findings, *, progress: Progress = silent) -> Document:
    """The whole report of what a study found, as blocks.

    Drawing takes a while where a study has many figures, so it calls `progress`.
    """
    blocks = [
        *_summary(study, findings),
        *_differences(findings),
        *study.figures(findings, progress),
        *_cells(findings),
    ]
    return Document(study.title, f"{findings}.", tuple(blocks))


def _summary(study: Study, findings: Findings) -> list[Block]:
    runs = findings.by_run()
    whole = sum(all(row.matches for row in rows) for rows in runs.values())
    return [
        Heading("In short"),
        KeyFigures(
            [
                KeyFigure("Cells that match", f"{findings.matched:,}", f"of {findings.checked:,}"),
                KeyFigure("Runs that match wholly", f"{whole:,}", f"of {len(runs):,}"),
            ]
        ),
        Facts([("Study", study.name), ("Published in", study.source), ("A match is", study.rules)]),
    ]


def _differences(findings: Findings) -> list[Block]:
    wrong = [row for row in findings.rows if not row.matches]
    if not wrong:
        return []
    differ = counted(len(wrong), "cell differs", "cells differ")
    return [
        Notice(f"{differ} from what was published.", tone="warning"),
        Table(
            ["run", "cell", "published", "computed"],
            [[row.run, row.cell, str(row.published), str(row.computed)] for row in wrong],
            caption="What differs.",
        ),
    ]


def _cells(findings: Findings) -> list[Block]:
    return [
        Heading("Cell by cell"),
        *(_run(name, rows) for name, rows in findings.by_run().items()),
    ]


def _run(name: str, rows: Sequence[Row]) -> Details:
    matched = sum(row.matches for row in rows)
    table = Table(
        ["cell", "published", "computed", "matches"],
        [
            [row.cell, str(row.published), str(row.computed), "yes" if row.matches else "no"]
            for row in rows
        ],
        caption=f"{name}: published and computed.",
        numeric=(1, 2),
    )
    return Details(f"{name}: {matched} of {len(rows)}", [table])
