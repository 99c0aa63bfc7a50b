"""A noisy answer, or the plan of one, on the terminal; the most important line comes last."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from celosia.cli import console
from celosia.cli.frame import JsonOutputs
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.cli.release.run import ReleaseOptions
    from celosia.mechanisms import Mechanism, NoisyAnswer

ROWS = "cli.unit.rows"
MOST_SHOWN = 100
"""Rows of an answer that are printed; all of them are in the file."""


def show_plan(mechanism: Mechanism[Any, Any], options: ReleaseOptions, *, error_in: str) -> None:
    """Print the price and the expected error of an answer; no data was read."""
    from celosia.mechanisms.guarantees import guarantee_of, stated_epsilon_delta, weaknesses

    guarantee = guarantee_of(mechanism, simulation=options.seed is not None, bounded=True)
    error = mechanism.accuracy(options.confidence, size=options.size)
    for warning in weaknesses(mechanism):
        console.note(say("cli.query.warning", warning=warning))
    epsilon, delta = stated_epsilon_delta(mechanism)

    def lines() -> None:
        console.show(say("cli.release.mechanism", mechanism=mechanism))
        console.show(say("cli.release.price", privacy_loss=mechanism.privacy_loss()))
        console.show_guarantee(guarantee)

    JsonOutputs(as_json=options.outputs.as_json).show(  # nothing is written
        lambda: {
            "explain": True,
            "method": str(mechanism),
            "loss": mechanism.privacy_loss().as_dict(),
            "epsilon": epsilon,
            "delta": delta,
            "error": error if isfinite(error) else None,
            "confidence": options.confidence,
            "size": options.size,
            "guarantee": guarantee.as_dict(),
        },
        lines,
        say(
            "cli.release.expected_for_size" if options.size > 1 else "cli.release.expected",
            promise=guarantee.promise,
            error=error,
            unit=Message(error_in),
            confidence=_percent(options.confidence),
            size=options.size,
        ),
        note=say("cli.release.nothing_read_drawn_or"),
    )


def show_answer(answer: NoisyAnswer) -> None:
    """Print an answer: its numbers, its guarantee and its source of randomness."""
    if isinstance(answer.value, (dict, list)):
        _show_table(answer)
    console.show_guarantee(answer.guarantee)
    seed = answer.provenance.seed
    drawn = Message("cli.release.entropy" if seed is None else "cli.release.seed", seed=seed)
    console.show(say("cli.release.noise_drawn_exactly_whole", drawn=drawn))


def _show_table(answer: NoisyAnswer) -> None:
    from celosia.mechanisms.values import short

    frame = answer.to_polars()
    pairs = answer.value.items() if isinstance(answer.value, dict) else enumerate(answer.value, 1)
    bounds = frame.select(frame.columns[-2:]).rows() if answer.interval else [()] * frame.height
    rows = [
        [str(label), short(value), *map(short, both)]
        for (label, value), both in zip(pairs, bounds, strict=True)
        if value != "below"  # the many below the threshold are left out
    ]
    header = ["", say("cli.release.answer")]
    if answer.interval is not None:
        share = _percent(answer.confidence)
        header += [say("cli.release.at_least", share=share), say("cli.release.at_most")]
    if rows:
        console.show_table(answer.question, header, rows[:MOST_SHOWN])
    if len(rows) > MOST_SHOWN:
        console.note(say("cli.query.more_file_give_o", number_of_rows=len(rows) - MOST_SHOWN))


def _percent(share: float) -> str:
    return f"{console.number(100 * share, '.6g')}%"
