"""Losses of noise: discrete Laplace, discrete Gaussian, and any zero-concentrated one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, lru_cache
from math import exp, expm1, inf, log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.accounting import amounts
from celosia.accounting.losses import LARGE, CurveLoss, randomised_response_renyi

ROUNDING = 2.0**-50


@dataclass(frozen=True, slots=True)
class LaplaceLoss(CurveLoss):
    """Discrete Laplace noise of a scale on one whole number that moves by at most `shift`.

    A smaller move is a less distinguishable pair, so the pair 0 and `shift` is the worst. The
    curve is exact, at a cost that does not depend on the shift.

    >>> loss = LaplaceLoss(scale=Fraction(2), shift=1)
    >>> print(loss, loss.pure, round(loss.delta(0.2), 6))
    LaplaceLoss(scale=2, shift=1) 0.5 0.16133
    """

    scale: Fraction
    shift: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", amounts.check_noise(self.scale, name="scale"))
        object.__setattr__(self, "shift", amounts.check_shift(self.shift))

    @property
    def pure(self) -> float:
        """Shift over scale."""
        return amounts.round_up(self.shift / self.scale)

    @property
    def rho(self) -> float:
        """The least one, see `laplace_rho`."""
        return amounts.round_up(laplace_rho(self.scale, self.shift))

    def renyi(self, order: float) -> float:
        """The sum over all outcomes, which is three geometric series."""
        order, total = amounts.check_order(order), self.pure
        plain = randomised_response_renyi(total, order)
        rate = total / self.shift
        steep = (2 * order - 1) * rate
        if (2 * order - 1) * total < 1e-5 or order * total > LARGE:
            return plain  # floats cannot tell the two apart here
        # Outcomes up to 0, from `shift` on, and between them, over e^((order-1) total).
        middle = 0.0
        if self.shift > 1:
            terms = expm1(-(self.shift - 1) * steep) / expm1(-steep)
            middle = -expm1(-rate) * exp(-steep) * terms
        inside = (1 + exp(-self.shift * steep) + middle) / (1 + exp(-rate))
        # The logarithm is wrong by a few units in the last place of 1, which an order next to 1
        # makes large.
        exact = total + (log(inside) + 2 * ROUNDING) / (order - 1)
        return min(plain, max(0.0, exact) * (1 + 1e-9))

    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """The exact delta: that of the outcomes below a threshold, the likeliest under one."""
        total = self.pure
        rate = total / self.shift
        # Outcomes x with rate (shift - 2x) > epsilon, that is x up to `last`, at least 0. A last
        # outcome that a rounding error has moved by one has a loss next to epsilon and no weight.
        last = np.ceil((self.shift - epsilon / rate) / 2) - 1
        last = np.clip(last, 0.0, max(0, self.shift - 1))
        likely = -np.expm1(np.minimum(epsilon - rate * (self.shift - last), 0.0))
        rest = -exp(-rate) * np.expm1(-rate * last)
        delta = (likely + rest) / (1 + exp(-rate))
        # The exponents carry rounding errors of a few units in the last place of `total`.
        return np.where(epsilon >= total, 0.0, delta + ROUNDING * total)

    def as_dict(self) -> dict[str, Any]:
        """The kind, the scale and the shift."""
        return {"kind": "laplace", "scale": str(self.scale), "shift": self.shift}

    def __str__(self) -> str:
        return f"LaplaceLoss(scale={amounts.format_amount(self.scale)}, shift={self.shift})"


_DIGITS = Context(prec=160)
"""Enough for scales up to 2^52 and shifts up to 2^62: sums of the size of 1 whose difference is of
the size of the square of 1/scale lose 32 digits or fewer, and a move below 1e-40 is not priced."""


@lru_cache(maxsize=4096)
def laplace_rho(scale: Fraction, shift: int) -> Fraction:
    """The least rho of discrete Laplace noise: the Kullback-Leibler divergence of a move.

    No Renyi divergence of an order a is above a times that of order 1: with t = a - 1/2, the
    logarithm of the moment is concave in t^2, because all zeros of the moment are imaginary (the
    proof is in `docs/proofs/laplace-noise-as-rho.md`). With q = exp(-1/scale) the divergence is the
    sum over whole x of (|x - shift| - |x|) / scale times the chance of x. It is computed to 160
    digits and rounded up at the 30th, so it is the same on every machine.

    >>> laplace_rho(Fraction(1), 1) < Fraction(46212, 100000) < Fraction(1, 2)
    True
    """
    d = _DIGITS
    rate = d.divide(Decimal(scale.denominator), Decimal(scale.numerator))
    q = d.exp(d.minus(rate))
    last = d.power(q, shift)
    rest = d.subtract(Decimal(1), q)
    inside = d.divide(d.subtract(q, last), rest)  # the sum of q^j for 0 < j < shift
    moment = d.divide(d.subtract(inside, d.multiply(Decimal(shift - 1), last)), rest)  # of j q^j
    ends = d.multiply(Decimal(shift), d.subtract(Decimal(1), last))
    middle = d.subtract(d.multiply(Decimal(shift), inside), d.multiply(Decimal(2), moment))
    total = d.add(ends, d.multiply(rest, middle))
    found = Fraction(d.divide(d.multiply(rate, total), d.add(Decimal(1), q)))
    pure = shift / scale
    if pure < Fraction(1, 10**12):
        return pure**2 / 2
    unit = Fraction(1, 10**30) * found
    return min(pure**2 / 2, found + 2 * unit)


Vector = NDArray[np.float64]
SUMMED = 1000.0
"""Up to this sigma probabilities are summed one by one; beyond, bounded by the continuous law."""
WINDOW = 39.0
"""In sigmas; the mass beyond it is below 1e-330 and so is that of every float."""
SUM_ROUNDING = 1e-14
UNIT = 2.0**-52
LEAST = 1e-300
FARTHEST_SUMMED = 1e6
"""In sigmas: so far out nothing is left of a delta."""


@dataclass(frozen=True, slots=True)
class GaussianLoss(CurveLoss):
    """Discrete Gaussian noise of parameter sigma^2 on one whole number that moves by `shift`.

    Reference: Canonne, Kamath & Steinke 2020, Thm 4 (rho) and Thm 7 (the exact delta).

    >>> loss = GaussianLoss(variance=Fraction(4), shift=1)
    >>> print(loss, loss.rho, round(loss.delta(1.0), 6))
    GaussianLoss(variance=4, shift=1) 0.125 0.007249
    """

    variance: Fraction
    shift: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", amounts.check_noise(self.variance, name="variance"))
        object.__setattr__(self, "shift", amounts.check_shift(self.shift))

    @property
    def pure(self) -> float:
        """Infinite: far out the losses have no bound."""
        return inf

    @property
    def rho(self) -> float:
        """shift^2 / (2 sigma^2)."""
        return amounts.round_up(Fraction(self.shift**2) / (2 * self.variance))

    def renyi(self, order: float) -> float:
        return amounts.check_order(order) * self.rho

    def curve(self, epsilon: Vector) -> Vector:
        """Delta: P[Y > e sigma^2/shift - shift/2] - e^e P[Y > e sigma^2/shift + shift/2]."""
        ratio = sqrt(2 * self.rho)
        sigma = self.shift / ratio
        if sigma <= SUMMED:
            return _summed_curve(float(self.variance), self.shift, epsilon)
        epsilon = np.minimum(epsilon, ratio * (FARTHEST_SUMMED + ratio))
        return continuous_curve(ratio, epsilon) + _excess(ratio, sigma, epsilon)

    def as_dict(self) -> dict[str, Any]:
        """The kind, the variance and the shift."""
        return {"kind": "gaussian", "variance": str(self.variance), "shift": self.shift}

    def __str__(self) -> str:
        return f"GaussianLoss(variance={amounts.format_amount(self.variance)}, shift={self.shift})"


def _summed_curve(variance: float, shift: int, epsilon: Vector) -> Vector:
    edge = int(WINDOW * sqrt(variance)) + 2
    points = np.arange(-edge, edge + 1, dtype=np.float64)
    weights = np.exp(-(points**2) / (2 * variance))
    tails = np.append(np.cumsum(weights[::-1])[::-1], 0.0)  # at least each point, and none
    weights, tails = weights / tails[0], tails / tails[0]
    highest = shift / variance * (2.0 * edge + shift / 2)  # a loss that no outcome here has
    epsilon = np.minimum(epsilon, highest)
    place = epsilon * variance / shift - shift / 2
    first = np.floor(place) + 1
    last = float(len(tails) - 1)
    near = np.clip(first + edge, 0.0, last).astype(np.int64)
    far = np.clip(first + shift + edge, 0.0, last).astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        # A tail beyond the window, or so small that floats lose its digits, is taken as 0 on the
        # side that is subtracted only.
        less = np.where(tails[far] > LEAST, np.exp(epsilon) * tails[far], 0.0)
        # Relative errors of the tails: of an exponent of at most (first + shift)^2 / (2 variance),
        # and of a sum in which about eight deviations of terms count.
        size = 8 * (1 + sqrt(variance)) + (np.abs(first) + shift + 1) ** 2 / variance + epsilon
    more = tails[near] * (1 + UNIT * np.minimum(size, 1 / UNIT))
    # The outcome before the first counts too where only a rounding error has put it at a loss of
    # at most epsilon.
    before = np.clip(first - 1 + edge, 0.0, last - 1).astype(np.int64)
    tie = 4 * UNIT * (epsilon + shift * shift / variance) - (place - first + 1) * shift / variance
    return np.asarray(np.clip(more - less + weights[before] * np.maximum(tie, 0.0), 0.0, 1.0))


def continuous_curve(ratio: float, epsilon: Vector) -> Vector:
    """Delta of the continuous Gaussian mechanism whose shift is `ratio` standard deviations.

    With u = epsilon / ratio it is phi(u - ratio/2) * (R(u - ratio/2) - R(u + ratio/2)), where R is
    the Mills ratio. For a small ratio the difference is the integral of -R' = 1 - x R, by eight
    points of Gauss and Legendre, so that nothing cancels.

    Reference: Balle & Wang 2018, Thm 8.
    """
    from scipy.special import erfcx, log_ndtr

    centre = epsilon / ratio
    if ratio > 1:
        near, far = log_ndtr(ratio / 2 - centre), log_ndtr(-ratio / 2 - centre)
        gone = -np.expm1(np.minimum(epsilon + far - near, 0.0))
        return np.asarray(np.exp(near) * (gone + SUM_ROUNDING * (1 + epsilon)))
    nodes, weights = _gauss_legendre()
    places = centre[:, None] + nodes * (ratio / 2)
    slopes = 1 - places * sqrt(pi / 2) * erfcx(places / sqrt(2))
    density = np.exp(-((centre - ratio / 2) ** 2) / 2) / sqrt(2 * pi)
    total = density * (np.maximum(slopes, 0.0) * weights).sum(axis=1) * (ratio / 2)
    # 1 - x R is about 1 / x^2 and carries an error of a unit in the last place of 1.
    return np.asarray(total + density * ratio * SUM_ROUNDING)


@cache
def _gauss_legendre() -> tuple[Vector, Vector]:
    nodes, weights = np.polynomial.legendre.leggauss(8)
    return nodes, weights


def _excess(ratio: float, sigma: float, epsilon: Vector) -> Vector:
    r"""By how much the discrete delta may exceed the continuous one.

    Let g(y) = exp(-y^2 / (2 sigma^2)), c = shift / sigma^2, y* the place where the loss is epsilon,
    z = y* / sigma and h(y) = g(y) (1 - exp(-c (y - y*))). Then delta is the sum of h over the whole
    y > y*, over the normaliser, which is at least sigma sqrt(2 pi) (Poisson summation). A sum is
    within 1/8 of the integral of |h''| of the integral of h from half a step before (midpoint
    rule), and that integral is at most the one from y* on, where h is positive: the continuous
    delta.
    With u = 1 - exp(-c (y - y*)), |h''| <= |g'' u| + 2 |g' u'| + |g u''|, with
    |u| <= k c |y - y*|, u' <= k c, |u''| <= k c^2 and k = exp(c / 2) from half a step before y*.
    In units of sigma, with m = shift / sigma and g(y) <= exp(-z^2/2) exp(-z v - v^2/2) at v beyond
    z >= 0, the integrals are at most 5.1, 2.1 and 1.26 m times k m / sigma exp(-z^2/2), and for
    z < 0 (where |z| <= m/2) at most 5, 4 and 2.51 m: together below 9 + 2.6 m.
    """
    place = np.maximum(epsilon / ratio - ratio / 2, 0.0)
    slack = ratio / (2 * sigma) + place / (2 * sigma)  # k, and g half a step before y*
    height = ratio * (9 + 2.6 * ratio) / (8 * sqrt(2 * pi) * sigma**2)
    return np.asarray(height * np.exp(slack - place**2 / 2))


STEPS = 64
LARGEST = 700.0
"""Of the logarithm of an order, which must be a float."""
"""Of the terms of an exponent, relative to their size."""
FARTHEST = 1e100
"""Delta at a larger epsilon is taken as that at this one, so that nothing overflows."""


@dataclass(frozen=True, slots=True)
class ConcentratedLoss(CurveLoss):
    """rho-zCDP, of whatever mechanism: the Renyi divergence of order a is at most a * rho.

    No single pair of neighbours is the worst for all rho-zCDP mechanisms. The distribution is that
    of the curve below, which is valid but gives away something in each composition; so several
    such losses are to be added as rho first, as `ComposedLoss` does.

    Reference: Bun & Steinke 2016; Canonne, Kamath & Steinke 2020, Prop. 12 and Cor. 13.

    >>> loss = ConcentratedLoss(Fraction(1, 2))
    >>> print(loss, round(loss.epsilon(1e-6), 4))
    0.5-zCDP 5.2215
    """

    value: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", amounts.check_cost(self.value, name="rho"))

    @property
    def pure(self) -> float:
        """Infinite, unless rho is 0."""
        return inf if self.value else 0.0

    @property
    def rho(self) -> float:
        """The rho."""
        return amounts.round_up(self.value)

    def renyi(self, order: float) -> float:
        return amounts.check_order(order) * self.rho

    def epsilon(self, delta: float) -> float:
        """The least epsilon over all orders."""
        wanted = amounts.check_chance(delta)
        if wanted == 0 or not self.value:
            return self.pure
        return 0.0 if wanted == 1 else concentrated_epsilon(self.rho, wanted)

    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """The least delta over all orders."""
        return concentrated_curve(self.rho, epsilon)

    def as_dict(self) -> dict[str, Any]:
        """The kind and the rho."""
        return {"kind": "concentrated", "rho": self.rho}

    def __str__(self) -> str:
        return f"{amounts.format_amount(self.value)}-zCDP"


def concentrated_epsilon(rho: float, delta: float) -> float:
    """Epsilon of rho-zCDP: a rho - log(delta a) / (a-1) + log(1 - 1/a) at the best order a.

    The orders that reach an epsilon are an interval, because the delta of an epsilon is convex in
    the order; so a grid that is narrowed around its least value finds the best one. Every order is
    valid.
    """
    guess = 0.5 * log((log(1 / delta) + 1e-9) / rho)  # of log(a - 1), where the outer terms balance
    low, high = guess - 8.0, guess + 8.0
    best = inf
    for _ in range(4):
        logs = np.linspace(low, high, 41)
        excess = np.exp(logs)
        order = 1 + excess
        values = order * rho - (log(delta) + np.log(order)) / excess - np.log1p(1 / excess)
        least = int(np.argmin(values))
        best = min(best, float(values[least]))
        low, high = float(logs[max(least - 1, 0)]), float(logs[min(least + 1, len(logs) - 1)])
    return max(0.0, best)


def concentrated_curve(rho: float, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
    """Delta of rho-zCDP: exp((a-1)(a rho - epsilon)) / (a-1) * (1 - 1/a)^a at the best order a.

    The logarithm is convex in a, with derivative (2a - 1) rho - epsilon + log(1 - 1/a); its root is
    found by bisection. Every order gives a valid delta, so an inexact root costs nothing but
    tightness.
    """
    if rho == 0:
        return np.zeros_like(epsilon)
    epsilon = np.minimum(epsilon, FARTHEST)
    # With x = a - 1 the derivative is at least 2 x rho - epsilon - 1/x, positive from here on.
    low = np.full_like(epsilon, -60.0)
    high = np.log((epsilon + np.sqrt(epsilon**2 + 8 * rho)) / (4 * rho)) + 1.0
    high = np.minimum(high, LARGEST)
    low = np.minimum(low, high - 1)
    for _ in range(STEPS):
        middle = (low + high) / 2
        excess = np.exp(middle)
        slope = (2 * excess + 1) * rho - epsilon - np.log1p(1 / excess)
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    excess = np.exp(high)
    order = 1 + excess
    with np.errstate(over="ignore"):
        last = order * np.log1p(1 / excess)
        exponent = excess * (order * rho - epsilon) - high - last
        exponent += ROUNDING * (excess * (order * rho + epsilon) + np.abs(high) + last)
    return np.asarray(np.exp(np.minimum(exponent, 0.0)))
