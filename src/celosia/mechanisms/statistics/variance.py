"""The variance of a bounded column, and its root."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import ComposedLoss, Loss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Interval, Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_whole
from celosia.mechanisms.statistics.bounded_grid import exact_sum
from celosia.mechanisms.statistics.columns import Rows
from celosia.mechanisms.statistics.mean import Ratio, average_error, clip
from celosia.mechanisms.statistics.statistic import BoundedStatistic, draw_noise, laplace_hiding

WIDEST = 2**30
"""Steps of a range whose squares fit into 64 bits."""


@dataclass(frozen=True, kw_only=True)
class Variance(BoundedStatistic[float]):
    """The variance (over the number of rows) of values clipped to [lower, upper].

    Released on the way: the noisy sums of the rows' distances from the middle of the range and of
    their squares (counted from half of the largest square), and the noisy number of rows unless it
    is public. Three eighths of epsilon go to each sum and a quarter to the count; half to each sum
    if the count is public. The result is clipped to [0, (range/2)^2], where all variances lie; of
    no rows, or a noisy count of 1 or less, it is 0.

    Guarantee: epsilon-DP with delta 0 by composition of the two or three sums, under either
    relation. The bounds and the grid must not have been taken from the data.

    Reference: Dwork and Roth 2014, Thm 3.6 and 3.14.
    """

    method_name: ClassVar[str] = "variance"

    # Let w be the width of the range in steps. A row is c in [-w, w] half steps from the middle.
    # Its square is kept in units of w half steps squared and rounded: q = round(c^2 / w) in [0, w],
    # counted from w/2 in halves of that unit: 2q - w in [-w, w]. So a row adds at most w to either
    # sum and 1 to the count, and a changed row moves either sum by at most 2w; rounding is done
    # row by row, so it cannot add to that.

    def check(self) -> None:
        """Refuse a range whose squares cannot be added up."""
        super().check()
        if self.span.width > WIDEST:
            raise InputError("CEL-M085.variance", span_width=self.span.width)

    @property
    def sensitivity(self) -> float:
        """The most by which one row moves the exact variance of the fewest rows: (range/2)^2."""
        return float(self._most)

    @cached_property
    def shift(self) -> int:
        """The most by which one row moves either sum, in half steps."""
        return self.span.width * (2 if self.counts_are_public else 1)

    @cached_property
    def noises(self) -> tuple[DiscreteLaplace, ...]:
        """The laws of the noise of the sum, the sum of squares and, if private, the count."""
        if self.counts_are_public:
            return (laplace_hiding(self.shift, self.price / 2),) * 2
        # Eighths of a decimal are decimals, so that the shares of 0.1 add up to 0.1 as floats do.
        sums = laplace_hiding(self.shift, 3 * self.price / 8)
        return sums, sums, laplace_hiding(1, self.price / 4)

    def privacy_loss(self) -> Loss:
        """Epsilon, in shares for what is released."""
        shifts = (self.shift, self.shift, 1)
        return ComposedLoss(
            tuple(
                LaplaceLoss(law.scale, shift)
                for law, shift in zip(self.noises, shifts, strict=False)
            )
        )

    def measure(self, x: Rows, *, rng: Source) -> Measurement[float]:
        """The variance with noise, and the two or three numbers that it comes from.

        Raises:
            InputError: CEL-M080 not one column; CEL-M081 rows that are not finite numbers;
                CEL-M082 no rows; CEL-M020 too much noise for the grid.
        """
        values = self.rows(x)
        centred = self.span.centred(values)
        total, squares = exact_sum(centred), exact_sum(self.squares(centred))
        noise, more, *last = draw_noise(self.noises, rng)
        total, squares, count = total + noise, squares + more, int(values.size) + sum(last)
        found = Fraction(0)
        if count > self.void:
            mean = self._clipped(Fraction(total, count))
            found = max(found, self._square(self._clipped(Fraction(squares, count))) - mean**2)
        parts = {
            "centred_sum": float(total * self.span.grid.step / 2),
            "centred_squares": float(squares * self._square_unit),
            "count": count,
        }
        return Measurement(self._value(found), parts)

    def squares(self, centred: NDArray[np.int64]) -> NDArray[np.int64]:
        """What each row adds to the sum of squares: from -width to width.

        Squares are at most 2**60, so 64 bits hold them doubled.
        """
        width = self.span.width
        return 2 * ((2 * centred**2 + width) // (2 * width)) - width

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that the variance of `size` rows does not exceed with this confidence."""
        check_whole(size, name="size")
        total, squares, count = self._errors(confidence)
        width = self.span.width
        first, second = (
            average_error((error, count), size=size, void=self.void, bounds=(-width, width))
            for error in (total, squares)
        )
        # |m'^2 - m^2| = |m' - m| |m' + m| <= 2 w |m' - m|; half a unit for the rounded squares.
        error = Fraction(width, 2) * (second + 1) + 2 * width * first
        return self._value(min(error, Fraction(width**2)))

    def interval(self, measurement: Measurement[float], confidence: float = 0.95) -> Interval:
        """Bounds of the exact variance of the rows on the grid, from the released sums."""
        total, squares, count_error = self._errors(confidence)
        width, count = self.span.width, measurement.parts["count"]
        ratios = (
            Ratio(round(Fraction(measurement.parts[name]) / unit), error, count, count_error)
            for name, unit, error in (
                ("centred_sum", self.span.grid.step / 2, total),
                ("centred_squares", self._square_unit, squares),
            )
        )
        (low, high), (least, most) = (ratio.bounds(-width, width) for ratio in ratios)
        farthest = max(abs(low), abs(high))
        nearest = Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))
        half = Fraction(width, 2)
        lower = max(Fraction(0), self._square(least) - half - farthest**2)
        upper = max(Fraction(0), self._square(most) + half - nearest**2)
        if count - count_error < 1:  # there may be no rows, and 0 is the answer for them
            lower = Fraction(0)
        return self._value(lower), self._value(upper)

    def _errors(self, confidence: float) -> tuple[int, int, int]:
        check_confidence(confidence)
        errors = [law.bound(confidence, size=len(self.noises)) for law in self.noises]
        return errors[0], errors[1], sum(errors[2:])

    def _clipped(self, quotient: Fraction) -> Fraction:
        return clip(quotient, -self.span.width, self.span.width)

    def _square(self, centred: Fraction) -> Fraction:
        """The mean square in half steps squared, from the mean of what rows add to the sum."""
        return (centred + self.span.width) * self.span.width / 2

    def _value(self, square: Fraction) -> float:
        """Half steps squared as a number, at most the largest variance."""
        return float(min(square * (self.span.grid.step / 2) ** 2, self._most))

    @property
    def _square_unit(self) -> Fraction:
        """What 1 of the sum of squares is worth: half of w half steps squared."""
        return Fraction(self.span.width, 2) * (self.span.grid.step / 2) ** 2

    @property
    def _most(self) -> Fraction:
        return ((self.span.upper - self.span.lower) / 2) ** 2


@dataclass(frozen=True, kw_only=True)
class StandardDeviation(Variance):
    """The root of the variance: the same release, looked at in the unit of the values.

    Guarantee: as of `Variance`, of which it is post-processing (Dwork and Roth 2014, Prop. 2.1).

    Reference: Dwork and Roth 2014, Thm 3.6 and 3.14.
    """

    method_name: ClassVar[str] = "standard-deviation"

    @property
    def sensitivity(self) -> float:
        """The most by which one row moves the exact deviation of the fewest rows."""
        return sqrt(super().sensitivity)

    def measure(self, x: Rows, *, rng: Source) -> Measurement[float]:
        """The standard deviation with noise, and the numbers that it comes from."""
        found = super().measure(x, rng=rng)
        return Measurement(sqrt(found.value), found.parts)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that is not exceeded with this confidence: |a - b| <= sqrt(|a^2 - b^2|)."""
        return sqrt(super().accuracy(confidence, size=size))

    def interval(self, measurement: Measurement[float], confidence: float = 0.95) -> Interval:
        """Bounds of the exact standard deviation of the rows on the grid."""
        lower, upper = super().interval(measurement, confidence)
        return sqrt(lower), sqrt(upper)
