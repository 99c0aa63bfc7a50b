"""The plan of a workload: what is measured at which price, and the error of each question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod, sqrt
from typing import TYPE_CHECKING, Any, cast

from celosia.core.errors import InputError, QueryRefused
from celosia.core.messages import say
from celosia.core.numbers import exactly
from celosia.mechanisms.parameters import check_epsilon
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.request import QueryRequest
from celosia.queries.workloads.marginals import MOST_CELLS, Keys, Marginals, choose_marginals
from celosia.queries.workloads.questions import (
    Attribute,
    CellQuestion,
    TableOfCells,
    WorkloadQuestion,
    read_cells,
)

if TYPE_CHECKING:
    from celosia.queries.planning import Plan
    from celosia.queries.vault import Vault

STEP = Fraction(1, 10**6)
"""Parts of a budget are whole multiples of it, rounded down: their sum is never more than it."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A marginal that is measured: an ordinary question of the vault."""

    query: str
    epsilon: float
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True)
class MeasuredTable:
    """A contingency table, its keys, and the marginals of it that are measured."""

    table: TableOfCells
    attributes: tuple[Attribute, ...]
    measurements: tuple[Measurement, ...]
    variances: tuple[float, ...]
    """Of the noise of each measurement's cells."""

    def keys_of(self, attributes: Iterable[Attribute]) -> Keys:
        """The positions of some keys."""
        return frozenset(self.attributes.index(each) for each in attributes)

    @property
    def marginals(self) -> Marginals:
        """What is known of its cells once it is measured."""
        return Marginals(
            tuple(each.size for each in self.attributes),
            {
                self.keys_of(each.attributes): variance
                for each, variance in zip(self.measurements, self.variances, strict=True)
            },
        )


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """A question of a workload with its error, together with the others and one by one."""

    question: WorkloadQuestion
    plan: Plan = field(repr=False)
    cells: CellQuestion | None = field(repr=False)
    """None where it is asked by itself."""
    epsilon: float
    """What it costs by itself; 0 where it follows from measured marginals."""
    error: float | None
    """The root of the mean square of its noise; None where it is not public."""
    error_alone: float | None
    """The same if the budget is shared out equally and each question is asked by itself."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.question.label,
            "together": self.cells is not None,
            "error": self.error,
            "error_alone": self.error_alone,
        }


@dataclass(frozen=True)
class WorkloadPlan:
    """How a workload is answered; made of the policy and the questions, never of data."""

    epsilon: Fraction
    """All that is charged, at most."""
    questions: tuple[PlannedQuestion, ...]
    tables: tuple[MeasuredTable, ...]

    @property
    def gain(self) -> float:
        """The error one by one over the error together: the geometric mean over all questions."""
        ratios = [
            each.error_alone / each.error
            for each in self.questions
            if each.error and each.error_alone
        ]
        return prod(ratios) ** (1 / len(ratios)) if ratios else 1.0

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Everything that is asked of the vault, in order."""
        alone = [
            Measurement(each.question.query, each.epsilon)
            for each in self.questions
            if each.cells is None
        ]
        return (*(one for table in self.tables for one in table.measurements), *alone)

    def as_dict(self) -> dict[str, Any]:
        return {
            "epsilon": float(self.epsilon),
            "questions": [each.as_dict() for each in self.questions],
            "measured": [
                {"query": each.query, "epsilon": each.epsilon} for each in self.measurements
            ],
            "gain": self.gain,
        }

    def __str__(self) -> str:
        return say(
            "queries.workload.summary",
            questions=len(self.questions),
            measured=len(self.measurements),
            epsilon=float(self.epsilon),
            gain=self.gain,
        )


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question while the budget is being split."""

    question: WorkloadQuestion
    plan: Plan
    cells: CellQuestion | None
    variance: float | None
    """Of its numbers at epsilon 1, added up; None where it is not public."""

    @property
    def error(self) -> float | None:
        """Of its number at epsilon 1; None also where a number follows from several parts."""
        is_one = self.variance is not None and len(self.plan.parts) == 1
        return sqrt(self.variance or 0.0) if is_one else None

    @property
    def weight(self) -> float:
        if self.question.error is not None:
            return 1 / self.question.error**2
        return self.question.weight / (self.variance or 1.0)


def plan_workload(
    vault: Vault,
    questions: Sequence[str | WorkloadQuestion],
    *,
    epsilon: float,
    analyst: str | None = None,
) -> WorkloadPlan:
    """Split a budget over questions so that their weighted squared errors are least together.

    Args:
        vault: what is asked; nothing is spent.
        questions: texts, or questions with their weights.
        epsilon: of all questions together.
        analyst: who asks.

    Raises:
        InputError: CEL-Q344 there are no questions; and what is wrong with one of them.
        QueryRefused: a question cannot be promised, or its part of the budget is too small.
    """
    whole = check_epsilon(epsilon)
    named = [WorkloadQuestion(each) if isinstance(each, str) else each for each in questions]
    if not named:
        raise InputError("CEL-Q344.empty")
    drafts = _share([_draft(vault, each, analyst) for each in named])
    return _Split(vault, drafts, whole, analyst).plan()


def _draft(vault: Vault, question: WorkloadQuestion, analyst: str | None) -> _Draft:
    plan = vault.plan(QueryRequest(question.query, epsilon=1, analyst=analyst))
    errors = [part.error for part in plan.parts]
    known = [error for error in errors if error is not None]
    variance = 2 * sum(error**2 for error in known) if len(known) == len(errors) else None
    return _Draft(question, plan, read_cells(question.query, plan, vault.policy), variance)


def _share(drafts: Sequence[_Draft]) -> list[_Draft]:
    """Keep the cells of questions only where another question is about the same table."""
    uses: dict[TableOfCells, int] = {}
    for draft in drafts:
        for table in set(draft.cells.tables.values()) if draft.cells is not None else ():
            uses[table] = uses.get(table, 0) + 1
    return [
        replace(draft, cells=draft.cells if _is_shared(draft.cells, uses) else None)
        for draft in drafts
    ]


def _is_shared(cells: CellQuestion | None, uses: Mapping[TableOfCells, int]) -> bool:
    if cells is None or prod(each.size for each in cells.attributes) > MOST_CELLS:
        return False
    return any(uses[table] > 1 for table in cells.tables.values())


class _Split:
    """The budget of a workload, split over tables and questions."""

    def __init__(
        self, vault: Vault, drafts: Sequence[_Draft], epsilon: Fraction, analyst: str | None
    ) -> None:
        self.vault, self.drafts, self.epsilon, self.analyst = vault, drafts, epsilon, analyst
        wanted: dict[TableOfCells, list[_Draft]] = {}
        for draft in drafts:
            for table in draft.cells.tables.values() if draft.cells is not None else ():
                wanted.setdefault(table, []).append(draft)
        self.wanted = wanted

    def plan(self) -> WorkloadPlan:
        chosen = {table: self._choose(users) for table, users in self.wanted.items()}
        alone = [draft for draft in self.drafts if draft.cells is None and draft.plan.epsilon]
        losses: list[float | None] = [
            self._loss(table, users, *chosen[table]) for table, users in self.wanted.items()
        ]
        losses += [None if each.variance is None else each.weight * each.variance for each in alone]
        shares = _shares(losses)
        tables = tuple(
            self._measured(table, *chosen[table], share)
            for table, share in zip(self.wanted, shares, strict=False)
        )
        prices = dict(zip(map(id, alone), shares[len(tables) :], strict=True))
        by_table = {each.table: each for each in tables}
        planned = tuple(
            self._planned(draft, prices.get(id(draft), 0.0), by_table) for draft in self.drafts
        )
        return WorkloadPlan(self.epsilon, planned, tables)

    def _choose(self, users: Sequence[_Draft]) -> tuple[tuple[Attribute, ...], dict[Keys, float]]:
        attributes = tuple(
            dict.fromkeys(each for draft in users if draft.cells for each in draft.cells.attributes)
        )
        weights: dict[Keys, float] = {}
        for draft in users:
            assert draft.cells is not None
            keys = frozenset(attributes.index(each) for each in draft.cells.attributes)
            weights[keys] = weights.get(keys, 0.0) + draft.weight
        least = float(self.vault.policy.least_epsilon / self.epsilon) * 2
        sizes = [each.size for each in attributes]
        return attributes, choose_marginals(sizes, weights, least=least)

    def _loss(
        self,
        table: TableOfCells,
        users: Sequence[_Draft],
        attributes: tuple[Attribute, ...],
        shares: Mapping[Keys, float],
    ) -> float:
        """The weighted variance of all that is asked of a table at epsilon 1."""
        at_one = self._measured(table, attributes, shares, None)
        return sum(
            draft.weight * at_one.marginals.variance(at_one.keys_of(draft.cells.attributes))
            for draft in users
            if draft.cells is not None
        )

    def _measured(
        self,
        table: TableOfCells,
        attributes: tuple[Attribute, ...],
        shares: Mapping[Keys, float],
        share: float | None,
    ) -> MeasuredTable:
        """A table with its measurements, at a share of the budget; at epsilon 1 if None."""
        measurements, variances = [], []
        for keys, part in shares.items():
            own = tuple(attributes[key] for key in sorted(keys))
            query = table.query(own)
            price = part if share is None else self._price(share * part)
            error = self._error(query, 1.0 if share is None else price)
            measurements.append(Measurement(query, price, own))
            variances.append(2 * (error / part if share is None else error) ** 2)
        return MeasuredTable(table, attributes, tuple(measurements), tuple(variances))

    def _error(self, query: str, epsilon: float) -> float:
        """The scale of the Laplace noise of a measurement."""
        plan = self.vault.plan(QueryRequest(query, epsilon=epsilon, analyst=self.analyst))
        (noise,) = plan.parts
        if not isinstance(plan.steps[0], LaplaceStep) or noise.error is None:
            raise QueryRefused("CEL-Q344.not_together")
        return noise.error

    def _price(self, share: float) -> float:
        found = exactly(share)
        return float(found * self.epsilon // STEP * STEP)

    def _planned(
        self, draft: _Draft, share: float, tables: Mapping[TableOfCells, MeasuredTable]
    ) -> PlannedQuestion:
        if draft.cells is not None:
            variances = [
                tables[table].marginals.variance(tables[table].keys_of(draft.cells.attributes))
                for table in draft.cells.tables.values()
            ]
            price, error = 0.0, cast("float | None", sqrt(sum(variances)))
        else:
            price = self._price(share)
            error = draft.error / price if draft.error is not None and price else draft.error
        alone = draft.error
        if alone is not None:
            alone *= len(self.drafts) / float(self.epsilon)
        return PlannedQuestion(draft.question, draft.plan, draft.cells, price, error, alone)


def _shares(losses: Sequence[float | None]) -> list[float]:
    """Shares of a budget that minimise the sum of loss / share^2: as the cube roots of the losses.

    What has no public loss gets the share of an equal split.

    >>> _shares([1.0, 8.0]), _shares([None, 1.0])
    ([0.333..., 0.666...], [0.5, 0.5])
    """
    roots = [None if loss is None else loss ** (1 / 3) for loss in losses]
    known = sum(root for root in roots if root is not None)
    rest = sum(root is not None for root in roots) / len(roots)
    return [1 / len(roots) if root is None else rest * root / known for root in roots]
