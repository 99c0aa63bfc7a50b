"""The figures of the study: noise of the published columns, and errors of ours, by joins."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core import figures
from celosia.core.progress import Progress, Step
from celosia.core.report import Block, Figure, Heading
from celosia.lab.findings import Findings
from celosia.lab.sql import answers
from celosia.lab.sql.publication import DEVIATIONS, TRUTH

JOINS = (1, 2, 3, 4)


def published(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The mean distance of the printed answers from the truth, over the truth."""
    progress(Step("Drawing the published errors", 0))
    series = {
        f"epsilon {epsilon:g}": [float(DEVIATIONS[epsilon, joins][0]) / TRUTH for joins in JOINS]
        for epsilon in (0.01, 0.1, 1.0)
    }
    drawing = figures.lines(
        JOINS,
        series,
        title="Mean error over the exact answer, as published",
        x_label="joins",
        y_label="relative error",
        log=True,
    )
    words = "Relative errors of the printed answers by elastic sensitivity, by joins and epsilon."
    last = series["epsilon 1"][-1]
    more = f"{words} At epsilon 1 and four joins the error is {last:.0f} times the answer."
    return [Heading("Published answers"), Figure(drawing, words, more)]


def ours(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The median relative error of each way to answer the plain counts."""
    progress(Step("Drawing our errors", 0))
    found = {
        (row.run, row.cell): float(row.computed)
        for row in findings.rows
        if row.cell in answers.METHODS.values()
    }
    runs = list(dict.fromkeys(run for run, _ in found if "distinct" not in run))
    series = {
        cell.removesuffix(f", {answers.ERROR}"): [found[run, cell] for run in runs]
        for cell in answers.METHODS.values()
    }
    drawing = figures.lines(
        JOINS,
        series,
        title=f"Median error over the exact count, scale factor {answers.SCALE:g}, epsilon 1",
        x_label="joins",
        y_label="relative error",
        log=True,
    )
    words = "Relative errors of counts over joins by each way to bound them; smaller is better."
    listed = ", ".join(f"{name} {values[-1]:.2g}" for name, values in series.items())
    return [Heading("Our answers"), Figure(drawing, words, f"{words} Four joins: {listed}.")]
