"""The loss of discrete Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.checks import check_noise, check_order, check_shift, format_amount, round_up
from celosia.accounting.curve_loss import CurveLoss
from celosia.accounting.epsilon_losses import LARGE, randomised_response_renyi

ROUNDING = 2.0**-50


@dataclass(frozen=True, slots=True)
class LaplaceLoss(CurveLoss):
    """Discrete Laplace noise of a scale on one whole number that moves by at most `shift`.

    A smaller move is a less distinguishable pair, so the pair 0 and `shift` is the worst. The
    curve is exact, at a cost that does not depend on the shift.

    >>> loss = LaplaceLoss(scale=Fraction(2), shift=1)
    >>> print(loss, loss.pure, round(loss.delta(0.2), 6))
    LaplaceLoss(scale=2, shift=1) 0.5 0.16133
    """

    scale: Fraction
    shift: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_noise(self.scale, name="scale"))
        object.__setattr__(self, "shift", check_shift(self.shift))

    @property
    def pure(self) -> float:
        """Shift over scale."""
        return round_up(self.shift / self.scale)

    def renyi(self, order: float) -> float:
        """The sum over all outcomes, which is three geometric series."""
        order, total = check_order(order), self.pure
        plain = randomised_response_renyi(total, order)
        rate = total / self.shift
        steep = (2 * order - 1) * rate
        if (2 * order - 1) * total < 1e-5 or order * total > LARGE:
            return plain  # floats cannot tell the two apart here
        # Outcomes up to 0, from `shift` on, and between them, over e^((order-1) total).
        middle = 0.0
        if self.shift > 1:
            terms = expm1(-(self.shift - 1) * steep) / expm1(-steep)
            middle = -expm1(-rate) * exp(-steep) * terms
        inside = (1 + exp(-self.shift * steep) + middle) / (1 + exp(-rate))
        # The logarithm is wrong by a few units in the last place of 1, which an order next to 1
        # makes large.
        exact = total + (log(inside) + 2 * ROUNDING) / (order - 1)
        return min(plain, max(0.0, exact) * (1 + 1e-9))

    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """The exact delta: that of the outcomes below a threshold, the likeliest under one."""
        total = self.pure
        rate = total / self.shift
        # Outcomes x with rate (shift - 2x) > epsilon, that is x up to `last`, at least 0. A last
        # outcome that a rounding error has moved by one has a loss next to epsilon and no weight.
        last = np.ceil((self.shift - epsilon / rate) / 2) - 1
        last = np.clip(last, 0.0, max(0, self.shift - 1))
        likely = -np.expm1(np.minimum(epsilon - rate * (self.shift - last), 0.0))
        rest = -exp(-rate) * np.expm1(-rate * last)
        delta = (likely + rest) / (1 + exp(-rate))
        # The exponents carry rounding errors of a few units in the last place of `total`.
        return np.where(epsilon >= total, 0.0, delta + ROUNDING * total)

    def as_dict(self) -> dict[str, Any]:
        """The kind, the scale and the shift."""
        return {"kind": "laplace", "scale": str(self.scale), "shift": self.shift}

    def __str__(self) -> str:
        return f"LaplaceLoss(scale={format_amount(self.scale)}, shift={self.shift})"
