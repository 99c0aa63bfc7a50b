"""Means that are not private, or less than they say: input the values of the chosen rows.

Algorithms and numbers as in Li, Lyu, Su & Yang 2016, chapter 2; relation: add or remove one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.lab.mechanisms.broken.example import BrokenMechanism, Flags, Floats, laplace, uniform
from celosia.mechanisms.sparse import analysis

BOOK = "Li, Lyu, Su & Yang, Differential Privacy: From Theory to Practice, 2016"


@dataclass(frozen=True, kw_only=True)
class _BrokenMean(BrokenMechanism):
    """The noisy sum over the exact count, and the laws that follow."""

    citation = BOOK

    lower: float = 0.0
    upper: float = 1.0

    @property
    def width(self) -> float:
        """Of the range of the values."""
        return self.upper - self.lower

    @property
    def scale(self) -> float:
        """Of the noise of the sum."""
        return self.width / self.epsilon

    def below(self, data: Floats, value: float) -> float:
        """The chance that the noisy sum over a positive count is below a value."""
        return exp(analysis.log_below(np.array(data.size * value - data.sum()), self.scale))

    def raw_density(self, data: Floats, value: float) -> float:
        """The density of the noisy sum over a positive count."""
        return data.size * exp(
            analysis.log_density(np.array(data.size * value - data.sum()), self.scale)
        )

    def raw(self, data: Floats, *, rng: Source, size: int) -> Floats:
        """The noisy sum over the exact count; uniform on the range where there is none."""
        if data.size == 0:
            return self.lower + self.width * uniform(size, rng)
        return (float(data.sum()) + laplace(self.scale, size, rng)) / data.size


@dataclass(frozen=True, kw_only=True)
class BrokenExactCountMean(_BrokenMean):
    """NAvg: noise on the sum only, divided by the exact count.

    True level: none. The exact count shows in how wide the answers spread: the loss at z grows like
    epsilon |z| over the range.
    """

    flaw = Message("lab.mechanisms.the_spread_of_the_output_tells")

    level: float = 4.0
    """The event: a mean of at least this."""

    @property
    def true_epsilon(self) -> float:
        return inf

    @property
    def neighbours(self) -> tuple[Floats, Floats]:
        """The lower end, or both ends."""
        return np.array([self.lower]), np.array([self.lower, self.upper])

    def run(self, data: Floats, *, rng: Source, size: int) -> Floats:
        return self.raw(data, rng=rng, size=size)

    def event(self, outputs: NDArray[Any]) -> Flags:
        """Means far outside the range."""
        return np.asarray(outputs >= self.level)

    @property
    def chances(self) -> tuple[float, float]:
        """Tails of two Laplace laws."""
        first, second = (
            exp(analysis.log_above(np.array(data.size * self.level - data.sum()), self.scale))
            for data in self.neighbours
        )
        return first, second


@dataclass(frozen=True, kw_only=True)
class BrokenResampledMean(_BrokenMean):
    """Algorithm 2: draws again until the mean lies in the range.

    True level: 2 epsilon. The chance of lying in the range depends on the data, and dividing by it
    costs as much again; the law is that of the exponential mechanism with twice the epsilon.
    """

    flaw = Message("lab.mechanisms.the_chance_that_a_draw_is")

    lower: float = -1.0
    copies: int = 20
    level: float = -0.99
    """The event: a mean of at most this."""

    @property
    def true_epsilon(self) -> float:
        return 2 * self.epsilon

    @property
    def neighbours(self) -> tuple[Floats, Floats]:
        """Copies of the lower end, with or without one upper end."""
        copies = np.full(self.copies, self.lower)
        return copies, np.append(copies, self.upper)

    def run(self, data: Floats, *, rng: Source, size: int) -> Floats:
        found = self.raw(data, rng=rng, size=size)
        (outside,) = np.nonzero((found < self.lower) | (found > self.upper))
        while outside.size:
            again = self.raw(data, rng=rng, size=outside.size)
            found[outside] = again
            outside = outside[(again < self.lower) | (again > self.upper)]
        return found

    def event(self, outputs: NDArray[Any]) -> Flags:
        """Means at the lower end."""
        return np.asarray(outputs <= self.level)

    def density(self, data: Floats, value: float) -> float:
        """The density of the mean at a point of the range."""
        if data.size == 0:
            return 1 / self.width
        kept = self.below(data, self.upper) - self.below(data, self.lower)
        return self.raw_density(data, value) / kept

    @property
    def chances(self) -> tuple[float, float]:
        """From the law of the noise, cut to the range."""

        def chance(data: Floats) -> float:
            low, high = self.below(data, self.lower), self.below(data, self.upper)
            return (self.below(data, self.level) - low) / (high - low)

        first, second = map(chance, self.neighbours)
        return first, second


@dataclass(frozen=True, kw_only=True)
class BrokenClampedMean(_BrokenMean):
    """Algorithm 3: clamps to the range, with the exact count.

    True level: max(epsilon, ln 2 + epsilon/2), so the claim holds only from epsilon 2 ln 2 on.
    Between the ends the density is proportional to the exact count: {1} and {1, 0} differ by a
    factor of 2 there, whatever epsilon is.
    """

    citation = Message("lab.mechanisms.algorithm_2_3", book=BOOK)
    flaw = Message("lab.mechanisms.between_the_ends_the_density_is")

    epsilon: float = 0.1

    @property
    def true_epsilon(self) -> float:
        """The larger one of epsilon and ln 2 + epsilon/2."""
        return max(self.epsilon, log(2) + self.epsilon / 2)

    @property
    def neighbours(self) -> tuple[Floats, Floats]:
        """Both ends, or the upper one."""
        return np.array([self.upper, self.lower]), np.array([self.upper])

    def run(self, data: Floats, *, rng: Source, size: int) -> Floats:
        found = self.raw(data, rng=rng, size=size)
        if data.size == 0:
            end, side = uniform(size, rng) < exp(-self.epsilon / 2), uniform(size, rng) < 0.5
            found = np.where(end, np.where(side, self.lower, self.upper), found)
        return np.clip(found, self.lower, self.upper)

    def event(self, outputs: NDArray[Any]) -> Flags:
        """Means strictly between the ends."""
        return np.asarray((outputs > self.lower) & (outputs < self.upper))

    def density(self, data: Floats, value: float) -> float:
        """The density of the mean strictly between the ends."""
        if data.size == 0:
            return (1 - exp(-self.epsilon / 2)) / self.width
        return self.raw_density(data, value)

    def ends(self, data: Floats) -> tuple[float, float]:
        """The chances of the lower and of the upper end."""
        if data.size == 0:
            return exp(-self.epsilon / 2) / 2, exp(-self.epsilon / 2) / 2
        return self.below(data, self.lower), exp(
            analysis.log_above(np.array(data.size * self.upper - data.sum()), self.scale)
        )

    @property
    def chances(self) -> tuple[float, float]:
        """What the ends leave."""
        first, second = (1 - sum(self.ends(data)) for data in self.neighbours)
        return first, second


@dataclass(frozen=True, kw_only=True)
class BrokenNoisyCountMean(_BrokenMean):
    """Algorithm 1 as misprinted: the width of the range taken for the sensitivity of the sum.

    A row that is added moves the sum by max(|lower|, |upper|); for [100, 101] that is 101 times the
    width. True level: epsilon/2 for the count, and as many times epsilon/2 for the sum.
    """

    flaw = Message("lab.mechanisms.the_noise_of_the_sum_is")

    lower: float = 100.0
    upper: float = 101.0
    level: float = 10.0
    """The event: a mean above this that is not the middle of the range."""

    @property
    def scale(self) -> float:
        """Of the noise of the sum, for half of epsilon."""
        return 2 * self.width / self.epsilon

    @property
    def sum_epsilon(self) -> float:
        """What the noisy sum alone costs."""
        return max(abs(self.lower), abs(self.upper)) / self.scale

    @property
    def true_epsilon(self) -> float:
        """The sum and the count together."""
        return self.sum_epsilon + self.epsilon / 2

    @property
    def middle(self) -> float:
        """What is said for a small count."""
        return (self.lower + self.upper) / 2

    @property
    def neighbours(self) -> tuple[Floats, Floats]:
        """One row at the upper end, or none."""
        return np.array([self.upper]), np.empty(0)

    def run(self, data: Floats, *, rng: Source, size: int) -> Floats:
        total = data.sum() + laplace(self.scale, size, rng)
        count = data.size + laplace(2 / self.epsilon, size, rng)
        many = count > 1
        return np.where(many, total / np.where(many, count, 1), self.middle)

    def event(self, outputs: NDArray[Any]) -> Flags:
        """Large means that come from a division."""
        return np.asarray((outputs > self.level) & (outputs != self.middle))

    @property
    def chances(self) -> tuple[float, float]:
        """By integration over the noisy count."""
        first, second = map(self._chance, self.neighbours)
        return first, second

    def _chance(self, data: Floats) -> float:
        spread, total = 2 / self.epsilon, float(data.sum())

        def integrand(count: Floats) -> Floats:
            large = analysis.log_above(self.level * count - total, self.scale)
            return analysis.log_density(count - data.size, spread) + large

        return exp(
            analysis.log_integral(
                integrand,
                bends=[1.0, float(data.size), total / self.level],
                width=min(spread, self.scale / self.level),
                reach=analysis.TAIL * (spread + self.scale),
                within=(1.0, inf),
            )
        )
