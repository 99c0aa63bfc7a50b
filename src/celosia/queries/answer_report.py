"""The report of an answer: its rows, their error, and the privacy loss of one unit.

All of it is computed from released numbers and public parameters, so it can be published.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from celosia.accounting.report import belief_blocks
from celosia.core import figures
from celosia.core.report import (
    Block,
    Document,
    Facts,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Notice,
    Paragraph,
    Table,
)
from celosia.core.wording import sentence
from celosia.mechanisms.answer_report import on_a_line
from celosia.mechanisms.values import short

if TYPE_CHECKING:
    from celosia.queries.answer import Interval, QueryAnswer

MOST_BARS = 40
"""Bars that can still be distinguished; longer answers are shown as a table only."""
MOST_ROWS = 1000
"""Rows that a report shows."""
NOISE_ONLY = (
    "The noise is the error of the answer under the caps that were chosen privately. What these "
    "caps cut off is not counted in it; the bounds count that too."
)


def document(answer: QueryAnswer) -> Document:
    """The whole report, as blocks."""
    blocks: list[Block] = []
    if answer.guarantee.simulation:
        blocks.append(Notice(str(answer.guarantee), tone="simulation"))
    blocks += [Notice(sentence(warning), tone="warning") for warning in answer.warnings]
    blocks.append(Heading("The answer"))
    is_number = len(answer.rows) == 1 and len(answer.rows[0]) == 1
    blocks += _number_blocks(answer) if is_number else _table_blocks(answer)
    blocks += _guarantee_blocks(answer)
    if answer.epsilon:
        blocks += belief_blocks(
            answer.epsilon, answer.delta, unit=answer.guarantee.unit, by="this answer"
        )
    blocks += _provenance_blocks(answer)
    return Document(answer.question, f"{answer.guarantee.promise}.", tuple(blocks))


def _number_blocks(answer: QueryAnswer) -> list[Block]:
    value, bounds = answer.value, answer.interval()
    cards = [
        KeyFigure("Answer", _format_value(value), "with exact noise" if answer.epsilon else "exact")
    ]
    if bounds is None:
        return [KeyFigures(cards)]
    label = f"{100 * answer.confidence:g}% interval"
    cards.append(KeyFigure(label, _format_bounds(bounds), "holds the exact answer"))
    error = next(iter(answer.noise_only[0].values()), None)
    if error is not None:
        only = f"{100 * answer.confidence:g}% noise only"
        words = "under the cap chosen, without what it cut off"
        cards.append(KeyFigure(only, _format_error(error), words))
    if value is None or not all(map(isfinite, bounds)):
        return [KeyFigures(cards)]
    words = f"{_format_value(value)}, between {_format_bounds(bounds)}"
    drawing = on_a_line(value, bounds)
    return [KeyFigures(cards), Figure(drawing, f"The answer and its {label}", words)]


def _table_blocks(answer: QueryAnswer) -> list[Block]:
    if not answer.rows:
        return [Paragraph("No group is shown.")]
    names = list(answer.rows[0])
    numbers = [name for name in names if name in answer.intervals[0]]
    noisy = {name for errors in answer.noise_only for name in errors}
    header = [
        word
        for name in names
        for word in (
            [name, *(["between"] if name in numbers else []), *(["noise"] if name in noisy else [])]
        )
    ]
    rows = [
        [
            cell
            for name in names
            for cell in (
                [
                    _format_value(row[name]),
                    *([_format_bounds(bounds.get(name))] if name in numbers else []),
                    *([_format_error(errors.get(name))] if name in noisy else []),
                ]
            )
        ]
        for row, bounds, errors in zip(
            answer.rows, answer.intervals, answer.noise_only, strict=True
        )
    ][:MOST_ROWS]
    blocks: list[Block] = [Table(header, rows, "The released rows")]
    if noisy:
        blocks.append(Paragraph(NOISE_ONLY))
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
        blocks.insert(0, Figure(chart, f"{first} of each group, with noise", words))
    return blocks


def _guarantee_blocks(answer: QueryAnswer) -> list[Block]:
    guarantee = answer.guarantee
    facts = [
        ("Neighbours", guarantee.neighbours or "none: nothing private takes part"),
        *(("Assumes", text) for text in guarantee.assumes),
        *(("Does not protect against", text) for text in guarantee.leaves_open),
    ]
    words = sentence(guarantee.protects)
    if guarantee.simulation:
        words = f"Nothing, for it is a simulation. Drawn without a seed: {words}"
    return [Heading("What is promised"), Paragraph(words), Facts(facts)]


def _provenance_blocks(answer: QueryAnswer) -> list[Block]:
    made = answer.provenance
    seed = "none: the operating system's entropy" if made.seed is None else str(made.seed)
    spent = "nothing" if not answer.epsilon else f"epsilon {answer.epsilon:g}"
    if answer.delta:
        spent += f", delta {answer.delta:g}"
    entry = "none" if answer.entry is None else str(answer.entry)
    return [
        Heading("How it was made"),
        Facts(
            [
                ("Question", answer.question),
                ("Method", answer.method),
                *((f"Cap of {name}", short(cap)) for name, cap in answer.caps.items()),
                ("Spent", spent),
                ("Entry of the ledger", entry),
                ("Head of the ledger", answer.head or "none"),
                *([("Repeated", sentence(answer.stored_note))] if answer.stored else []),
                ("Made", made.created),
                ("Seed", seed),
                *made.versions.items(),
            ]
        ),
    ]


def _format_value(value: Any) -> str:
    return "nothing" if value is None else short(value)


def _format_error(error: float | None) -> str:
    return "not public" if error is None else f"± {short(error)}"


def _format_bounds(bounds: Interval) -> str:
    if bounds is None:
        return "not public"
    low, high = (short(end) if isfinite(end) else "?" for end in bounds)
    return f"{low} to {high}"
