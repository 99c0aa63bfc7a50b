"""Losses of mechanisms of which only epsilon (and delta) are known."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import cosh, exp, expm1, inf, log, log1p, sinh
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.checks import (
    check_chance,
    check_cost,
    check_epsilon,
    check_order,
    format_amount,
    round_up,
)
from celosia.accounting.curve_loss import CurveLoss
from celosia.accounting.distributions import LossDistribution, distribution_from_losses
from celosia.core.messages import Message

TINY = 1e-9
"""Of an epsilon: below it nothing is left of a difference to 1."""
LARGE = 300.0
"""Of the argument of a hyperbolic sine: beyond it the exponential is all that counts."""


def randomised_response_renyi(epsilon: float, order: float) -> float:
    """The Renyi divergence of the two answers of randomised response, the worst epsilon-DP pair.

    It is log(cosh((order - 1/2) epsilon) / cosh(epsilon / 2)) / (order - 1); the difference of the
    two cosines is written as a product, so that small values do not cancel.

    >>> round(randomised_response_renyi(1.0, 2.0), 6)
    0.735326
    """
    if (order - 0.5) * epsilon > LARGE:
        return epsilon
    gain = 2 * sinh(order * epsilon / 2) * sinh((order - 1) * epsilon / 2) / cosh(epsilon / 2)
    return min(epsilon, order * epsilon**2 / 2, log1p(gain) / (order - 1))


@dataclass(frozen=True, slots=True)
class PureLoss(CurveLoss):
    """Epsilon-DP, of whatever mechanism: no worse than randomised response.

    Reference: Kairouz, Oh & Viswanath 2015, Thm 3.3 (the dominating pair).

    >>> loss = PureLoss(Fraction(1, 2))
    >>> print(loss, loss.pure, loss.rho)
    0.5-DP 0.5 0.125
    """

    value: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", check_cost(self.value))

    @property
    def pure(self) -> float:
        """The epsilon."""
        return round_up(self.value)

    def renyi(self, order: float) -> float:
        """That of randomised response."""
        return randomised_response_renyi(self.pure, check_order(order))

    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """Delta of randomised response: (e^pure - e^epsilon) / (e^pure + 1)."""
        return _response_curve(self.pure, epsilon)

    def on_grid(self, step: float) -> LossDistribution:
        """The two losses of randomised response, on the grid."""
        return _response(self.pure, 0.0, step)

    def as_dict(self) -> dict[str, Any]:
        """The kind and the epsilon."""
        return {"kind": "pure", "epsilon": self.pure}

    def __str__(self) -> str:
        return f"{format_amount(self.value)}-DP"


@dataclass(frozen=True, slots=True)
class ApproximateLoss(CurveLoss):
    """(epsilon, delta)-DP, of whatever mechanism: randomised response that at times tells all.

    Reference: Kairouz, Oh & Viswanath 2015, Thm 3.4.

    >>> print(ApproximateLoss(Fraction(1, 2), 1e-6))
    (0.5, 1e-06)-DP
    """

    value: Fraction
    failure: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", check_cost(self.value))
        object.__setattr__(self, "failure", check_chance(self.failure))

    @property
    def pure(self) -> float:
        """Infinite, unless the delta is 0."""
        return inf if self.failure else round_up(self.value)

    @property
    def finite(self) -> bool:
        """Whether it promises anything."""
        return self.failure < 1

    def renyi(self, order: float) -> float:
        """Infinite, unless the delta is 0: an event of chance delta may tell all."""
        check_order(order)
        return inf if self.failure else randomised_response_renyi(round_up(self.value), order)

    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """Delta, and for what delta leaves that of randomised response."""
        return self.failure + (1 - self.failure) * _response_curve(round_up(self.value), epsilon)

    def delta(self, epsilon: float) -> float:
        """At least the own delta, however large the epsilon."""
        return min(1.0, float(self.curve(np.array([check_epsilon(epsilon)]))[0]))

    def epsilon(self, delta: float) -> float:
        """The least epsilon; infinite below the own delta."""
        if check_chance(delta) < self.failure:
            return inf
        if delta == 1:
            return 0.0
        if delta == self.failure:
            return round_up(self.value)
        return min(round_up(self.value), self._reach(delta))

    def reach(self) -> float:
        """The epsilon: the only finite losses are plus and minus that."""
        return round_up(self.value)

    def on_grid(self, step: float) -> LossDistribution:
        """Its three losses, on the grid."""
        return _response(round_up(self.value), self.failure, step)

    def as_dict(self) -> dict[str, Any]:
        """The kind, the epsilon and the delta."""
        return {"kind": "approximate", "epsilon": round_up(self.value), "delta": self.failure}

    def __str__(self) -> str:
        return f"({format_amount(self.value)}, {self.failure:g})-DP"


@dataclass(frozen=True, slots=True)
class BoundedRangeLoss(CurveLoss):
    """The exponential mechanism: epsilon-DP with losses in an interval of length epsilon.

    A pair of neighbours with losses in [t - epsilon, t] is no worse than a binary pair with just
    these two losses. Its chance of t is (e^epsilon - e^t) / (e^epsilon - 1), and its delta at x is
    that times 1 - e^(x - t). The largest over t, at t = (epsilon + x) / 2, is
    (e^(epsilon/2) - e^(x/2))^2 / (e^epsilon - 1): a largest of curves of pairs is the curve of a
    pair that dominates them all (Zhu, Dong & Wang 2022, Prop. 8).

    Reference: Durfee & Rogers 2019; Dong, Durfee & Rogers 2020; Cesar & Rogers 2021 for rho.

    >>> BoundedRangeLoss(Fraction(1)).rho
    0.125
    """

    value: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", check_cost(self.value))

    @property
    def pure(self) -> float:
        """The epsilon."""
        return round_up(self.value)

    @property
    def rho(self) -> float:
        """epsilon^2 / 8, a quarter of what epsilon-DP alone gives."""
        return round_up(self.value**2 / 8)

    def renyi(self, order: float) -> float:
        """The largest over the place of the interval, in closed form."""
        order, size = check_order(order), self.pure
        simple = min(size, order * self.rho)
        if not TINY < size < LARGE or order * size > LARGE:
            return simple  # too small or too large for the closed form below in floats
        # The mean of e^((order-1) loss) is (e^((order-1)t) outer - e^(order t) inner)/(e^size - 1).
        outer, inner = exp(size) - exp(-(order - 1) * size), -expm1(-(order - 1) * size)
        place = log((order - 1) * outer / (order * inner))
        moment = (exp((order - 1) * place) * outer - exp(order * place) * inner) / expm1(size)
        # The two terms are about order times as large as their difference, which is about size.
        error = 1e-15 * (4 + order) * (4 + order * size) * (1 + 1 / size)
        return min(simple, max(0.0, log(moment) + error) / (order - 1))

    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """(e^(pure/2) - e^(epsilon/2))^2 / (e^pure - 1), written so that it cannot overflow."""
        gap = np.minimum(epsilon - self.pure, 0.0) / 2
        bottom = -expm1(-self.pure) if self.pure else 1.0
        return np.expm1(gap) ** 2 / bottom

    def as_dict(self) -> dict[str, Any]:
        """The kind and the epsilon."""
        return {"kind": "bounded-range", "epsilon": self.pure}

    def __str__(self) -> str:
        return Message("accounting.loss.bounded_range", epsilon=format_amount(self.value))


def _response_curve(epsilon: float, at: NDArray[np.float64]) -> NDArray[np.float64]:
    return -np.expm1(np.minimum(at - epsilon, 0.0)) / (1 + exp(-epsilon))


def _response(epsilon: float, failure: float, step: float) -> LossDistribution:
    likely = (1 - failure) / (1 + exp(-epsilon))
    unlikely = (1 - failure) * exp(-epsilon) / (1 + exp(-epsilon))
    return distribution_from_losses(
        [epsilon, -epsilon], [likely, unlikely], infinity=failure, step=step
    )
