"""Results of a simulated collection: estimates beside the truth, errors, and times."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from typing import Any

from celosia.collect.simulation.metrics import Metrics
from celosia.core.messages import say


@dataclass(frozen=True, slots=True)
class Timing:
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

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


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
        """Plain values for JSON."""
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
        """Plain values for JSON."""
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
