"""Means of a bounded column by a noisy sum over a noisy count, and which one to take.

`NormalisedMean` is `Mean`. `SumCountMean`, and `DirectMean` in its own module, need more noise for
the same promise; they are there to be compared with (Li, Lyu, Su and Yang 2016, chapter 2).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import ComposedLoss, Loss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_whole
from celosia.mechanisms.statistics.columns import Rows, numbers
from celosia.mechanisms.statistics.ratio import Ratio, average_error, clip
from celosia.mechanisms.statistics.span import exact_sum
from celosia.mechanisms.statistics.statistic import BoundedStatistic, draw_noise, laplace_hiding


@dataclass(frozen=True, kw_only=True)
class BoundedMean(BoundedStatistic[float]):
    """A mean of values clipped to [lower, upper]; of no rows, the middle of the range."""

    @property
    def sensitivity(self) -> float:
        """The most by which one row moves the exact mean of the fewest rows.

        Half the range where a row is added or removed: a single row takes the place of the middle,
        or a second row that of half of the mean. The range where one is changed.
        """
        size = self.span.upper - self.span.lower
        return float(size if self.counts_are_public else size / 2)


@dataclass(frozen=True, kw_only=True)
class RatioMean(BoundedMean):
    """A noisy sum over a noisy count, clipped to the range; the middle for a count of 1 or less.

    Where the number of rows is public nothing is spent on it: the whole epsilon goes to the sum.
    """

    part: ClassVar[str]
    """What the released sum is called."""

    @property
    @abstractmethod
    def unit(self) -> Fraction:
        """What one step of the sum is worth."""

    @property
    @abstractmethod
    def origin(self) -> Fraction:
        """What the rows are counted from."""

    @property
    @abstractmethod
    def range(self) -> tuple[int, int]:
        """The least and the most that one row adds to the sum, in units."""

    @abstractmethod
    def addends(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """What each row adds to the sum, in units."""

    @cached_property
    def shift(self) -> int:
        """The most by which one row moves the sum, in units."""
        least, most = self.range
        return most - least if self.counts_are_public else max(abs(least), abs(most))

    @cached_property
    def noises(self) -> tuple[DiscreteLaplace, ...]:
        """The laws of the noise of the sum and, where the number of rows is private, of the count.

        Half of epsilon each: sequential composition (Dwork and Roth 2014, Thm 3.14).
        """
        if self.counts_are_public:
            return (laplace_hiding(self.shift, self.price),)
        return laplace_hiding(self.shift, self.price / 2), laplace_hiding(1, self.price / 2)

    def privacy_loss(self) -> Loss:
        """Epsilon, half for the sum and half for the count; all for the sum if rows are public."""
        parts = tuple(
            LaplaceLoss(law.scale, shift)
            for law, shift in zip(self.noises, (self.shift, 1), strict=False)
        )
        return parts[0] if len(parts) == 1 else ComposedLoss(parts)

    def measure(self, x: Rows, *, rng: Source) -> Measurement[float]:
        """The mean with noise, and the noisy sum and count that it comes from.

        Raises:
            InputError: CEL-M080 not one column; CEL-M081 rows that are not finite numbers;
                CEL-M082 no rows; CEL-M020 too much noise for the grid.
        """
        values = numbers(x)
        self.check_filled(values.size)
        total = exact_sum(self.addends(values))
        noise, *more = draw_noise(self.noises, rng)
        total, count = total + noise, int(values.size) + sum(more)
        if count <= self.void:
            value = self.span.middle
        else:
            value = self.origin + self.unit * clip(Fraction(total, count), *self.range)
        return Measurement(float(value), {self.part: float(total * self.unit), "count": count})

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that the mean of `size` rows does not exceed with this confidence.

        Of a few rows it is the whole range, so say how many there are about: the error falls as
        their number grows.
        """
        errors = self._errors(confidence)
        check_whole(size, name="size")
        error = average_error(errors, size=size, void=self.void, bounds=self.range)
        return float(self.unit * error)

    def interval(
        self, measurement: Measurement[float], confidence: float = 0.95
    ) -> tuple[float, float]:
        """Bounds of the exact mean of the rows on the grid, from the noisy sum and count."""
        total, count = self._errors(confidence)
        ratio = Ratio(
            total=round(Fraction(measurement.parts[self.part]) / self.unit),
            total_error=total,
            count=measurement.parts["count"],
            count_error=count,
        )
        lower, upper = (self.origin + self.unit * end for end in ratio.bounds(*self.range))
        if ratio.fewest < 1:  # there may be no rows, and the middle is the answer for them
            lower, upper = min(lower, self.span.middle), max(upper, self.span.middle)
        return float(lower), float(upper)

    def _errors(self, confidence: float) -> tuple[int, int]:
        """Errors that, with this confidence, neither the sum nor the count exceeds."""
        check_confidence(confidence)
        errors = [law.bound(confidence, size=len(self.noises)) for law in self.noises]
        return errors[0], sum(errors[1:])


@dataclass(frozen=True, kw_only=True)
class NormalisedMean(RatioMean):
    """The mean of values clipped to [lower, upper], by their distances from the middle.

    Distances from the middle move the sum by half the range at most, and the count errs in favour
    of the middle instead of zero: the least error of the private means here. Where the number of
    rows is public (change-one) it is the sum of the distances over that number, without any noise
    on the count.

    Guarantee: epsilon-DP with delta 0. Adding or removing a row moves the sum of the distances by
    half the range (half of epsilon) and the count by 1 (the other half); changing a row moves the
    sum by the range (all of epsilon) and leaves the count. The bounds and the grid must not have
    been taken from the data.

    Reference: Li, Lyu, Su and Yang 2016, chapter 2, the normalised noisy average (with count noise
    of scale 2/epsilon).

    >>> mean = NormalisedMean(epsilon=1, lower=0, upper=100)
    >>> float(mean.noises[0].scale * mean.unit), mean.noises[1].scale
    (100.0, Fraction(2, 1))
    """

    method_name: ClassVar[str] = "normalised-mean"

    part = "centred_sum"

    @property
    def unit(self) -> Fraction:
        """Half a step of the grid: the middle may lie between two of its points."""
        return self.span.grid.step / 2

    @property
    def origin(self) -> Fraction:
        """The middle of the range."""
        return self.span.middle

    @property
    def range(self) -> tuple[int, int]:
        """Half the range either way."""
        return -self.span.width, self.span.width

    def addends(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The distance of each row from the middle."""
        return self.span.centred(values)


@dataclass(frozen=True, kw_only=True)
class SumCountMean(RatioMean):
    """The sum of values clipped to [lower, upper], over their count.

    Guarantee: epsilon-DP with delta 0. Adding or removing a row moves the sum by the larger of
    |lower| and |upper| (half of epsilon), not by upper - lower: with bounds of 100 and 101 the
    latter would lose 50.5. Changing a row moves it by upper - lower (all of epsilon).

    Reference: Li, Lyu, Su and Yang 2016, chapter 2, the noisy average, with that correction.
    """

    method_name: ClassVar[str] = "sum-count-mean"

    part = "sum"

    @property
    def unit(self) -> Fraction:
        """A step of the grid."""
        return self.span.grid.step

    @property
    def origin(self) -> Fraction:
        """Zero."""
        return Fraction(0)

    @property
    def range(self) -> tuple[int, int]:
        """The bounds."""
        return self.span.low, self.span.high

    def addends(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Each row on the grid."""
        return self.span.steps(values)


Mean = NormalisedMean
"""The mean to take, under either relation."""
