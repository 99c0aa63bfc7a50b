"""`celosia epsilon amplify`: what sampling or shuffling adds to a promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.epsilon.formatting import format_at_most
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues

if TYPE_CHECKING:
    from celosia.accounting import Loss

SHUFFLED_DELTA = 1e-6


Promise = dict[str, float]
"""An epsilon and a delta, by their names."""


@dataclass(frozen=True, slots=True)
class Amplification(PlainValues):
    """A promise before and after."""

    how: str
    assumes: str
    before: Promise
    after: Promise
    neighbours: str


def amplify(
    outputs: JsonOutputs,
    epsilon: Annotated[float, options.EPSILON, "Epsilon of one release, or of each local report."],
    delta: Annotated[
        float | None, "Of the release; for shuffled reports that of the result (1e-6)."
    ] = None,
    rate: Annotated[float | None, "The chance of each row to be in the sample."] = None,
    sample: Annotated[int | None, "The fixed number of rows in the sample."] = None,
    population: Annotated[int | None, "With --sample: how many rows it is drawn from."] = None,
    reports: Annotated[int | None, "How many local reports are shuffled together."] = None,
    choices: Annotated[
        int | None, "With --reports: number of answers of randomised response."
    ] = None,
) -> None:
    """Show what a secret sample, or shuffling, adds to a promise.

    **Examples**

    `celosia epsilon amplify --epsilon 1 --rate 0.01`  (each row joins by its own coin)

    `celosia epsilon amplify --epsilon 1 --delta 1e-6 --sample 100 --population 10000`

    `celosia epsilon amplify --epsilon 1 --reports 10000 --delta 1e-6`  (local reports, shuffled)
    """
    _check_one(rate, sample, population, reports, choices)
    if reports is not None:
        found = _amplify_by_shuffling(epsilon, delta, reports, choices)
    else:
        found = _amplify_by_sampling(epsilon, delta or 0.0, rate, sample, population)
    console.warn_of_delta(found.after["delta"], people=reports or population)
    outputs.show(found.as_dict, lambda: _show(found), _summary(found))


def _show(found: Amplification) -> None:
    console.show_table(
        f"{found.how} ({found.neighbours})",
        console.columns("", "epsilon", "delta:g"),
        [
            [
                say("cli.column.before"),
                format_at_most(found.before["epsilon"]),
                found.before["delta"],
            ],
            [say("cli.column.after"), format_at_most(found.after["epsilon"]), found.after["delta"]],
        ],
    )
    console.show(say("cli.epsilon.holds_if", assumes=found.assumes))


def _summary(found: Amplification) -> str:
    failing = (
        Message("cli.epsilon.failing", delta=found.after["delta"]) if found.after["delta"] else ""
    )
    return say(
        "cli.epsilon.epsilon",
        how=found.how,
        format_at_most=format_at_most(found.after["epsilon"]),
        failing=failing,
    )


def _check_one(
    rate: float | None,
    sample: int | None,
    population: int | None,
    reports: int | None,
    choices: int | None,
) -> None:
    ways = [rate is not None, sample is not None or population is not None, reports is not None]
    paired = (sample is None) == (population is None) and (choices is None or reports is not None)
    if sum(ways) != 1 or not paired:
        raise InputError("CEL-B083.sampled_or_shuffled")


def _amplify_by_sampling(
    epsilon: float, delta: float, rate: float | None, sample: int | None, population: int | None
) -> Amplification:
    from celosia.accounting import (
        amplify_by_poisson_sampling,
        amplify_by_sampling_without_replacement,
    )

    loss = _loss(epsilon, delta)
    if rate is not None:
        how, relation = (
            Message("cli.epsilon.poisson", rate=rate),
            Message("cli.epsilon.add_remove_one"),
        )
        after = amplify_by_poisson_sampling(loss, rate=rate)
    else:
        assert sample is not None
        assert population is not None
        after = amplify_by_sampling_without_replacement(loss, sample=sample, population=population)
        how = Message("cli.epsilon.sample", sample=sample, population=population)
        relation = Message("cli.epsilon.change_one")
    return Amplification(
        how,
        Message("cli.epsilon.fresh_sample"),
        _promise(loss),
        _promise(after),
        relation,
    )


def _amplify_by_shuffling(
    epsilon: float, delta: float | None, reports: int, choices: int | None
) -> Amplification:
    from celosia.accounting import amplify_by_shuffling
    from celosia.accounting.amounts import delta_amount

    failure = float(delta_amount(SHUFFLED_DELTA if delta is None else delta, zero=True))
    loss = amplify_by_shuffling(epsilon, reports=reports, choices=choices)
    return Amplification(
        Message("cli.epsilon.shuffled", reports=reports),
        Message("cli.epsilon.shuffled_first"),
        {"epsilon": loss.pure, "delta": 0.0},
        {"epsilon": loss.epsilon(failure), "delta": failure},
        Message("cli.epsilon.change_report"),
    )


def _loss(epsilon: float, delta: float) -> Loss:
    from celosia.accounting import ApproximateLoss, PureLoss
    from celosia.accounting.amounts import delta_amount, epsilon_amount

    size = epsilon_amount(epsilon, zero=True)
    failure = delta_amount(delta, zero=True)
    return ApproximateLoss(size, float(failure)) if failure else PureLoss(size)


def _promise(loss: Loss) -> Promise:
    """The epsilon and the delta of a promise."""
    from celosia.accounting import ApproximateLoss
    from celosia.accounting.amounts import round_up

    if isinstance(loss, ApproximateLoss):
        return {"epsilon": round_up(loss.value), "delta": loss.failure}
    return {"epsilon": loss.pure, "delta": 0.0}
