"""Sketches: updates from arrays, beside Apache DataSketches on the same values, and merging.

DataSketches takes one value at a time in Python, so its loop is counted with it, as whoever uses it
pays for it; its list of Python numbers is made before. Sizes are the same on both sides: Count-Min
2719 by 5, HyperLogLog 2^12 registers, Theta 4096 hashes. Times are of the processor, not of the
clock, so that other work on the machine counts less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median
from time import process_time
from typing import Any

import datasketches
import numpy as np
import polars as pl

from celosia.core.randomness import Seeded
from celosia.sketches import CountMin, HyperLogLog, Sketch, ThetaSketch

PAIRS: dict[str, tuple[Callable[[], Sketch], Callable[[], Any]]] = {
    "Count-Min": (
        lambda: CountMin(width=2719, depth=5),
        lambda: datasketches.count_min_sketch(5, 2719),
    ),
    "HyperLogLog": (lambda: HyperLogLog(precision=12), lambda: datasketches.hll_sketch(12)),
    "Theta": (lambda: ThetaSketch(most=4096), lambda: datasketches.update_theta_sketch(12)),
}


def run(*, rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """Nanoseconds a value, ratios of the rates, and what both estimate."""
    numbers = Seeded(2026).integers(rows, rows)
    texts = pl.Series((numbers % 10_000).astype(str))
    taken: dict[str, float] = {}
    ratios: dict[str, float] = {}
    for kind, values in (("numbers", numbers), ("10,000 texts", texts)):
        listed: list[Any] = values.to_list() if isinstance(values, pl.Series) else values.tolist()
        for name, (ours, theirs) in PAIRS.items():
            mine, peer = _seconds(
                lambda make=ours, values=values: make().update(values),  # type: ignore[misc]
                lambda make=theirs, values=listed: _loop(make(), values),  # type: ignore[misc]
            )
            label = f"{name}, {kind}"
            taken[f"{label}, ours"], taken[f"{label}, DataSketches"] = mine, peer
            ratios[f"{label}, ours / DataSketches"] = peer / mine
    return {
        "nanoseconds a value": {name: round(each / rows * 1e9, 1) for name, each in taken.items()},
        "ratios of rates": {name: round(each, 1) for name, each in ratios.items()},
        "different values": _estimates(numbers),
        "exact": _merging(numbers),
    }


def _seconds(*works: Callable[[], object]) -> list[float]:
    """The median processor time of each, by turns, after one round that is not counted."""
    rounds = []
    for _ in range(6):
        rounds.append([_once(work) for work in works])
    return [median(times) for times in zip(*rounds[1:], strict=True)]


def _once(work: Callable[[], object]) -> float:
    started = process_time()
    work()
    return process_time() - started


def _loop(sketch: Any, values: Iterable[Any]) -> Any:
    update = sketch.update
    for each in values:
        update(each)
    return sketch


def _estimates(numbers: Any) -> dict[str, Any]:
    listed = numbers.tolist()
    return {
        "true": int(np.unique(numbers).size),
        "HyperLogLog, ours": round(HyperLogLog(precision=12).update(numbers).estimate()),
        "HyperLogLog, DataSketches": round(
            _loop(datasketches.hll_sketch(12), listed).get_estimate()
        ),
        "Theta, ours": round(ThetaSketch(most=4096).update(numbers).estimate()),
        "Theta, DataSketches": round(
            _loop(datasketches.update_theta_sketch(12), listed).get_estimate()
        ),
    }


def _merging(numbers: Any) -> dict[str, Any]:
    """Whether two halves merged are the sketch of all."""
    half = len(numbers) // 2
    return {
        f"{name}, merged halves are the whole": bool(
            ours().update(numbers[:half]).merge(ours().update(numbers[half:]))
            == ours().update(numbers)
        )
        for name, (ours, _) in PAIRS.items()
    }
