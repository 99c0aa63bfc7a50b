"""How wide the noise of a sparse vector mechanism is, in whole steps of its grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt

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

    Raises:
        PrivacyError: CEL-M109 it is too wide.
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
