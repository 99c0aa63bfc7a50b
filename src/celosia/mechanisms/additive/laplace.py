"""Laplace noise on a fixed-point grid, and geometric noise on the whole numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, log, log1p
from typing import ClassVar

from celosia.accounting.losses import Loss, PureLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.mechanisms import parameters
from celosia.mechanisms.additive.base import GridMechanism, IntegerMechanism
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.noise import DiscreteLaplace

POINTS = 2**20
"""Steps that the default grid divides the sensitivity into."""
POINTS_PER_COORDINATE = 2**10
"""Steps of the sensitivity for each coordinate: rounding all of them adds a thousandth at most."""


class _LaplaceNoise(ABC):
    """Discrete Laplace noise of scale shift / epsilon, in steps."""

    epsilon: float

    @property
    @abstractmethod
    def shift(self) -> int:
        """Steps that one neighbour step moves the answer, in sum."""

    @property
    @abstractmethod
    def _one_moves(self) -> bool:
        """Whether one neighbour step moves one coordinate only."""

    @property
    def spread(self) -> Fraction:
        """The scale of the noise in steps."""
        return self.shift / parameters.check_epsilon(self.epsilon)

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise in steps: discrete Laplace of scale shift / epsilon."""
        return DiscreteLaplace(self.spread)

    def privacy_loss(self) -> Loss:
        """Epsilon; the full law of the loss where one coordinate moves only."""
        if self._one_moves:
            return LaplaceLoss(self.law.scale, self.shift)
        # The move may be spread over the coordinates in any way, and no proof says that all of it
        # in one is the worst for every epsilon and delta; epsilon-DP holds for each.
        return PureLoss(parameters.check_epsilon(self.epsilon))


@dataclass(frozen=True, kw_only=True)
class Laplace(_LaplaceNoise, GridMechanism):
    """Real numbers rounded to a grid, with discrete Laplace noise on it.

    The grid has a million steps or more in the sensitivity unless another is given, so the noise
    is as good as continuous, but no float ever takes part in drawing it. Rounding an answer can
    move it away from its neighbour by one more step a coordinate, and the noise is widened by
    that; for numbers that are whole to begin with use `Geometric`, which need not.

    Guarantee: epsilon-DP under the declared neighbours, if one step moves the `dimension` numbers
    by at most `sensitivity` in sum.

    Reference: Dwork, McSherry, Nissim & Smith 2006; Mironov 2012 on floats.

    >>> mechanism = Laplace(epsilon=1, sensitivity=0.5)
    >>> print(mechanism.resolution, "|", round(mechanism.accuracy(0.95), 3))
    multiples of 1/2097152 | 1.498
    """

    method_name: ClassVar[str] = "laplace"

    epsilon: float = parameters.field_of(parameters.EPSILON)
    sensitivity: float = parameters.field_of(parameters.SENSITIVITY)
    """In sum over all coordinates (the l1 norm), in the unit of the answer."""

    @cached_property
    def shift(self) -> int:
        """Steps that one neighbour step moves the rounded answer, in sum."""
        sensitivity = parameters.check_sensitivity(self.sensitivity)
        return self.resolution.shift(sensitivity, coordinates=self._moving)

    @property
    def _one_moves(self) -> bool:
        return self._moving == 1

    def _fine_grid(self) -> Grid:
        points = max(POINTS, POINTS_PER_COORDINATE * self._moving)
        return Grid.finer_than(parameters.check_sensitivity(self.sensitivity), points=points)


def laplace_bound(scale: float, *, size: int = 1, failure: float = 0.05) -> float:
    """The textbook bound for continuous noise: scale * ln(size / failure), by a union bound.

    Reference: Dwork & Roth 2014, Thm 3.8.

    >>> round(laplace_bound(1, size=10_000), 7)
    12.2060726
    """
    width, many, allowed = _check(scale, size, failure)
    return width * log(many / allowed)


def laplace_failure(scale: float, error: float, *, size: int = 1) -> float:
    """The exact chance that any of `size` continuous Laplace draws is off by at least `error`.

    >>> round(laplace_failure(1, laplace_bound(1, size=10_000), size=10_000), 7)
    0.0487707
    """
    width, many, _ = _check(scale, size, 0.5)
    one = exp(-float(parameters.check_error(error)) / width)
    return -expm1(many * log1p(-one)) if one < 1 else 1.0


def _check(scale: float, size: int, failure: float) -> tuple[float, int, float]:
    width = float(parameters.check_sensitivity(scale))
    many = parameters.check_whole(size, name="size")
    return width, many, parameters.check_confidence(failure)


@dataclass(frozen=True, kw_only=True)
class Geometric(_LaplaceNoise, IntegerMechanism):
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

    epsilon: float = parameters.field_of(parameters.EPSILON)
    sensitivity: int = parameters.field_of(parameters.whole_number(), 1)
    """In sum over all coordinates (the l1 norm)."""

    @property
    def shift(self) -> int:
        """How far one neighbour step moves the counts, in sum: the sensitivity."""
        return self.sensitivity

    @property
    def _one_moves(self) -> bool:
        # Whole numbers that move by 1 in sum move in one coordinate only.
        return self.shift == 1 or self.dimension == 1 or self.one_coordinate
