"""How wide the noise of a sparse vector mechanism is, and how an epsilon is split for it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import cbrt, log, sqrt

from celosia.accounting.advanced_composition import advanced_inverse
from celosia.core.errors import PrivacyError
from celosia.mechanisms.noise import DiscreteLaplace

WIDEST = 2**50
"""The widest scale that is drawn, in steps. A draw stays within 2^10 scales (CEL-M021) and answers
and thresholds within 2^50 steps each, so the sum of the three stays within 62 bits."""

MOST_POSITIVES = 10**7


@dataclass(frozen=True, slots=True)
class Scales:
    """The scales of the discrete Laplace noises; every one of them is public.

    `redraw` says whether a positive answer gets a new threshold (Dwork & Roth 2014) or keeps the
    old one (Lyu, Su & Li 2017); `release` is None where only `ABOVE` is said.
    """

    threshold: Fraction
    query: Fraction
    release: Fraction | None = None
    redraw: bool = False

    def __post_init__(self) -> None:
        for name in ("threshold", "query", "release"):
            scale = getattr(self, name)
            if scale is not None:
                object.__setattr__(self, name, drawable(scale))


def drawable(scale: Fraction) -> Fraction:
    """The scale at which noise is really drawn: as asked, or the next larger one that can be.

    >>> drawable(Fraction(2, 3))
    Fraction(2, 3)
    """
    if scale > WIDEST:
        raise PrivacyError("CEL-M109", widest=WIDEST)
    return DiscreteLaplace(scale).scale


def each(epsilon: Fraction, *, times: int, delta: float = 0.0) -> tuple[Fraction, bool]:
    """The most that each of several releases may cost, and whether delta is needed for it.

    The better one of basic composition and of advanced composition, inverted numerically. The
    closed form sqrt(8 c ln(1/delta)) of the textbook rests on a corollary for epsilon below 1 and
    gives away a factor of two; the theorem itself holds for every epsilon.

    >>> each(Fraction(1), times=10)
    (Fraction(1, 10), False)
    >>> share, approximate = each(Fraction(1), times=1000, delta=1e-6)
    >>> round(1 / share), approximate
    (172, True)
    """
    basic = epsilon / times
    if delta == 0:
        return basic, False
    # A hair less than allowed: the theorem is evaluated in floats.
    allowed = float(epsilon) * (1 - 1e-12)
    advanced = Fraction(advanced_inverse(times, allowed, slack=delta))
    return (advanced, True) if advanced > basic else (basic, False)


def textbook_scale(epsilon: float, *, positives: int, delta: float = 0.0) -> float:
    """The sigma that Algorithm Sparse prints: 2c/epsilon, or sqrt(32 c ln(1/delta))/epsilon.

    For comparison only: the mechanisms never take a wider one where `each` allows less.

    >>> round(textbook_scale(1, positives=10, delta=1e-6), 4)
    66.4903
    """
    if delta == 0:
        return 2 * positives / epsilon
    return sqrt(32 * positives * log(1 / delta)) / epsilon


def optimal_split(positives: int, *, monotone: bool = False) -> float:
    """The ratio epsilon2 : epsilon1 that makes the noise of a comparison least.

    (2c)^(2/3), or c^(2/3) for queries that all move in one direction (Lyu, Su & Li 2017, 4.2).

    >>> round(optimal_split(10), 4), round(optimal_split(10, monotone=True), 4)
    (7.3681, 4.6416)
    """
    return cbrt((1 if monotone else 2) * positives) ** 2


def comparison_variance(
    epsilon: float,
    *,
    positives: int,
    ratio: float | None = None,
    monotone: bool = False,
    sensitivity: float = 1.0,
) -> float:
    """The variance of threshold noise plus query noise for a split 1 : ratio; None is the optimum.

    >>> round(comparison_variance(1, positives=10) ** 0.5, 2)
    34.23
    """
    split = optimal_split(positives, monotone=monotone) if ratio is None else ratio
    first = epsilon / (1 + split)
    second = epsilon - first
    factor = (1 if monotone else 2) * positives
    return 2 * (sensitivity / first) ** 2 + 2 * (factor * sensitivity / second) ** 2


def shares(epsilon: Fraction, ratio: float | Fraction) -> tuple[Fraction, Fraction]:
    """An epsilon split 1 : ratio, adding up to it exactly.

    >>> shares(Fraction(1), 3)
    (Fraction(1, 4), Fraction(3, 4))
    """
    first = epsilon / (1 + Fraction(ratio).limit_denominator(10**6))
    return first, epsilon - first


def numeric_shares(epsilon: Fraction, *, approximate: bool = False) -> tuple[Fraction, Fraction]:
    """What NumericSparse spends on finding the positives and on their numbers.

    8/9 and 1/9, or sqrt(512) : 1 with a delta (Dwork & Roth 2014, Algorithm 3). The algorithm
    writes twice the second part and doubles the scale in turn.

    >>> numeric_shares(Fraction(9))
    (Fraction(8, 1), Fraction(1, 1))
    """
    if not approximate:
        return epsilon * 8 / 9, epsilon / 9
    first = epsilon * Fraction(sqrt(512) / (sqrt(512) + 1)).limit_denominator(2**20)
    return first, epsilon - first
