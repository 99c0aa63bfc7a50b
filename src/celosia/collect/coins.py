"""Coins of a client: the chance of the truth, rounded so that a device can toss it exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from celosia.core.numbers import exactly
from celosia.core.randomness import Source
from celosia.mechanisms.additive.directed_rounding import exp_below

BITS = 32
"""Random bits that one toss compares; chances are whole multiples of 2^-32."""
WHOLE: int = 2**BITS


@dataclass(frozen=True)
class Coin:
    """A coin that shows 1 with a chance of `heads` / 2^32.

    >>> coin = Coin.truthful(2.0)
    >>> coin.heads, round(coin.chance, 6), coin.epsilon <= 2
    (3782994644, 0.880797, True)
    """

    heads: int

    @classmethod
    def truthful(cls, epsilon: float | Fraction) -> Coin:
        """Tells the truth with chance e^epsilon / (e^epsilon + 1), rounded towards one half.

        So the ratio of both chances is never above e^epsilon. It is never above 2^32 - 1 either:
        beyond an epsilon of 22 the truth is told with chance 1 - 2^-32.
        """
        price = exactly(epsilon)
        # A ratio from below and a chance of the lie from above: both towards one half.
        lies = ceil(WHOLE / (1 + exp_below(min(price, Fraction(64)))))
        return cls(WHOLE - lies)

    @property
    def chance(self) -> float:
        """Of heads."""
        return float(self.heads / WHOLE)

    @cached_property
    def epsilon(self) -> float:
        """What a truthful coin really costs: ln(chance / (1 - chance))."""
        return log(self.heads) - log(WHOLE - self.heads)

    def toss(self, size: int, rng: Source) -> NDArray[np.bool_]:
        """Tosses, each with random bits of its own."""
        units = np.frombuffer(rng.raw(4 * size), dtype=np.uint32)
        return units < np.uint32(self.heads)
