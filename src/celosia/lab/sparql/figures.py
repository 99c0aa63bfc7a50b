"""The figure of the study: relative errors of every query at epsilon 1, by every way."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from celosia.core import figures
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step
from celosia.core.report import Block, Figure, Heading
from celosia.lab.findings import Findings, Row
from celosia.lab.sparql import publication, sensitivities
from celosia.lab.sparql.answers import BROKEN, FACTS

WAYS = (
    BROKEN,
    FACTS,
    Message("lab.sparql.one_entity_people_planned"),
    Message("lab.sparql.one_entity_everything_planned"),
)
EPSILON = Message("lab.sparql.epsilon_1")


def averages(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figures 17 to 19: how far each printed average is from its original, by epsilon."""
    progress(Step(Message("lab.sparql.drawing_the_errors"), 0))
    blocks: list[Block] = [Heading(say("lab.sparql.averages_as_printed"))]
    names = list(publication.ANSWERS)
    for place, epsilon in enumerate(publication.EPSILONS):
        off = [
            abs(known.private[place] - sensitivities.original_of(name, epsilon))
            for name, known in publication.ANSWERS.items()
        ]
        noise = [
            sqrt(2 / sensitivities.AVERAGED) * float(known.scales[place])
            for known in publication.ANSWERS.values()
        ]
        words = say("lab.sparql.figure_of_averages", epsilon=epsilon)
        drawing = figures.lines(
            range(1, len(names) + 1),
            {say("lab.report.published"): off, say("lab.sparql.deviation_of_a_mean"): noise},
            title=words,
            x_label=say("lab.sparql.queries", names=names),
            y_label=say("lab.sparql.distance"),
            log=True,
        )
        listed = ", ".join(f"{name} {each:g}" for name, each in zip(names, off, strict=True))
        blocks.append(
            Figure(drawing, words, say("lab.collect.values_listed", words=words, listed=listed))
        )
    return blocks


def errors(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The error of one answer over the original, for queries that have one."""
    progress(Step(Message("lab.sparql.drawing_the_errors"), 0))
    cells = {(row.run, row.cell): row.number for row in findings.rows if _is_number(row)}
    runs = [run for run, cell in cells if run.endswith(EPSILON) and cell == "original"]
    runs = [run for run in runs if cells[run, "original"]]
    series: dict[str, list[float]] = {
        str(method): [_relative(cells, run, method) for run in runs] for method in WAYS
    }
    names = [run.partition(",")[0].removesuffix(" open") for run in runs]
    drawing = figures.lines(
        range(1, len(runs) + 1),
        series,
        title=say("lab.sparql.error_over_the_exact_count_epsilon"),
        x_label=say("lab.sparql.queries", names=names),
        y_label=say("lab.sparql.relative_error"),
        log=True,
    )
    words = say("lab.sparql.relative_errors_of_one_answer_to")
    values = "; ".join(
        say(
            "lab.sparql.of_below_a_tenth",
            method=method,
            sum=sum(each < 0.1 for each in found),
            found=len(found),
        )
        for method, found in series.items()
    )
    return [
        Heading(say("lab.sparql.answers_at_epsilon_1")),
        Figure(drawing, words, f"{words} {values}."),
    ]


def _is_number(row: Row) -> bool:
    return isinstance(row.computed, int | float)


def _relative(cells: dict[tuple[str, str], float], run: str, method: str) -> float:
    """At least a thousandth, for the logarithm."""
    off = cells.get((run, Message("lab.sparql.error", method=method)), 0)
    return max(off / cells[run, "original"], 1e-3)
