"""The report of a batch of questions: errors by question and by shape, with their figures."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from celosia.core import figures
from celosia.core.messages import Message, number, say
from celosia.core.report import Block, Document, Figure, Heading, Notice, Table
from celosia.queries.comparison import Comparison

COLUMNS = {
    "question": Message("queries.comparison.column.question"),
    "questions": Message("queries.comparison.column.questions"),
    "shape": Message("queries.comparison.column.shape"),
    "method": Message("queries.comparison.column.method"),
    "epsilon": Message("queries.comparison.column.epsilon"),
    "runs": Message("queries.comparison.column.runs"),
    "mean_relative": Message("queries.comparison.column.mean_relative"),
    "median_relative": Message("queries.comparison.column.median_relative"),
    "number": Message("queries.comparison.column.number"),
    "true": Message("queries.comparison.column.true"),
    "private": Message("queries.comparison.column.private"),
    "error": Message("queries.comparison.column.error"),
    "relative_error": Message("queries.comparison.column.relative_error"),
}
"""The titles of what is compared."""
QUESTION_COLUMNS = (
    "question", "shape", "method", "epsilon", "runs", "mean_relative", "median_relative",
)  # fmt: skip
SHAPE_COLUMNS = ("shape", "epsilon", "questions", "mean_relative", "median_relative")
SIDES = ("number", "true", "private", "error", "relative_error")


def titles(names: Sequence[str]) -> list[str]:
    """The titles of some columns."""
    return [str(COLUMNS[name]) for name in names]


def by_shape(found: Sequence[Comparison]) -> dict[tuple[str, float], list[Comparison]]:
    """The questions of each shape and epsilon, in the order of joins."""
    groups: dict[tuple[str, float], list[Comparison]] = {}
    for each in sorted(found, key=lambda one: (one.joins, one.shape, float(one.plan.epsilon))):
        groups.setdefault((each.shape, float(each.plan.epsilon)), []).append(each)
    return groups


def question_rows(found: Sequence[Comparison]) -> list[list[str]]:
    """For each question: name, shape, method, epsilon, runs, mean and median relative error."""
    return [
        [
            each.name,
            each.shape,
            each.plan.method,
            number(float(each.plan.epsilon), ".6g"),
            number(each.runs),
            percent(each.mean_relative),
            percent(each.median_relative),
        ]
        for each in found
    ]


def shape_rows(found: Sequence[Comparison]) -> list[list[str]]:
    """For each shape and epsilon: questions, and the means of their errors."""
    return [
        [
            shape,
            number(epsilon, ".6g"),
            number(len(listed)),
            percent(_mean([each.mean_relative for each in listed])),
            percent(_mean([each.median_relative for each in listed])),
        ]
        for (shape, epsilon), listed in by_shape(found).items()
    ]


def percent(value: float | None) -> str:
    """A relative error; nothing where the true answer is 0."""
    return "" if value is None else number(value, ".3%")


def document(found: Sequence[Comparison]) -> Document:
    """The whole report; it contains true answers only as errors relative to them."""
    word = say("queries.comparison.median_relative")
    epsilons = sorted({float(each.plan.epsilon) for each in found})
    names = list(dict.fromkeys(each.name for each in found))
    errors = {(each.name, float(each.plan.epsilon)): each.median_relative or 0.0 for each in found}
    series = {
        f"epsilon {number(epsilon, '.6g')}": [errors.get((name, epsilon), 0.0) for name in names]
        for epsilon in epsilons
    }
    shapes = by_shape(found)
    blocks: list[Block] = [
        Notice(say("queries.comparison.simulation"), tone="simulation"),
        Heading(say("queries.comparison.by_question")),
        Table(
            titles(QUESTION_COLUMNS),
            question_rows(found),
            say("queries.comparison.by_question"),
        ),
        Figure(
            figures.bars(names, series, title=word, y_label=word, percent=True, log=True),
            word,
            say("queries.comparison.bars_words"),
        ),
        Heading(say("queries.comparison.by_shape")),
        Table(
            titles(SHAPE_COLUMNS),
            shape_rows(found),
            say("queries.comparison.by_shape"),
        ),
    ]
    joins = sorted({each.joins for each in found})
    if len(joins) > 1:
        lines = {
            f"epsilon {number(epsilon, '.6g')}": [
                _mean(
                    [
                        each.median_relative
                        for (_, at), listed in shapes.items()
                        for each in listed
                        if at == epsilon and each.joins == many
                    ]
                )
                or 0.0
                for many in joins
            ]
            for epsilon in epsilons
        }
        blocks.append(_lines(joins, lines, "queries.comparison.joins_axis", log_x=False))
    if len(epsilons) > 1:
        by_name = {name: [errors.get((name, at), 0.0) for at in epsilons] for name in names}
        blocks.append(_lines(epsilons, by_name, "queries.comparison.epsilon_axis", log_x=True))
    subtitle = say("queries.comparison.subtitle", questions=len(names), runs=found[0].runs)
    return Document(say("queries.comparison.title"), subtitle, tuple(blocks))


def _lines(x: Sequence[float], series: dict[str, list[float]], axis: str, *, log_x: bool) -> Figure:
    word = say("queries.comparison.median_relative")
    drawn = figures.lines(
        x, series, title=word, x_label=say(axis), y_label=word, percent=True, log=True, log_x=log_x
    )
    return Figure(drawn, say(axis), say("queries.comparison.lines_words"))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return fmean(known) if known else None
