"""The report of one noisy answer: the value, how far it may be off, what it tells of one unit.

All of it is computed from the released value and from public parameters, so it can be published.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from celosia.accounting.report import belief_blocks
from celosia.core import figures, report
from celosia.core.figures.svg import SVG_NAMESPACE, Svg
from celosia.core.messages import say, sentence
from celosia.mechanisms.values import short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from celosia.core.release import Guarantee, Provenance
    from celosia.mechanisms.noisy_answer import NoisyAnswer

MOST_BARS = 40
"""Bars that can still be told apart; longer answers are shown as a table."""
LEFT, RIGHT = 90, 510
"""Where the ends of an interval lie on its drawing."""


def document(answer: NoisyAnswer) -> report.Document:
    """The whole report, as blocks."""
    blocks = opening_blocks(answer.guarantee, answer.warnings)
    blocks += _many(answer) if isinstance(answer.value, (dict, list)) else _one(answer)
    blocks += guarantee_blocks(answer.guarantee)
    if answer.epsilon is not None:
        blocks += belief_blocks(
            answer.epsilon,
            answer.delta,
            unit=answer.guarantee.unit,
            by=say("mechanisms.answer_report.this_answer"),
        )
    blocks += _provenance(answer)
    return report.Document(str(answer.question), f"{answer.guarantee.promise}.", tuple(blocks))


def opening_blocks(guarantee: Guarantee, warnings: Iterable[str]) -> list[report.Block]:
    """What a reader must know first, and the heading of the answer itself."""
    blocks: list[report.Block] = []
    if guarantee.simulation:
        blocks.append(report.Notice(str(guarantee), tone="simulation"))
    blocks += [report.Notice(sentence(warning), tone="warning") for warning in warnings]
    return [*blocks, report.Heading(say("mechanisms.answer_report.answer"))]


def _one(answer: NoisyAnswer) -> list[report.Block]:
    cards = [
        report.KeyFigure(
            say("mechanisms.answer_report.answer_label"),
            short(answer.value),
            say("mechanisms.answer_report.exact_noise"),
        )
    ]
    if answer.interval is None:
        return [report.KeyFigures(cards)]
    low, high = map(short, answer.interval)
    confidence = 100 * answer.confidence
    cards.append(
        report.KeyFigure(
            say("mechanisms.answer_report.interval", confidence=confidence),
            say("mechanisms.answer_report.from_to", low=low, high=high),
            say("mechanisms.answer_report.holds_exact"),
        )
    )
    drawing = on_a_line(answer.value, answer.interval)
    caption = say("mechanisms.answer_report.interval_caption", confidence=confidence)
    value = short(answer.value)
    words = say("mechanisms.answer_report.interval_words", value=value, low=low, high=high)
    return [report.KeyFigures(cards), report.Figure(drawing, caption, words)]


def _many(answer: NoisyAnswer) -> list[report.Block]:
    frame = answer.to_polars()
    if not frame.height:
        return [report.Paragraph(say("mechanisms.answer_report.nothing"))]
    labels = answer.value if isinstance(answer.value, dict) else range(1, frame.height + 1)
    names = [str(label) for label in labels]
    bounds = [say("mechanisms.answer_report.at_least"), say("mechanisms.answer_report.at_most")]
    answers = say("mechanisms.answer_report.answer_column")
    header = ["", answers, *(bounds if answer.interval else [])]
    shown = frame.drop("key", strict=False)
    rows = [[name, *map(short, row)] for name, row in zip(names, shown.iter_rows(), strict=True)]
    table = report.Table(header, rows)
    if len(names) > MOST_BARS or not frame["value"].dtype.is_numeric():
        return [table]
    chart = figures.bars(names, {answers: [float(value) for value in frame["value"]]})
    caption = say("mechanisms.answer_report.numbers_caption")
    if frame["value"].min() < 0:  # type: ignore[operator]
        caption = say("mechanisms.answer_report.numbers_caption_below_zero")
    return [report.Figure(chart, caption, short(answer.value)), table]


def on_a_line(value: float, interval: tuple[float, float]) -> Svg:
    """A number within its interval, drawn on a line.

    >>> "54,321" in str(on_a_line(54321, (50000, 60000)))
    True
    """
    low, high = map(float, interval)
    width = high - low
    share = 0.5 if width <= 0 else min(max((float(value) - low) / width, 0.0), 1.0)
    place = LEFT + share * (RIGHT - LEFT)
    ends = "".join(
        f'<path d="M{x} 42v16" stroke="currentColor" stroke-width="2"/>' for x in (LEFT, RIGHT)
    )
    texts = [(place, 24, value), (LEFT, 80, interval[0]), (RIGHT, 80, interval[1])]
    words = "".join(
        f'<text x="{x:.1f}" y="{y}" text-anchor="middle" fill="currentColor" font-size="15" '
        f'font-family="sans-serif">{short(number)}</text>'
        for x, y, number in texts
    )
    return Svg(
        f'<svg xmlns="{SVG_NAMESPACE}" viewBox="0 0 600 92">'
        f'<path d="M{LEFT} 50H{RIGHT}" stroke="currentColor" stroke-width="2"/>{ends}'
        f'<circle cx="{place:.1f}" cy="50" r="7" fill="currentColor"/>{words}</svg>'
    )


def guarantee_blocks(guarantee: Guarantee, *, no_neighbours: str = "") -> list[report.Block]:
    """What is promised, and what it rests on.

    Args:
        guarantee: of the answer.
        no_neighbours: what stands in the place of neighbours where there are none.
    """
    facts = [
        (say("mechanisms.answer_report.neighbours"), str(guarantee.neighbours or no_neighbours)),
        *((say("mechanisms.answer_report.assumes"), str(text)) for text in guarantee.assumes),
        *(
            (say("mechanisms.answer_report.leaves_open"), str(text))
            for text in guarantee.leaves_open
        ),
    ]
    words = sentence(guarantee.protects)
    if guarantee.simulation:
        words = say("mechanisms.answer_report.only_simulation", protects=words)
    return [
        report.Heading(say("mechanisms.answer_report.promised")),
        report.Paragraph(words),
        report.Facts(facts),
    ]


def provenance_blocks(made: Provenance, facts: Iterable[tuple[str, str]]) -> list[report.Block]:
    """How an answer was made: facts of its own, then those that every answer has."""
    seed = say("mechanisms.answer_report.no_seed") if made.seed is None else str(made.seed)
    return [
        report.Heading(say("mechanisms.answer_report.made")),
        report.Facts(
            [
                *facts,
                (say("mechanisms.answer_report.made_at"), made.created),
                (say("mechanisms.answer_report.seed"), seed),
                *made.versions.items(),
            ]
        ),
    ]


def _provenance(answer: NoisyAnswer) -> list[report.Block]:
    made = answer.provenance
    facts = [(_label(name), str(value)) for name, value in made.parameters.items()]
    facts.append((say("mechanisms.answer_report.loss"), _in_words(answer.loss)))
    return provenance_blocks(made, facts)


LABELS = {
    "method": "mechanisms.answer_report.mechanism",
    "column": "mechanisms.answer_report.column",
    "unit": "mechanisms.answer_report.unit",
    "rows_per_unit": "mechanisms.answer_report.rows_per_unit",
}


def _label(parameter: str) -> str:
    if parameter in LABELS:
        return say(LABELS[parameter])
    return parameter[:1].upper() + parameter[1:].replace("_", " ")


def _in_words(loss: dict[str, Any]) -> str:
    """A loss on one line; equal parts are counted."""
    if "parts" not in loss:
        rest = (f"{key} {value}" for key, value in loss.items() if key != "kind")
        return ", ".join([str(loss["kind"]), *rest])
    parts = Counter(_in_words(part) for part in loss["parts"])
    return "; ".join(
        part if n == 1 else say("mechanisms.answer_report.times", count=n, loss=part)
        for part, n in parts.items()
    )
