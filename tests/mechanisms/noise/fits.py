"""Does a sample follow a law of noise? Each test gives the chance of so bad a fit (a p-value)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from celosia.mechanisms.noise import Law

Sample = NDArray[np.int64]
ALARM = 1e-6
"""How often a test may fail although the law is right."""


def chi_square(sample: Sample, law: Law) -> float:
    """Every number in the middle, and the two tails, against their expected counts."""
    edge = law.bound(0.999)
    chances = [law.tail(edge + 1), *(law.mass(z) for z in range(-edge, edge + 1))]
    expected = sample.size * np.array([*chances, law.tail(edge + 1)])
    counts = np.bincount(np.clip(sample, -edge - 1, edge + 1) + edge + 1, minlength=2 * edge + 3)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, 2 * edge + 2))


def zeros(sample: Sample, law: Law) -> float:
    """The share of noise that changes nothing."""
    return _binomial(int((sample == 0).sum()), sample.size, law.mass(0))


def tails(sample: Sample, law: Law) -> float:
    """The share of the largest tenth."""
    edge = law.bound(0.9)
    return _binomial(int((np.abs(sample) > edge).sum()), sample.size, 2 * law.tail(edge + 1))


def log_ratio(sample: Sample, law: Law) -> float:
    """ln P(z)/P(z + step), which is the privacy loss of a count moved by `step`.

    The variance of the logarithm of a count c is 1/c.
    """
    step = max(1, round(float(law.variance) ** 0.5))
    window = range(1, 1 + step)
    near = [np.isin(np.abs(sample), window).sum(), sum(law.mass(z) for z in window)]
    far = [
        np.isin(np.abs(sample), [z + step for z in window]).sum(),
        sum(law.mass(z + step) for z in window),
    ]
    away = np.log(near[0] / far[0]) - np.log(near[1] / far[1])
    return float(2 * norm.sf(abs(away) / np.sqrt(1 / near[0] + 1 / far[0])))


def two_samples(first: Sample, second: Sample, law: Law) -> float:
    """The same for two samples of one law, without the law (it chooses the bins only)."""
    edge = law.bound(0.99)
    counts = np.array(
        [
            np.bincount(np.clip(x, -edge - 1, edge + 1) + edge + 1, minlength=2 * edge + 3)
            for x in (first, second)
        ]
    )
    expected = counts.sum(axis=0) * np.array([[first.size], [second.size]]) / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, 2 * edge + 2))


TESTS: dict[str, Callable[[Sample, Law], float]] = {
    "chi-square": chi_square,
    "zeros": zeros,
    "tails": tails,
    "log-ratio": log_ratio,
}


def _binomial(count: int, size: int, chance: float) -> float:
    return float(2 * norm.sf(abs(count - size * chance) / np.sqrt(size * chance * (1 - chance))))
