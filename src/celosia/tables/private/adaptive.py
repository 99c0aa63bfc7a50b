"""Differentially private synthetic rows from marginals that are chosen round by round."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl

from celosia.accounting.losses import ComposedLoss, Loss, PureLoss
from celosia.accounting.noise_losses import ConcentratedLoss
from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.core.methods import check_list, parameter
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Source
from celosia.frames import pick
from celosia.mechanisms import GaussianCounts, Geometric
from celosia.tables.masking.method import MethodResult, Work, check_texts
from celosia.tables.private.adaptive_rounds import (
    ROUNDS,
    AdaptiveMeasurement,
    BudgetFilter,
    RoundShares,
    workload_weights,
)
from celosia.tables.private.budget import TableBudget
from celosia.tables.private.declarations import PublicColumn
from celosia.tables.private.discovery import DISCOVER, EMPTY_CELLS, DiscoveryPlan
from celosia.tables.private.graphical_model import (
    Axes,
    Codes,
    GraphicalModel,
    Measured,
    Numbers,
    fit,
)
from celosia.tables.private.marginals import (
    MergedMarginal,
    merge_rare_values,
    split_rare_values,
    total_of,
)
from celosia.tables.private.method import DELTA, DeclaredMethod, PrivateMethod, check_astray
from celosia.tables.private.row_counts import STEPS, RowCounts
from celosia.tables.synthesis.checks import MOST_ROWS, NEW_ROWS, check_whole_table

SINGLES_SHARE = Fraction(3, 10)
"""The share of the budget for the one-way marginals, which all others build on."""
LAST_STEPS = 100
MOST_WEIGHTED = 10**6
"""Rows that stand for a population by their weights, if no number of rows is given."""
MILESTONES = 20
"""How many steps the progress has: fixed, whatever the rounds are."""


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

    With `weight` the rows stand for a population: each counts as much as its weight, and the new
    rows carry equal weights whose sum is the noisy size of the population. One row then moves what
    is counted by its weight, so there is a bound: a weight above `most_weight` counts as that, one
    below 0 or empty as 0. How many weights were cut is not told.

    Every column must be declared: all its values in `domains`, or its `bounds`, cut into `bins` of
    equal width. Or it is named in `discover` with what it holds (text, integer or decimal): then
    `discovery_share` of epsilon, and for text half of delta, find its frequent values, or bounds
    between powers of two. A number beyond its bounds is clamped; a value that is not listed and an
    empty cell are one more value, released as an empty cell. Never does a cell cause an error.

    Guarantee: (epsilon, delta)-DP when neighbours add or remove one row, of whatever weight, if
    declarations do not depend on the data, and the weight of a row not on other rows. See
    `BudgetFilter` for the sum of the costs, which follows the results of earlier rounds, and
    `AdaptiveMeasurement` for the sensitivities. The number of rows is noisy too, unless `rows`
    gives it.

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
    discover: Mapping[str, str] | None = parameter(None, like=DISCOVER)
    discovery_share: float = parameter(0.1, above=0, below=1)
    weight: str | None = parameter(None, kind="column")
    most_weight: float | None = parameter(None, above=0, most=1e15)

    def check(self) -> None:
        """Refuse a weight without its bound, and what is declared and is no domain."""
        DeclaredMethod.check(self)
        if (self.weight is None) != (self.most_weight is None):
            raise InputError("CEL-Y030")
        for name in self.discover or {}:
            if name in DeclaredMethod.declared_values(self):
                raise InputError("CEL-Y020.twice", column=name)

    def declared_values(self) -> Mapping[str, tuple[Any, ...]]:
        """Domains and bounds, and what kind of cells the other columns have."""
        known = DeclaredMethod.declared_values(self)
        kinds = {name: (EMPTY_CELLS[kind],) for name, kind in (self.discover or {}).items()}
        return {**known, **kinds, **({self.weight: (0.0,)} if self.weight else {})}

    def assumes(self) -> tuple[str, ...]:
        found = DeclaredMethod.assumes(self)
        if self.most_weight is None:
            return found
        return (*found, Message("masking.assumes.weights", most=self.most_weight))

    def discovery(self, columns: Sequence[str]) -> DiscoveryPlan:
        """What finding domains costs; the columns in the order of the table."""
        kinds = tuple(kind for name in columns if (kind := (self.discover or {}).get(name)))
        return DiscoveryPlan(self.budget, kinds, self.discovery_share)

    def privacy_loss(self, columns: Sequence[str]) -> Loss:
        """The whole budget: which part of it each round takes follows from earlier rounds."""
        plan = self.discovery(columns)
        total = plan.rest.total
        rounds = PureLoss(total) if plan.rest.is_pure else ConcentratedLoss(total)
        return ComposedLoss((*plan.losses(), rounds)) if plan.kinds else rounds

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_whole_table(frame, columns, self.method_name)
        names = self._modelled(frame, columns)
        plan = self.discovery(names)
        sought = [name for name in names if name in (self.discover or {})]
        declared = {
            column.name: column
            for column in self._declared().columns(
                frame.schema, [name for name in names if name not in sought]
            )
        }
        workload = self._workload(names)
        rows = self.row_counts(frame)
        single = one_way_noise(plan.rest, Fraction(1), len(names), rows.sensitivity)
        if self.weight is None:
            least = min((column.size for column in declared.values()), default=1)
            check_astray(self.rows, variance=single.variance, cells=least)
        check_rounds(plan.rest, Fraction(1), len(names), rows.sensitivity)
        loss = self.privacy_loss(columns)  # refuses what cannot be drawn, before anything is
        advance = milestones(work.progress)
        next(advance)
        found = plan.find([frame[name] for name in sought], self.bins, rng=work.rng)
        known = declared | {column.name: column for column in found}
        public = [known[name] for name in names]
        fitted = FittedTable.of(
            [column.codes(frame[column.name]) for column in public],
            [column.size for column in public],
            spending=BudgetFilter(plan.rest),
            workload=workload,
            most_cells=self.model_cells,
            rng=work.rng,
            rows=rows,
            on_spent=advance.send,
        )
        # From here on only released numbers are used.
        population = fitted.total * (self.most_weight or 1.0)
        count = self.new_rows(population)
        cells = [
            column.series(code, work.rng)
            for column, code in zip(public, fitted.draw(count, work.rng), strict=True)
        ]
        if self.weight is not None:
            cells.append(pl.Series(self.weight, [population / max(count, 1)] * count, pl.Float64))
        return MethodResult(
            frame=pick(pl.DataFrame(cells), frame.columns),
            facts={
                "rows": count,
                **({"population": population} if self.weight is not None else {}),
                **(_found_domains(plan, found) if found else {}),
                "rounds": len(fitted.chosen),
                "marginals": [
                    [names[axis] for axis in axes] for axes in dict.fromkeys(fitted.chosen)
                ],
                "cells of the model": sum(each.size for each in fitted.model.beliefs),
                "deviation of one-way counts": fitted.deviation * (self.most_weight or 1.0),
                "loss": loss.as_dict(),
            },
            synthetic=True,
        )

    def _modelled(self, frame: pl.DataFrame, columns: Sequence[str]) -> list[str]:
        """The columns without the weight; by names and types alone."""
        for name in (self.weight, *(self.discover or {})):
            if name is not None and name not in columns:
                raise InputError("CEL-V003", hint=did_you_mean(name, columns), column=name)
        if self.weight is None:
            return list(columns)
        dtype = frame.schema[self.weight]
        names = [name for name in columns if name != self.weight]
        if not dtype.is_numeric():
            raise InputError("CEL-Y022.kind", dtype=dtype, kind="decimal", column=self.weight)
        if not names:
            raise InputError("CEL-Y030.alone")
        return names

    def row_counts(self, frame: pl.DataFrame | None) -> RowCounts:
        """How the rows of a table count; without one, those of an empty table."""
        if self.weight is None or self.most_weight is None:
            return RowCounts()
        weights = pl.Series(dtype=pl.Float64) if frame is None else frame.get_column(self.weight)
        return RowCounts.weighted(weights, self.most_weight)

    def new_rows(self, population: float) -> int:
        """As many as are asked for, or as there are people; weighted ones up to a million."""
        if self.rows is not None:
            return self.rows
        most = MOST_ROWS if self.weight is None else MOST_WEIGHTED
        return min(round(population), most)

    def _workload(self, columns: Sequence[str]) -> list[Axes]:
        """The marginals that are wanted, by the places of their columns."""
        if self.workload is None:
            size = min(self.degree, len(columns))
            return list(combinations(range(len(columns)), size))
        for name in (name for names in self.workload for name in names):
            if name not in columns:
                raise InputError("CEL-V003", hint=did_you_mean(name, columns), column=name)
        return [tuple(sorted(columns.index(name) for name in names)) for names in self.workload]

    def base_gaps(self) -> tuple[str, ...]:
        """What every private table leaves open."""
        return PrivateMethod.leaves_open(self, ())

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            *self.base_gaps(),
            Message("masking.gap.chosen_marginals"),
        )


@dataclass(frozen=True, slots=True, eq=False)
class FittedTable:
    """A model of a table, fitted to released numbers only; rows are drawn from it for nothing."""

    model: GraphicalModel
    merged: Sequence[MergedMarginal]
    total: float
    """The number of rows, or the sum of weights in units of the largest."""
    chosen: Sequence[Axes]
    """The marginals that were measured, round by round."""
    deviation: float
    """Of the noise of a one-way count."""

    @classmethod
    def of(
        cls,
        codes: Sequence[Codes],
        sizes: Sequence[int],
        *,
        spending: BudgetFilter,
        workload: Sequence[Axes],
        most_cells: int,
        rng: Source,
        rows: RowCounts | None = None,
        together: Axes = (),
        on_spent: Callable[[float], object] = lambda _: None,
    ) -> FittedTable:
        """Measure a table until its share of the budget is spent, and fit a model.

        Args:
            codes: of the rows, one array a column.
            sizes: how many codes each column has.
            spending: what may be spent; all of it is.
            workload: the marginals that are wanted.
            most_cells: of the model.
            rng: of noise and choices.
            rows: how each row counts; as one if left out.
            together: columns that rows will be drawn from.
            on_spent: is called with the part of the budget that is spent.
        """
        rows = RowCounts() if rows is None else rows
        share = singles_share(len(sizes)) * spending.whole
        noises = [spending.count_noise(share / len(sizes), rows.sensitivity) for _ in sizes]
        variance = rows.variance(noises[0])
        singles, merged, places = [], list[MergedMarginal](), []
        for given, size, noise in zip(codes, sizes, noises, strict=True):
            noisy = rows.release(rows.counts(given, size), noise, rng)
            singles.append(noisy)
            merged.append(merge_rare_values(noisy, variance**0.5))
            places.append(merged[-1].places[given])
        # Of the exact counts none is kept; the codes are counted again in the rounds.
        total = total_of(singles)
        model, measured = _first_model(merged, variance, total, together)
        weights = workload_weights(workload)
        rounds = AdaptiveMeasurement(
            codes=places,
            filter=spending,
            # How the columns that rows are drawn from go together is known from elsewhere.
            weights={axes: each for axes, each in weights.items() if not {*axes} <= {*together}},
            most_cells=most_cells,
            rng=rng,
            model=model,
            measured=measured,
            rows=rows,
            together=together,
        )
        for _ in rounds.rounds():
            on_spent(float(spending.spent))
        # From here on only released numbers are used.
        model = fit(rounds.model, rounds.measured, steps=LAST_STEPS, together=together)
        on_spent(1.0)
        return cls(model, merged, total, rounds.chosen, variance**0.5)

    def draw(
        self, count: int, rng: Source, known: Mapping[int, Codes] | None = None
    ) -> list[Codes]:
        """Codes of new rows, given those of some columns, which one clique must have."""
        given = {place: self.merged[place].places[code] for place, code in (known or {}).items()}
        drawn = self.model.draw(count, rng, given)
        pairs = enumerate(zip(drawn, self.merged, strict=True))
        return [
            known[place] if known and place in known else split_rare_values(code, each, rng)
            for place, (code, each) in pairs
        ]


def _found_domains(plan: DiscoveryPlan, found: Sequence[PublicColumn]) -> dict[str, Any]:
    """The price, and how many values or bins each column got; they are in the table."""
    price = {
        "epsilon for domains": float(plan.budget.epsilon - plan.rest.epsilon),
        "delta for domains": float(plan.budget.delta - plan.rest.delta),
    }
    return price | {"domains found": {column.name: column.size - 1 for column in found}}


def singles_share(columns: int) -> Fraction:
    """The share of the budget for the one-way marginals; of a single column, all."""
    return Fraction(1) if columns == 1 else SINGLES_SHARE


def one_way_noise(
    budget: TableBudget, share: Fraction, columns: int, sensitivity: int = 1
) -> Geometric | GaussianCounts:
    """The noise of a one-way marginal, refused before any is drawn if it cannot be."""
    single = budget.count_noise(singles_share(columns) * share / columns, sensitivity)
    single.privacy_loss()
    return single


def check_rounds(budget: TableBudget, share: Fraction, columns: int, sensitivity: int = 1) -> None:
    """Refuse noise of the rounds that cannot be drawn: that of the smallest shares."""
    left = share * (1 - singles_share(columns))
    if left:
        shares = RoundShares.of(left / (ROUNDS * columns))
        budget.count_noise(shares.counts, sensitivity).privacy_loss()
        budget.selection(shares.choice, sensitivity=STEPS * sensitivity).privacy_loss()


def _first_model(
    merged: Sequence[MergedMarginal], variance: float, total: float, together: Axes
) -> tuple[GraphicalModel, dict[Axes, Measured]]:
    """A model of the columns, each by itself, and the counts that it is fitted to."""
    measured: dict[Axes, Measured] = {}
    for place, each in enumerate(merged):
        values: Numbers = np.bincount(each.places).astype(np.float64)  # summed up in each code
        measured[place,] = Measured.of(each.counts, variance * values)
    sizes = tuple(each.counts.size for each in merged)
    start = GraphicalModel.of(sizes, max(total, 1.0), {})
    return fit(start, measured, steps=LAST_STEPS, together=together), measured


def milestones(progress: Progress) -> Generator[None, float, None]:
    """Steps at fixed shares of the budget, whatever the rounds are; is sent what is spent."""
    done, spent = 0, 0.0
    while True:
        while done <= MILESTONES * spent:
            progress(Step(Message("masking.stage.measuring_marginals"), done, MILESTONES))
            done += 1
        spent = yield
