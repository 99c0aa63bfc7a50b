"""Report noisy max with exact discrete Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, expm1
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.accounting.losses import PureLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_epsilon, check_whole
from celosia.mechanisms.selection.base import SelectionMechanism
from celosia.mechanisms.selection.permute_and_flip import check_few, unit_nodes
from celosia.mechanisms.selection.scores import MOST_CANDIDATES, too_fine

MOST_SCALE = 2**52
"""Scores stay within 2**50 and noise within 1000 scales, so their sum fits 64 bits."""


@dataclass(frozen=True, kw_only=True)
class NoisyMax(SelectionMechanism[int]):
    """Adds Laplace noise of scale 2 sensitivity / epsilon to every score and tells the largest.

    With `monotone` the 2 falls away. Only the place of the largest noisy score is released; its
    value needs a budget of its own and fresh noise.

    Guarantee: epsilon-DP under `neighbours`, if no score moves by more than `sensitivity`; the
    candidates must not depend on the data.

    Reference: Dwork & Roth, The algorithmic foundations of differential privacy, 2014, Claim 3.9,
    which holds for monotone scores; the general scale is twice as large.

    >>> NoisyMax(epsilon=1).privacy_loss()
    PureLoss(value=Fraction(1, 1))
    """

    method_name: ClassVar[str] = "noisy-max"

    def check(self) -> None:
        """Refuse noise that is too wide to be added."""
        super().check()
        if 1 / self._rate() > MOST_SCALE:
            raise too_fine()

    def privacy_loss(self) -> PureLoss:
        """Epsilon-DP, ties included.

        Break ties by independent uniform priorities. Given these and the noise of all others,
        candidate i wins iff its noise is at least a whole number m, and a neighbour raises m by at
        most k = 2 shift (k = shift if monotone: the others and i move in the same direction). With
        a = exp(-rate) the discrete Laplace law is log-concave, so P(Z >= m + 1) / P(Z >= m) falls
        in m, to its limit a, which it equals from m = 1 on. Hence P(Z >= m + k) >= a^k P(Z >= m),
        and a^k = exp(-epsilon); averaging over the others keeps the inequality.
        """
        return PureLoss(check_epsilon(self.epsilon))

    def measure(self, x: ArrayLike, *, rng: Source) -> Measurement[int]:
        """Choose one candidate by its noisy score; the value is its place in the list."""
        steps = self._steps(x)
        noisy = steps + DiscreteLaplace(1 / self._rate()).draw(steps.size, rng)
        best = np.flatnonzero(noisy == noisy.max())
        return Measurement(int(best[rng.integers(best.size, 1)[0]]))

    def probabilities(self, scores: ArrayLike) -> NDArray[np.float64]:
        """The chance of each of at most 512 candidates. It tells the scores: not for release.

        Sums over the noisy score v of the winner; with uniform priorities u the others must lie
        below v, or at v with a lower priority: the product of F(v - 1) + u P(v) is integrated over
        u by Gauss's rule, which is exact for it. What adds less than 1e-18 of a chance, or belongs
        to chances below 1e-260, is left out.

        Raises:
            InputError: CEL-M071 too many candidates, or too fine a grid.
        """
        steps = self._steps(scores)
        check_few(steps.size)
        rate = float(self._rate())
        gaps = (steps.max() - steps).astype(np.float64)
        nodes, shares = unit_nodes(steps.size)
        lowest, highest = -ceil(min(gaps.max(), 600 / rate) + 45 / rate), ceil(45 / rate)
        _check_work((highest - lowest) * steps.size * nodes.size)
        won = np.zeros(steps.size)
        block = max(1, 10**6 // (steps.size * nodes.size))
        for start in range(lowest, highest + 1, block):
            # The winner's noisy score, counted from the best score, by candidates and nodes.
            level = np.arange(start, min(start + block, highest + 1))[:, None]
            mass, below = _law(level + gaps, rate)
            held = np.log(below[:, None, :] + nodes[:, None] * mass[:, None, :])
            others = np.exp(held.sum(axis=2, keepdims=True) - held)
            won += np.einsum("n,lnm,lm->m", shares, others, mass)
        return won

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """A shortfall of the chosen score below the best that is not exceeded.

        A candidate s steps below the best wins only if the difference of two noises reaches s; the
        chances of that are summed over all others.

        Args:
            confidence: between 0 and 1.
            size: how many candidates there are.
        """
        allowed = 1 - check_confidence(confidence)
        others = check_whole(size, name="size", most=MOST_CANDIDATES) - 1
        rate = float(self._rate())
        high = 1
        while others * _difference_tail(high, rate) > allowed:
            high *= 2
        low = 0  # the least s at which a difference of s or more is rare enough
        while low < high:
            middle = (low + high) // 2
            rare = others * _difference_tail(middle, rate) <= allowed
            low, high = (low, middle) if rare else (middle + 1, high)
        return self._in_score_units(max(low - 1, 0))


def _check_work(terms: int) -> None:
    """Refuse a sum of very many terms.

    Raises:
        InputError: CEL-M071 more than a thousand million.
    """
    if terms > 10**9:
        raise InputError("CEL-M071.too_many_terms")


def _law(points: NDArray[np.float64], rate: float) -> tuple[NDArray[np.float64], ...]:
    """P(Z = z) and P(Z < z) of the discrete Laplace law at whole z."""
    ratio = exp(-rate)
    tail = np.exp(-rate * np.abs(points)) / (1 + ratio)  # P(Z >= z) where z >= 1
    low = np.exp(-rate * np.abs(1 - points)) / (1 + ratio)  # P(Z <= z - 1) where z <= 0
    below = np.where(points >= 1, 1 - tail, low)
    return -expm1(-rate) * tail, below


def _difference_tail(least: int, rate: float) -> float:
    """P(Z - Z' >= least) of two independent discrete Laplace variables, `least` at least 0.

    P(Z - Z' = d) = ((1 - a) / (1 + a))^2 a^d (d + 1 + 2 a^2 / (1 - a^2)) with a = exp(-rate).
    """
    a, rest = exp(-rate), -expm1(-rate)
    middle = 2 * a * a / -expm1(-2 * rate)
    return exp(-rate * least) * (rest * (least + 1 + middle) + a) / (1 + a) ** 2
