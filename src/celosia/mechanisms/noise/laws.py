"""Laws of noise on the whole numbers: the discrete Laplace and the discrete Gaussian law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source, System
from celosia.mechanisms.noise import opendp_samplers, sampler, tails
from celosia.mechanisms.noise.pool import LARGEST, POOL
from celosia.mechanisms.noise.scale_limits import parameter_within_reach, scale_within_reach
from celosia.mechanisms.parameters import check_confidence, check_whole


class Law(ABC):
    """A symmetric law on the whole numbers that is drawn exactly and whose tails are known."""

    @abstractmethod
    def draw(self, size: int, rng: Source) -> NDArray[np.int64]:
        """`size` independent exact draws."""

    @abstractmethod
    def mass(self, point: int) -> float:
        """The chance of one number."""

    @abstractmethod
    def tail(self, point: int) -> float:
        """The chance of a number of at least `point`."""

    @abstractmethod
    def bound(self, confidence: float, *, size: int = 1) -> int:
        """The least t such that none of `size` draws exceeds t in size, with this confidence."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The exact variance, to float precision."""


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(Law):
    """P(z) proportional to exp(-|z| / scale), z whole, for a rational scale above 0.

    A scale that 64-bit arithmetic cannot draw is rounded up to the next one that it can, by less
    than one part in 2^50; `scale` is the one in use.

    A few draws from the system's entropy are OpenDP's, from the pool; all others are our own.

    Reference: Canonne, Kamath & Steinke 2020, "The Discrete Gaussian for Differential Privacy".

    >>> from celosia.core.randomness import Seeded
    >>> law = DiscreteLaplace(Fraction(10))
    >>> law.draw(5, Seeded(7)).tolist(), law.bound(0.95)
    ([18, 13, 4, -5, 13], 30)

    Raises:
        InputError: CEL-M020 the scale is not a number, or out of reach.
    """

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", scale_within_reach(self.scale))

    def draw(self, size: int, rng: Source) -> NDArray[np.int64]:
        count = _check_size(size)
        if type(rng) is System and count <= LARGEST:
            return POOL.take(self, count, partial(opendp_samplers.laplace, self.scale))
        return sampler.laplace(self.scale, count, rng)

    def mass(self, point: int) -> float:
        return tails.laplace_mass(self.scale, point)

    def tail(self, point: int) -> float:
        if point > 0:
            return tails.laplace_tail(self.scale, point)
        return 1 - tails.laplace_tail(self.scale, 1 - point)

    def bound(self, confidence: float, *, size: int = 1) -> int:
        return _bound(self, check_confidence(confidence), _check_size(size, least=1))

    @property
    def variance(self) -> float:
        return tails.laplace_variance(self.scale)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Law):
    """P(z) proportional to exp(-z^2 / (2 parameter)), z whole; `parameter` is sigma^2, rational.

    A parameter that 64-bit arithmetic cannot draw is rounded up to the square of a rational sigma,
    by less than one part in 2^48; `parameter` is the one in use.

    Reference: Canonne, Kamath & Steinke 2020, "The Discrete Gaussian for Differential Privacy".

    >>> from celosia.core.randomness import Seeded
    >>> law = DiscreteGaussian(Fraction(100))
    >>> law.draw(5, Seeded(7)).tolist(), law.bound(0.95)
    ([18, 0, -12, -5, -9], 20)

    Raises:
        InputError: CEL-M020 the parameter is not a number, or out of reach.
    """

    parameter: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameter", parameter_within_reach(self.parameter))

    def draw(self, size: int, rng: Source) -> NDArray[np.int64]:
        count = _check_size(size)
        if type(rng) is System and count <= LARGEST:
            return POOL.take(self, count, partial(opendp_samplers.gaussian, self.parameter))
        return sampler.gaussian(self.parameter, count, rng)

    def mass(self, point: int) -> float:
        return tails.gaussian_mass(self.parameter, point)

    def tail(self, point: int) -> float:
        if point > 0:
            return tails.gaussian_tail(self.parameter, point)
        return 1 - tails.gaussian_tail(self.parameter, 1 - point)

    def bound(self, confidence: float, *, size: int = 1) -> int:
        return _bound(self, check_confidence(confidence), _check_size(size, least=1))

    @property
    def variance(self) -> float:
        return tails.gaussian_variance(self.parameter)


def _check_size(size: int, *, least: int = 0) -> int:
    return check_whole(size, name="size", least=least)


@lru_cache(maxsize=256)
def _bound(law: Law, confidence: float, size: int) -> int:
    # A millisecond of halving, which an answer asks for several times.
    return tails.least_bound(law.tail, confidence, size)
