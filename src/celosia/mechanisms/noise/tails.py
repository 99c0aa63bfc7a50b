"""Chances of the two laws to float precision, from 1/1024 to 2^52, also far out in the tails."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, fsum, log, log1p, pi, sinh, sqrt, tanh

import numpy as np

SMOOTH = 8**2
"""From this sigma^2 on a sum over all whole numbers is its integral, to 500 decimals."""

WIDE = 64**2
"""From this sigma^2 on a sum over part of them is an integral with a few corrections."""

SLACK = 2.0**-40
"""More than the relative error of any chance computed here; bounds are rounded up by it."""


def laplace_mass(scale: Fraction, point: int) -> float:
    """(1 - q) / (1 + q) * q^|point| with q = exp(-1/scale)."""
    return tanh(float(1 / (2 * scale))) * _exp(-abs(point) / scale)


def laplace_tail(scale: Fraction, point: int) -> float:
    """q^point / (1 + q) for a point above 0."""
    return _exp(-point / scale) / (1 + exp(-float(1 / scale)))


def laplace_variance(scale: Fraction) -> float:
    """2 q / (1 - q)^2."""
    half = sinh(float(1 / (2 * scale)))
    return 0.5 / half / half


def gaussian_mass(parameter: Fraction, point: int) -> float:
    """exp(-point^2 / (2 sigma^2)) over the sum of all of them."""
    return _exp(-(point**2) / (2 * parameter)) / _total(parameter)


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


def gaussian_variance(parameter: Fraction) -> float:
    """The variance, which falls below sigma^2 only where sigma is small.

    By Poisson's summation the difference is about 8 pi^2 sigma^4 exp(-2 pi^2 sigma^2).
    """
    if parameter >= SMOOTH:
        return float(parameter)
    numbers = np.arange(1, _enough(parameter))
    squares = numbers**2
    return 2 * fsum(squares * np.exp(-squares / float(2 * parameter))) / _total(parameter)


def least_bound(tail: Callable[[int], float], confidence: float, size: int) -> int:
    """The least t such that `size` draws are all within -t .. t with this confidence.

    (1 - p)^size >= confidence, where p is the chance that one draw lies outside, taken a little
    larger than computed: a tie goes to the larger bound.
    """
    allowed = -log(confidence) * (1 - SLACK)

    def holds(bound: int) -> bool:
        outside = 2 * tail(bound + 1) * (1 + SLACK)
        return outside < 1 and -size * log1p(-outside) <= allowed

    low, high = -1, 0
    while not holds(high):
        low, high = high, 2 * high + 1
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
