"""What a differentially private table may cost, divided into the mechanisms that it pays for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt, nextafter

from celosia.accounting.noise_losses import ConcentratedLoss
from celosia.core.messages import Message
from celosia.core.numbers import exact
from celosia.mechanisms import Exponential, GaussianCounts, Geometric
from celosia.mechanisms.parameters import check_delta, check_epsilon

SURELY = 1 - 1e-9
"""Taken off a rho that was found in floats, whose errors are far smaller."""
HALVINGS = 60


@dataclass(frozen=True, slots=True)
class TableBudget:
    """An epsilon, and a delta; shares of it buy noise on counts and choices among candidates.

    With a delta of 0 shares are of epsilon, and counts get discrete Laplace noise. With a delta
    above 0 they are of the rho whose zCDP implies (epsilon, delta)-DP, and counts get discrete
    Gaussian noise. Shares that sum to at most 1 cost at most the budget: epsilons and rhos add up.

    Reference: Bun & Steinke 2016; Canonne, Kamath & Steinke 2020, Prop. 12 for the conversion.

    >>> print(TableBudget(1), TableBudget(1, 1e-9))
    1-differential privacy (1, 1e-09)-differential privacy
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_delta(self.delta, zero=True)

    @property
    def is_pure(self) -> bool:
        """Whether delta is 0."""
        return self.delta == 0

    @property
    def total(self) -> Fraction:
        """What is divided: epsilon, or the rho within epsilon and delta."""
        return check_epsilon(self.epsilon) if self.is_pure else _rho(self.epsilon, self.delta)

    def count_noise(self, share: Fraction, sensitivity: int = 1) -> Geometric | GaussianCounts:
        """Noise for counts that one privacy unit moves by `sensitivity` in sum.

        The length of such a move is at most its sum, so that Gaussian noise is enough as well.
        """
        if self.is_pure:
            return Geometric(epsilon=round_down(self.total * share), sensitivity=sensitivity)
        return GaussianCounts(rho=round_down(self.total * share), sensitivity=sensitivity)

    def selection(self, share: Fraction, *, sensitivity: int) -> Exponential:
        """One choice by scores that one row more or less moves by at most `sensitivity` each.

        The exponential mechanism of epsilon is epsilon^2/8-zCDP (Cesar & Rogers 2021).
        """
        part = self.total * share
        if not self.is_pure:
            digits = 10**12
            part = Fraction(isqrt((8 * part * digits**2).__floor__()), digits)  # rounded down
        return Exponential(epsilon=round_down(part), sensitivity=sensitivity)

    def promise(self) -> Message:
        """What it promises, in words."""
        if self.is_pure:
            return Message("masking.budget.pure", epsilon=float(self.epsilon))
        return Message(
            "masking.budget.approximate", epsilon=float(self.epsilon), delta=float(self.delta)
        )

    def __str__(self) -> str:
        return str(self.promise())


def round_down(value: Fraction) -> float:
    """The nearest float that, as it is written, does not mean more than a fraction.

    >>> round_down(Fraction(3, 10)), round_down(Fraction(1, 3)) <= 1 / 3
    (0.3, True)
    """
    number = float(value)
    meant = exact(number)
    return number if meant is not None and meant <= value else nextafter(number, 0.0)


@lru_cache(maxsize=64)
def _rho(epsilon: float, delta: float) -> Fraction:
    """The largest rho, nearly, whose epsilon at delta is within epsilon."""
    low, high = 0.0, float(check_epsilon(epsilon))  # rho-zCDP is no epsilon-DP below rho
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        within = ConcentratedLoss(Fraction(middle)).epsilon(delta) <= epsilon
        low, high = (middle, high) if within else (low, middle)
    return Fraction(low * SURELY)
