"""The noisy measurements of a tree of marginals, which of them to take chosen privately."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import ComposedLoss, Loss
from celosia.core.randomness import Source
from celosia.mechanisms import Exponential, GaussianCounts, Geometric
from celosia.tables.private.budget import TableBudget
from celosia.tables.private.consistency import project_onto_simplex

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]
Pair = tuple[int, int]

STEPS = 2**10
"""Steps of a score for one row: expected counts are rounded to as many parts of a row."""
MOST_EXPECTED = 2.0**32
"""Rows that are expected at most; with STEPS and fewer than 2^31 rows, scores stay below 2^50."""
SELECTION_SHARE = Fraction(1, 10)
"""The share of the budget for choosing pairs: to measure them well matters more."""
RARE = 3.0
"""Deviations of the noise below which the values of a column are counted together."""


@dataclass(frozen=True, slots=True)
class MarginalPlan:
    """What each part of the measurements costs, for a table with `columns` columns.

    Guarantee: the budget, under adding or removing one row. A row has one code in each column, so
    it moves one count of each one-way and of each two-way marginal by 1, and each score by at most
    1: a score is the sum of the distances of the counts of a pair from numbers that are fixed when
    it is computed, and one of these counts moves by 1. The costs of all parts are fixed beforehand
    and add up (zCDP, or epsilons); which pairs are measured depends on what was released before.

    Reference: McKenna, Miklau & Sheldon 2021, Winning the NIST Contest, section 3 (MST).
    """

    budget: TableBudget
    columns: int

    @property
    def selections(self) -> int:
        """How many pairs are chosen; two columns are one pair, which needs no choice."""
        return self.columns - 1 if self.columns > 2 else 0

    @property
    def single(self) -> Geometric | GaussianCounts:
        """The noise of a one-way marginal."""
        return self.budget.count_noise(self._share(0) / self.columns)

    @property
    def selection(self) -> Exponential:
        """The choice of a pair."""
        return self.budget.selection(self._share(1) / self.selections, sensitivity=STEPS)

    @property
    def double(self) -> Geometric | GaussianCounts:
        """The noise of a two-way marginal."""
        return self.budget.count_noise(self._share(2) / (self.columns - 1))

    def privacy_loss(self) -> Loss:
        """The losses of all measurements."""
        parts = [self.single.privacy_loss()] * self.columns
        if self.selections:
            parts += [self.selection.privacy_loss()] * self.selections
        if self.columns > 1:
            parts += [self.double.privacy_loss()] * (self.columns - 1)
        return ComposedLoss(tuple(parts))

    def _share(self, part: int) -> Fraction:
        """A tenth for the choices and the rest in halves; where nothing is to be chosen, all."""
        if self.columns == 1:
            return Fraction(1)
        selections = SELECTION_SHARE if self.selections else Fraction(0)
        return selections if part == 1 else (1 - selections) / 2


@dataclass(frozen=True, slots=True, eq=False)
class MergedMarginal:
    """The noisy counts of a column after its rare values were put together in one code."""

    counts: Numbers
    """Of the codes that are left."""
    places: Codes
    """The code that is left for each code that was given."""
    rare: Codes
    """The codes that were put together as the last one; none or at least two."""
    chances: Numbers
    """How they are told apart again: by their noisy counts."""


def merge_rare_values(noisy: Numbers, deviation: float) -> MergedMarginal:
    """Values that the noise hides, counted together: a pair of columns then has fewer cells.

    It looks at released numbers only.
    """
    hidden = noisy < RARE * deviation
    if hidden.sum() < 2:
        hidden[:] = False
    places = np.where(hidden, int((~hidden).sum()), np.cumsum(~hidden) - 1)
    counts: Numbers = np.bincount(places, weights=noisy).astype(np.float64)
    return MergedMarginal(counts, places, np.flatnonzero(hidden), np.maximum(noisy[hidden], 0.0))


def total_of(marginals: Sequence[Numbers]) -> float:
    """The number of rows by all one-way marginals: the variance of a sum is that of its cells."""
    weights = np.array([1 / each.size for each in marginals])
    sums = np.array([each.sum() for each in marginals])
    return max(float((weights * sums).sum() / weights.sum()), 0.0)


def score(counts: Codes, expected: Numbers) -> int:
    """How far exact counts are from expected ones, in whole steps: one row moves it by STEPS.

    |STEPS (c + 1) - e| and |STEPS c - e| differ by at most STEPS, and one count moves by 1.
    """
    goal = np.rint(np.minimum(expected, MOST_EXPECTED) * STEPS).astype(np.int64)
    return int(np.abs(counts * STEPS - goal).sum())


def select_pairs(
    codes: Sequence[Codes],
    singles: Sequence[Numbers],
    plan: MarginalPlan,
    *,
    rng: Source,
    on_pair: Callable[[int], None] = lambda _: None,
) -> list[Pair]:
    """The pairs of a spanning tree, each chosen for how far its columns are from independent.

    Args:
        codes: the codes of the rows, one array a column.
        singles: noisy one-way counts over the same codes.
        plan: what a choice costs.
        rng: where the choices are drawn from.
        on_pair: is called with the number of pairs that are chosen.
    """
    if plan.columns == 2:
        return [(0, 1)]
    total = min(total_of(singles), MOST_EXPECTED)
    fitted = [project_onto_simplex(each[None], np.array([total]))[0] for each in singles]
    pairs = list(combinations(range(plan.columns), 2))
    scores = {}
    for pair in pairs:
        expected = np.outer(fitted[pair[0]], fitted[pair[1]]) / max(total, 1.0)
        scores[pair] = score(pair_counts(codes, pair, expected.shape), expected)
    chosen: list[Pair] = []
    parts = list(range(plan.columns))
    while len(chosen) < plan.columns - 1:
        on_pair(len(chosen))
        open_pairs = [pair for pair in pairs if parts[pair[0]] != parts[pair[1]]]
        place = plan.selection.release([scores[pair] for pair in open_pairs], rng=rng)
        chosen.append(open_pairs[place])
        old, new = (parts[end] for end in open_pairs[place])
        parts = [new if part == old else part for part in parts]
    return chosen


def pair_counts(codes: Sequence[Codes], pair: Pair, shape: tuple[int, ...]) -> Codes:
    """The exact two-way marginal of a pair of columns."""
    cells = codes[pair[0]] * shape[1] + codes[pair[1]]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int64)
