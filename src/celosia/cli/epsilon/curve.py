"""`celosia epsilon curve`: the error of a statistic, epsilon by epsilon."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from celosia.cli import console
from celosia.cli.epsilon import statistics
from celosia.cli.epsilon.formatting import format_at_most, format_share
from celosia.cli.frame import FileOutputs
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.mechanisms import ErrorCurve


def curve(
    statistic: Annotated[str, "argument", f"One of {statistics.NAMES}."],
    statistic_options: statistics.StatisticOptions,
    outputs: FileOutputs,
    epsilon: Annotated[list[float] | None, "--epsilon -e EPSILON", "May be repeated."] = None,
    delta: Annotated[float, "Of Gaussian noise: the chance of failure."] = 0.0,
    confidence: statistics.Confidence = 0.95,
    plot: Annotated[Path | None, "Write error against epsilon (SVG)."] = None,
) -> None:
    """Show the error of a statistic against epsilon, from public parameters alone.

    **Examples**

    `celosia epsilon curve count`

    `celosia epsilon curve mean --lower 0 --upper 120 --rows 1000 --confidence 0.99`

    `celosia epsilon curve histogram --bins 10000 --epsilon 0.5 --epsilon 1 --plot curve.svg`

    `celosia epsilon curve noisy-max --candidates 50 --monotone --json`
    """
    from celosia.mechanisms import calibration_report, error_curve
    from celosia.mechanisms.calibration import EPSILONS

    outputs.check(plot=plot)
    found = statistics.statistic(statistic, statistic_options, delta=delta)
    wanted = sorted(set(epsilon or EPSILONS))
    drawn = error_curve(found.mechanism, wanted, confidence=confidence, size=found.size)
    outputs.write_text(
        plot,
        lambda: calibration_report.curve_figure(drawn, words=found.words, unit=found.unit),
    )
    facts = _with_beliefs(drawn, delta)
    share = format_share(drawn.confidence)
    first, last = drawn.points[0], drawn.points[-1]
    outputs.show(
        lambda: found.as_dict() | facts,
        lambda: console.show_table(
            say("cli.epsilon.error", words=found.words, unit=found.unit),
            [
                *console.columns("epsilon:g"),
                say("cli.column.error_time", format_share=share),
                *console.columns("belief_may_become:.1%"),
            ],
            [
                [point["epsilon"], format_at_most(point["error"]), point["belief"]]
                for point in facts["points"]
            ],
        ),
        say(
            "cli.epsilon.off_at_most_at",
            words=found.words,
            largest=format_at_most(first.error),
            epsilon=first.epsilon,
            least=format_at_most(last.error),
            epsilon_2=last.epsilon,
            format_share=share,
        ),
        plot=plot,
    )


def _with_beliefs(drawn: ErrorCurve, delta: float) -> dict[str, Any]:
    """The curve as plain values, with what an even guess may become at each epsilon."""
    from celosia.accounting import belief_interval

    facts = drawn.as_dict()
    for point in facts["points"]:
        point["belief"] = belief_interval(0.5, point["epsilon"], delta=delta).high
    return facts
