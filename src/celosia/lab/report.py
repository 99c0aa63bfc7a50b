"""The report of a study: figures, then every published cell beside the computed one."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core import report
from celosia.core.messages import say
from celosia.core.progress import Progress, silent
from celosia.lab.findings import Findings, Row, cell_text, kind_text
from celosia.lab.study import Study


def document(study: Study, findings: Findings, *, progress: Progress = silent) -> report.Document:
    """The whole report of what a study found, as blocks.

    Drawing takes a while where a study has many figures, so it calls `progress`.
    """
    blocks = [
        *_summary(study, findings),
        *_unchecked(findings),
        *_differences(findings),
        *_wrong(findings),
        *study.figures(findings, progress),
        *_cells(findings),
    ]
    return report.Document(str(study.title), f"{findings}.", tuple(blocks))


def _summary(study: Study, findings: Findings) -> list[report.Block]:
    runs = findings.by_run()
    checked = [runs[name] for name in runs if name not in findings.unchecked_runs]
    whole = sum(not any(row.differs for row in rows) for rows in checked)
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
                    say("lab.report.of", total=len(checked)),
                ),
                report.KeyFigure(
                    say("lab.report.printed_cells"),
                    f"{sum(row.published is not None for row in findings.rows):,}",
                    say("lab.report.of", total=len(findings.rows)),
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


def _unchecked(findings: Findings) -> list[report.Block]:
    """The runs that were not checked: they are no matches."""
    names = findings.unchecked_runs
    if not names:
        return []
    text = say("lab.report.not_checked", runs=len(names), names=", ".join(names))
    return [report.Notice(text, tone="warning")]


def _differences(findings: Findings) -> list[report.Block]:
    differing = [row for row in findings.rows if row.differs]
    if not differing:
        return []
    return [
        report.Notice(say("lab.report.differ", cells=len(differing)), tone="warning"),
        report.Table(
            [say("lab.report.run"), *_headings()],
            [[str(row.run), *_texts(row)] for row in differing],
            caption=say("lab.report.what_differs"),
        ),
    ]


def _wrong(findings: Findings) -> list[report.Block]:
    """The published cells that are proved wrong, by reason."""
    reasons: dict[str, list[Row]] = {}
    for row in findings.rows:
        if row.wrong:
            reasons.setdefault(row.wrong, []).append(row)
    return report.table_section(
        say("lab.report.proved_wrong"),
        [say("lab.report.reason"), say("lab.report.cells"), say("lab.report.first_of_them")],
        [
            [str(rows[0].wrong), f"{len(rows):,}", f"{rows[0].run}, {rows[0].cell}"]
            for rows in reasons.values()
        ],
        caption=say("lab.report.wrong_caption"),
        numeric=(1,),
    )


def _cells(findings: Findings) -> list[report.Block]:
    return [
        report.Heading(say("lab.report.by_cell")),
        *(_run(name, rows) for name, rows in findings.by_run().items()),
    ]


def _run(name: str, rows: Sequence[Row]) -> report.Details:
    table = report.Table(
        [*_headings(), say("lab.report.matches")],
        [[*_texts(row), _verdict(row)] for row in rows],
        caption=say("lab.report.run_caption", name=name),
        numeric=(1, 2, 3),
    )
    matched, checked = (sum(row.matches in one for row in rows) for one in ((True,), (True, False)))
    return report.Details(
        say("lab.report.run_title", name=name, matched=matched, rows=checked), [table]
    )


def _headings() -> list[str]:
    return [
        say("lab.report.cell"),
        say("lab.report.published"),
        say("lab.report.expected"),
        say("lab.report.computed"),
        say("lab.report.tolerance"),
    ]


def _texts(row: Row) -> list[str]:
    rule = say("lab.report.tolerance_why", tolerance=str(row.tolerance), why=row.tolerance.why)
    return [
        str(row.cell),
        cell_text(row.published),
        cell_text(row.expected)
        if row.kind is None
        else f"{cell_text(row.expected)} ({kind_text(row.kind)})",
        cell_text(row.computed),
        "" if row.not_run else rule,
    ]


def _verdict(row: Row) -> str:
    if row.not_run:
        return str(row.not_run)
    return say("lab.report.yes") if row.matches else say("lab.report.no")
