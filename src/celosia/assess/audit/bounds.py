"""Confidence bounds: from counts to probabilities, and from two probabilities to an epsilon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import say, say_of
from celosia.core.methods import PlainValues, derived

CAUTION = 2.0
"""Deviations by which a choice expects the best of many events to be better than it is."""


@dataclass(frozen=True, slots=True)
class Estimate(PlainValues):
    """How often an event was seen, with an exact interval for how probable it is."""

    seen: int
    samples: int
    low: float
    high: float
    """Each end holds by itself with the confidence asked for (Clopper & Pearson 1934)."""

    @property
    @derived
    def share(self) -> float:
        """The part of the samples in which it was seen."""
        return self.seen / self.samples

    def __str__(self) -> str:
        return say_of("assess.audit.estimate", self)


def clopper_pearson(seen: int, samples: int, *, error: float) -> Estimate:
    """A lower and an upper bound of a probability, each wrong with a chance of at most `error`.

    >>> print(clopper_pearson(0, 1000, error=0.0005))
    0 (from 0 to 0.007572)
    """
    from scipy.special import betainccinv, betaincinv

    low = float(betaincinv(seen, samples - seen + 1, error)) if seen else 0.0
    missing = samples - seen
    high = float(betainccinv(seen + 1, missing, error)) if missing else 1.0
    return Estimate(seen, samples, low, high)


def epsilon_below(more: Estimate, less: Estimate, *, delta: float) -> float:
    """The least epsilon at `delta` that the bounds of two probabilities leave possible.

    (epsilon, delta)-DP says more <= e^epsilon less + delta; the lower bound of one and the upper
    bound of the other fail together with at most the sum of their chances.
    """
    gap = more.low - delta
    return max(0.0, log(gap / less.high)) if gap > 0 else 0.0


LEAK = 0.1
"""The part of the chance of error that the bound of a leak has."""
SHOWN = 0.95
"""The chance with which a detectable violation is shown."""
LARGEST = 50.0
"""Epsilons that are tried: nobody draws enough samples for more."""


@dataclass(frozen=True, slots=True)
class Detectable(PlainValues):
    """The smallest violations that so many samples would have shown with a chance of 95 %."""

    epsilon: float
    """Of an event that is as likely as the one found; infinite where none would have been shown."""
    delta: float
    """The chance of a leak: an event that the other input never has."""

    def __str__(self) -> str:
        return say("assess.audit.detectable", epsilon=self.epsilon, delta=self.delta)


def detectable(
    share: float, samples: int, *, epsilon: float, delta: float, error: float
) -> Detectable:
    """What a claim must be violated by for `samples` outputs of each input to show it.

    Both counts are taken at quantiles that each fail with at most half of 5 %, so the bound of
    `epsilon_below` exceeds the claim with a chance of at least 95 %. The leak is seen only under
    one input, so that one count may fail with all 5 %.

    >>> print(detectable(0.5, 50_000, epsilon=1.0, delta=0.0, error=0.0005))
    epsilon 1.075, or a leak with chance 0.001243

    Args:
        share: how likely the event is under the input that has it more often.
        samples: of each input, those that confirm the choice.
        epsilon: of the claim.
        delta: of the claim.
        error: the chance of error of each side of the bound.
    """
    from scipy.stats import binom

    half = (1 - SHOWN) / 2
    own, rare = (1 - LEAK) * error, LEAK * error
    more = clopper_pearson(int(binom.ppf(half, samples, share)), samples, error=own)

    def is_shown(tried: float) -> bool:
        seen = int(binom.ppf(1 - half, samples, share * exp(-tried)))
        less = clopper_pearson(seen, samples, error=own)
        return epsilon_below(more, less, delta=delta) > epsilon

    none = clopper_pearson(0, samples, error=rare)

    def leak_is_shown(tried: float) -> bool:
        seen = int(binom.ppf(1 - SHOWN, samples, tried))
        leak = clopper_pearson(seen, samples, error=rare)
        return epsilon_below(leak, none, delta=delta) > epsilon

    return Detectable(
        least(is_shown, epsilon, LARGEST) if is_shown(LARGEST) else inf,
        least(leak_is_shown, delta, 1.0) if leak_is_shown(1.0) else inf,
    )


def least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """About the least number above `low` for which something holds that holds for `high`."""
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def promise(
    more: NDArray[np.int64], less: NDArray[np.int64], samples: int, *, delta: float, error: float
) -> NDArray[np.float64]:
    """What `epsilon_below` may give for many events at once: quick, but not exact.

    Only to choose an event by; -inf where nothing can be shown. The best of k normal variables is
    up to sqrt(2 ln k) deviations too good, 4 for some thousand, less as they depend on each other.
    A part of that is taken off: otherwise the choice falls on small events that look telling by
    chance.
    """
    spread = normal_quantile(error) + CAUTION
    low = _bound(more, samples, -spread) - delta
    high = _bound(less, samples, spread)
    bound = np.full(low.shape, -inf)
    np.log(low / high, out=bound, where=low > 0)
    return bound


def normal_quantile(error: float) -> float:
    """How many standard deviations a normal variable exceeds with a chance of `error`."""
    from scipy.special import ndtri

    return -float(ndtri(error))


def _bound(seen: NDArray[np.int64], samples: int, spread: float) -> NDArray[np.float64]:
    """About the bound of Clopper and Pearson, the upper one for a positive spread.

    The cube root of a gamma variable is nearly normal (Wilson & Hilferty 1931), which is right for
    rare events; for others the spread is that of the binomial law.
    """
    count = seen + (spread > 0)
    own = spread * np.sqrt(1 - seen / samples)
    root = 1 - 1 / (9 * np.maximum(count, 1)) + own / (3 * np.sqrt(np.maximum(count, 1)))
    bound: NDArray[np.float64] = np.clip(count * np.maximum(root, 0) ** 3 / samples, 0, 1)
    return bound
