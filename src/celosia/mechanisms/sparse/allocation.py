"""How to split an epsilon between the threshold, the comparisons and the released numbers."""

from __future__ import annotations

from fractions import Fraction
from math import cbrt, sqrt


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
