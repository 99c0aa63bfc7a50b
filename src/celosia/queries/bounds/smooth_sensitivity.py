"""Smooth sensitivity: the noise that hides also how far one row could have moved the answer.

S = max over k of exp(-beta k) S^(k) is at least the local sensitivity and changes by a factor of at
most e^beta from one neighbour to the next, because S^(k) of one is at most S^(k + 1) of the other.
`bounds.noise` says what beta must be.

Reference: Nissim, Raskhodnikova & Smith 2007, "Smooth Sensitivity and Sampling in Private Data
Analysis"; Johnson, Near & Song 2018, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil
from typing import Any

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message
from celosia.core.numbers import exactly
from celosia.core.progress import Progress, Step, silent
from celosia.mechanisms.parameters import check_delta, check_epsilon, check_whole
from celosia.queries.bounds.growth import Growth

DIGITS = 60
ROUNDING = Fraction(1, 10 ** (DIGITS - 10))
"""More than all roundings of one exponential or logarithm together."""
SLACK = Fraction(1, 2**48)
"""What beta is lowered by: a scale that is rounded up by 2^-49 of itself stays smooth."""
FARTHEST = 2**24
"""Distances that are looked at, at most: about two seconds."""
CHUNK = 2**14
TIE = 1e-9
"""Logarithms of floats this near are compared exactly: far more than their rounding errors."""


@dataclass(frozen=True, slots=True)
class SmoothBound:
    """A smooth bound, and the distance that it comes from. For the curator's eyes only."""

    bound: Fraction
    distance: int
    beta: Fraction

    def as_dict(self) -> dict[str, Any]:
        return {
            "bound": float(self.bound),
            "distance": self.distance,
            "beta": float(self.beta),
        }

    def __str__(self) -> str:
        bound = float(self.bound)
        return str(Message("queries.bounds.bound_at_distance", bound=bound, distance=self.distance))


def choose_beta(epsilon: object, delta: object, *, cells: int = 1) -> Fraction:
    """How fast a bound may fall with the distance, for discrete Laplace noise on some cells.

    The lesser of epsilon / (2 rho), with rho the 1 - delta/2 quantile of Gamma(cells, 1), which is
    the published value, and of ln(1 + epsilon / (2 rho')), with the 1 - delta quantile, for which
    `noise` has the proof. Up to an epsilon of about 2 it is the published one.

    >>> round(float(choose_beta(0.1, 1e-8)), 12)
    0.002615907195

    Raises:
        InputError: CEL-I060 a parameter is out of range.
    """
    price = check_epsilon(epsilon)
    check_delta(delta)
    failure = exactly(delta)
    count = check_whole(cells, name=Message("queries.bounds.number_of_cells"))
    published = price / (2 * gamma_quantile(count, failure / 2))
    ratio = price / (2 * gamma_quantile(count, failure))
    context = Context(prec=DIGITS, rounding=ROUND_FLOOR)
    proven = Fraction(context.ln(_decimal(1 + ratio, context))) * (1 - ROUNDING)
    return min(published, proven) - SLACK


def gamma_quantile(cells: int, tail: Fraction) -> Fraction:
    """A number that the sum of `cells` exponential variables exceeds with chance at most `tail`.

    At least `cells`, their mean.

    >>> round(float(gamma_quantile(1, Fraction(1, 2 * 10**6))), 3)
    14.509
    """
    if cells == 1:
        context = Context(prec=DIGITS, rounding=ROUND_CEILING)
        found = Fraction(context.ln(_decimal(1 / tail, context))) * (1 + ROUNDING)
    else:
        from scipy.special import gammainccinv

        # SciPy promises about twelve digits; the last three are given away.
        found = Fraction(float(gammainccinv(cells, float(tail)))) * (1 + Fraction(1, 10**9))
    return max(found, Fraction(cells))


def smooth(growth: Growth, *, beta: Fraction, progress: Progress = silent) -> SmoothBound:
    """The largest exp(-beta k) S^(k) of all distances k, rounded up.

    A bound of degree d grows by at most (j/k)^d from k to j, and exp(-beta (j - k)) (j/k)^d <= 1
    once k >= d / beta: no distance beyond that can win, and every one before it is looked at,
    because the product may fall and rise again.

    >>> from celosia.queries.bounds.growth import Leaf
    >>> print(smooth(Leaf(250, grows=True), beta=choose_beta(0.1, 1e-8)))
    270.459 at distance 132
    """
    import numpy as np  # `celosia --help` does without it

    if beta <= 0 or growth.degree > FARTHEST * beta:
        raise QueryRefused("CEL-Q062.distances", farthest=FARTHEST)
    # ln of exp(-beta k) k^d has the derivative d / k - beta, which is at most 0 from k = d / beta
    # on. To stop at the first decrease would be unsound: a maximum of polynomials has several
    # peaks.
    farthest = ceil(growth.degree / beta)
    rate, best, near = float(beta), -np.inf, np.empty(0, dtype=np.int64)
    for start in range(0, farthest + 1, CHUNK):
        progress(Step(Message("queries.bounds.smoothing"), start, farthest + 1))
        distances = np.arange(start, min(start + CHUNK, farthest + 1), dtype=np.int64)
        values = growth.logarithms(distances) - rate * distances
        if (top := float(values.max())) == -np.inf:
            continue
        if top > best + TIE:
            near = near[:0]
        best = max(best, top)
        near = np.concatenate([near, distances[values >= best - TIE]])
    found = [(_discounted(growth.at(k), beta, k), -k) for k in near.tolist()]
    bound, distance = max(found, default=(Fraction(0), 0))
    return SmoothBound(bound, -distance, beta)


def _discounted(value: int, beta: Fraction, distance: int) -> Fraction:
    """exp(-beta distance) value, at or a hair above."""
    context = Context(prec=DIGITS, rounding=ROUND_CEILING)
    if distance == 0:
        return Fraction(value)
    return value * Fraction(context.exp(_decimal(-beta * distance, context))) * (1 + ROUNDING)


def _decimal(number: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(number.numerator), Decimal(number.denominator))
