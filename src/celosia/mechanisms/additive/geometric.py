"""Geometric noise, the discrete Laplace law, on whole numbers: the mechanism for counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from celosia.accounting.losses import Loss, PureLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.mechanisms.additive.base import IntegerMechanism
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import EPSILON, check_epsilon, field_of, whole_number

SENSITIVITY = "the sensitivity of whole numbers"


@dataclass(frozen=True, kw_only=True)
class Geometric(IntegerMechanism):
    """Counts with discrete Laplace noise of scale sensitivity / epsilon, one or many at once.

    Guarantee: epsilon-DP under the declared neighbours, if one step moves the whole numbers by at
    most `sensitivity` in sum. The number of coordinates must not depend on the data.

    Reference: Ghosh, Roughgarden & Sundararajan 2012; Dwork & Roth 2014, Thm 3.6.

    >>> from celosia.core.randomness import Seeded
    >>> noisy = Geometric(epsilon=1).release([3, 0, 5], rng=Seeded(7))
    >>> noisy.dtype, noisy.shape
    (dtype('int64'), (3,))
    >>> Geometric(epsilon=1).accuracy(0.95)
    3.0
    """

    method_name: ClassVar[str] = "geometric"

    epsilon: float = field_of(EPSILON)
    sensitivity: int = field_of(whole_number(), 1)
    """In sum over all coordinates (the l1 norm)."""

    @property
    def shift(self) -> int:
        """How far one neighbour step moves the counts, in sum: the sensitivity."""
        return self.sensitivity

    @property
    def spread(self) -> Fraction:
        """The scale of the noise."""
        return self.shift / check_epsilon(self.epsilon)

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise: discrete Laplace of scale sensitivity / epsilon."""
        return DiscreteLaplace(self.spread)

    def privacy_loss(self) -> Loss:
        """Epsilon; the full law of the loss where one coordinate moves only."""
        # Whole numbers that move by 1 in sum move in one coordinate only. Otherwise the move may
        # spread over several, and the loss of that is not proved to be dominated by one of them.
        if self.shift == 1 or self.dimension == 1 or self.one_coordinate:
            return LaplaceLoss(self.law.scale, self.shift)
        return PureLoss(check_epsilon(self.epsilon))
