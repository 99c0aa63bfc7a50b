"""How far estimates are from the truth: for simulations, where the truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import fsum, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import say

Floats = NDArray[np.float64]
TOP = 10
"""How many of the most common values are looked at together."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """Errors over all values that were asked about; None where one is not defined.

    None of them tells everything: squared errors are those of a few values where these are far
    off, averages hide rare values, and a correlation is high as soon as the common ones are right.
    """

    values: int
    """How many there are."""
    errors: float
    """The sum of all absolute errors."""
    mean_error: float
    percent_error: float | None
    """The mean error as a percentage of all users."""
    mse: float
    rmse: float
    nmse: float | None
    """MSE / range, the range being the largest real count less the smallest."""
    nrmse: float | None
    """RMSE / range."""
    table_nrmse: float | None
    """The root of MSE / range, which published tables print under the name of nRMSE."""
    pearson: float | None
    """The correlation of real and estimated counts, value by value."""
    top: int
    top_precision: float
    """The share of the `top` values with the highest estimates that are among the real top."""
    relative_error: float | None
    """The median of the relative errors of all values that occur."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return say("collect.summary.metrics", rmse=self.rmse, values=self.values)


def measure(
    real: Mapping[Any, float],
    estimated: Mapping[Any, float],
    *,
    users: int | None = None,
    top: int = TOP,
) -> Metrics:
    """Errors of estimates; each is compared with the real count of its own value.

    Args:
        real: how many users have each value; one that is not there has 0.
        estimated: the estimates, in any order.
        users: how many there are; without it there is no percentage.
        top: of how many most common values to tell the precision.

    >>> found = measure({"a": 70, "b": 30}, {"b": 20, "a": 75, "c": 5}, users=100)
    >>> found.errors, found.mean_error, found.mse, round(found.pearson, 3)
    (20.0, 6.666666666666667, 50.0, 0.972)
    """
    names = list(estimated)
    truth = np.array([real.get(name, 0) for name in names], dtype=np.float64)
    guess = np.array([estimated[name] for name in names], dtype=np.float64)
    off = np.abs(guess - truth)
    size = max(1, len(names))
    total, mse = fsum(off), fsum(off**2) / size  # fsum: the order must not matter
    spread = float(truth.max() - truth.min()) if names else 0.0
    present = truth > 0
    wanted, precision = _top(real, names, guess, top)
    return Metrics(
        values=len(names),
        errors=total,
        mean_error=total / size,
        percent_error=None if not users else 100 * total / size / users,
        mse=mse,
        rmse=sqrt(mse),
        nmse=mse / spread if spread else None,
        nrmse=sqrt(mse) / spread if spread else None,
        table_nrmse=sqrt(mse / spread) if spread else None,
        pearson=_pearson(truth, guess),
        top=wanted,
        top_precision=precision,
        relative_error=(
            float(np.median(off[present] / np.abs(truth[present]))) if present.any() else None
        ),
    )


def _pearson(truth: Floats, guess: Floats) -> float | None:
    first, second = (each - fsum(each) / max(1, each.size) for each in (truth, guess))
    scale = sqrt(fsum(first**2)) * sqrt(fsum(second**2))
    return fsum(first * second) / scale if scale else None


def _top(real: Mapping[Any, float], names: list[Any], guess: Floats, top: int) -> tuple[int, float]:
    """How many are looked at, and which share of them belongs there; ties belong there all."""
    wanted = min(top, len(names), len(real))
    if not wanted:
        return 0, 0.0
    least = sorted(real.values(), reverse=True)[wanted - 1]
    # Ties of estimates by name, so that the order in which they come does not matter.
    order = sorted(range(len(names)), key=lambda at: (-guess[at], str(names[at])))
    right = sum(real.get(names[at], 0) >= least for at in order[:wanted])
    return wanted, right / wanted
