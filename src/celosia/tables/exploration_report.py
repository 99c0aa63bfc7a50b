"""The report of an exploration: every solution by its loss and risk, and the best of them."""

from __future__ import annotations

from celosia.core import figures
from celosia.core.report import (
    Block,
    Document,
    Facts,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Paragraph,
    Table,
)
from celosia.tables.recoding.exploration import Exploration

MOST_LISTED = 200
"""A front with more solutions is listed up to here; the drawing has them all."""


def trade_off(exploration: Exploration, *, metric: str = "loss") -> figures.Svg:
    """Every solution by its score and average risk, with the front and the best score marked."""
    return figures.trade_off(
        [solution.score for solution in exploration.solutions],
        [solution.average_risk for solution in exploration.solutions],
        chosen=0,
        chosen_label=f"least {metric}",
        title="What each solution costs and leaves",
        x_label=metric,
        y_label="average risk",
        log=True,
    )


def document(exploration: Exploration, *, promise: str, metric: str = "loss") -> Document:
    """The whole report; it holds counts and shares, and no cell of the table."""
    front = exploration.front
    best = exploration.solutions[0]
    blocks: list[Block] = [
        KeyFigures(
            [
                KeyFigure(
                    "Solutions",
                    f"{len(exploration.solutions):,}",
                    f"of {exploration.nodes:,} nodes",
                ),
                KeyFigure("On the front", f"{len(front):,}", "beaten by no other in both"),
                KeyFigure(
                    f"Least {metric}", f"{best.score:.3%}", _levels(exploration, best.levels)
                ),
            ]
        ),
        Heading("The choice"),
        Paragraph(
            "Each point is a way to generalise the table that meets the models within the "
            "suppression limit. Those on the line are the front: any other solution has one of "
            f"them that is no worse in both {metric} and average risk. Choosing among these is a "
            "matter of judgement."
        ),
        Figure(
            trade_off(exploration, metric=metric),
            f"{metric.capitalize()} against average risk",
            f"{len(exploration.solutions):,} solutions, {len(front):,} of them on the front; the "
            f"least {metric} is {best.score:.2%} with an average risk of {best.average_risk:.2%}.",
        ),
        Table(
            ["Levels", metric.capitalize(), "Suppressed", "Classes", "Average risk", "Highest"],
            [
                [
                    " ".join(map(str, solution.levels)),
                    f"{solution.score:.3%}",
                    solution.suppressed,
                    solution.classes,
                    f"{solution.average_risk:.3%}",
                    f"{solution.highest_risk:.3%}",
                ]
                for solution in front[:MOST_LISTED]
            ],
            f"The front, the best score first; levels of {', '.join(exploration.columns)}",
            numeric=range(1, 6),
        ),
        Facts([("Records", f"{exploration.rows:,}"), ("Models", promise)]),
    ]
    return Document("Ways to publish a table", f"{promise}. {exploration}.", tuple(blocks))


def _levels(exploration: Exploration, levels: tuple[int, ...]) -> str:
    return ", ".join(
        f"{name} {level}" for name, level in zip(exploration.columns, levels, strict=True)
    )
