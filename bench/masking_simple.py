"""Noise, rank swapping, PRAM and sampling at one million rows, beside the limit of one second each.

Each is measured with the operating system's entropy, as a release draws it, and with a seed. One
column is masked: a number of many different values for noise and swapping, a text of ten categories
for PRAM; sampling draws a tenth of a table of both. The plain sort of the number column is shown
for scale. Times are of the processor, not of the clock, so that other work on the machine counts
less; what runs on two cores counts twice.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from celosia.core.randomness import Seeded, Source, System
from celosia.tables.masking.coding import Sampling
from celosia.tables.masking.draws import normals
from celosia.tables.masking.method import MaskingMethod
from celosia.tables.masking.perturbation import Noise, Pram, RankSwap

LIMIT = 1.0
"""Seconds for one million rows."""

STEPS: dict[str, tuple[MaskingMethod, list[str]]] = {
    "noise": (Noise(amount=0.1), ["income"]),
    "noise, Laplace, moments exact": (
        Noise(amount=0.1, distribution="laplace", correct="exact"),
        ["income"],
    ),
    "noise, correlated, two columns": (Noise(amount=0.1, correlated=True), ["income", "age"]),
    "rank-swap, 5 % of the ranks": (RankSwap(percent=5), ["income"]),
    "rank-swap, 5 % of the range": (RankSwap(range_percent=5), ["income"]),
    "pram, plain": (Pram(stay=0.8), ["region"]),
    "pram, invariant": (Pram(theta=0.5), ["region"]),
    "sampling": (Sampling(fraction=0.1), ["income"]),
    "sampling, stratified": (Sampling(fraction=0.1, by=("region",)), ["income"]),
}


def run(*, rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """Seconds and their share of the limit."""
    table = people(rows)
    sources: dict[str, Source] = {"system": System(), "seeded": Seeded(2026)}
    taken = {
        f"{name}, {kind}": _seconds(
            lambda step=step, rng=rng: step[0].apply(table, step[1], rng=rng)  # type: ignore[misc]
        )
        for name, step in STEPS.items()
        for kind, rng in sources.items()
    }
    values = table["income"].to_numpy()
    limit = LIMIT * rows / 1_000_000
    return {
        "seconds": {name: round(each, 3) for name, each in taken.items()}
        | {"numpy sort of the column": round(_seconds(lambda: np.sort(values)), 3)},
        "ratios": {name: round(each / limit, 3) for name, each in taken.items()},
    }


def _seconds(work: Callable[[], object]) -> float:
    """The median processor time of five calls, after one that compiles kernels."""
    work()
    return median(_once(work) for _ in range(5))


def _once(work: Callable[[], object]) -> float:
    started = process_time()
    work()
    return process_time() - started


def people(rows: int) -> pl.DataFrame:
    """Incomes, ages and regions."""
    rng = Seeded(2026)
    regions = pl.Series([f"region {number}" for number in range(10)])
    return pl.DataFrame(
        {
            "income": np.exp(10 + 0.5 * normals(rng, rows)),
            "age": rng.integers(90, rows),
            "region": regions.gather(np.minimum(rng.integers(10, rows), rng.integers(10, rows))),
        }
    )
