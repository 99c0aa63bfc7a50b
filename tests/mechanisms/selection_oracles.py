"""Plain twins and statistics that the tests of choices share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import exp

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chisquare

FALSE_ALARM = 1e-6
"""The chance at which a statistical test of a right law fails; its seed is fixed anyway."""


def softmax(scores: Sequence[float], rate: float) -> list[float]:
    """The law of the exponential mechanism, in plain Python."""
    best = max(scores)
    weights = [exp(rate * (score - best)) for score in scores]
    return [weight / sum(weights) for weight in weights]


def loss_span(one: ArrayLike, other: ArrayLike) -> tuple[float, float]:
    """The largest loss in either direction, and how far the losses of one direction span."""
    losses = np.log(np.asarray(one)) - np.log(np.asarray(other))
    return float(np.abs(losses).max()), float(losses.max() - losses.min())


def p_value(drawn: Sequence[int] | NDArray[np.int64], law: ArrayLike) -> float:
    """Pearson's chi-square test of drawn places against a law; rare places are put together."""
    chances = np.asarray(law, dtype=float)
    counts = np.bincount(np.asarray(drawn), minlength=chances.size)
    expected = chances * counts.sum()
    order = np.argsort(expected)
    # Below five expected draws the chi-square law is a bad approximation.
    rare = order[: int(np.searchsorted(np.cumsum(expected[order]), 5) + 1)]
    common = np.setdiff1d(order, rare)
    seen = np.append(counts[common], counts[rare].sum())
    wanted = np.append(expected[common], expected[rare].sum())
    return float(chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue)


def small_tables(points: int, most: int) -> list[tuple[int, ...]]:
    """All tables of at most `most` values from 0 to `points` - 1, the order left aside."""
    return [
        table
        for size in range(most + 1)
        for table in combinations_with_replacement(range(points), size)
    ]


def one_more(table: tuple[int, ...], points: int) -> list[tuple[int, ...]]:
    """The tables with one more row."""
    return [tuple(sorted((*table, value))) for value in range(points)]


def one_changed(table: tuple[int, ...], points: int) -> list[tuple[int, ...]]:
    """The tables with one row changed."""
    return [
        tuple(sorted((*table[:place], value, *table[place + 1 :])))
        for place in range(len(table))
        for value in range(points)
    ]


def rank_miss(table: Sequence[int], point: int, share: Fraction) -> Fraction:
    """By how many rows the rank of a point misses its target, told as plainly as possible."""
    target = share * len(table)
    least = sum(value < point for value in table)
    most = sum(value <= point for value in table)
    if least <= target <= most:
        return Fraction(0)
    return min(abs(target - least), abs(target - most))
