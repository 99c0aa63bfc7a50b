"""Results of a simulated collection: elements, times, and how well the truth is told."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import fsum, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import say
from celosia.core.methods import PlainValues

Floats = NDArray[np.float64]
TOP = 10
"""How many of the most common values are looked at together."""


@dataclass(frozen=True, slots=True)
class Metrics(PlainValues):
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


@dataclass(frozen=True, slots=True)
class Timing(PlainValues):
    """How long each side took; seconds by the clock, without what is compiled before."""

    client_us: float | None
    """Microseconds of a client for each user; None where aggregates were drawn."""
    server_us: float | None
    """Microseconds of the server for each report; None where aggregates were drawn."""
    estimate_ms: float
    """Milliseconds for all estimates; for an unknown dictionary, for finding the values too."""
    report_bits: int
    aggregate_ms: float | None = None
    """Milliseconds for drawing aggregates in place of reports."""


@dataclass(frozen=True, slots=True)
class Element:
    """One value: how many have it in truth, and by the estimate."""

    value: Hashable
    real: float
    estimated: float
    error: float
    """The standard error that the server itself tells."""

    @property
    def difference(self) -> float:
        """The estimate less the truth."""
        return self.estimated - self.real

    @property
    def relative_error(self) -> float | None:
        """The difference as a share of the truth."""
        return abs(self.difference) / abs(self.real) if self.real else None

    def as_dict(self) -> dict[str, Any]:
        return {
            "value": self.value if isinstance(self.value, (int, float)) else str(self.value),
            "real": self.real,
            "estimated": self.estimated,
            "error": self.error,
            "difference": self.difference,
            "relative_error": self.relative_error,
        }


@dataclass(frozen=True, slots=True)
class Simulation:
    """A collection that was played through with known values.

    Elements and timing are those of the first run.
    """

    protocol: dict[str, Any]
    """The parameters."""
    report_epsilon: float
    lasting_epsilon: float
    users: int
    elements: tuple[Element, ...]
    """The most common ones first, by their real counts; of an unknown dictionary, those found."""
    metrics: Metrics
    """Of the first run."""
    pooled_rmse: float
    """Of all runs, each with hash functions and coins of its own."""
    predicted_rmse: float | None
    """By the formulas of the variance, with the real counts."""
    timing: Timing
    runs: int = 1
    seed: int | None = None
    aggregate: bool = False
    """Whether aggregates were drawn in place of reports."""
    found: bool = False
    """Whether the values were found by the server rather than given to it."""
    is_mean: bool = False
    """Whether the one element is a mean."""
    notes: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """Of the protocol."""
        return str(self.protocol["method"])

    def as_dict(self) -> dict[str, Any]:
        lasting = self.lasting_epsilon
        return {
            "simulation": True,
            "protocol": self.protocol,
            "report_epsilon": self.report_epsilon,
            "lasting_epsilon": None if lasting == float("inf") else lasting,
            "users": self.users,
            "runs": self.runs,
            "seed": self.seed,
            "aggregate": self.aggregate,
            "found": self.found,
            "timing": self.timing.as_dict(),
            "elements": [each.as_dict() for each in self.elements],
            "metrics": self.metrics.as_dict(),
            "pooled_rmse": self.pooled_rmse,
            "predicted_rmse": self.predicted_rmse,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        if self.is_mean:
            (only,) = self.elements
            return say(
                "collect.summary.simulated_mean",
                protocol=self.name,
                estimated=only.estimated,
                real=only.real,
                users=self.users,
            )
        facts = {
            "protocol": self.name,
            "values": self.metrics.values,
            "users": self.users,
            "rmse": self.pooled_rmse,
        }
        predicted = self.predicted_rmse
        if predicted is None:
            return say("collect.summary.simulation", **facts)
        return say("collect.summary.simulation_predicted", predicted=predicted, **facts)
