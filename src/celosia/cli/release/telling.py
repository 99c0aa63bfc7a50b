"""A noisy answer, or the plan of one, told on the terminal; the most important line last."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.cli import console

if TYPE_CHECKING:
    from celosia.cli.release.settings import Settings
    from celosia.core.guarantee import Guarantee
    from celosia.mechanisms import Answer, Mechanism

ROWS = "rows"
MOST_SHOWN = 100
"""Rows of an answer that are printed; all of them are in the file."""


def plan(mechanism: Mechanism[Any, Any], settings: Settings, *, error_in: str) -> None:
    """Tell what an answer would cost and how far it would be off; no data was read."""
    from celosia.mechanisms.promises import promise, stated, weaknesses

    guarantee = promise(mechanism, simulation=settings.seed is not None, bounded=True)
    error = mechanism.accuracy(settings.confidence, size=settings.size)
    for warning in weaknesses(mechanism):
        console.note(f"Warning: {warning}")
    if settings.as_json:
        epsilon, delta = stated(mechanism)
        facts = {
            "explain": True,
            "mechanism": str(mechanism),
            "loss": mechanism.privacy_loss().as_dict(),
            "epsilon": epsilon,
            "delta": delta,
            "error": error if isfinite(error) else None,
            "confidence": settings.confidence,
            "size": settings.size,
            "guarantee": guarantee.as_dict(),
        }
        console.show_json(facts)
        return
    console.show(f"mechanism: {mechanism}")
    console.show(f"price: {mechanism.privacy_loss()}")
    _promise(guarantee)
    told = f"error of at most {error:,.6g} {error_in} with {_percent(settings.confidence)}"
    if settings.size > 1:
        told += f" for a size of {settings.size:,}"
    console.note("Nothing was read, drawn or spent: leave out --explain to release the answer.")
    console.show(f"{guarantee.promise}; {told} confidence", strong=True)


def answer(told: Answer, *, output: Path | None, report: Path | None) -> None:
    """Tell an answer: its numbers, what is promised, how it was drawn, where it lies."""
    from celosia.core.release import certificate_path

    if isinstance(told.value, (dict, list)):
        _table(told)
    _promise(told.guarantee)
    seed = told.provenance.seed
    drawn = "the operating system's entropy" if seed is None else f"the seed {seed}"
    console.show(f"noise: drawn exactly, in whole steps, from {drawn}")
    certificate = None if output is None else certificate_path(output)
    for what, path in (("data", output), ("certificate", certificate), ("report", report)):
        if path is not None:
            console.show(f"{what}: {path}")
    console.show(str(told), strong=True)


def warn(told: Answer) -> None:
    """Say what the answer warns of, and whether it is only a simulation."""
    for warning in told.warnings:
        console.note(f"Warning: {warning}")
    if told.guarantee.simulation:
        console.note("Simulation: made with a seed, not for release.")


def _table(told: Answer) -> None:
    from celosia.mechanisms.values import short

    frame = told.frame()
    pairs = told.value.items() if isinstance(told.value, dict) else enumerate(told.value, 1)
    bounds = frame.select(frame.columns[-2:]).rows() if told.interval else [()] * frame.height
    rows = [
        [str(label), short(value), *map(short, both)]
        for (label, value), both in zip(pairs, bounds, strict=True)
        if value != "below"  # the many that are told by saying nothing
    ]
    header = ["", "answer"]
    if told.interval is not None:
        header += [f"at least ({_percent(told.confidence)})", "at most"]
    if rows:
        console.show_table(told.question, header, rows[:MOST_SHOWN])
    if len(rows) > MOST_SHOWN:
        console.note(f"{len(rows) - MOST_SHOWN:,} more are in the file: give -o FILE.")


def _promise(guarantee: Guarantee) -> None:
    from celosia.core.wording import sentence

    promise = "promise without a seed" if guarantee.simulation else "promise"
    console.show(f"{promise}: {guarantee.promise} (neighbours: {guarantee.neighbours})")
    console.show(f"meaning: {sentence(guarantee.protects)}")
    for assumption in guarantee.assumes:
        console.show(f"assumes: {assumption}")


def _percent(share: float) -> str:
    return f"{100 * share:.6g}%"
