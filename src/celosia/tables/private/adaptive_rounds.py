"""Marginals that are chosen and measured round by round, within a share of a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import combinations
from math import gcd, pi, prod, sqrt

import numpy as np

from celosia.core.errors import BudgetExceeded
from celosia.core.randomness import Source
from celosia.mechanisms import Exponential, GaussianCounts, Geometric
from celosia.tables.private.budget import TableBudget
from celosia.tables.private.graphical_model import (
    Axes,
    Codes,
    GraphicalModel,
    Measured,
    cells_of,
    fit,
)
from celosia.tables.private.row_counts import RowCounts

SELECTION_SHARE = Fraction(1, 10)
"""The share of a round for choosing its marginal: to measure it well matters more."""
ROUNDS = 4
"""Rounds for each column, if no round is given more than its share."""
MOST_WEIGHT = 64
"""Of a marginal in the workload; with STEPS and the limits of counts, scores stay below 2^50."""
MOST_BIAS = 2.0**32
"""Rows that noise is expected to add to a distance, at most."""
FIT_STEPS = 40
"""Steps of the fit after each round, which begins where the last one ended."""
KEPT_CELLS = 2**23
"""Cells of exact marginals that are kept for the next round; others are counted again."""


@dataclass(slots=True)
class BudgetFilter:
    """A budget that is spent in parts whose sizes may follow from what was released before.

    Guarantee: what all mechanisms together release is as private as the budget says. A part is
    refused that is larger than what is left, so that the sum of the epsilons, or of the rhos of
    zCDP, never exceeds the whole; for both this holds also where each part is chosen by earlier
    results. Shares are exact fractions: no rounding adds up.

    Reference: Rogers, Roth, Ullman & Vadhan 2016 (epsilons); Feldman & Zrnic 2021, Thm 4.1, and
    Whitehouse et al. 2023, Thm 1 (zCDP).
    """

    budget: TableBudget
    left: Fraction = Fraction(1)
    """The share of the budget that is not spent."""
    whole: Fraction = field(init=False)
    """The share that there was at the beginning: 1, or that of one of several tables."""

    def __post_init__(self) -> None:
        self.whole = self.left

    @property
    def spent(self) -> Fraction:
        """The part of the whole that is spent."""
        return 1 - self.left / self.whole

    def count_noise(self, share: Fraction, sensitivity: int = 1) -> Geometric | GaussianCounts:
        """Noise for counts that one privacy unit moves by `sensitivity`, for a share."""
        self._spend(share)
        return self.budget.count_noise(share, sensitivity)

    def selection(self, share: Fraction, *, sensitivity: int) -> Exponential:
        """One choice by scores, for a share of the budget."""
        self._spend(share)
        return self.budget.selection(share, sensitivity=sensitivity)

    def _spend(self, share: Fraction) -> None:
        if not 0 < share <= self.left:
            raise BudgetExceeded("CEL-Y028", share=float(share), left=float(self.left))
        self.left -= share


@dataclass(frozen=True, slots=True)
class RoundShares:
    """What one round may spend: a share for its choice and one for its counts."""

    choice: Fraction
    counts: Fraction

    @classmethod
    def of(cls, share: Fraction) -> RoundShares:
        """A share of the budget, divided."""
        return cls(share * SELECTION_SHARE, share * (1 - SELECTION_SHARE))

    @property
    def together(self) -> Fraction:
        """What the round costs."""
        return self.choice + self.counts


def expected_noise(noise: Geometric | GaussianCounts) -> float:
    """The mean distance from 0 of the noise of a count, nearly: that of the continuous law."""
    gaussian = isinstance(noise, GaussianCounts)
    return sqrt(noise.variance * (2 / pi if gaussian else 1 / 2))


def workload_weights(workload: Sequence[Axes]) -> dict[Axes, int]:
    """Each marginal that may be measured with its weight: the columns it has of the workload's.

    These are all sets of columns that a marginal of the workload has; what is known of one tells
    something of each marginal that it has columns in common with.

    >>> workload_weights([(0, 1), (0, 2)])
    {(0,): 2, (1,): 1, (2,): 1, (0, 1): 3, (0, 2): 3}
    """
    parts = {
        part
        for axes in workload
        for size in range(1, len(axes) + 1)
        for part in combinations(axes, size)
    }
    found = {
        part: sum(len({*part} & {*axes}) for axes in workload)
        for part in sorted(parts, key=lambda part: (len(part), part))
    }
    common, most = reduce(gcd, found.values()), max(found.values())
    if most // common > MOST_WEIGHT:
        return {part: max(MOST_WEIGHT * each // most, 1) for part, each in found.items()}
    return {part: each // common for part, each in found.items()}


@dataclass(slots=True, eq=False)
class AdaptiveMeasurement:
    """Rounds of choosing a marginal, counting it with noise, and fitting the model again.

    Guarantee: the budget of `filter`, under adding or removing one privacy unit, which `rows` tells
    how far it moves: one row has one code in each column, so it moves one count of a marginal. The
    score of a marginal is its weight times the distance of its exact counts from those of the
    model, less what noise would add. Model, weights, noise and the list of candidates are functions
    of what was released, so fixed when scores are computed; one unit moves a distance by at most
    the sensitivity of `rows`, and a score by as much times the greatest weight of the candidates:
    the sensitivity of the choice.
    """

    codes: Sequence[Codes]
    """Of the rows, one array a column."""
    filter: BudgetFilter
    weights: Mapping[Axes, int]
    """The marginals that may be chosen."""
    most_cells: int
    """Of the model, when the whole budget is spent; before, in proportion to what is spent."""
    rng: Source
    model: GraphicalModel
    measured: dict[Axes, Measured]
    """All that was released so far."""
    rows: RowCounts = field(default_factory=RowCounts)
    """How each row counts."""
    together: Axes = ()
    """Columns that one clique of the model must have, from which rows are drawn."""
    chosen: list[Axes] = field(default_factory=list)
    _exact: dict[Axes, Codes] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column has."""
        return self.model.sizes

    def rounds(self) -> Iterator[Fraction]:
        """Rounds until nothing is left; yields the share that is left after each.

        A round whose marginal moved the model by no more than noise does shows that the noise is
        too large to learn more: from the next round on its deviation is half of it. The last
        round takes what is left.
        """
        shares = RoundShares.of(self.filter.left / (ROUNDS * len(self.sizes)))
        growth = 2 if self.filter.budget.is_pure else 4
        while self.filter.left:
            if self.filter.left < 2 * shares.together:
                shares = RoundShares.of(self.filter.left)
            is_noise = self._round(shares)
            yield self.filter.left
            if is_noise:
                shares = RoundShares(shares.choice * growth, shares.counts * growth)

    def _round(self, shares: RoundShares) -> bool:
        """One round; whether what was measured is nothing but noise beside the model."""
        candidates = self._candidates(self.filter.spent + shares.together / self.filter.whole)
        noise = self.filter.count_noise(shares.counts, self.rows.sensitivity)
        off = expected_noise(noise) / self.rows.steps
        scores = [
            self.weights[axes]
            * (
                self.rows.score(self._counts(axes), self.model.marginal(axes))
                - self._bias(axes, off)
            )
            for axes in candidates
        ]
        largest = max(self.weights[axes] for axes in candidates)
        choice = self.filter.selection(
            shares.choice, sensitivity=self.rows.score_sensitivity * largest
        )
        axes = candidates[choice.release(scores, rng=self.rng)]
        released = self.rows.release(self._counts(axes), noise, self.rng)
        # From here on only released numbers are used.
        found = Measured.of(released, self.rows.variance(noise))
        known = self.measured.get(axes)
        self.measured[axes] = found if known is None else known.and_also(found)
        self.chosen.append(axes)
        before = self.model.marginal(axes)
        self.model = fit(self.model, self.measured, steps=FIT_STEPS, together=self.together)
        moved = float(np.abs(self.model.marginal(axes) - before).sum())
        return moved <= off * before.size

    def _bias(self, axes: Axes, off: float) -> int:
        """What noise adds to the distance of a marginal, in steps."""
        cells = prod(self.sizes[axis] for axis in axes)
        return round(self.rows.row_score * min(off * cells, MOST_BIAS))

    def _candidates(self, spent: Fraction) -> list[Axes]:
        """The marginals that keep the model within its size; those that it holds always do."""
        cliques = tuple(clique.axes for clique in self.model.tree)
        limit = self.most_cells * spent
        return [
            axes
            for axes in self.weights
            if self.model.holds(axes) or _cells(self.sizes, cliques, axes) <= limit
        ]

    def _counts(self, axes: Axes) -> Codes:
        """The exact marginal, in steps: one row moves one count."""
        known = self._exact.get(axes)
        if known is not None:
            return known
        cells = np.zeros(self.codes[0].size, dtype=np.int64)
        for axis in axes:
            cells = cells * self.sizes[axis] + self.codes[axis]  # at most as many as the model
        shape = tuple(self.sizes[axis] for axis in axes)
        found = self.rows.counts(cells, prod(shape)).reshape(shape)
        if found.size + sum(each.size for each in self._exact.values()) <= KEPT_CELLS:
            self._exact[axes] = found
        return found


@lru_cache(maxsize=2**14)
def _cells(sizes: tuple[int, ...], cliques: tuple[Axes, ...], axes: Axes) -> int:
    """The size of a model with a marginal more."""
    return cells_of(sizes, (*cliques, axes))
