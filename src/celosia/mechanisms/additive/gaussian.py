"""Gaussian noise on a fixed-point grid and on counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, isqrt, nextafter, sqrt
from typing import ClassVar

from celosia.accounting.losses import Loss
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss
from celosia.core.methods import Parameter
from celosia.mechanisms import parameters
from celosia.mechanisms.additive.base import GridMechanism, IntegerMechanism
from celosia.mechanisms.additive.directed_rounding import short_above
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.noise import DiscreteGaussian
from celosia.mechanisms.noise.laws import LEAST

CLOSE = 1 + 2.0**-30
"""How near to the least deviation the search ends, as a factor."""
WIDER = 1 + Fraction(1, 2**20)
NARROWEST = float(LEAST)
ROOTS = 1 + Fraction(1, 2**50)
"""A length such as the square root of 3 may be given by a float a little below it."""


@dataclass(frozen=True, kw_only=True)
class Gaussian(GridMechanism):
    """Real numbers rounded to a grid, with discrete Gaussian noise on it.

    The deviation is the least for which the exact delta of this very noise at `epsilon` is within
    `delta`, rounding included: for a fine grid the analytic Gaussian mechanism, which needs no
    epsilon below 1 and always beats the classical sqrt(2 ln(1.25 / delta)) / epsilon. Where
    several coordinates move, it is calibrated by way of zero-concentrated privacy instead, as
    the discrete law looks different along different directions.

    Guarantee: (epsilon, delta)-DP under the declared neighbours, if one step moves the `dimension`
    numbers by a length (l2 norm) of at most `sensitivity`.

    Reference: Balle & Wang 2018, Thm 8; Canonne, Kamath & Steinke 2020, Thm 7 and Cor. 13.
    """

    method_name: ClassVar[str] = "gaussian"

    epsilon: float = parameters.field_of(parameters.EPSILON)
    delta: float = parameters.field_of(parameters.DELTA)
    sensitivity: float = parameters.field_of(parameters.SENSITIVITY)
    """The length of the move (the l2 norm), in the unit of the answer."""

    @cached_property
    def shift(self) -> int:
        """Steps that one neighbour step moves the rounded answer, in length."""
        sensitivity = parameters.check_sensitivity(self.sensitivity)
        if self._moving == 1:
            return self.resolution.shift(sensitivity)
        # Rounding moves each of d coordinates by one step at most: sqrt(d) in length.
        rounding = 1 + isqrt(self._moving - 1)
        return self.resolution.shift(sensitivity * ROOTS, coordinates=rounding)

    @cached_property
    def spread(self) -> Fraction:
        """The deviation of the noise in steps: the least that is enough."""
        # Floats at or below what is asked, so that nothing is gained by their rounding.
        epsilon = nextafter(float(parameters.check_epsilon(self.epsilon)), 0)
        delta = parameters.check_delta(self.delta)

        def holds(deviation: Fraction) -> bool:
            return self._loss(deviation**2).delta(epsilon) <= delta

        return least_deviation(holds, around=self.shift)

    @cached_property
    def law(self) -> DiscreteGaussian:
        """The noise in steps: the discrete Gaussian of that deviation."""
        return DiscreteGaussian(self.spread**2)

    @property
    def sigma(self) -> float:
        """The deviation of the noise in the unit of the answer."""
        return float(self.spread * self.resolution.step)

    def privacy_loss(self) -> Loss:
        """The full law of the loss where one coordinate moves only, else its rho."""
        return self._loss(self.law.parameter)

    def _loss(self, variance: Fraction) -> Loss:
        if self._moving == 1:
            return GaussianLoss(variance, self.shift)
        return ConcentratedLoss(self.shift**2 / (2 * variance))

    def _fine_grid(self) -> Grid:
        return Grid.finer_than(parameters.check_sensitivity(self.sensitivity))


def least_deviation(holds: Callable[[Fraction], bool], *, around: int) -> Fraction:
    """The least short deviation, up to a factor of 1 + 2^-21, at which a rising condition holds.

    Args:
        holds: whether a deviation is enough.
        around: where to begin; any number above 0 will do.

    >>> round(float(least_deviation(lambda deviation: deviation >= 5, around=1)), 6)
    5.0
    """
    high = float(around)
    while not holds(Fraction(high)):
        high *= 2
    low = max(high / 2, NARROWEST)
    while low < high and holds(Fraction(low)):
        low, high = max(low / 2, NARROWEST), low
    while high / low > CLOSE:
        middle = sqrt(low * high)
        low, high = (low, middle) if holds(Fraction(middle)) else (middle, high)
    found = short_above(Fraction(high))
    while not holds(found):  # on a coarse grid more noise may cost a hair more
        found = short_above(found * WIDER)
    return found


WHOLE_MOVE = Parameter(name="sensitivity", kind="exact", least=1)
"""Whole numbers that move at all move by 1 or more."""


@dataclass(frozen=True, kw_only=True)
class GaussianCounts(IntegerMechanism):
    """Counts with discrete Gaussian noise of variance sensitivity^2 / (2 rho).

    Guarantee: rho-zCDP under the declared neighbours, if one step moves the whole numbers by a
    length (l2 norm) of at most `sensitivity`; hence (epsilon, delta)-DP for every delta above 0,
    see `privacy_loss().epsilon(delta)`. The number of coordinates must not depend on the data.

    Reference: Canonne, Kamath & Steinke 2020, Thm 4; Bun & Steinke 2016.

    >>> GaussianCounts(rho=0.5).sigma
    1.0
    """

    method_name: ClassVar[str] = "gaussian-counts"

    parameter: ClassVar[str] = "rho"

    rho: float = parameters.field_of(parameters.RHO)
    sensitivity: float = parameters.field_of(WHOLE_MOVE, 1)
    """The length of the move (the l2 norm): the square root of m for m counts of each unit."""

    @property
    def square(self) -> int:
        """The squared length of the move: whole, as the numbers that move are."""
        return floor((parameters.check_sensitivity(self.sensitivity) * ROOTS) ** 2)

    @property
    def spread(self) -> Fraction:
        """The deviation of the noise, rounded up."""
        variance = self.square / (2 * parameters.check_epsilon(self.rho, name="rho"))
        return Fraction(isqrt(ceil(variance)) + 1)

    @cached_property
    def law(self) -> DiscreteGaussian:
        """The noise: the discrete Gaussian of variance sensitivity^2 / (2 rho)."""
        return DiscreteGaussian(self.square / (2 * parameters.check_epsilon(self.rho, name="rho")))

    @property
    def sigma(self) -> float:
        """The deviation of the noise, by its parameter; see `variance` for the exact one."""
        return sqrt(self.law.parameter)

    def privacy_loss(self) -> Loss:
        """Rho; the full law of the loss where one coordinate moves only."""
        # Whole numbers that move by a length of 1 move in one coordinate only.
        if self.square == 1 or self.dimension == 1 or self.one_coordinate:
            return GaussianLoss(self.law.parameter, isqrt(self.square))
        return ConcentratedLoss(self.square / (2 * self.law.parameter))
