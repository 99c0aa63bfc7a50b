"""The loss of discrete Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import inf, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.checks import check_noise, check_order, check_shift, format_amount, round_up
from celosia.accounting.curve_loss import CurveLoss

Vector = NDArray[np.float64]
SUMMED = 1000.0
"""Up to this sigma probabilities are summed one by one; beyond, bounded by the continuous law."""
WINDOW = 39.0
"""In sigmas; the mass beyond it is below 1e-330 and so is that of every float."""
ROUNDING = 1e-14
UNIT = 2.0**-52
LEAST = 1e-300
FARTHEST = 1e6
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
        object.__setattr__(self, "variance", check_noise(self.variance, name="variance"))
        object.__setattr__(self, "shift", check_shift(self.shift))

    @property
    def pure(self) -> float:
        """Infinite: far out the losses have no bound."""
        return inf

    @property
    def rho(self) -> float:
        """shift^2 / (2 sigma^2)."""
        return round_up(Fraction(self.shift**2) / (2 * self.variance))

    def renyi(self, order: float) -> float:
        """Order times rho."""
        return check_order(order) * self.rho

    def curve(self, epsilon: Vector) -> Vector:
        """Delta: P[Y > e sigma^2/shift - shift/2] - e^e P[Y > e sigma^2/shift + shift/2]."""
        ratio = sqrt(2 * self.rho)
        sigma = self.shift / ratio
        if sigma <= SUMMED:
            return _summed_curve(float(self.variance), self.shift, epsilon)
        epsilon = np.minimum(epsilon, ratio * (FARTHEST + ratio))
        return continuous_curve(ratio, epsilon) + _excess(ratio, sigma, epsilon)

    def as_dict(self) -> dict[str, Any]:
        """The kind, the variance and the shift."""
        return {"kind": "gaussian", "variance": str(self.variance), "shift": self.shift}

    def __str__(self) -> str:
        return f"GaussianLoss(variance={format_amount(self.variance)}, shift={self.shift})"


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
        return np.asarray(np.exp(near) * (gone + ROUNDING * (1 + epsilon)))
    nodes, weights = _gauss_legendre()
    places = centre[:, None] + nodes * (ratio / 2)
    slopes = 1 - places * sqrt(pi / 2) * erfcx(places / sqrt(2))
    density = np.exp(-((centre - ratio / 2) ** 2) / 2) / sqrt(2 * pi)
    total = density * (np.maximum(slopes, 0.0) * weights).sum(axis=1) * (ratio / 2)
    # 1 - x R is about 1 / x^2 and carries an error of a unit in the last place of 1.
    return np.asarray(total + density * ratio * ROUNDING)


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
