"""The figure of the study: relative errors of every query at epsilon 1, by every way."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core import figures
from celosia.core.progress import Progress, Step
from celosia.core.report import Block, Figure, Heading
from celosia.lab.findings import Findings
from celosia.lab.sparql.answers import BROKEN, FACTS

WAYS = (BROKEN, FACTS, "one entity, people, planned", "one entity, everything, planned")
EPSILON = "epsilon 1"


def errors(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The error of one answer over the original, for queries that have one."""
    progress(Step("Drawing the errors", 0))
    cells = {(row.run, row.cell): row.computed for row in findings.rows}
    runs = [run for run, cell in cells if run.endswith(EPSILON) and cell == "original"]
    runs = [run for run in runs if cells[run, "original"]]
    series = {method: [_relative(cells, run, method) for run in runs] for method in WAYS}
    names = [run.partition(",")[0].removesuffix(" open") for run in runs]
    drawing = figures.lines(
        range(1, len(runs) + 1),
        series,
        title="Error over the exact count, epsilon 1, one answer each",
        x_label=f"queries: {', '.join(names)}",
        y_label="relative error",
        log=True,
    )
    words = "Relative errors of one answer to each query, by each way to bound it."
    values = "; ".join(
        f"{method}: {sum(each < 0.1 for each in found)} of {len(found)} below a tenth"
        for method, found in series.items()
    )
    return [Heading("Answers at epsilon 1"), Figure(drawing, words, f"{words} {values}.")]


def _relative(cells: dict[tuple[str, str], int | float | str], run: str, method: str) -> float:
    """At least a thousandth, for the logarithm."""
    off = cells.get((run, f"{method}: error"), 0)
    return max(float(off) / float(cells[run, "original"]), 1e-3)
