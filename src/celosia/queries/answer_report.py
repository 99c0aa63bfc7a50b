"""The report of an answer: its rows, their error, and the privacy loss of one unit.

All of it is computed from released numbers and public parameters, so it can be published.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from celosia.accounting.report import belief_blocks
from celosia.core import figures, report
from celosia.core.messages import Message, say, sentence
from celosia.mechanisms import answer_report
from celosia.mechanisms.values import short

if TYPE_CHECKING:
    from celosia.queries.answer import Interval, QueryAnswer

MOST_BARS = 40
"""Bars that can still be distinguished; longer answers are shown as a table only."""
MOST_ROWS = 1000
"""Rows that a report shows."""


def document(answer: QueryAnswer) -> report.Document:
    """The whole report, as blocks."""
    blocks = answer_report.opening_blocks(answer.guarantee, answer.warnings)
    is_number = len(answer.rows) == 1 and len(answer.rows[0]) == 1
    blocks += _number_blocks(answer) if is_number else _table_blocks(answer)
    none = say("queries.report.no_neighbours")
    blocks += answer_report.guarantee_blocks(answer.guarantee, no_neighbours=none)
    if answer.epsilon:
        blocks += belief_blocks(
            answer.epsilon,
            answer.delta,
            unit=answer.guarantee.unit,
            by=Message("queries.report.this_answer"),
        )
    blocks += answer_report.provenance_blocks(answer.provenance, _facts(answer))
    return report.Document(answer.question, f"{answer.guarantee.promise}.", tuple(blocks))


def _number_blocks(answer: QueryAnswer) -> list[report.Block]:
    value, bounds = answer.value, answer.interval()
    key = "queries.report.with_noise" if answer.epsilon else "queries.report.exact"
    cards = [report.KeyFigure(say("queries.report.answer"), _format_value(value), say(key))]
    if bounds is None:
        return [report.KeyFigures(cards)]
    percent = 100 * answer.confidence
    label = say("queries.report.interval", confidence=percent)
    cards.append(report.KeyFigure(label, _format_bounds(bounds), say("queries.report.holds")))
    error = next(iter(answer.noise_only[0].values()), None)
    if error is not None:
        only = say("queries.report.noise_only", confidence=percent)
        words = say("queries.report.under_cap")
        cards.append(report.KeyFigure(only, _format_error(error), words))
    if value is None or not all(map(isfinite, bounds)):
        return [report.KeyFigures(cards)]
    words = say(
        "queries.report.between_words",
        value=_format_value(value),
        bounds=_between(bounds),
    )
    drawing = answer_report.on_a_line(value, bounds)
    caption = say("queries.report.interval_caption", confidence=percent)
    return [report.KeyFigures(cards), report.Figure(drawing, caption, words)]


def _table_blocks(answer: QueryAnswer) -> list[report.Block]:
    if not answer.rows:
        return [report.Paragraph(say("queries.report.no_group"))]
    names = list(answer.rows[0])
    numbers = [name for name in names if name in answer.intervals[0]]
    noisy = {name for errors in answer.noise_only for name in errors}
    between, noise = say("queries.report.between"), say("queries.report.noise")
    header = [
        word
        for name in names
        for word in (
            [name, *([between] if name in numbers else []), *([noise] if name in noisy else [])]
        )
    ]
    rows = [
        [
            cell
            for name in names
            for cell in (
                [
                    _format_value(row[name]),
                    *([_between(bounds.get(name))] if name in numbers else []),
                    *([_format_error(errors.get(name))] if name in noisy else []),
                ]
            )
        ]
        for row, bounds, errors in zip(
            answer.rows, answer.shown_intervals, answer.noise_only, strict=True
        )
    ][:MOST_ROWS]
    blocks: list[report.Block] = [report.Table(header, rows, say("queries.report.rows_caption"))]
    if noisy:
        blocks.append(report.Paragraph(say("queries.report.noise_text")))
    keys = [name for name in names if name not in numbers]
    drawn = [name for name in numbers if all(row[name] is not None for row in answer.rows)]
    if keys and drawn and len(answer.rows) <= MOST_BARS:
        labels = [" / ".join(str(row[key]) for key in keys) for row in answer.rows]
        first = drawn[0]
        chart = figures.bars(labels, {first: [float(row[first]) for row in answer.rows]})
        words = ", ".join(
            f"{label} {_format_value(row[first])}"
            for label, row in zip(labels, answer.rows, strict=True)
        )
        blocks.insert(
            0, report.Figure(chart, say("queries.report.bars_caption", column=first), words)
        )
    return blocks


def _facts(answer: QueryAnswer) -> list[tuple[str, str]]:
    """How it was answered, and where that is recorded."""
    none = say("queries.report.none")
    facts = [
        (say("queries.report.question"), answer.question),
        (say("queries.report.method"), answer.method),
        *((say("queries.report.cap", name=name), short(cap)) for name, cap in answer.caps.items()),
        (say("queries.report.spent"), _spent(answer)),
        (say("queries.report.entry"), none if answer.entry is None else str(answer.entry)),
        (say("queries.report.head"), answer.head or none),
    ]
    if answer.stored:
        facts.append((say("queries.report.repeated"), sentence(answer.stored_note)))
    return facts


def _spent(answer: QueryAnswer) -> str:
    if not answer.epsilon:
        return say("queries.report.nothing_spent")
    if answer.delta:
        return say("queries.plan.epsilon_delta", epsilon=answer.epsilon, delta=answer.delta)
    return say("queries.plan.epsilon", epsilon=answer.epsilon)


def _format_value(value: Any) -> str:
    return say("queries.answer.nothing") if value is None else short(value)


def _format_error(error: float | None) -> str:
    return say("queries.report.not_public") if error is None else f"± {short(error)}"


def _between(bounds: Interval) -> str:
    """The bounds under the heading "between"."""
    return _format_bounds(bounds, "queries.report.between_bounds")


def _format_bounds(bounds: Interval, key: str = "queries.report.bounds") -> str:
    if bounds is None:
        return say("queries.report.not_public")
    low, high = (short(end) if isfinite(end) else "?" for end in bounds)
    return say(key, low=low, high=high)
