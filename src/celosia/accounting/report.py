"""Figures of beliefs, and the report of what several releases cost together."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite, log10

from celosia.accounting.accountant import Accountant
from celosia.accounting.belief import PRIORS, BeliefTable, belief_interval
from celosia.accounting.bound import Bound
from celosia.accounting.explanation import Explanation
from celosia.accounting.loss import Loss
from celosia.core import figures
from celosia.core.errors import InputError
from celosia.core.report import (
    Block,
    Document,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Notice,
    Paragraph,
    Table,
)

MOST_LINES = 6
"""Lines that can be told apart in one figure."""
POINTS = 25
STEPS = 10
LATER = "No: losses fixed in advance"

TWO_STEPS = (
    "A guess about what these data say is about a change of them: where neighbours add or remove, "
    "that is two steps, so read it at twice the epsilon."
)
"""Why a belief about a value moves further than one about being there."""


def belief_figure(table: BeliefTable, *, delta: float = 0) -> figures.Svg:
    """The highest belief that each prior may become, by epsilon.

    Args:
        table: whose priors are drawn, along the range of its epsilons.
        delta: of the promise.

    Raises:
        InputError: CEL-B089 more priors than lines can be told apart.
    """
    priors = sorted({row[0].prior for row in table.rows})
    if len(priors) > MOST_LINES:
        raise InputError("CEL-B089", most_lines=MOST_LINES, priors=len(priors))
    places = _places(table.epsilons)
    return figures.lines(
        places,
        {
            f"{prior:.3g} before": [
                belief_interval(prior, place, delta=delta).high for place in places
            ]
            for prior in priors
        },
        title="The most that a belief may become",
        x_label="epsilon",
        y_label="belief after",
        percent=True,
        log_x=True,
    )


def _places(epsilons: Sequence[float]) -> list[float]:
    """Points along the range of some epsilons, or around them where they are few."""
    shown = [each for each in epsilons if each > 0] or [1.0]
    low, high = log10(min(shown)), log10(max(shown))
    if high - low < 1:
        low, high = low - 1, high + 1
    # Short decimals: their exact fractions stay small.
    return [float(f"{10 ** (low + (high - low) * k / POINTS):.4g}") for k in range(POINTS + 1)]


def document(explanation: Explanation, releases: Sequence[tuple[str, Loss, int]]) -> Document:
    """The report of a composition.

    Args:
        explanation: its bounds.
        releases: what it is made of: in words, the loss of each, and how many there are.
    """
    best, count = explanation.tightest, len(explanation.loss.parts)
    blocks: list[Block] = [
        KeyFigures(
            [
                KeyFigure("Epsilon of all together", _number(best.epsilon), best.name),
                KeyFigure("Delta", f"{explanation.delta:g}", "the chance that it fails"),
                KeyFigure("Releases", f"{count:,}", "of the same data"),
            ]
        ),
        Heading("What is released"),
        Table(["kind", "releases"], [[words, times] for words, _, times in releases]),
        *_bounds(explanation),
    ]
    if count > 1:
        blocks += _growth(explanation, releases)
    blocks += belief_blocks(
        best.epsilon, explanation.delta, unit="person", by="all releases together"
    )
    return Document(
        "What several releases cost together",
        f"({_number(best.epsilon)}, {explanation.delta:g})-differential privacy.",
        tuple(blocks),
    )


def _bounds(explanation: Explanation) -> list[Block]:
    best, adaptive = explanation.tightest, explanation.tightest_adaptive
    known = [bound for bound in explanation.bounds if isfinite(bound.epsilon)]
    listed = "; ".join(f"{bound.name}: {_number(bound.epsilon)}" for bound in known)
    drawn = figures.bars(
        [bound.name for bound in known],
        {"epsilon": [bound.epsilon for bound in known]},
        x_label="epsilon",
        horizontal=True,
    )
    blocks: list[Block] = [
        Heading("Every bound side by side"),
        Paragraph(
            "All of them hold; the least is the one to quote. Some need every loss to be fixed "
            "before the first answer is seen. The others hold as well where the next release is "
            "chosen by the answers so far, against a total that is fixed in advance."
        ),
        Figure(drawn, "The epsilon that each bound gives", f"{listed}."),
        Table(
            ["bound", "epsilon", "losses chosen on the way", "remark"],
            [_bound_row(bound, best) for bound in explanation.bounds],
            numeric=(1,),
        ),
    ]
    if best is not adaptive:
        blocks.append(
            Notice(
                f"Where losses are chosen on the way, epsilon is {_number(adaptive.epsilon)} "
                f"({adaptive.name})."
            )
        )
    return blocks


def _bound_row(bound: Bound, best: Bound) -> list[str]:
    remark = "tightest" if bound is best else bound.reason
    return [bound.name, _number(bound.epsilon), "Yes" if bound.adaptive else LATER, remark]


def _growth(explanation: Explanation, releases: Sequence[tuple[str, Loss, int]]) -> list[Block]:
    """How epsilon grows while the releases of each kind are made in step."""
    places: list[int] = []
    sums: list[float] = []
    least: list[float] = []
    for step in range(1, STEPS + 1):
        account = Accountant()
        for _, loss, times in releases:
            account.add(loss, times=ceil(times * step / STEPS))
        if places and len(account) <= places[-1]:
            continue
        bounds = account.bounds(explanation.delta)
        places.append(len(account))
        sums.append(bounds[0].epsilon)
        least.append(min(bound.epsilon for bound in bounds))
    series = {"sum of epsilons": sums, "tightest": least}
    shown = {name: values for name, values in series.items() if all(map(isfinite, values))}
    if not shown:
        return []
    words = f"After {places[-1]:,} releases the tightest bound is {_number(least[-1])}."
    drawn = figures.lines(places, shown, x_label="releases", y_label="epsilon")
    return [Heading("How it grows"), Figure(drawn, "Epsilon after so many releases", words)]


def belief_blocks(epsilon: float, delta: float, *, unit: str, by: str) -> list[Block]:
    """How far beliefs can move, as a table under a heading.

    Args:
        epsilon: of all that was released.
        delta: of the same.
        unit: whose data it is.
        by: what moves the beliefs, such as "this answer".
    """
    rows = []
    for prior in PRIORS:
        belief = belief_interval(prior, epsilon, delta=delta)
        rows.append([f"{prior:.1%}", f"{belief.low:.2%}", f"{belief.high:.2%}"])
    return [
        Heading("What an attacker may come to believe"),
        Paragraph(
            f"Whatever an attacker believes before, this is how far the belief can move by {by} "
            f"because the data of one {unit} was used. {TWO_STEPS}"
        ),
        Table(["belief before", "at least after", "at most after"], rows, numeric=(0, 1, 2)),
    ]


def _number(value: float) -> str:
    return f"{value:.6g}" if isfinite(value) else "infinite"
