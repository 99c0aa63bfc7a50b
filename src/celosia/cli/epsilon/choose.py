"""`celosia epsilon choose`: an epsilon by the error it costs, by the risk it leaves, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from celosia.cli import console
from celosia.cli.epsilon import statistics
from celosia.cli.epsilon.formatting import format_at_most, format_share
from celosia.cli.frame import ReportOutputs
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.mechanisms import EpsilonRecommendation


def choose(
    statistic_options: statistics.StatisticOptions,
    outputs: ReportOutputs,
    statistic: Annotated[str, "argument", f"One of {statistics.NAMES}."] = "count",
    error: Annotated[float | None, "The largest acceptable error."] = None,
    confidence: statistics.Confidence = 0.95,
    prior: Annotated[float, "P", "Belief of an attacker before the answer."] = 0.5,
    belief: Annotated[float | None, "P", "Largest belief of the attacker after it."] = None,
    advantage: Annotated[
        float | None, "Largest advantage of a membership test over a guess, such as 0.2."
    ] = None,
    delta: Annotated[float, "The chance that the promise fails."] = 0.0,
) -> None:
    """Choose an epsilon: exit code 1 if the targets contradict each other.

    With a target error it is the least epsilon that meets it; without one, the largest epsilon that
    the risk targets (--belief, --advantage) allow.

    **Examples**

    `celosia epsilon choose count --error 10 --confidence 0.95`

    `celosia epsilon choose --prior 0.01 --belief 0.05`  (by risk alone, for a count)

    `celosia epsilon choose mean --lower 0 --upper 120 --rows 1000 --error 2 --advantage 0.3`

    `celosia epsilon choose histogram --bins 50 --error 20 --belief 0.8 --report choice.html`
    """
    from celosia.mechanisms import Targets, calibration_report, choose_epsilon

    outputs.check()
    found = statistics.statistic(statistic, statistic_options, delta=delta)
    targets = Targets(
        error=error,
        confidence=confidence,
        size=found.size,
        prior=prior,
        belief=belief,
        advantage=advantage,
        delta=delta,
    )
    chosen = choose_epsilon(found.mechanism, targets)
    outputs.write_report(
        lambda: calibration_report.document(
            chosen, words=found.words, unit=found.unit, size=found.size, targets=targets
        )
    )
    outputs.show(
        lambda: found.as_dict() | _facts(chosen), lambda: _show(chosen), _summary(chosen, found)
    )


def _facts(chosen: EpsilonRecommendation) -> dict[str, Any]:
    """The choice as plain values; the mechanism by its name, as its bins would fill pages."""
    return {
        **chosen.as_dict(),
        "method": chosen.mechanism.method_name,
        "parameter": _price(chosen),
    }


def _price(chosen: EpsilonRecommendation) -> float:
    """The epsilon to give to the mechanism; with a delta it promises a little less."""
    return float(getattr(chosen.mechanism, chosen.mechanism.parameter))


def _show(chosen: EpsilonRecommendation) -> None:
    console.show_table(
        say("cli.epsilon.how_far_belief_may"),
        console.columns("belief_before", "at_least_after:.2%", "at_most_after:.2%"),
        [[format_share(each.prior), each.low, each.high] for each in chosen.beliefs],
    )
    console.show(say("cli.epsilon.membership_test_beats_guess", advantage=chosen.advantage))


def _summary(chosen: EpsilonRecommendation, found: statistics.Statistic) -> str:
    also: str = ""
    if chosen.delta:
        promised = format_at_most(chosen.epsilon)
        also = Message("cli.epsilon.promised", epsilon=promised, delta=chosen.delta)
    return say(
        "cli.epsilon.chosen",
        epsilon=format_at_most(_price(chosen)),
        also=also,
        statistic=found.words,
        error=format_at_most(chosen.error),
        share=format_share(chosen.confidence),
        reason=chosen.reason,
    )
