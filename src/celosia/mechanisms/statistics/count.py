"""How many rows there are, or how many of them are true."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.randomness import Source
from celosia.mechanisms.intervals import from_zero
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence
from celosia.mechanisms.statistics.columns import Rows, tally
from celosia.mechanisms.statistics.statistic import Statistic, draw_noise, laplace_hiding


@dataclass(frozen=True, kw_only=True)
class Count(Statistic[int]):
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
        return (laplace_hiding(1, self.price),)

    def privacy_loss(self) -> LaplaceLoss:
        """Epsilon, paid by one draw."""
        return LaplaceLoss(self.noise.scale, 1)

    def measure(self, x: Rows, *, rng: Source) -> Measurement[int]:
        """The number of rows, or of true ones, with noise.

        Raises:
            InputError: CEL-M080 not one column; CEL-M081 a flag is missing; CEL-M082 no rows.
        """
        size, count = tally(x)
        self.check_filled(size)
        (noise,) = draw_noise(self.noises, rng)
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
