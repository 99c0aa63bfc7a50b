"""What was printed of the experiments, digit by digit, and the data that it was printed about."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.resources import files
from math import erf, exp, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Seeded, Source
from celosia.datasets.telemetry import ANGLICISMS_50K, EXPONENTIAL_50K, NORMAL_200K, TYPOS_50K

Counts = NDArray[np.int64]
Line = dict[str, str]

EXPONENTIAL_50: Counts = np.array([*EXPONENTIAL_50K.values()], dtype=np.int64)
NORMAL_200: Counts = np.array([*NORMAL_200K.values()], dtype=np.int64)
WORDS: Counts = np.array([*ANGLICISMS_50K.values()], dtype=np.int64)
TYPOS = TYPOS_50K
MANY_RANGE = 196_754
"""Of the counts of 500,000 exponential values: the one whole number that all nMSE of that table,
printed as MSE / range, allow."""
FIGURE_USERS = 1_000_000
"""Of the table exp_distrib_1M, which only two figures are about."""
MANY_VALUES = 26
"""How many different values these have; with it all theoretical errors of the table come out."""
WORD_RANGE = int(WORDS.max()) - 1
"""Of the counts of 50,000 anglicisms: the rarest typo is there once."""


def table(name: str) -> list[Line]:
    """A printed table, each line by its columns; as text, for digits say how exact a number is.

    >>> table("count_mean")[0]["rmse"]
    '1352.74'
    """
    text = files("celosia.lab.collect").joinpath("published", f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def normal_counts(users: int) -> Counts:
    """How often each value is there in a table of that many normal values.

    That of 200,000 was published; others are drawn by the same law, without values nobody has.
    """
    if users == int(NORMAL_200.sum()):
        return NORMAL_200
    # Cut towards 0, N(12, 2) has v with the chance of v to v + 1.
    steps = [erf((value - 12) / (2 * sqrt(2))) for value in range(26)]
    drawn = generator(Seeded(users)).multinomial(users, _chances(np.diff(steps) / 2))
    return drawn[drawn > 0]


def exponential_counts() -> Counts:
    """500,000 exponential values as they are expected: 0.3935 * 0.6065^v of them are v.

    The published table has 26 values and a largest count of about 196,755; what is left over by
    rounding is in the first count.
    """
    shares = np.array([exp(-value / 2) for value in range(MANY_VALUES)])
    counts = np.maximum(1, np.rint(500_000 * shares * (1 - exp(-0.5)))).astype(np.int64)
    counts[0] += 500_000 - counts.sum()
    return counts


def drawn_exponential_counts(users: int) -> Counts:
    """How often each value is there in a table of that many exponential values, drawn by the law.

    >>> drawn_exponential_counts(1_000_000).sum()
    np.int64(1000000)
    """
    shares = np.exp(-np.arange(60) / 2)
    drawn = generator(Seeded(users)).multinomial(users, _chances(shares))
    return drawn[drawn > 0]


def generator(rng: Source) -> np.random.Generator:
    """For aggregates of a simulation, which protect nobody."""
    return np.random.Generator(np.random.PCG64(rng.words(4).tolist()))


def keys(name: str, runs: int) -> Iterator[str]:
    """Keys of collections: other hash functions for each run."""
    return (f"{name}/{run}" for run in range(runs))


def _chances(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(shares / shares.sum())
