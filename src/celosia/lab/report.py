"""The report of a study: figures, then every published cell beside the computed one."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core import report
from celosia.core.messages import say
from celosia.core.progress import Progress, silent
from celosia.lab.findings import Findings, Row, cell_text
from celosia.lab.study import Study


def document(study: Study, findings: Findings, *, progress: Progress = silent) -> report.Document:
    """The whole report of what a study found, as blocks.

    Drawing takes a while where a study has many figures, so it calls `progress`.
    """
    blocks = [
        *_summary(study, findings),
        *_differences(findings),
        *study.figures(findings, progress),
        *_cells(findings),
    ]
    return report.Document(str(study.title), f"{findings}.", tuple(blocks))


def _summary(study: Study, findings: Findings) -> list[report.Block]:
    runs = findings.by_run()
    whole = sum(all(row.matches for row in rows) for rows in runs.values())
    return [
        report.Heading(say("lab.report.in_short")),
        report.KeyFigures(
            [
                report.KeyFigure(
                    say("lab.report.cells_match"),
                    f"{findings.matched:,}",
                    say("lab.report.of", total=findings.checked),
                ),
                report.KeyFigure(
                    say("lab.report.runs_match"),
                    f"{whole:,}",
                    say("lab.report.of", total=len(runs)),
                ),
            ]
        ),
        report.Facts(
            [
                (say("lab.report.study"), study.name),
                (say("lab.report.published_in"), str(study.source)),
                (say("lab.report.a_match"), str(study.rules)),
            ]
        ),
    ]


def _differences(findings: Findings) -> list[report.Block]:
    wrong = [row for row in findings.rows if not row.matches]
    if not wrong:
        return []
    return [
        report.Notice(say("lab.report.differ", cells=len(wrong)), tone="warning"),
        report.Table(
            [
                say("lab.report.run"),
                say("lab.report.cell"),
                say("lab.report.published"),
                say("lab.report.computed"),
            ],
            [
                [str(row.run), str(row.cell), cell_text(row.published), cell_text(row.computed)]
                for row in wrong
            ],
            caption=say("lab.report.what_differs"),
        ),
    ]


def _cells(findings: Findings) -> list[report.Block]:
    return [
        report.Heading(say("lab.report.by_cell")),
        *(_run(name, rows) for name, rows in findings.by_run().items()),
    ]


def _run(name: str, rows: Sequence[Row]) -> report.Details:
    matched = sum(row.matches for row in rows)
    table = report.Table(
        [
            say("lab.report.cell"),
            say("lab.report.published"),
            say("lab.report.computed"),
            say("lab.report.matches"),
        ],
        [
            [
                str(row.cell),
                cell_text(row.published),
                cell_text(row.computed),
                say("lab.report.yes") if row.matches else say("lab.report.no"),
            ]
            for row in rows
        ],
        caption=say("lab.report.run_caption", name=name),
        numeric=(1, 2),
    )
    return report.Details(
        say("lab.report.run_title", name=name, matched=matched, rows=len(rows)), [table]
    )
