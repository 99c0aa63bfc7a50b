"""Figures of beliefs, and the report of what several releases cost together."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite, log10

from celosia.accounting.accountant import Accountant
from celosia.accounting.advanced_composition import Bound
from celosia.accounting.belief import PRIORS, BeliefTable, belief_interval
from celosia.accounting.explanation import Explanation, format_epsilon
from celosia.accounting.losses import Loss
from celosia.core import figures, report
from celosia.core.errors import InputError
from celosia.core.messages import Message, one_unit, say

MOST_LINES = 6
"""Lines that can be told apart in one figure."""
POINTS = 25
STEPS = 10


def belief_figure(table: BeliefTable, *, delta: float = 0) -> figures.Svg:
    """The highest belief that each prior may become, by epsilon.

    Args:
        table: whose priors are drawn, along the range of its epsilons.
        delta: of the promise.
    """
    priors = sorted({row[0].prior for row in table.rows})
    if len(priors) > MOST_LINES:
        raise InputError("CEL-B083.too_many_lines", most_lines=MOST_LINES, priors=len(priors))
    places = _places(table.epsilons)
    return figures.lines(
        places,
        {
            say("accounting.report.belief_line", prior=prior): [
                belief_interval(prior, place, delta=delta).high for place in places
            ]
            for prior in priors
        },
        title=say("accounting.report.belief_title"),
        x_label=say("accounting.report.epsilon"),
        y_label=say("accounting.report.belief_after"),
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


def document(
    explanation: Explanation, releases: Sequence[tuple[str, Loss, int]]
) -> report.Document:
    """The report of a composition.

    Args:
        explanation: its bounds.
        releases: what it is made of: in words, the loss of each, and how many there are.
    """
    best, count = explanation.tightest, len(explanation.loss.parts)
    blocks: list[report.Block] = [
        report.KeyFigures(
            [
                report.KeyFigure(
                    say("accounting.report.epsilon_of_all"),
                    format_epsilon(best.epsilon),
                    str(best.name),
                ),
                report.KeyFigure(
                    say("accounting.report.delta"),
                    format_epsilon(explanation.delta),
                    say("accounting.report.chance_of_failure"),
                ),
                report.KeyFigure(
                    say("accounting.report.number_of_releases"),
                    say("accounting.number", value=count, form=","),
                    say("accounting.report.same_data"),
                ),
            ]
        ),
        report.Heading(say("accounting.report.released")),
        report.Table(
            [say("accounting.report.kind"), say("accounting.report.releases_column")],
            [[str(words), times] for words, _, times in releases],
        ),
        *_bounds(explanation),
    ]
    if count > 1:
        blocks += _growth(explanation, releases)
    blocks += belief_blocks(
        best.epsilon,
        explanation.delta,
        unit="person",
        by=say("accounting.report.all_together"),
    )
    return report.Document(
        say("accounting.report.releases"),
        say(
            "accounting.report.promise",
            epsilon=format_epsilon(best.epsilon),
            delta=explanation.delta,
        ),
        tuple(blocks),
    )


def _bounds(explanation: Explanation) -> list[report.Block]:
    best, adaptive = explanation.tightest, explanation.tightest_adaptive
    known = [bound for bound in explanation.bounds if isfinite(bound.epsilon)]
    listed = "; ".join(f"{bound.name}: {format_epsilon(bound.epsilon)}" for bound in known)
    drawn = figures.bars(
        [str(bound.name) for bound in known],
        {say("accounting.report.epsilon"): [bound.epsilon for bound in known]},
        x_label=say("accounting.report.epsilon"),
        horizontal=True,
    )
    blocks: list[report.Block] = [
        report.Heading(say("accounting.report.bounds")),
        report.Paragraph(say("accounting.report.bounds_text")),
        report.Figure(drawn, say("accounting.report.bounds_caption"), f"{listed}."),
        report.Table(
            [
                say("accounting.report.bound"),
                say("accounting.report.epsilon"),
                say("accounting.report.chosen_on_the_way"),
                say("accounting.report.remark"),
            ],
            [_bound_row(bound, best) for bound in explanation.bounds],
            numeric=(1,),
        ),
    ]
    if best is not adaptive:
        blocks.append(
            report.Notice(
                say(
                    "accounting.report.adaptive",
                    epsilon=format_epsilon(adaptive.epsilon),
                    name=adaptive.name,
                )
            )
        )
    return blocks


def _bound_row(bound: Bound, best: Bound) -> list[str]:
    remark = say("accounting.report.tightest") if bound is best else str(bound.reason)
    adaptive = say("accounting.report.yes") if bound.adaptive else say("accounting.report.fixed")
    return [str(bound.name), format_epsilon(bound.epsilon), adaptive, remark]


def _growth(
    explanation: Explanation, releases: Sequence[tuple[str, Loss, int]]
) -> list[report.Block]:
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
    series = {say("accounting.bound.sum"): sums, say("accounting.report.tightest"): least}
    shown = {name: values for name, values in series.items() if all(map(isfinite, values))}
    if not shown:
        return []
    words = say(
        "accounting.report.growth_text",
        releases=places[-1],
        epsilon=format_epsilon(least[-1]),
    )
    drawn = figures.lines(
        places,
        shown,
        x_label=say("accounting.report.releases_column"),
        y_label=say("accounting.report.epsilon"),
    )
    return [
        report.Heading(say("accounting.report.growth")),
        report.Figure(drawn, say("accounting.report.growth_caption"), words),
    ]


def belief_blocks(epsilon: float, delta: float, *, unit: str, by: str) -> list[report.Block]:
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
        rows.append(
            [
                say("accounting.number", value=prior, form=".1%"),
                say("accounting.number", value=belief.low, form=".2%"),
                say("accounting.number", value=belief.high, form=".2%"),
            ]
        )
    return [
        report.Heading(say("accounting.report.beliefs")),
        report.Paragraph(
            say(
                "accounting.report.beliefs_text",
                cause=by,
                unit=one_unit(unit),
                two_steps=Message("accounting.report.two_steps"),
            )
        ),
        report.Table(belief_header(), rows, numeric=(0, 1, 2)),
    ]


def belief_header() -> list[str]:
    """The names of the columns of a table of beliefs."""
    return [
        say("accounting.report.belief_before"),
        say("accounting.report.at_least_after"),
        say("accounting.report.at_most_after"),
    ]
