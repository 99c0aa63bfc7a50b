"""How far errors may be from what theory expects: the law of the error of one run.

A run has an estimate of D values; its RMSE is the root of a mean of D squares. With normal errors
of variances v (and biases b) the sum of squares has the mean sum(v + b^2) and the variance
sum(2 v^2 + 4 b^2 v), more where errors are correlated (2 C_ij^2 for each pair) or have heavy tails
(their fourth cumulants). So with equal variances an RMSE has a relative standard deviation of
1 / sqrt(2 D): 15 % over 21 values. The mean of D absolute errors has one of 0.755 / sqrt(D).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, inf, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import SIGMAS, half_unit
from celosia.lab.tolerance import Tolerance

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ErrorLaw:
    """Of the errors of one run."""

    variances: Floats
    biases: Floats | float = 0.0
    tails: float = 0.0
    """What correlations and heavy tails add to the variance of the sum of squares."""

    @property
    def rmse(self) -> float:
        """The root of the expected MSE."""
        return sqrt(float(np.mean(self.variances + np.square(self.biases))))

    @property
    def spread(self) -> float:
        """The relative standard deviation of the RMSE of one run."""
        plain = np.sum(2 * self.variances**2 + 4 * np.square(self.biases) * self.variances)
        total = float(np.sum(self.variances + np.square(self.biases)))
        return sqrt(float(plain) + self.tails) / (2 * total)

    @property
    def mean_error(self) -> float:
        """The expected mean of the absolute errors, where there is no bias."""
        return sqrt(2 / pi) * float(np.mean(np.sqrt(self.variances)))

    @property
    def mean_spread(self) -> float:
        """The relative standard deviation of that mean in one run."""
        deviations = np.sqrt(self.variances)
        return sqrt((pi / 2 - 1) * float(np.sum(self.variances))) / float(np.sum(deviations))

    def of_rmse(self, run: str, cell: str, text: str, *, wrong: str = "") -> Row:
        """A row for the RMSE of one published run, beside the theoretical one."""
        near = one_run(text, self.spread * self.rmse)
        return Row(run, cell, float(text), self.rmse, near, wrong=wrong)

    def of_mean(self, run: str, cell: str, text: str, *, scale: float = 1.0) -> Row:
        """A row for the mean error of one published run; `scale` makes a percentage of it."""
        theory = scale * self.mean_error
        return Row(run, cell, float(text), theory, one_run(text, self.mean_spread * theory))

    def of_runs(self, run: str, cell: str, errors: list[float]) -> Row:
        """A row for the pooled RMSE of runs of ours, beside the theoretical one."""
        near = Tolerance(
            relative=SIGMAS * self.spread / sqrt(len(errors)),
            why=Message("lab.tolerance.pooled", sigmas=SIGMAS, runs=len(errors)),
        )
        return compare(run, cell, self.rmse, pooled_rmse(errors), near, kind="theory")


def one_run(text: str, deviation: float, *, refuted: bool = False) -> Tolerance:
    """How far the number that was printed of one run may be from the expected one."""
    reach = half_unit(text) + SIGMAS * deviation
    return Tolerance(
        absolute=reach, refuted=refuted, why=Message("lab.tolerance.one_run", sigmas=SIGMAS)
    )


def pooled_rmse(errors: list[float]) -> float:
    """The RMSE of several runs together, from that of each."""
    return sqrt(float(np.mean(np.square(errors))))


def compare_among(run: str, cell: str, text: str, ours: list[float]) -> Row:
    """A row for one published run beside runs of ours, where there is no closed form.

    If both have the same normal law, the difference over the deviation of our runs has Student's
    distribution; it misses as seldom as a normal number does `SIGMAS` deviations.
    """
    from scipy.stats import t

    mean, deviation = float(np.mean(ours)), float(np.std(ours, ddof=1))
    quantile = float(t.isf(erfc(SIGMAS / sqrt(2)) / 2, len(ours) - 1))
    reach = half_unit(text) + quantile * deviation * sqrt(1 + 1 / len(ours))
    why = Message("lab.tolerance.among", runs=len(ours))
    return compare(run, cell, float(text), mean, Tolerance(absolute=reach, why=why))


def rmse(estimates: Floats, real: NDArray[np.int64]) -> float:
    """Of one run."""
    return float(np.sqrt(np.mean((estimates - real) ** 2)))


def correlation_floor(mse: float, counts: NDArray[np.int64]) -> float:
    """The least correlation of real and estimated counts that an MSE leaves possible.

    Estimates are real counts plus errors; seen from the mean, the angle between both is largest
    where the error stands on the estimate, and its sine is then the root of MSE / variance.
    """
    variance = float(np.var(counts))
    return sqrt(1 - mse / variance) if mse < variance else -inf
