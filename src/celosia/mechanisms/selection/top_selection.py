"""The best few of many candidates, by the exponential mechanism one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.accounting.losses import BoundedRangeLoss, ComposedLoss, PureLoss
from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.mechanisms import parameters
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.noise.weighted_draw import draw_weighted
from celosia.mechanisms.selection import base
from celosia.mechanisms.selection.permute_and_flip import check_few, unit_nodes

MOST_SCALE = 2**52
"""Scores stay within 2**50 and noise within 1000 scales, so their sum fits 64 bits."""


@dataclass(frozen=True, kw_only=True)
class NoisyMax(base.SelectionMechanism[int]):
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
            raise base.too_fine()

    def privacy_loss(self) -> PureLoss:
        """Epsilon-DP, ties included.

        Break ties by independent uniform priorities. Given these and the noise of all others,
        candidate i wins iff its noise is at least a whole number m, and a neighbour raises m by at
        most k = 2 shift (k = shift if monotone: the others and i move in the same direction). With
        a = exp(-rate) the discrete Laplace law is log-concave, so P(Z >= m + 1) / P(Z >= m) falls
        in m, to its limit a, which it equals from m = 1 on. Hence P(Z >= m + k) >= a^k P(Z >= m),
        and a^k = exp(-epsilon); averaging over the others keeps the inequality.
        """
        return PureLoss(parameters.check_epsilon(self.epsilon))

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
        allowed = 1 - parameters.check_confidence(confidence)
        others = parameters.check_whole(size, name="size", most=base.MOST_CANDIDATES) - 1
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
    """Refuse a sum of very many terms."""
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


MOST_CHOSEN = 2**20


@dataclass(frozen=True, kw_only=True)
class TopSelection(base.SelectionMechanism[NDArray[np.int64]]):
    """Chooses `count` different candidates, best first, each with a chance as in `Exponential`.

    Every choice costs epsilon / count and is made among the candidates that are left. The same law
    comes from adding Gumbel noise once to every score and taking the `count` largest, but Gumbel
    noise is no whole number; the exact draws are made one by one.

    Guarantee: epsilon-DP under `neighbours`, if no score moves by more than `sensitivity`, for the
    chosen candidates and their order; the candidates must not depend on the data. With a delta the
    bounded range of every choice makes `count` choices much cheaper.

    Reference: McSherry & Talwar 2007; Durfee & Rogers, Practical differentially private top-k
    selection with pay-what-you-get composition, NeurIPS 2019.

    >>> from celosia.core.randomness import Seeded
    >>> TopSelection(epsilon=40, count=2).release([1, 90, 5, 70], rng=Seeded(1)).tolist()
    [1, 3]
    """

    method_name: ClassVar[str] = "top-selection"

    count: int = parameters.field_of(parameters.whole_number(most=MOST_CHOSEN))

    def _share(self) -> Fraction:
        return parameters.check_epsilon(self.epsilon) / int(self.count)

    def _rate(self) -> Fraction:
        return base.sampling_rate(self._share(), self._shift(), monotone=self.monotone)

    def privacy_loss(self) -> ComposedLoss:
        """One bounded range of epsilon / count a choice, see `Exponential.privacy_loss`."""
        return ComposedLoss((BoundedRangeLoss(self._share()),) * int(self.count))

    def measure(self, x: ArrayLike, *, rng: Source) -> Measurement[NDArray[np.int64]]:
        """Choose `count` candidates by their scores; the values are their places in the list."""
        steps = self._steps(x)
        if steps.size < self.count:
            raise InputError("CEL-M065", count=self.count, candidates=steps.size)
        rate = self._rate()
        left = np.arange(steps.size)
        chosen = np.empty(self.count, dtype=np.int64)
        for place in range(self.count):
            index = draw_weighted(steps[left].max() - steps[left], rate=rate, rng=rng)
            chosen[place] = left[index]
            left = np.delete(left, index)
        return Measurement(chosen)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """A shortfall that no choice exceeds: of the k-th one below the k-th best score.

        The k-th choice is made among candidates of which the best is at least the k-th best of all;
        the chances of too large a shortfall are summed over the choices.

        Args:
            confidence: between 0 and 1.
            size: how many candidates there are.
        """
        each = 1 - (1 - parameters.check_confidence(confidence)) / int(self.count)
        return self._in_score_units(base.shortfall(each, rate=self._rate(), size=size))
