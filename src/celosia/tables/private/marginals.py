"""Differentially private synthetic rows from a tree of noisy marginals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.accounting.losses import ComposedLoss, Loss
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.mechanisms import Exponential, GaussianCounts, Geometric
from celosia.tables.masking.draws import draw_codes, even_uniforms
from celosia.tables.masking.method import MethodResult, Work
from celosia.tables.private.budget import TableBudget
from celosia.tables.private.consistency import project_onto_simplex, with_margins
from celosia.tables.private.method import (
    DELTA,
    DeclaredMethod,
    PrivateMethod,
    check_astray,
)
from celosia.tables.private.row_counts import MOST_EXPECTED, STEPS, RowCounts
from celosia.tables.synthesis.checks import MOST_ROWS, NEW_ROWS, check_whole_table

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]
Pair = tuple[int, int]

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
        scores[pair] = RowCounts().score(pair_counts(codes, pair, expected.shape), expected)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginals(DeclaredMethod):
    """New rows from noisy one-way marginals and the noisy two-way marginals of a spanning tree.

    Each column is counted with noise; the pairs of columns that are farthest from independent are
    chosen by the exponential mechanism, as many as join all columns, and counted with noise; the
    tree of marginals that agree with each other and are nearest to these counts is the
    distribution of greatest entropy with such marginals, and rows are drawn from it. Discrete
    Gaussian noise where delta is above 0, discrete Laplace noise where it is 0.

    Every column must be declared: all its values in `domains`, or its `bounds`, cut into `bins` of
    equal width. A number beyond its bounds is clamped; a value that is not listed and an empty cell
    are one more value, released as an empty cell. Never does a cell cause an error.

    Guarantee: (epsilon, delta)-DP when neighbours add or remove one row, if declarations do not
    depend on the data; see `marginal_tree.MarginalPlan` for the proof. The number of rows is noisy
    too, unless `rows` gives it.

    Reference: McKenna, Miklau & Sheldon 2021, Winning the NIST Contest: a scalable and general
    approach to differentially private synthetic data (MST); McKenna, Sheldon & Miklau 2019
    (Private-PGM); Chow & Liu 1968 (trees).
    """

    method_name: ClassVar[str] = "marginals"

    delta: float = parameter(1e-9, like=DELTA)
    rows: int | None = parameter(None, like=NEW_ROWS)

    def privacy_loss(self, columns: Sequence[str]) -> Loss:
        """The losses of all measurements together."""
        return MarginalPlan(self.budget, len(columns)).privacy_loss()

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_whole_table(frame, columns, self.method_name)
        public = self._declared().columns(frame.schema, columns)
        plan = MarginalPlan(self.budget, len(columns))
        loss = plan.privacy_loss()  # refuses what cannot be drawn, before anything is
        least = min(column.size for column in public)
        check_astray(self.rows, variance=plan.single.variance, cells=least)
        steps = 3 * len(columns)
        given = [column.codes(frame[column.name]) for column in public]
        singles = []
        for place, column in enumerate(public):
            work.progress(Step(Message("masking.stage.measuring_marginals"), place, steps))
            counts = np.bincount(given[place], minlength=column.size).astype(np.int64)
            noisy = plan.single.release(counts, rng=work.rng).astype(np.float64)
            singles.append(merge_rare_values(noisy, plan.single.variance**0.5))
        codes = [each.places[code] for each, code in zip(singles, given, strict=True)]
        pairs: list[Pair] = []
        if len(columns) > 1:
            pairs = select_pairs(
                codes,
                [each.counts for each in singles],
                plan,
                rng=work.rng,
                on_pair=lambda done: work.progress(
                    Step(Message("masking.stage.measuring_marginals"), len(columns) + done, steps)
                ),
            )
        doubles = {}
        for place, pair in enumerate(pairs):
            work.progress(
                Step(Message("masking.stage.measuring_marginals"), 2 * len(columns) + place, steps)
            )
            shape = tuple(singles[end].counts.size for end in pair)
            exact = pair_counts(codes, pair, shape)
            doubles[pair] = plan.double.release(exact.ravel(), rng=work.rng).reshape(shape)
        # From here on only released numbers are used.
        fitted = _fitted([each.counts for each in singles], doubles, plan)
        total = round(total_of([each.counts for each in singles]))
        count = min(total, MOST_ROWS) if self.rows is None else self.rows
        drawn = _drawn(fitted, singles, count, work.rng)
        cells = [column.series(code, work.rng) for column, code in zip(public, drawn, strict=True)]
        return MethodResult(
            frame=pick(pl.DataFrame(cells), frame.columns),
            facts={
                "rows": count,
                "pairs": [[columns[one], columns[two]] for one, two in pairs],
                "deviation of one-way counts": plan.single.variance**0.5,
                "loss": loss.as_dict(),
            },
            synthetic=True,
        )

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            *PrivateMethod.leaves_open(self, columns),
            Message("masking.gap.chosen_pairs"),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Tree:
    """Marginals that agree: one-way of every column, two-way along the edges, from the root on."""

    singles: list[Numbers]
    edges: list[tuple[int, int, Numbers]]
    """Parent, child, and the counts of their pair, parent first."""


def _fitted(singles: list[Numbers], doubles: Mapping[Pair, Codes], plan: MarginalPlan) -> _Tree:
    """The marginals of a tree that are near to all noisy ones, by least squares in two stages.

    First the one-way marginals, from their own counts and from the sums of the pairs they are in,
    weighted by precision; then each pair, given its one-way marginals.
    """
    precision = 1 / plan.single.variance
    sums = [each * precision for each in singles]
    weights = [precision for _ in singles]
    for (one, two), counts in doubles.items():
        for end, axis in ((one, 1), (two, 0)):
            weight = 1 / (plan.double.variance * counts.shape[axis])
            sums[end] = sums[end] + weight * counts.sum(axis=axis)
            weights[end] += weight
    total = np.array([total_of(singles)])
    best = [
        project_onto_simplex((each / weight)[None], total)[0]
        for each, weight in zip(sums, weights, strict=True)
    ]
    reached, edges, left = {0}, [], dict(doubles)
    while left:
        pair = next(each for each in left if set(each) & reached)
        table: Numbers = left.pop(pair).astype(np.float64)
        parent, child = pair if pair[0] in reached else (pair[1], pair[0])
        table = table if parent == pair[0] else table.T
        edges.append((parent, child, with_margins(table, best[parent], best[child])))
        reached.add(child)
    return _Tree(best, edges)


def _drawn(tree: _Tree, singles: Sequence[MergedMarginal], count: int, rng: Source) -> list[Codes]:
    """Codes of new rows, from the root along the edges, with rare values told apart again."""
    nowhere = np.zeros(count, dtype=np.int64)
    drawn = [nowhere for _ in singles]
    drawn[0] = draw_codes(tree.singles[0][None], nowhere, even_uniforms(nowhere, rng))
    for parent, child, table in tree.edges:
        cases = drawn[parent]
        drawn[child] = draw_codes(table, cases, even_uniforms(cases, rng))
    return [split_rare_values(code, each, rng) for code, each in zip(drawn, singles, strict=True)]


def split_rare_values(codes: Codes, merged: MergedMarginal, rng: Source) -> Codes:
    """The codes as they were given, with rare values told apart again by their noisy counts."""
    kept = np.flatnonzero(~np.isin(np.arange(merged.places.size), merged.rare))
    if not merged.rare.size:
        return kept[codes]
    found: Codes = np.append(kept, -1)[codes]
    rare = found < 0
    cases = np.zeros(int(rare.sum()), dtype=np.int64)
    if cases.size:
        apart = draw_codes(merged.chances[None], cases, even_uniforms(cases, rng))
        found[rare] = merged.rare[apart]
    return found
