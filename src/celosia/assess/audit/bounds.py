"""Confidence bounds: from counts to probabilities, and from two probabilities to an epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import say
from celosia.core.methods import PlainValues

CAUTION = 2.0
"""Deviations by which a choice expects the best of many events to be better than it is."""


@dataclass(frozen=True, slots=True)
class Estimate(PlainValues):
    """How often an event was seen, with an exact interval for how probable it is."""

    derived = ("share",)
    seen: int
    samples: int
    low: float
    high: float
    """Each end holds by itself with the confidence asked for (Clopper & Pearson 1934)."""

    @property
    def share(self) -> float:
        """The part of the samples in which it was seen."""
        return self.seen / self.samples

    def __str__(self) -> str:
        return say("assess.audit.estimate", share=self.share, low=self.low, high=self.high)


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
