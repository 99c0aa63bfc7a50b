"""Laws of noise on the whole numbers: the discrete Laplace and the discrete Gaussian law.

Scales that 64-bit arithmetic cannot draw are rounded up to one that it can. Chances are computed
to float precision from 1/1024 to 2^52, also far out in the tails.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, fsum, gcd, isqrt, log, log1p, pi, sinh, sqrt, tanh
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.numbers import exact
from celosia.core.randomness import Source, System
from celosia.mechanisms.noise.pool import LARGEST, POOL, opendp_gaussian, opendp_laplace
from celosia.mechanisms.parameters import check_confidence, check_whole

SMOOTH = 8**2
"""From this sigma^2 on a sum over all whole numbers is its integral, to 500 decimals."""

WIDE = 64**2
"""From this sigma^2 on a sum over part of them is an integral with a few corrections."""

SLACK = 2.0**-40
"""More than the relative error of any chance computed here; bounds are rounded up by it."""


def gaussian_tail(parameter: Fraction, point: int) -> float:
    """The chance of at least a point above 0.

    The largest term is taken out of the sum, so that the precision is the same however far out. For
    a large sigma the rest of the sum is its integral and the corrections of Euler and Maclaurin:
    f(a)/2 - sum of B_2j/(2j)! f^(2j-1)(a), where f^(n)(a) = (-1)^n He_n(a/sigma)/sigma^n f(a) and
    B_2j/(2j)! = (-1)^(j+1) 2 zeta(2j)/(2 pi)^2j. As a/sigma < 39 wherever f(a) is not 0 as a float,
    a/sigma^2 < 0.61 and eight corrections leave less than 2^-52 of the whole.
    """
    largest = _exp(-(point**2) / (2 * parameter))
    if largest == 0.0:
        return 0.0
    if parameter < WIDE:
        return largest * fsum(_terms(parameter, point)) / _total(parameter)
    from scipy.special import erfcx, eval_hermitenorm, zeta

    sigma = sqrt(parameter)
    place = float(point / Fraction(sigma))
    corrections = [sigma * sqrt(pi / 2) * float(erfcx(place / sqrt(2))), 0.5]
    for j in range(1, 9):
        weight = (-1) ** (j + 1) * 2 * float(zeta(2 * j)) / (2 * pi) ** (2 * j)
        corrections.append(
            weight * float(eval_hermitenorm(2 * j - 1, place)) / sigma ** (2 * j - 1)
        )
    return largest * fsum(corrections) / _total(parameter)


def least_bound(
    tail: Callable[[int], float], confidence: float, size: int, *, near: int = 0
) -> int:
    """The least t such that `size` draws are all within -t .. t with this confidence.

    (1 - p)^size >= confidence, where p is the chance that one draw lies outside, taken a little
    larger than computed: a tie goes to the larger bound.

    Args:
        tail: the chance of a number of at least a point.
        confidence: of all draws together.
        size: how many draws there are.
        near: where to begin to look.
    """
    allowed = -log(confidence) * (1 - SLACK)

    def holds(bound: int) -> bool:
        outside = 2 * tail(bound + 1) * (1 + SLACK)
        return outside < 1 and -size * log1p(-outside) <= allowed

    low, high, step = -1, near, 1
    if holds(high):
        while high > 0 and holds(max(0, high - step)):
            high, step = max(0, high - step), 2 * step
        low = max(-1, high - step)
    while not holds(high):
        low, high, step = high, high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _exp(exponent: Fraction) -> float:
    """The exponential of a rational number, whose rounding to a float is made up for."""
    if exponent < -746:
        return 0.0
    rounded = float(exponent)
    power = exp(rounded)
    return power + power * expm1(float(exponent - Fraction(rounded)))


def _terms(parameter: Fraction, start: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """exp(-z^2/(2 sigma^2)) over exp(-start^2/(2 sigma^2)) for z = start, start + 1, ..."""
    steps = np.arange(_enough(parameter), dtype=np.float64)
    return np.exp(-steps * (steps + 2.0 * start) / float(2 * parameter))


def _enough(parameter: Fraction) -> int:
    """Terms after which all others together are less than 2^-60 of the first."""
    return int(10 * sqrt(parameter)) + 3


@lru_cache(maxsize=256)
def _total(parameter: Fraction) -> float:
    """The sum of exp(-z^2/(2 sigma^2)) over all whole z.

    For a large sigma it is sigma sqrt(2 pi) by Poisson's summation; the next term,
    2 exp(-2 pi^2 sigma^2), is far below what a float can tell.
    """
    if parameter >= SMOOTH:
        return sqrt(2 * pi) * sqrt(parameter)
    return 2 * fsum(_terms(parameter, 0)) - 1


REACH = 2**52
"""The largest number that a kernel works with; a thousand times as much still fits into 62 bits."""

LEAST, MOST = Fraction(1, 2**10), Fraction(REACH)
"""The scales (of the Gaussian: standard deviations) that are drawn."""

BOTTOM = 2**62


def scale_within_reach(scale: object) -> Fraction:
    """The scale itself, or the next larger one that 64-bit arithmetic can draw.

    Rounding up adds noise, less than one part in 2^50 of it; never does it take any away.

    >>> scale_within_reach(Fraction(20, 3))
    Fraction(20, 3)
    """
    number = exact(scale)
    if number is None or not LEAST <= number <= MOST:
        raise InputError("CEL-M020.laplace", given=scale)
    if number.numerator <= REACH and number.denominator <= BOTTOM:
        return number
    bits = _places(number)
    return Fraction(-((-number.numerator << bits) // number.denominator), 1 << bits)


def parameter_within_reach(parameter: object) -> Fraction:
    """The same for sigma^2; where it is rounded, sigma becomes a rational number.

    >>> parameter_within_reach(0.5)
    Fraction(1, 2)
    """
    number = exact(parameter)
    if number is None or not LEAST**2 <= number <= MOST**2:
        raise InputError("CEL-M020.gaussian", given=parameter)
    if Proposal.of(number).within_reach:
        return number
    bits = _places(Fraction(isqrt(number.numerator) + 1, isqrt(number.denominator)))
    squared = -((-number.numerator << 2 * bits) // number.denominator)
    return Fraction(isqrt(squared - 1) + 1, 1 << bits) ** 2


@dataclass(frozen=True, slots=True)
class Proposal:
    """How a discrete Gaussian is drawn: from which Laplace law, and what is kept of it.

    A draw y of scale top/bottom is kept with chance exp(-(factor |y| - centre)^2 / (2 low high)),
    which is exp(-(|y| - sigma^2 bottom/top)^2 / (2 sigma^2)) with all common factors taken out:
    Algorithm 3 of Canonne, Kamath & Steinke 2020 for a rational scale near sigma.
    """

    top: int
    bottom: int
    factor: int
    centre: int
    low: int
    high: int

    @classmethod
    def of(cls, parameter: Fraction) -> Proposal:
        """The proposal for a sigma^2, with the scale sigma itself where that is rational."""
        above, under = parameter.numerator, parameter.denominator
        top, bottom = isqrt(above), isqrt(under)
        if top**2 != above or bottom**2 != under:
            top, bottom = _nearest_root(above, under), 1
            if top == 0 or above < under:
                top, bottom = 1, _nearest_root(under, above)
        parts = under * top * bottom, above * bottom**2, under * top**2
        factor, centre, other = (part // gcd(*parts) for part in parts)
        return cls(top, bottom, factor, centre, min(centre, other), max(centre, other))

    @property
    def within_reach(self) -> bool:
        """True when no kernel can overflow.

        |y| <= top/bottom * MOST_TURNS, so factor |y| <= high * MOST_TURNS < 2^62.
        """
        return max(self.top, self.high) <= REACH and self.bottom <= BOTTOM


def _nearest_root(above: int, under: int) -> int:
    """The whole number nearest to the root of above/under."""
    return (isqrt(4 * above // under) + 1) // 2


def _places(number: Fraction) -> int:
    """Binary places that a number may keep so that its numerator stays within reach."""
    return max(0, 51 - number.numerator.bit_length() + number.denominator.bit_length())


CHUNK = 2**16
"""Words that are read at once."""

Step = Callable[[NDArray[np.uint32], Any, int], tuple[int, int]]


def draw_laplace(scale: Fraction, size: int, rng: Source) -> NDArray[np.int64]:
    """`size` exact discrete Laplace draws of a scale within reach."""
    from celosia.mechanisms.noise import _kernels  # Numba loads when noise is drawn

    def step(units: NDArray[np.uint32], found: Any, done: int) -> tuple[int, int]:
        return _kernels.laplace(units, scale.numerator, scale.denominator, found, done)

    found = np.empty(size, dtype=np.int64)
    fill(found, step, rng, words_each=4)
    return found


def draw_gaussian(parameter: Fraction, size: int, rng: Source) -> NDArray[np.int64]:
    """`size` exact discrete Gaussian draws of a sigma^2 within reach."""
    from celosia.mechanisms.noise import _kernels

    proposal = Proposal.of(parameter)

    def step(units: NDArray[np.uint32], found: Any, done: int) -> tuple[int, int]:
        return _kernels.gaussian(
            units,
            proposal.top,
            proposal.bottom,
            proposal.factor,
            proposal.centre,
            proposal.low,
            proposal.high,
            found,
            done,
        )

    found = np.empty(size, dtype=np.int64)
    fill(found, step, rng, words_each=8)
    return found


def fill(found: NDArray[Any], step: Step, rng: Source, *, words_each: int) -> None:
    """Let a kernel fill an array, with as many random words as it takes.

    Args:
        found: what is filled.
        step: continues from a place in `found`; returns the place and what it used of the stream.
        rng: where the words come from.
        words_each: about how many words an entry takes.
    """
    done, left, coming = 0, np.empty(0, dtype=np.uint32), None
    with ThreadPoolExecutor(1) as reader:
        while done < found.size:
            needed = (found.size - done) * words_each
            words = rng.words(min(CHUNK, needed + 16)) if coming is None else coming.result()
            # The system's entropy is as slow as the kernels; both leave Python free for the other.
            coming = reader.submit(rng.words, CHUNK) if needed > CHUNK else None
            units = np.concatenate([left, words.view(np.uint32)])
            done, at = step(units, found, done)
            if at < 0:
                raise PrivacyError("CEL-M021")
            left = units[at:]


class Law(ABC):
    """A symmetric law on the whole numbers that is drawn exactly and whose tails are known.

    A few draws from the system's entropy are OpenDP's, from the pool; all others are our own.
    """

    def draw(self, size: int, rng: Source) -> NDArray[np.int64]:
        """`size` independent exact draws."""
        count = check_whole(size, name="size", least=0)
        if type(rng) is System and count <= LARGEST:
            return POOL.take(self, count, self._draw_by_opendp)
        return self._draw(count, rng)

    def tail(self, point: int) -> float:
        """The chance of a number of at least `point`."""
        return self._tail(point) if point > 0 else 1 - self._tail(1 - point)

    def bound(self, confidence: float, *, size: int = 1) -> int:
        """The least t such that none of `size` draws exceeds t in size, with this confidence."""
        return _bound(self, check_confidence(confidence), check_whole(size, name="size"))

    def point_near(self, chance: float) -> int:
        """About where the tail has a chance: only how long a search takes depends on it."""
        return 0

    @abstractmethod
    def mass(self, point: int) -> float:
        """The chance of one number."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The exact variance, to float precision."""

    @abstractmethod
    def _tail(self, point: int) -> float:
        """The chance of at least a point above 0."""

    @abstractmethod
    def _draw(self, size: int, rng: Source) -> NDArray[np.int64]: ...

    @abstractmethod
    def _draw_by_opendp(self, size: int) -> NDArray[np.int64]: ...


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(Law):
    """P(z) proportional to exp(-|z| / scale), z whole, for a rational scale above 0.

    A scale that 64-bit arithmetic cannot draw is rounded up to the next one that it can, by less
    than one part in 2^50; `scale` is the one in use.

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

    def mass(self, point: int) -> float:
        """(1 - q) / (1 + q) * q^|point| with q = exp(-1/scale)."""
        return tanh(float(1 / (2 * self.scale))) * _exp(-abs(point) / self.scale)

    @property
    def variance(self) -> float:
        """2 q / (1 - q)^2."""
        half = sinh(float(1 / (2 * self.scale)))
        return 0.5 / half / half

    def _tail(self, point: int) -> float:
        """q^point / (1 + q)."""
        return _exp(-point / self.scale) / (1 + exp(-float(1 / self.scale)))

    def point_near(self, chance: float) -> int:
        """By the inverse of the tail."""
        ratio = chance * (1 + exp(-float(1 / self.scale)))
        return max(0, int(-log(ratio) * float(self.scale))) if 0 < ratio < 1 else 0

    def _draw(self, size: int, rng: Source) -> NDArray[np.int64]:
        return draw_laplace(self.scale, size, rng)

    def _draw_by_opendp(self, size: int) -> NDArray[np.int64]:
        return opendp_laplace(self.scale, size)


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

    def mass(self, point: int) -> float:
        """exp(-point^2 / (2 sigma^2)) over the sum of all of them."""
        return _exp(-(point**2) / (2 * self.parameter)) / _total(self.parameter)

    @property
    def variance(self) -> float:
        """The variance, which falls below sigma^2 only where sigma is small.

        By Poisson's summation the difference is about 8 pi^2 sigma^4 exp(-2 pi^2 sigma^2).
        """
        if self.parameter >= SMOOTH:
            return float(self.parameter)
        squares = np.arange(1, _enough(self.parameter)) ** 2
        terms = squares * np.exp(-squares / float(2 * self.parameter))
        return 2 * fsum(terms) / _total(self.parameter)

    def _tail(self, point: int) -> float:
        return gaussian_tail(self.parameter, point)

    def _draw(self, size: int, rng: Source) -> NDArray[np.int64]:
        return draw_gaussian(self.parameter, size, rng)

    def _draw_by_opendp(self, size: int) -> NDArray[np.int64]:
        return opendp_gaussian(self.parameter, size)


@lru_cache(maxsize=256)
def _bound(law: Law, confidence: float, size: int) -> int:
    # A millisecond of halving, which an answer asks for several times.
    near = law.point_near(-expm1(log(confidence) / size) / 2)
    return least_bound(law.tail, confidence, size, near=near)
