"""Exact noise: a million draws of ours, OpenDP's rate, and the limits of float noise and entropy.

OpenDP draws fewer numbers, because it is slow; rates are draws a second. The float Laplace of NumPy
is not private (it has holes that tell the true value) and stands for what is physically possible,
as do the words that the operating system's entropy yields.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from bench.timing import seconds
from celosia.core.randomness import System
from celosia.mechanisms.noise import DiscreteGaussian, DiscreteLaplace, pool

THEIRS = 20_000
"""Draws of OpenDP in one run."""


def run(*, rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """Seconds for `rows` draws, rates a second, and ratios of the rates."""
    rng = System()
    taken: dict[str, float] = {}
    rates: dict[str, float] = {}
    ratios: dict[str, float] = {}

    def measure(name: str, size: int, work: Callable[[], object]) -> None:
        taken[f"{name}, {size} draws"] = seconds(work, repeat=3)
        rates[name] = size / taken[f"{name}, {size} draws"]

    for scale in (Fraction(10), Fraction(2000)):
        law = DiscreteLaplace(scale)
        name = f"discrete Laplace, scale {scale}"
        measure(f"{name}, ours", rows, lambda law=law: law.draw(rows, rng))  # type: ignore[misc]
        measure(
            f"{name}, OpenDP",
            THEIRS,
            lambda scale=scale: pool.opendp_laplace(scale, THEIRS),  # type: ignore[misc]
        )
        ratios[name] = rates[f"{name}, ours"] / rates[f"{name}, OpenDP"]
    for sigma in (1, 100):
        normal = DiscreteGaussian(Fraction(sigma**2))
        name = f"discrete Gaussian, sigma {sigma}"
        measure(f"{name}, ours", rows, lambda law=normal: law.draw(rows, rng))  # type: ignore[misc]
        measure(
            f"{name}, OpenDP",
            THEIRS,
            lambda law=normal: pool.opendp_gaussian(law.parameter, THEIRS),  # type: ignore[misc]
        )
        ratios[name] = rates[f"{name}, ours"] / rates[f"{name}, OpenDP"]
    generator = np.random.default_rng()
    measure("float Laplace of NumPy (not private)", rows, lambda: generator.laplace(size=rows))
    measure("64-bit words of entropy", rows, lambda: rng.words(rows))
    return {
        "seconds": {name: round(value, 4) for name, value in taken.items()},
        "millions a second": {name: round(value / 1e6, 3) for name, value in rates.items()},
        "ratios": {f"{name}, ours / OpenDP": round(value, 1) for name, value in ratios.items()},
    }
