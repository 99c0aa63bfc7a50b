"""Zero-concentrated differential privacy, and what it says about epsilon and delta."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.checks import check_chance, check_cost, check_order, format_amount, round_up
from celosia.accounting.curve_loss import CurveLoss

STEPS = 64
LARGEST = 700.0
"""Of the logarithm of an order, which must be a float."""
ROUNDING = 2.0**-50
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
        object.__setattr__(self, "value", check_cost(self.value, name="rho"))

    @property
    def pure(self) -> float:
        """Infinite, unless rho is 0."""
        return inf if self.value else 0.0

    @property
    def rho(self) -> float:
        """The rho."""
        return round_up(self.value)

    def renyi(self, order: float) -> float:
        """Order times rho."""
        return check_order(order) * self.rho

    def epsilon(self, delta: float) -> float:
        """The least epsilon over all orders."""
        wanted = check_chance(delta)
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
        return f"{format_amount(self.value)}-zCDP"


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
