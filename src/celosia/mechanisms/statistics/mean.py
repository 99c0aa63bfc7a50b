"""Means of a bounded column."""

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
from celosia.mechanisms.mechanism import Interval, Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_whole
from celosia.mechanisms.statistics.bounded_grid import exact_sum
from celosia.mechanisms.statistics.columns import Rows
from celosia.mechanisms.statistics.statistic import (
    BoundedStatistic,
    OneDrawStatistic,
    draw_noise,
    laplace_hiding,
)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A sum, a count, and the errors that neither of them exceeds.

    >>> Ratio(total=30, total_error=2, count=10, count_error=2).bounds(0, 10)
    (Fraction(7, 3), Fraction(4, 1))
    """

    total: int
    total_error: int
    count: int
    count_error: int

    @property
    def fewest(self) -> int:
        """The least count that is possible; below 1 where there may be no rows."""
        return self.count - self.count_error

    def bounds(self, least: int, most: int) -> tuple[Fraction, Fraction]:
        """Bounds of the average of at least one row, each between `least` and `most`.

        The quotient rises with the sum; in the count it falls where the sum is positive and rises
        where it is negative, so the extremes lie at ends of both.
        """
        fewest = max(1, self.fewest)
        highest = max(fewest, self.count + self.count_error)
        low, high = self.total - self.total_error, self.total + self.total_error
        lower = Fraction(low, highest if low > 0 else fewest)
        upper = Fraction(high, fewest if high > 0 else highest)
        return clip(lower, least, most), clip(upper, least, most)


def average_error(
    errors: tuple[int, int], *, size: int, void: int, bounds: tuple[int, int]
) -> Fraction:
    """An error that a clipped quotient of so many rows keeps to while the noises keep to theirs.

    A quotient that stays in the range is never farther off than the range is wide; that is also all
    that can be said where the count may be taken for no rows.

    Args:
        errors: of the sum and of the count.
        size: how many rows there are.
        void: the largest count that is taken for no rows.
        bounds: the least and the most that a row adds to the sum.
    """
    (total, count), (least, most) = errors, bounds
    widest = Fraction(most - least)
    if size - count <= void:
        return widest
    return min(widest, Fraction(total + max(abs(least), abs(most)) * count, size - count))


def clip(value: Fraction, least: int, most: int) -> Fraction:
    """The number of a range that is nearest to a value."""
    return min(max(value, Fraction(least)), Fraction(most))


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
        values = self.rows(x)
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

    def interval(self, measurement: Measurement[float], confidence: float = 0.95) -> Interval:
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


@dataclass(frozen=True, kw_only=True)
class DirectMean(BoundedMean, OneDrawStatistic):
    """The mean of values clipped to [lower, upper] with noise for the worst number of rows.

    The noise does not shrink as the rows grow in number, so this serves comparisons only.

    Guarantee: epsilon-DP with delta 0. The mean, the middle of the range if there are no rows,
    moves by at most half the range when a row is added or removed, and by the range when the only
    row is changed.

    Reference: Dwork and Roth 2014, Thm 3.6.
    """

    method_name: ClassVar[str] = "direct-mean"

    @cached_property
    def shift(self) -> int:
        """The sensitivity in half steps of the grid."""
        return self.span.width * (2 if self.counts_are_public else 1)

    def measure(self, x: Rows, *, rng: Source) -> Measurement[float]:
        """The mean with noise, clipped to the range.

        Raises:
            InputError: as of `RatioMean.measure`.
        """
        values = self.rows(x)
        (noise,) = draw_noise(self.noises, rng)
        found = self.rounded(exact_sum(self.span.centred(values)), int(values.size)) + noise
        width = self.span.width
        unclipped = self._value(found)
        return Measurement(self._value(min(max(found, -width), width)), {"unclipped": unclipped})

    @staticmethod
    def rounded(total: int, count: int) -> int:
        """The mean in half steps, with halves going up; 0, the middle, of no rows.

        floor(a + 1/2) commutes with whole shifts and never falls as a grows, so two means that are
        at most a whole number of half steps apart stay so. Halves to even lacks the first.
        """
        return (2 * total + count) // (2 * count) if count else 0

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error of the mean that is not exceeded with this confidence, however many rows."""
        error = self.noise.bound(check_confidence(confidence))
        # Rounding the mean to a half step adds half of one.
        half_steps = min(error + Fraction(1, 2), Fraction(2 * self.span.width))
        return float(half_steps * self.span.grid.step / 2)

    def interval(self, measurement: Measurement[float], confidence: float = 0.95) -> Interval:
        """Bounds of the exact mean of the rows on the grid."""
        error = self.noise.bound(check_confidence(confidence)) + Fraction(1, 2)
        unclipped, width = Fraction(measurement.parts["unclipped"]), self.span.width
        found = round((unclipped - self.span.middle) * 2 / self.span.grid.step)
        return (
            self._value(clip(found - error, -width, width)),
            self._value(clip(found + error, -width, width)),
        )

    def _value(self, half_steps: Fraction | int) -> float:
        return float(self.span.middle + half_steps * self.span.grid.step / 2)
