"""A noisy answer, or the plan of one, on the terminal; the most important line comes last."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.cli import console

if TYPE_CHECKING:
    from celosia.cli.release.options import ReleaseOptions
    from celosia.core.guarantee import Guarantee
    from celosia.mechanisms import Mechanism, NoisyAnswer

ROWS = "rows"
MOST_SHOWN = 100
"""Rows of an answer that are printed; all of them are in the file."""


def show_plan(mechanism: Mechanism[Any, Any], options: ReleaseOptions, *, error_in: str) -> None:
    """Print the price and the expected error of an answer; no data was read."""
    from celosia.mechanisms.guarantees import guarantee_of, stated_epsilon_delta, weaknesses

    guarantee = guarantee_of(mechanism, simulation=options.seed is not None, bounded=True)
    error = mechanism.accuracy(options.confidence, size=options.size)
    for warning in weaknesses(mechanism):
        console.note(f"Warning: {warning}")
    if options.as_json:
        epsilon, delta = stated_epsilon_delta(mechanism)
        facts = {
            "explain": True,
            "method": str(mechanism),
            "loss": mechanism.privacy_loss().as_dict(),
            "epsilon": epsilon,
            "delta": delta,
            "error": error if isfinite(error) else None,
            "confidence": options.confidence,
            "size": options.size,
            "guarantee": guarantee.as_dict(),
        }
        console.show_json(facts)
        return
    console.show(f"mechanism: {mechanism}")
    console.show(f"price: {mechanism.privacy_loss()}")
    _show_guarantee(guarantee)
    error_text = f"error of at most {error:,.6g} {error_in} with {_percent(options.confidence)}"
    if options.size > 1:
        error_text += f" for a size of {options.size:,}"
    console.note("Nothing was read, drawn or spent: leave out --explain to release the answer.")
    console.show(f"{guarantee.promise}; {error_text} confidence", strong=True)


def show_answer(answer: NoisyAnswer, *, output: Path | None, report: Path | None) -> None:
    """Print an answer: its numbers, its guarantee, its source of randomness and its files."""
    from celosia.core.release import certificate_path

    if isinstance(answer.value, (dict, list)):
        _show_table(answer)
    _show_guarantee(answer.guarantee)
    seed = answer.provenance.seed
    drawn = "the operating system's entropy" if seed is None else f"the seed {seed}"
    console.show(f"noise: drawn exactly, in whole steps, from {drawn}")
    certificate = None if output is None else certificate_path(output)
    for what, path in (("data", output), ("certificate", certificate), ("report", report)):
        if path is not None:
            console.show(f"{what}: {path}")
    console.show(str(answer), strong=True)


def show_warnings(answer: NoisyAnswer) -> None:
    """Print the warnings of an answer, and whether it is only a simulation."""
    for warning in answer.warnings:
        console.note(f"Warning: {warning}")
    if answer.guarantee.simulation:
        console.note("Simulation: made with a seed, not for release.")


def _show_table(answer: NoisyAnswer) -> None:
    from celosia.mechanisms.values import short

    frame = answer.frame()
    pairs = answer.value.items() if isinstance(answer.value, dict) else enumerate(answer.value, 1)
    bounds = frame.select(frame.columns[-2:]).rows() if answer.interval else [()] * frame.height
    rows = [
        [str(label), short(value), *map(short, both)]
        for (label, value), both in zip(pairs, bounds, strict=True)
        if value != "below"  # the many below the threshold are left out
    ]
    header = ["", "answer"]
    if answer.interval is not None:
        header += [f"at least ({_percent(answer.confidence)})", "at most"]
    if rows:
        console.show_table(answer.question, header, rows[:MOST_SHOWN])
    if len(rows) > MOST_SHOWN:
        console.note(f"{len(rows) - MOST_SHOWN:,} more are in the file: give -o FILE.")


def _show_guarantee(guarantee: Guarantee) -> None:
    from celosia.core.wording import sentence

    promise = "promise without a seed" if guarantee.simulation else "promise"
    console.show(f"{promise}: {guarantee.promise} (neighbours: {guarantee.neighbours})")
    console.show(f"meaning: {sentence(guarantee.protects)}")
    for assumption in guarantee.assumes:
        console.show(f"assumes: {assumption}")


def _percent(share: float) -> str:
    return f"{100 * share:.6g}%"
