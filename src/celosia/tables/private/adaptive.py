"""Differentially private synthetic rows from marginals that are chosen round by round."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import combinations
from math import gcd, pi, prod, sqrt
from typing import Any, ClassVar

import numpy as np
import polars as pl

from celosia.accounting.losses import Loss, PureLoss
from celosia.accounting.noise_losses import ConcentratedLoss
from celosia.core.errors import BudgetExceeded, InputError
from celosia.core.messages import Message, did_you_mean
from celosia.core.methods import check_list, parameter
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.mechanisms import Exponential, GaussianCounts, Geometric
from celosia.tables.masking.method import MethodResult, Work, check_texts
from celosia.tables.private.budget import TableBudget
from celosia.tables.private.graphical_model import (
    Axes,
    Codes,
    GraphicalModel,
    Measured,
    Numbers,
    cells_of,
    fit,
)
from celosia.tables.private.marginals import (
    STEPS,
    MergedMarginal,
    merge_rare_values,
    score,
    split_rare_values,
    total_of,
)
from celosia.tables.private.method import DELTA, DeclaredMethod, PrivateMethod, check_astray
from celosia.tables.synthesis.checks import MOST_ROWS, NEW_ROWS, check_whole_table

SINGLES_SHARE = Fraction(3, 10)
"""The share of the budget for the one-way marginals, which all others build on."""
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
LAST_STEPS = 100
KEPT_CELLS = 2**23
"""Cells of exact marginals that are kept for the next round; others are counted again."""
MILESTONES = 20
"""How many steps the progress has: fixed, whatever the rounds are."""


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

    def count_noise(self, share: Fraction) -> Geometric | GaussianCounts:
        """Noise for disjoint counts, for a share of the budget."""
        self._spend(share)
        return self.budget.count_noise(share)

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

    Guarantee: the budget of `filter`, under adding or removing one row. A row has one code in each
    column, so it moves one count of a marginal by 1. The score of a marginal is its weight times
    the distance of its exact counts from those of the model, less what noise would add. Model,
    weights, noise and the list of candidates are functions of what was released, so fixed when
    scores are computed; one row moves a distance by at most STEPS, and a score by STEPS times the
    greatest weight of the candidates: the sensitivity of the choice.
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
        candidates = self._candidates(1 - self.filter.left + shares.together)
        noise = self.filter.count_noise(shares.counts)
        off = expected_noise(noise)
        scores = [
            self.weights[axes]
            * (score(self._counts(axes), self.model.marginal(axes)) - self._bias(axes, off))
            for axes in candidates
        ]
        choice = self.filter.selection(
            shares.choice, sensitivity=STEPS * max(self.weights[axes] for axes in candidates)
        )
        axes = candidates[choice.release(scores, rng=self.rng)]
        released = noise.release(self._counts(axes).ravel(), rng=self.rng)
        # From here on only released numbers are used.
        shape = tuple(self.sizes[axis] for axis in axes)
        found = Measured.of(released.reshape(shape), noise.variance)
        known = self.measured.get(axes)
        self.measured[axes] = found if known is None else known.and_also(found)
        self.chosen.append(axes)
        before = self.model.marginal(axes)
        self.model = fit(self.model, self.measured, steps=FIT_STEPS)
        moved = float(np.abs(self.model.marginal(axes) - before).sum())
        return moved <= off * before.size

    def _bias(self, axes: Axes, off: float) -> int:
        """What noise adds to the distance of a marginal, in steps."""
        cells = prod(self.sizes[axis] for axis in axes)
        return round(STEPS * min(off * cells, MOST_BIAS))

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
        """The exact marginal: one row moves one count by 1."""
        known = self._exact.get(axes)
        if known is not None:
            return known
        cells = np.zeros(self.codes[0].size, dtype=np.int64)
        for axis in axes:
            cells = cells * self.sizes[axis] + self.codes[axis]  # at most as many as the model
        shape = tuple(self.sizes[axis] for axis in axes)
        found = np.bincount(cells, minlength=prod(shape)).reshape(shape).astype(np.int64)
        if found.size + sum(each.size for each in self._exact.values()) <= KEPT_CELLS:
            self._exact[axes] = found
        return found


@lru_cache(maxsize=2**14)
def _cells(sizes: tuple[int, ...], cliques: tuple[Axes, ...], axes: Axes) -> int:
    """The size of a model with a marginal more."""
    return cells_of(sizes, (*cliques, axes))


def _check_workload(value: Any) -> tuple[tuple[str, ...], ...]:
    found = tuple(check_texts(each) for each in check_list(value))
    if not found or not all(found):
        raise ValueError
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveMarginals(DeclaredMethod):
    """New rows from noisy marginals that are chosen one after the other for a workload.

    First each column is counted with noise. Then, round by round, the exponential mechanism
    chooses the marginal of the workload, or of a part of it, that the model so far is farthest
    from; it is counted with noise, and a graphical model is fitted to all noisy counts by a
    junction tree. A round that finds nothing but noise is followed by rounds with half the noise,
    until the budget is spent. Rows are drawn from the model: among all distributions with such
    marginals, the one of greatest entropy. Discrete Gaussian noise where delta is above 0, discrete
    Laplace noise where it is 0.

    The workload is all marginals of `degree` columns, or those that are listed. A model of at most
    `model_cells` numbers is fitted; the more, the slower and the nearer.

    Every column must be declared: all its values in `domains`, or its `bounds`, cut into `bins` of
    equal width. A number beyond its bounds is clamped; a value that is not listed and an empty cell
    are one more value, released as an empty cell. Never does a cell cause an error.

    Guarantee: (epsilon, delta)-DP when neighbours add or remove one row, if declarations do not
    depend on the data. See `BudgetFilter` for the sum of the costs, which follows the results of
    earlier rounds, and `AdaptiveMeasurement` for the sensitivities. The number of rows is noisy
    too, unless `rows` gives it.

    Reference: McKenna, Mullins, Sheldon & Miklau 2022, AIM: an adaptive and iterative mechanism for
    differentially private synthetic data, PVLDB 15; McKenna, Sheldon & Miklau 2019 (Private-PGM).
    """

    method_name: ClassVar[str] = "adaptive-marginals"

    delta: float = parameter(1e-9, like=DELTA)
    rows: int | None = parameter(None, like=NEW_ROWS)
    degree: int = parameter(3, least=1, most=4)
    workload: tuple[tuple[str, ...], ...] | None = parameter(
        None,
        check=_check_workload,
        allowed="tables.must_be.lists_of_columns",
        example='[["age", "sex"]]',
    )
    model_cells: int = parameter(200_000, least=1, most=2**26)

    def privacy_loss(self, columns: Sequence[str]) -> Loss:
        """The whole budget: which part of it each round takes follows from earlier rounds."""
        total = self.budget.total
        return PureLoss(total) if self.budget.is_pure else ConcentratedLoss(total)

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_whole_table(frame, columns, self.method_name)
        public = self._declared().columns(frame.schema, columns)
        weights = workload_weights(self._workload(columns))
        share = Fraction(1) if len(columns) == 1 else SINGLES_SHARE
        self._check_noise(share, [column.size for column in public])
        spending = BudgetFilter(self.budget)
        noises = [spending.count_noise(share / len(columns)) for _ in columns]
        advance = _milestones(work.progress)
        next(advance)
        singles, merged, codes = [], list[MergedMarginal](), []
        for column, noise in zip(public, noises, strict=True):
            given = column.codes(frame[column.name])
            counts = np.bincount(given, minlength=column.size).astype(np.int64)
            noisy = noise.release(counts, rng=work.rng).astype(np.float64)
            singles.append(noisy)
            merged.append(merge_rare_values(noisy, noise.variance**0.5))
            codes.append(merged[-1].places[given])
        # Of the exact counts none is kept; the codes are counted again in the rounds.
        total = total_of(singles)
        model, measured = _first_model(merged, noises[0].variance, total)
        rounds = AdaptiveMeasurement(
            codes=codes,
            filter=spending,
            weights=weights,
            most_cells=self.model_cells,
            rng=work.rng,
            model=model,
            measured=measured,
        )
        for left in rounds.rounds():
            advance.send(float(1 - left))
        # From here on only released numbers are used.
        model = fit(rounds.model, rounds.measured, steps=LAST_STEPS)
        advance.send(1.0)
        count = min(round(total), MOST_ROWS) if self.rows is None else self.rows
        drawn = [
            split_rare_values(code, each, work.rng)
            for code, each in zip(model.draw(count, work.rng), merged, strict=True)
        ]
        cells = [column.series(code, work.rng) for column, code in zip(public, drawn, strict=True)]
        return MethodResult(
            frame=pick(pl.DataFrame(cells), frame.columns),
            facts={
                "rows": count,
                "rounds": len(rounds.chosen),
                "marginals": [
                    [columns[axis] for axis in axes] for axes in dict.fromkeys(rounds.chosen)
                ],
                "cells of the model": sum(each.size for each in model.beliefs),
                "deviation of one-way counts": noises[0].variance ** 0.5,
                "loss": self.privacy_loss(columns).as_dict(),
            },
            synthetic=True,
        )

    def _workload(self, columns: Sequence[str]) -> list[Axes]:
        """The marginals that are wanted, by the places of their columns."""
        if self.workload is None:
            size = min(self.degree, len(columns))
            return list(combinations(range(len(columns)), size))
        for name in (name for names in self.workload for name in names):
            if name not in columns:
                raise InputError("CEL-V003", hint=did_you_mean(name, columns), column=name)
        return [tuple(sorted(columns.index(name) for name in names)) for names in self.workload]

    def _check_noise(self, share: Fraction, sizes: Sequence[int]) -> None:
        """Refuse noise that cannot be drawn, before any is: that of the smallest shares."""
        single = self.budget.count_noise(share / len(sizes))
        single.privacy_loss()
        check_astray(self.rows, variance=single.variance, cells=min(sizes))
        if share < 1:
            shares = RoundShares.of((1 - share) / (ROUNDS * len(sizes)))
            self.budget.count_noise(shares.counts).privacy_loss()
            self.budget.selection(shares.choice, sensitivity=STEPS).privacy_loss()

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            *PrivateMethod.leaves_open(self, columns),
            Message("masking.gap.chosen_marginals"),
        )


def _first_model(
    merged: Sequence[MergedMarginal], variance: float, total: float
) -> tuple[GraphicalModel, dict[Axes, Measured]]:
    """A model of the columns, each by itself, and the counts that it is fitted to."""
    measured: dict[Axes, Measured] = {}
    for place, each in enumerate(merged):
        values: Numbers = np.bincount(each.places).astype(np.float64)  # summed up in each code
        measured[place,] = Measured.of(each.counts, variance * values)
    sizes = tuple(each.counts.size for each in merged)
    start = GraphicalModel.of(sizes, max(total, 1.0), {})
    return fit(start, measured, steps=LAST_STEPS), measured


def _milestones(progress: Progress) -> Generator[None, float, None]:
    """Steps at fixed shares of the budget, whatever the rounds are; is sent what is spent."""
    done, spent = 0, 0.0
    while True:
        while done <= MILESTONES * spent:
            progress(Step(Message("masking.stage.measuring_marginals"), done, MILESTONES))
            done += 1
        spent = yield
