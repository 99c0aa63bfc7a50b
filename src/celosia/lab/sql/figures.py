"""The figures of the study: noise of the published columns, and errors of ours, by joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from celosia.core import figures
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step
from celosia.core.report import Block, Figure, Heading
from celosia.lab.figures import listed_lines
from celosia.lab.findings import Findings
from celosia.lab.sql import answers
from celosia.lab.sql.publication import DEVIATIONS, TRUTH

JOINS = (1, 2, 3, 4)


def published(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The mean distance of the printed answers from the truth, over the truth."""
    progress(Step(Message("lab.sql.drawing_the_published_errors"), 0))
    series: dict[str, list[float]] = {
        say("lab.sql.epsilon", epsilon=epsilon): [
            float(DEVIATIONS[epsilon, joins][0]) / TRUTH for joins in JOINS
        ]
        for epsilon in (0.01, 0.1, 1.0)
    }
    drawing = _relative_errors(say("lab.sql.mean_error_over_the_exact_answer"), series)
    words = say("lab.sql.relative_errors_of_the_printed_answers")
    last = series[say("lab.sql.epsilon", epsilon=1.0)][-1]
    more = say("lab.sql.at_epsilon_1_and_four_joins", words=words, last=last)
    return [
        Heading(say("lab.sql.published_answers")),
        Figure(drawing, words, more),
        _distances_of_means(),
    ]


def _relative_errors(title: str, series: Mapping[str, Sequence[float]]) -> figures.Svg:
    """Errors over what is exact, by the number of joins."""
    x, y = say("lab.axis.joins"), say("lab.sparql.relative_error")
    return figures.lines(JOINS, series, title=title, x_label=x, y_label=y, log=True)


def _distances_of_means() -> Figure:
    """Figure 13: how far the mean of ten printed answers is from the truth."""
    series = {
        say("lab.sql.epsilon", epsilon=epsilon): [
            float(DEVIATIONS[epsilon, joins][1]) for joins in JOINS
        ]
        for epsilon in (0.01, 0.1, 1.0)
    }
    x, y = say("lab.axis.joins"), say("lab.sql.orders")
    return listed_lines(say("lab.sql.figure_13"), JOINS, series, x_label=x, y_label=y)


def ours(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The median relative error of each way to answer the plain counts."""
    progress(Step(Message("lab.sql.drawing_our_errors"), 0))
    found = {
        (row.run, row.cell): row.number
        for row in findings.rows
        if row.cell in answers.METHODS.values()
    }
    runs = list(dict.fromkeys(run for run, _ in found if "distinct" not in run))
    series = {
        str(cell).removesuffix(f", {answers.ERROR}"): [found[run, cell] for run in runs]
        for cell in answers.METHODS.values()
    }
    drawing = _relative_errors(
        say("lab.sql.median_error_over_the_exact_count", scale=answers.SCALE), series
    )
    words = say("lab.sql.relative_errors_of_counts_over_joins")
    listed = ", ".join(f"{name} {values[-1]:.2g}" for name, values in series.items())
    return [
        Heading(say("lab.sql.our_answers")),
        Figure(drawing, words, say("lab.sql.four_joins", words=words, listed=listed)),
    ]
