"""`celosia epsilon curve`: the error of a statistic, epsilon by epsilon."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.epsilon import statistics
from celosia.cli.epsilon.formatting import format_at_most, format_share
from celosia.cli.frame import check_outputs, write_text
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.mechanisms import ErrorCurve

EXAMPLES = """**Examples**

`celosia epsilon curve count`

`celosia epsilon curve mean --lower 0 --upper 120 --rows 1000 --confidence 0.99`

`celosia epsilon curve histogram --bins 10000 --epsilon 0.5 --epsilon 1 --plot curve.svg`

`celosia epsilon curve noisy-max --candidates 50 --monotone --json`
"""


@statistics.with_options
def curve(
    statistic: Annotated[str, typer.Argument(help=f"One of {statistics.NAMES}.")],
    *,
    statistic_options: statistics.StatisticOptions,
    epsilon: Annotated[
        list[float] | None,
        typer.Option("--epsilon", "-e", metavar="EPSILON", help="May be repeated."),
    ] = None,
    delta: Annotated[float, typer.Option(help="Of Gaussian noise: the chance of failure.")] = 0.0,
    confidence: statistics.Confidence = 0.95,
    plot: Annotated[Path | None, typer.Option(help="Write error against epsilon (SVG).")] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Show the error of a statistic against epsilon, from public parameters alone."""
    from celosia.mechanisms import calibration_report, error_curve
    from celosia.mechanisms.calibration import EPSILONS

    check_outputs({"plot": plot}, overwrite=overwrite)
    found = statistics.statistic(statistic, statistic_options, delta=delta)
    wanted = sorted(set(epsilon or EPSILONS))
    drawn = error_curve(found.mechanism, wanted, confidence=confidence, size=found.size)
    if plot is not None:
        picture = calibration_report.curve_figure(drawn, words=found.words, unit=found.unit)
        write_text(plot, str(picture), overwrite)
    facts = _with_beliefs(drawn, delta)
    if as_json:
        console.show_json({**found.as_dict(), **facts})
        return
    console.show_table(
        say("cli.epsilon.error", words=found.words, unit=found.unit),
        [
            say("cli.column.epsilon"),
            say("cli.column.error_time", format_share=format_share(drawn.confidence)),
            say("cli.column.belief_may_become"),
        ],
        [
            [
                console.number(point["epsilon"], "g"),
                format_at_most(point["error"]),
                console.number(point["belief"], ".1%"),
            ]
            for point in facts["points"]
        ],
    )
    if plot is not None:
        console.show(say("cli.epsilon.plot", plot=plot))
    first, last = drawn.points[0], drawn.points[-1]
    largest, least = format_at_most(first.error), format_at_most(last.error)
    console.show(
        say(
            "cli.epsilon.off_at_most_at",
            words=found.words,
            largest=largest,
            epsilon=first.epsilon,
            least=least,
            epsilon_2=last.epsilon,
            format_share=format_share(drawn.confidence),
        ),
        strong=True,
    )


curve.__doc__ = f"{curve.__doc__}\n\n{EXAMPLES}"


def _with_beliefs(drawn: ErrorCurve, delta: float) -> dict[str, Any]:
    """The curve as plain values, with what an even guess may become at each epsilon."""
    from celosia.accounting import belief_interval

    facts = drawn.as_dict()
    for point in facts["points"]:
        point["belief"] = belief_interval(0.5, point["epsilon"], delta=delta).high
    return facts
