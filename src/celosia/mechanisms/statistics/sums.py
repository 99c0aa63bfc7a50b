"""Counts and sums of a column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Interval, Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence
from celosia.mechanisms.statistics import statistic
from celosia.mechanisms.statistics.bounded_grid import exact_sum
from celosia.mechanisms.statistics.columns import Rows, tally
from celosia.mechanisms.values import from_zero


@dataclass(frozen=True, kw_only=True)
class Count(statistic.Statistic[int]):
    """The number of rows; of a column of truth values, the number of true ones.

    The answer is a whole number that may be below 0: cutting it off would bias sums of counts.

    Guarantee: epsilon-DP with delta 0, under either relation: one row moves the count by at most 1.

    Reference: Dwork and Roth 2014, Thm 3.6; Ghosh, Roughgarden and Sundararajan 2012 for the
    discrete law.

    >>> from celosia.core.randomness import Seeded
    >>> isinstance(Count(epsilon=1).release([True, False, True], rng=Seeded(1)), int)
    True
    """

    method_name: ClassVar[str] = "count"

    is_count = True

    @property
    def sensitivity(self) -> float:
        """One."""
        return 1.0

    @cached_property
    def noises(self) -> tuple[DiscreteLaplace]:
        """The law of the noise."""
        return (statistic.laplace_hiding(1, self.price),)

    def privacy_loss(self) -> LaplaceLoss:
        return LaplaceLoss(self.noise.scale, 1)

    def measure(self, x: Rows, *, rng: Source) -> Measurement[int]:
        """The number of rows, or of true ones, with noise.

        Raises:
            InputError: CEL-M080 not one column; CEL-M081 a flag is missing; CEL-M082 no rows.
        """
        size, count = tally(x)
        self.check_filled(size)
        (noise,) = statistic.draw_noise(self.noises, rng)
        return Measurement(count + noise)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error of the count that is not exceeded with this confidence, however many rows.

        With a `size` above 1, that none of so many counts exceeds.
        """
        return float(self.noise.bound(check_confidence(confidence), size=size))

    def interval(self, measurement: Measurement[int], confidence: float = 0.95) -> tuple[int, int]:
        """Bounds of the exact count, which is at least 0; they hold the released count too."""
        error, value = self.noise.bound(check_confidence(confidence)), measurement.value
        return from_zero(value - error, value, value + error)


@dataclass(frozen=True, kw_only=True)
class Sum(statistic.OneDrawStatistic):
    """The sum of values that are clipped to [lower, upper].

    The bounds move outward onto the grid; each row is then clipped and rounded to the grid by
    itself, and whole numbers are added up, so that no order of the rows and no rounding can move
    the sum by more than the sensitivity. What is answered is the sum of the rows on the grid.

    Guarantee: epsilon-DP with delta 0. Adding or removing a row moves the sum by at most
    max(|lower|, |upper|), changing one by at most upper - lower. The bounds and the grid must not
    have been taken from the data.

    Reference: Dwork and Roth 2014, Thm 3.6; Casacuberta, Shoemate, Vadhan and Wagaman 2022 for what
    goes wrong with sums of floats.

    >>> from celosia.core.neighbours import CHANGE_ONE
    >>> Sum(epsilon=1, lower=100, upper=101).sensitivity
    101.0
    >>> Sum(epsilon=1, lower=100, upper=101, neighbours=CHANGE_ONE).sensitivity
    1.0
    """

    method_name: ClassVar[str] = "sum"

    @cached_property
    def shift(self) -> int:
        """The sensitivity in steps of the grid."""
        return self.span.width if self.counts_are_public else self.span.size

    @property
    def sensitivity(self) -> float:
        """The most by which one row moves the sum."""
        return float(self.shift * self.span.grid.step)

    def measure(self, x: Rows, *, rng: Source) -> Measurement[float]:
        """The sum with noise, a multiple of the step of the grid.

        Raises:
            InputError: CEL-M080 not one column; CEL-M081 rows that are not finite numbers;
                CEL-M082 no rows; CEL-M020 too much noise for the grid.
        """
        exact = exact_sum(self.span.steps(self.rows(x)))
        (noise,) = statistic.draw_noise(self.noises, rng)
        return Measurement(self.span.grid.value(exact + noise))

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error of the sum that is not exceeded with this confidence, however many rows.

        With a `size` above 1, that none of so many sums exceeds.
        """
        return self.span.grid.value(self.noise.bound(check_confidence(confidence), size=size))

    def interval(self, measurement: Measurement[float], confidence: float = 0.95) -> Interval:
        """Bounds of the exact sum of the rows on the grid."""
        error = self.noise.bound(check_confidence(confidence))
        steps = self.span.nearest(measurement.value)
        return self.span.grid.value(steps - error), self.span.grid.value(steps + error)
