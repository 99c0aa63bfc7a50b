"""Results of a sweep: every run, and every point with the mean over its runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import fsum, sqrt
from statistics import stdev
from typing import Any

import polars as pl

from celosia.collect.simulation.results import Simulation
from celosia.collect.sweeps.options import SweepOptions, SweepPoint
from celosia.core.messages import say


@dataclass(frozen=True, slots=True)
class Measures:
    """What is measured in a run; None where a number is not defined."""

    values: float
    """How many values have an estimate: the candidates that a puzzle finds, or those asked for."""
    mean_error: float
    percent_error: float | None
    """The mean error as a percentage of the users."""
    rmse: float
    predicted_rmse: float | None
    nrmse: float | None
    table_nrmse: float | None
    """The root of MSE / range, which published tables print under the name of nRMSE."""
    pearson: float | None
    client_us: float | None
    server_us: float | None
    estimate_ms: float
    """For all estimates; for a puzzle, the time of the dictionary."""
    report_bits: float
    server_bytes: float
    """The memory of the counts of the server."""
    exact_bytes: float
    """8 bytes for each different value: what exact counting takes, without names of values."""


MEASURES = tuple(each.name for each in fields(Measures))
LABELS = {
    "values": "collect.sweep.measure.values",
    "mean_error": "collect.sweep.measure.mean_error",
    "percent_error": "collect.sweep.measure.percent_error",
    "rmse": "collect.sweep.measure.rmse",
    "predicted_rmse": "collect.sweep.measure.predicted_rmse",
    "nrmse": "collect.sweep.measure.nrmse",
    "estimate_ms": "collect.sweep.measure.estimate_ms",
}
"""The measures that are shown, and the messages that name them."""
EXACT_COUNTER = 8
"""Bytes of one count."""


def measures(found: Simulation, *, server_bytes: int, different: int) -> Measures:
    """The measures of one simulated collection."""
    metrics, timing = found.metrics, found.timing
    return Measures(
        values=metrics.values,
        mean_error=metrics.mean_error,
        percent_error=metrics.percent_error,
        rmse=metrics.rmse,
        predicted_rmse=found.predicted_rmse,
        nrmse=metrics.nrmse,
        table_nrmse=metrics.table_nrmse,
        pearson=metrics.pearson,
        client_us=timing.client_us,
        server_us=timing.server_us,
        estimate_ms=timing.estimate_ms,
        report_bits=timing.report_bits,
        server_bytes=server_bytes,
        exact_bytes=EXACT_COUNTER * different,
    )


@dataclass(frozen=True, slots=True)
class PointResult:
    """All runs of one point."""

    point: SweepPoint
    runs: tuple[Measures, ...]

    @property
    def mean(self) -> Measures:
        """The means over the runs; of the RMSE, the root of the mean square."""
        found = {name: _mean([getattr(run, name) for run in self.runs]) for name in MEASURES}
        found["rmse"] = sqrt(fsum(run.rmse**2 for run in self.runs) / len(self.runs))
        return Measures(**found)  # type: ignore[arg-type]  # None only where the runs have None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the RMSE between runs."""
        return stdev(run.rmse for run in self.runs) if len(self.runs) > 1 else None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            **self.point.coordinates(),
            "runs": len(self.runs),
            **asdict(self.mean),
            "rmse_deviation": self.deviation,
        }


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A point that its protocol refuses, and why."""

    point: SweepPoint
    code: str
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**self.point.coordinates(), "code": self.code, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep over a grid.

    `histograms` has, for each data set, the most common values and how many users have them.
    """

    options: SweepOptions
    points: tuple[PointResult, ...]
    left_out: tuple[LeftOut, ...]
    histograms: Mapping[str, tuple[tuple[str, int], ...]]
    resumed: int = 0
    """Runs that a state file had already."""

    @property
    def runs(self) -> int:
        """How many runs there are in all."""
        return sum(len(each.runs) for each in self.points)

    def frame(self) -> pl.DataFrame:
        """One row for each run, with the coordinates of its point."""
        rows = [
            {**each.point.coordinates(), "repeat": repeat, **asdict(run)}
            for each in self.points
            for repeat, run in enumerate(each.runs)
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "simulation": True,
            "options": self.options.as_dict(),
            "runs": self.runs,
            "resumed": self.resumed,
            "points": [each.as_dict() for each in self.points],
            "left_out": [each.as_dict() for each in self.left_out],
            "histograms": {
                name: [{"value": value, "users": users} for value, users in listed]
                for name, listed in self.histograms.items()
            },
        }

    def __str__(self) -> str:
        return say("collect.sweep.summary", points=len(self.points), runs=self.runs)


def _mean(values: list[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return fsum(known) / len(known) if len(known) == len(values) else None
