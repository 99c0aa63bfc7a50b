"""The report of one noisy answer: the value, how far it may be off, what it tells of one unit.

All of it is computed from the released value and from public parameters, so it can be published.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from celosia.accounting.report import belief_blocks
from celosia.core import figures
from celosia.core.figures.svg import SVG_NAMESPACE, Svg
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
from celosia.mechanisms.values import short

if TYPE_CHECKING:
    from celosia.mechanisms.noisy_answer import NoisyAnswer

MOST_BARS = 40
"""Bars that can still be told apart; longer answers are shown as a table."""
LEFT, RIGHT = 90, 510
"""Where the ends of an interval lie on its drawing."""


def document(answer: NoisyAnswer) -> Document:
    """The whole report, as blocks."""
    blocks: list[Block] = []
    if answer.guarantee.simulation:
        blocks.append(Notice(str(answer.guarantee), tone="simulation"))
    blocks += [Notice(sentence(warning), tone="warning") for warning in answer.warnings]
    blocks.append(Heading("The answer"))
    blocks += _many(answer) if isinstance(answer.value, (dict, list)) else _one(answer)
    blocks += _guarantee(answer)
    if answer.epsilon is not None:
        blocks += belief_blocks(
            answer.epsilon, answer.delta, unit=answer.guarantee.unit, by="this answer"
        )
    blocks += _provenance(answer)
    return Document(answer.question, f"{answer.guarantee.promise}.", tuple(blocks))


def _one(answer: NoisyAnswer) -> list[Block]:
    cards = [KeyFigure("Answer", short(answer.value), "with exact noise")]
    if answer.interval is None:
        return [KeyFigures(cards)]
    low, high = map(short, answer.interval)
    label = f"{_percent(answer.confidence)} interval"
    cards.append(KeyFigure(label, f"{low} to {high}", "holds the exact answer"))
    drawing = on_a_line(answer.value, answer.interval)
    words = f"{short(answer.value)}, between {low} and {high}"
    return [KeyFigures(cards), Figure(drawing, f"The answer and its {label}", words)]


def _many(answer: NoisyAnswer) -> list[Block]:
    frame = answer.frame()
    if not frame.height:
        return [Paragraph("Nothing is released: no noisy count exceeded the threshold.")]
    labels = answer.value if isinstance(answer.value, dict) else range(1, frame.height + 1)
    names = [str(label) for label in labels]
    header = ["", "answer", *(["at least", "at most"] if answer.interval else [])]
    shown = frame.drop("key", strict=False)
    rows = [[name, *map(short, row)] for name, row in zip(names, shown.iter_rows(), strict=True)]
    table = Table(header, rows)
    if len(names) > MOST_BARS or not frame["value"].dtype.is_numeric():
        return [table]
    chart = figures.bars(names, {"answer": [float(value) for value in frame["value"]]})
    caption = "The released numbers"
    if frame["value"].min() < 0:  # type: ignore[operator]
        caption += "; noise may take a small one below 0"
    return [Figure(chart, caption, short(answer.value)), table]


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


def _guarantee(answer: NoisyAnswer) -> list[Block]:
    guarantee = answer.guarantee
    facts = [
        ("Neighbours", guarantee.neighbours or ""),
        *(("Assumes", text) for text in guarantee.assumes),
        *(("Does not protect against", text) for text in guarantee.leaves_open),
    ]
    words = sentence(guarantee.protects)
    if guarantee.simulation:
        words = f"Nothing, for it is a simulation. Drawn without a seed: {words}"
    return [Heading("What is promised"), Paragraph(words), Facts(facts)]


def _provenance(answer: NoisyAnswer) -> list[Block]:
    made = answer.provenance
    seed = "none: the operating system's entropy" if made.seed is None else str(made.seed)
    return [
        Heading("How it was made"),
        Facts(
            [
                *((_capital(name), str(value)) for name, value in made.parameters.items()),
                ("Loss", _in_words(answer.loss)),
                ("Made", made.created),
                ("Seed", seed),
                *made.versions.items(),
            ]
        ),
    ]


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:].replace("_", " ")


def _in_words(loss: dict[str, Any]) -> str:
    """A loss on one line; equal parts are counted."""
    if "parts" not in loss:
        rest = (f"{key} {value}" for key, value in loss.items() if key != "kind")
        return ", ".join([str(loss["kind"]), *rest])
    parts = Counter(_in_words(part) for part in loss["parts"])
    return "; ".join(part if n == 1 else f"{n} times {part}" for part, n in parts.items())


def _percent(share: float) -> str:
    return f"{100 * share:.6g}%"
