"""Gaussian noise on whole numbers at a price of rho: the mechanism for many counts at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, isqrt, sqrt
from typing import ClassVar

from celosia.accounting.losses import Loss
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss
from celosia.core.methods import Parameter
from celosia.mechanisms.additive.base import IntegerMechanism
from celosia.mechanisms.additive.gaussian import ROOTS
from celosia.mechanisms.noise import DiscreteGaussian
from celosia.mechanisms.parameters import RHO, check_epsilon, check_sensitivity, field_of

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

    rho: float = field_of(RHO)
    sensitivity: float = field_of(WHOLE_MOVE, 1)
    """The length of the move (the l2 norm): the square root of m for m counts of each unit."""

    @property
    def square(self) -> int:
        """The squared length of the move: whole, as the numbers that move are."""
        return floor((check_sensitivity(self.sensitivity) * ROOTS) ** 2)

    @property
    def spread(self) -> Fraction:
        """The deviation of the noise, rounded up."""
        variance = self.square / (2 * check_epsilon(self.rho, name="rho"))
        return Fraction(isqrt(ceil(variance)) + 1)

    @cached_property
    def law(self) -> DiscreteGaussian:
        """The noise: the discrete Gaussian of variance sensitivity^2 / (2 rho)."""
        return DiscreteGaussian(self.square / (2 * check_epsilon(self.rho, name="rho")))

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
