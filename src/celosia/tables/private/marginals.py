"""Differentially private synthetic rows from a tree of noisy marginals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.accounting.losses import Loss
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.tables.masking.method import MethodResult, Work
from celosia.tables.private.consistency import project_onto_simplex, with_margins
from celosia.tables.private.marginal_tree import (
    MarginalPlan,
    MergedMarginal,
    Pair,
    merge_rare_values,
    pair_counts,
    select_pairs,
    total_of,
)
from celosia.tables.private.method import (
    DELTA,
    DeclaredMethod,
    PrivateMethod,
    check_astray,
)
from celosia.tables.synthesis.checks import MOST_ROWS, NEW_ROWS, check_whole_table
from celosia.tables.synthesis.draws import draw_codes, even_uniforms

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]


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
    for place, each in enumerate(singles):
        kept = np.flatnonzero(~np.isin(np.arange(each.places.size), each.rare))
        back = np.append(kept, -1)[drawn[place]] if each.rare.size else kept[drawn[place]]
        rare = back < 0
        cases = np.zeros(int(rare.sum()), dtype=np.int64)
        if cases.size:
            apart = draw_codes(each.chances[None], cases, even_uniforms(cases, rng))
            back[rare] = each.rare[apart]
        drawn[place] = back
    return drawn
