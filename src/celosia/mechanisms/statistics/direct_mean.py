"""A mean of a bounded column with noise for the worst number of rows, to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence
from celosia.mechanisms.statistics.columns import Rows, numbers
from celosia.mechanisms.statistics.mean import BoundedMean
from celosia.mechanisms.statistics.ratio import clip
from celosia.mechanisms.statistics.span import exact_sum
from celosia.mechanisms.statistics.statistic import draw_noise, laplace_hiding


@dataclass(frozen=True, kw_only=True)
class DirectMean(BoundedMean):
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

    @cached_property
    def noises(self) -> tuple[DiscreteLaplace]:
        """The law of the noise, in half steps of the grid."""
        return (laplace_hiding(self.shift, self.price),)

    def privacy_loss(self) -> LaplaceLoss:
        """Epsilon, paid by one draw."""
        return LaplaceLoss(self.noise.scale, self.shift)

    def measure(self, x: Rows, *, rng: Source) -> Measurement[float]:
        """The mean with noise, clipped to the range.

        Raises:
            InputError: as of `RatioMean.measure`.
        """
        values = numbers(x)
        self.check_filled(values.size)
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

    def interval(
        self, measurement: Measurement[float], confidence: float = 0.95
    ) -> tuple[float, float]:
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
