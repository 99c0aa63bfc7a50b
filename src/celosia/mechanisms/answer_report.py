"""The report of one noisy answer: the value, how far it may be off, what it tells of one unit.

All of it is computed from the released value and from public parameters, so it can be published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.accounting.belief import PRIORS, belief_interval
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
from celosia.mechanisms.values import short

if TYPE_CHECKING:
    from celosia.mechanisms.answer import Answer

MOST_BARS = 40
"""Bars that can still be told apart; longer answers are shown as a table."""


def document(answer: Answer) -> Document:
    """The whole report, as blocks."""
    blocks: list[Block] = []
    if answer.guarantee.simulation:
        blocks.append(Notice(str(answer.guarantee), tone="simulation"))
    blocks += [Notice(warning, tone="warning") for warning in answer.warnings]
    blocks += _value(answer)
    blocks += _promise(answer)
    if answer.epsilon is not None:
        blocks += _belief(answer.epsilon, answer.guarantee.unit)
    blocks += _made(answer)
    return Document(answer.question, f"{answer.guarantee.promise}.", tuple(blocks))


def _value(answer: Answer) -> list[Block]:
    many = _labelled(answer)
    if many is None:
        cards = [KeyFigure("Answer", short(answer.value), "with exact noise")]
        if answer.interval is not None:
            low, high = map(short, answer.interval)
            told = f"{answer.confidence:.0%} interval"
            cards.append(KeyFigure(told, f"{low} to {high}", "holds the exact answer"))
        return [Heading("The answer"), KeyFigures(cards)]
    table = Table(["", "answer"], [[name, short(value)] for name, value in many.items()])
    blocks: list[Block] = [Heading("The answer")]
    if len(many) <= MOST_BARS and all(isinstance(value, (int, float)) for value in many.values()):
        chart = figures.bars(
            list(many), {"answer": [max(0.0, float(value)) for value in many.values()]}
        )
        caption = "The released numbers; a noisy count below 0 is drawn as 0"
        blocks.append(Figure(chart, caption, short(answer.value)))
    return [*blocks, table]


def _labelled(answer: Answer) -> dict[str, float | int] | None:
    if isinstance(answer.value, dict):
        return {str(key): value for key, value in answer.value.items()}
    if isinstance(answer.value, list):
        return {str(place): value for place, value in enumerate(answer.value, 1)}
    return None


def _promise(answer: Answer) -> list[Block]:
    guarantee = answer.guarantee
    facts = [
        ("Neighbours", guarantee.neighbours or ""),
        *(("Assumes", told) for told in guarantee.assumes),
        *(("Does not protect against", told) for told in guarantee.leaves_open),
    ]
    return [Heading("What is promised"), Paragraph(sentence(guarantee.protects)), Facts(facts)]


def _belief(epsilon: float, unit: str) -> list[Block]:
    rows = []
    for prior in PRIORS:
        belief = belief_interval(prior, epsilon)
        rows.append([f"{prior:.1%}", f"{belief.low:.2%}", f"{belief.high:.2%}"])
    return [
        Heading("What an attacker may come to believe"),
        Paragraph(
            f"Whatever somebody believes of one {unit} before seeing the answer, this is how far "
            "the belief can move because that unit's data was used."
        ),
        Table(["belief before", "at least after", "at most after"], rows, numeric=[0, 1, 2]),
    ]


def _made(answer: Answer) -> list[Block]:
    made = answer.provenance
    seed = "none: the operating system's entropy" if made.seed is None else str(made.seed)
    return [
        Heading("How it was made"),
        Facts(
            [
                ("Mechanism", str(made.parameters["mechanism"])),
                ("Price", ", ".join(f"{key} {value}" for key, value in answer.loss.items())),
                ("Made", made.created),
                ("Seed", seed),
                *made.versions.items(),
            ]
        ),
    ]
