"""Thresholds and chances of private keys, computed so that rounding never costs privacy."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import expm1, isqrt, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.noise_losses import continuous_curve

SLACK = 1 + 2.0**-20
"""How much tighter a Gaussian is calibrated than asked for, so that its law on a grid still holds.

Proof. Let X be the discrete Gaussian of deviation s steps and Y the continuous one. The chance of
X = x and that of Y rounding to x differ by a factor within exp(+-(1 + L^2) / (24 s^2)) for
|x| <= L s, because the average of exp(-(2xu + u^2) / 2s^2) over |u| <= 1/2 lies between
exp(-1 / 24s^2) and exp(x^2 / 8s^4); beyond L = 40 both have a chance below 10^-340. Sums of weights
are whole steps, so rounding after the noise is post-processing of the continuous mechanism. At most
m coordinates move in each of r rounds; with s of at least 2^24 steps, m of at most 2^16 and r of at
most 8 all factors together stay below exp(2^-21): the slack covers them in epsilon and in delta."""

STEPS = 1 << 26
"""Steps of a weight of 1."""

LEAST_DEVIATION = 0.25
"""Of the noise, in weights; more noise than is needed costs no privacy. See the proof."""

MOST_ROUNDS = 8
"""Rounds of a set union; see the proof."""

MOST_KEYS = 1 << 16
"""Keys of one person, at most; see the proof."""

WORD = 1 << 64


def korolova_threshold(epsilon: float, delta: float, per_person: int = 1) -> float:
    """What a count with continuous Laplace noise must exceed, for distinct keys.

    T = 1 + ln(1 / (2 delta_1)) m / epsilon, with delta_1 = 1 - (1 - delta)^(1/m): a key that only
    one person has, with count 1, is released with a chance of delta_1.

    >>> round(korolova_threshold(1, 1e-5), 3), round(korolova_threshold(1, 1e-5, 20), 3)
    (11.82, 277.31)
    """
    return 1 + log(1 / (2 * float(share_of_delta(delta, per_person)))) * per_person / epsilon


def korolova_printed(epsilon: float, delta: float, per_person: int = 1) -> float:
    """The threshold as printed by Korolova et al. 2009: K = d (1 - ln(2 delta / d) / epsilon).

    It is for persons who may put all their d records into one query.

    >>> round(korolova_printed(1, 1e-5, 5), 3)
    67.146
    """
    return per_person * (1 - log(2 * delta / per_person) / epsilon)


@lru_cache(maxsize=256)
def share_of_delta(delta: float, per_person: int) -> Fraction:
    """The largest short share d with (1 - d)^m of at least 1 - delta, exactly checked."""
    whole = Fraction(delta)
    share = Fraction(-expm1(log1p(-delta) / per_person)).limit_denominator(10**18)
    while not _is_within(share, whole, per_person):
        share *= 1 - Fraction(1, 10**12)
    return share


def _is_within(share: Fraction, whole: Fraction, count: int) -> bool:
    """Whether `count` shares make at most the whole: 1 - (1 - share)^count <= whole."""
    if count <= 64:
        return 1 - (1 - share) ** count <= whole
    # (1 - x)^n >= 1 - n x + n (n-1) x^2 / 2 - n (n-1) (n-2) x^3 / 6 (Bonferroni).
    two, three = Fraction(count * (count - 1), 2), Fraction(count * (count - 1) * (count - 2), 6)
    return count * share - two * share**2 + three * share**3 <= whole


def release_chances(epsilon: Fraction, delta: float, per_person: int) -> NDArray[np.uint64]:
    """The optimal chance of naming a key that n persons have, n = 0, 1, ..., in units of 2^-64.

    pi_0 = 0, pi_(n+1) = min(e^eps pi_n + d, 1 - e^-eps (1 - pi_n - d), 1), with eps / m and the
    share of delta of one key. The last entry is certainty, 2^64 - 1 for 2^64. Every chance is
    rounded down, with e^eps rounded down: each pair of neighbours keeps its two inequalities.

    Reference: Desfontaines, Voss, Gipson and Mandayam 2022.
    """
    growth = exponential_below(epsilon / per_person)
    share = share_of_delta(delta, per_person)
    found = [0]
    now = Fraction(0)
    while now < 1:
        rising = growth * now + share
        falling = 1 - (1 - now - share) / growth
        following = min(rising, falling, Fraction(1))
        units = int(following * WORD)
        if units >= WORD or following >= 1:
            found.append(WORD - 1)
            break
        now = Fraction(units, WORD)
        found.append(units)
    return np.array(found, dtype=np.uint64)


def exponential_below(exponent: Fraction) -> Fraction:
    """A rational number just below e to a power."""
    context = Context(prec=50, rounding=ROUND_FLOOR)
    power = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    value = power.exp(context)  # correctly rounded to half even: one unit less is below
    return Fraction(value) * (1 - Fraction(1, 10**45))


@lru_cache(maxsize=256)
def gaussian_deviation(epsilon: float, delta: float) -> float:
    """The least deviation of Gaussian noise for a move of length 1, from the exact curve.

    Reference: Balle and Wang 2018, Thm 8.

    >>> round(gaussian_deviation(1, 5e-6), 5)
    3.88414
    """

    def exceeded(deviation: float) -> float:
        return float(continuous_curve(1 / deviation, np.array([epsilon]))[0])

    high = 1.0
    while exceeded(high) > delta:
        high *= 2
    low = high / 2
    while exceeded(low) <= delta:
        low /= 2
    while high / low > 1 + 2.0**-40:
        middle = sqrt(low * high)
        low, high = (low, middle) if exceeded(middle) <= delta else (middle, high)
    return high


def gaussian_threshold(deviation: float, delta: float, per_person: int) -> float:
    """What a weight must exceed: max over t of 1 / sqrt(t) + s Phi^-1((1 - delta)^(1/t)).

    Reference: Gopi, Gulhane, Kulkarni, Shen, Shokouhi and Yekhanin 2020.

    >>> round(gaussian_threshold(gaussian_deviation(1, 5e-6), 5e-6, 20), 3)
    19.747
    """
    from scipy.stats import norm

    sizes = np.arange(1, per_person + 1)
    # The upper tail, not the lower quantile: 1 - delta / t has lost half its digits.
    tails = -np.expm1(np.log1p(-delta) / sizes)
    return float((1 / np.sqrt(sizes) + deviation * norm.isf(tails)).max())


def weights(per_person: int) -> NDArray[np.int64]:
    """The weight, in steps, of each item of a person with r items: 1 / sqrt(r) rounded down.

    r w_r^2 <= STEPS^2 for every r, so that one person moves all sums by a length of at most 1.
    """
    return np.array([0] + [isqrt(STEPS**2 // r) for r in range(1, per_person + 1)], dtype=np.int64)
