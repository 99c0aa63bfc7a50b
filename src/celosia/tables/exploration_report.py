"""The report of an exploration: every solution by its loss and risk, and the best of them."""

from __future__ import annotations

from celosia.core import figures, report
from celosia.core.messages import number, say
from celosia.tables.account import metric_name
from celosia.tables.recoding.exploration import Exploration

MOST_LISTED = 200
"""A front with more solutions is listed up to here; the drawing has them all."""


def trade_off(exploration: Exploration, *, metric: str = "loss") -> figures.Svg:
    """Every solution by its score and average risk, with the front and the best score marked."""
    return figures.trade_off(
        [solution.score for solution in exploration.solutions],
        [solution.average_risk for solution in exploration.solutions],
        chosen=0,
        chosen_label=say("tables.report.least_metric", metric=metric_name(metric)),
        title=say("tables.report.trade_off"),
        x_label=metric_name(metric),
        y_label=say("tables.report.average_risk_axis"),
        log=True,
    )


def document(exploration: Exploration, *, promise: str, metric: str = "loss") -> report.Document:
    """The whole report; it holds counts and shares, and no cell of the table."""
    front = exploration.front
    best = exploration.solutions[0]
    name = str(metric_name(metric))
    blocks: list[report.Block] = [
        report.KeyFigures(
            [
                report.KeyFigure(
                    say("tables.report.solutions"),
                    number(len(exploration.solutions)),
                    say("tables.report.of_nodes", nodes=exploration.nodes),
                ),
                report.KeyFigure(
                    say("tables.report.on_the_front"),
                    number(len(front)),
                    say("tables.report.on_the_front_note"),
                ),
                report.KeyFigure(
                    say("tables.report.least_metric_card", metric=name),
                    number(best.score, ".3%"),
                    _levels(exploration, best.levels),
                ),
            ]
        ),
        report.Heading(say("tables.report.choice")),
        report.Paragraph(say("tables.report.choice_words", metric=name)),
        report.Figure(
            trade_off(exploration, metric=metric),
            say("tables.report.trade_off_figure", metric=name.capitalize()),
            say(
                "tables.report.trade_off_words",
                solutions=len(exploration.solutions),
                front=len(front),
                metric=name,
                score=best.score,
                risk=best.average_risk,
            ),
        ),
        report.Table(
            [
                say("tables.report.levels"),
                name.capitalize(),
                say("tables.report.suppressed"),
                say("tables.report.classes"),
                say("tables.report.average_risk"),
                say("tables.report.highest"),
            ],
            [
                [
                    " ".join(map(str, solution.levels)),
                    number(solution.score, ".3%"),
                    solution.suppressed,
                    solution.classes,
                    number(solution.average_risk, ".3%"),
                    number(solution.highest_risk, ".3%"),
                ]
                for solution in front[:MOST_LISTED]
            ],
            say("tables.report.front_table", columns=exploration.columns),
            numeric=range(1, 6),
        ),
        report.Facts(
            [
                (say("tables.report.records"), number(exploration.rows)),
                (say("tables.report.models"), promise),
            ]
        ),
    ]
    subtitle = say("tables.report.explore_subtitle", promise=promise, exploration=str(exploration))
    return report.Document(say("tables.report.explore_title"), subtitle, tuple(blocks))


def _levels(exploration: Exploration, levels: tuple[int, ...]) -> str:
    return ", ".join(
        f"{name} {level}" for name, level in zip(exploration.columns, levels, strict=True)
    )
