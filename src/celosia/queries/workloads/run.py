"""The answers of a workload: measured marginals, and the estimates of each question."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor, inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.accounting.ledger import Request
from celosia.core.errors import QueryRefused
from celosia.core.files import replacing
from celosia.core.numbers import exactly
from celosia.core.release import Provenance
from celosia.queries.answer import Interval, QueryAnswer
from celosia.queries.execution import ANYBODY, MADE_BY, charge_of, make_guarantee
from celosia.queries.post_processing import post_process
from celosia.queries.request import QueryRequest
from celosia.queries.workloads.marginals import Keys, Table
from celosia.queries.workloads.plan import (
    MeasuredTable,
    Measurement,
    WorkloadPlan,
)
from celosia.queries.workloads.questions import (
    Attribute,
    CellQuestion,
    TableOfCells,
    read_cells,
)

if TYPE_CHECKING:
    from celosia.queries.planning import Plan
    from celosia.queries.vault import Vault


@dataclass(frozen=True)
class WorkloadAnswer:
    """One answer for each question, in order, and the plan that they follow."""

    plan: WorkloadPlan
    answers: tuple[QueryAnswer, ...]

    def __getitem__(self, name: int | str) -> QueryAnswer:
        """The answer of a question, by its position or its name."""
        if isinstance(name, int):
            return self.answers[name]
        names = [each.question.label for each in self.plan.questions]
        return self.answers[names.index(name)]

    def __iter__(self) -> Iterator[QueryAnswer]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "plan": self.plan.as_dict(),
            "answers": {
                planned.question.label: answer.as_dict()
                for planned, answer in zip(self.plan.questions, self.answers, strict=True)
            },
        }


@dataclass(frozen=True)
class _Measured:
    """A table with the noisy cells of its marginals."""

    table: MeasuredTable
    cells: dict[Keys, Table]
    last: QueryAnswer
    """Of its measurements, the one that was answered last."""

    @property
    def epsilon(self) -> Fraction:
        """What all measurements of the table cost."""
        return sum((_amount(each.epsilon) for each in self.table.measurements), Fraction(0))


@dataclass(frozen=True)
class _Estimates:
    """Estimated cells, and how far each is from the exact one with the confidence."""

    cells: Table
    radius: float
    """For counts with the half that rounding may move them by."""
    is_count: bool

    def number(self, place: tuple[int, ...]) -> float | int:
        """A cell; a count is whole."""
        found = float(self.cells[place])
        return round(found) if self.is_count else found

    def interval(self, place: tuple[int, ...]) -> Interval:
        """The bounds of a cell; those of a count are whole and not below zero."""
        middle = self.number(place)
        low, high = middle - self.radius, middle + self.radius
        return (max(0.0, ceil(low)), max(0.0, floor(high))) if self.is_count else (low, high)


class WorkloadRun:
    """Asks a vault for the measurements of a plan, and estimates the answers from them."""

    def __init__(self, vault: Vault, *, analyst: str | None, confidence: float) -> None:
        self.vault = vault
        self.analyst = analyst
        self.confidence = confidence

    def run(self, plan: WorkloadPlan) -> WorkloadAnswer:
        """Answer a workload; all of it is checked against the budget before anything is charged.

        Raises:
            BudgetExceeded: CEL-Q110, CEL-Q111 the budget does not allow all of it.
        """
        self._check_budget(plan.measurements)
        measured = {each.table: self._measure(each) for each in plan.tables}
        answers = tuple(
            self._ask(each.question.query, each.epsilon or 1.0)
            if each.cells is None
            else self.estimate(each.plan, each.cells, measured)
            for each in plan.questions
        )
        return WorkloadAnswer(plan, answers)

    def charge(self, measurement: Measurement) -> Request:
        """What the ledger charges for a measurement."""
        request = self._request(measurement.query, measurement.epsilon)
        return charge_of(self.vault.plan(request), self.vault.policy, request)

    def _request(self, query: str, epsilon: float) -> QueryRequest:
        return QueryRequest(
            query, epsilon=epsilon, analyst=self.analyst, confidence=self.confidence
        )

    def _ask(self, query: str, epsilon: float) -> QueryAnswer:
        return self.vault.ask(self._request(query, epsilon))

    def _check_budget(self, measurements: Sequence[Measurement]) -> None:
        charges = [self.charge(each) for each in measurements if each.epsilon]
        new = [each for each in charges if not self.vault.ledger.has_answer(each)]
        if new:
            total = Request(
                analyst=ANYBODY if self.analyst is None else self.analyst,
                question="workload",
                epsilon=sum((each.epsilon for each in new), Fraction(0)),
                delta=sum((each.delta for each in new), Fraction(0)),
            )
            self.vault.ledger.check(total)

    def _measure(self, table: MeasuredTable) -> _Measured:
        cells: dict[Keys, Table] = {}
        for each in table.measurements:
            answer = self._ask(each.query, each.epsilon)
            found = np.zeros(tuple(attribute.size for attribute in each.attributes))
            names = [f"key_{number}" for number in range(1, found.ndim + 1)]
            for row in answer.rows:
                found[tuple(row[name] for name in names)] = row["value"]
            # Axes stand in the order of the table's keys.
            cells[table.keys_of(each.attributes)] = found
        return _Measured(table, cells, answer)

    def estimate(
        self, plan: Plan, cells: CellQuestion, measured: dict[TableOfCells, _Measured]
    ) -> QueryAnswer:
        """The answer of one question, from the measured tables that it is about."""
        found = {
            name: self._estimates(cells, measured[table]) for name, table in cells.tables.items()
        }
        noise: dict[str, float | None] = {name: each.radius for name, each in found.items()}
        rows, bounds = [], []
        for place in product(*(range(len(each.values)) for each in cells.keys.values())):
            keys: dict[str, Any] = {
                name: attribute.values[at]
                for (name, attribute), at in zip(cells.keys.items(), place, strict=True)
            }
            rows.append(keys | {name: each.number(place) for name, each in found.items()})
            bounds.append({name: each.interval(place) for name, each in found.items()})
        kept = post_process(rows, plan.question.post_processing)
        tables = [measured[table] for table in dict.fromkeys(cells.tables.values())]
        return self._build(
            plan,
            tables,
            rows=[row for _, row in kept],
            intervals=[bounds[place] for place, _ in kept],
            noise=[dict(noise) for _ in kept],
        )

    def _estimates(self, cells: CellQuestion, measured: _Measured) -> _Estimates:
        """The estimates of the chosen cells."""
        table = measured.table
        wanted = table.keys_of(cells.attributes)
        order = [table.attributes[key] for key in sorted(wanted)]
        found = table.marginals.estimate(measured.cells, wanted)
        found = np.asarray(found[tuple(_place(each, cells) for each in order)])
        shown = [each for each in order if each not in cells.fixed]
        axes = [shown.index(each) for each in cells.keys.values()]
        radius = table.marginals.radius(wanted, self.confidence)
        is_count = table.table.aggregate.startswith("COUNT")
        return _Estimates(np.transpose(found, axes), radius + 0.5 * is_count, is_count)

    def _build(self, plan: Plan, tables: Sequence[_Measured], **rows: Any) -> QueryAnswer:
        total = sum((each.epsilon for each in tables), Fraction(0))
        charged = replace(plan, epsilon=total, delta=Fraction(0), method="workload")
        last = tables[-1].last
        policy = self.vault.policy
        simulation = last.guarantee.simulation
        return QueryAnswer(
            question=plan.question_text,
            columns=list(plan.columns),
            confidence=self.confidence,
            epsilon=float(total),
            method="workload",
            entry=last.entry,
            head=last.head,
            stored=all(each.last.stored for each in tables),
            answered=last.answered,
            guarantee=make_guarantee(charged, policy, simulation=simulation),
            provenance=Provenance.now(
                MADE_BY,
                {
                    "question": plan.question_text,
                    "epsilon": float(total),
                    "measured": [one.query for each in tables for one in each.table.measurements],
                },
                seed=last.provenance.seed,
            ),
            warnings=last.warnings,
            **rows,
        )


def _place(attribute: Attribute, cells: CellQuestion) -> int | slice:
    if attribute in cells.fixed:
        return attribute.values.index(cells.fixed[attribute])
    return slice(None)


def _amount(epsilon: float) -> Fraction:
    return exactly(epsilon)


class Synopsis:
    """The tables that workloads have measured: texts and prices only; cells are in the ledger.

    Args:
        path: the file that keeps them for later; None to forget them with the vault.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.tables: list[MeasuredTable] = []
        if path is not None:
            with suppress(OSError, ValueError, KeyError, TypeError):
                self.tables = [_read_table(each) for each in json.loads(path.read_text("utf-8"))]

    def add(self, plan: WorkloadPlan) -> None:
        """Keep what a workload has measured."""
        new = [each for each in plan.tables if each not in self.tables]
        if not new:
            return
        self.tables += new
        if self.path is not None:
            with replacing(self.path, overwrite=True) as draft:
                text = json.dumps([_table_facts(each) for each in self.tables], indent=1)
                draft.write_text(text, "utf-8")

    def answer(self, run: WorkloadRun, query: str) -> QueryAnswer:
        """Answer a question from measured tables; nothing is charged.

        Raises:
            QueryRefused: CEL-Q344 no table holds it.
        """
        vault = run.vault
        plan = vault.plan(QueryRequest(query, epsilon=1, analyst=run.analyst))
        cells = read_cells(query, plan, vault.policy)
        if cells is None:
            raise QueryRefused("CEL-Q344.no_synopsis")
        found = {table: self._holding(run, table, cells) for table in cells.tables.values()}
        measured = {table: run._measure(each) for table, each in found.items()}
        return run.estimate(plan, cells, measured)

    def _holding(self, run: WorkloadRun, table: TableOfCells, cells: CellQuestion) -> MeasuredTable:
        """The table of the most exact estimate of which every answer is stored."""
        known = [
            each
            for each in self.tables
            if each.table == table and set(cells.attributes) <= set(each.attributes)
        ]
        for each in sorted(known, key=lambda one: _variance(one, cells)):
            stored = (run.vault.ledger.has_answer(run.charge(one)) for one in each.measurements)
            if _variance(each, cells) < inf and all(stored):
                return each
        raise QueryRefused("CEL-Q344.no_synopsis")


def _variance(table: MeasuredTable, cells: CellQuestion) -> float:
    return table.marginals.variance(table.keys_of(cells.attributes))


def _table_facts(table: MeasuredTable) -> dict[str, Any]:
    return asdict(table)


def _read_table(facts: dict[str, Any]) -> MeasuredTable:
    def attributes(listed: list[dict[str, Any]]) -> tuple[Attribute, ...]:
        return tuple(Attribute(each["column"], tuple(each["values"])) for each in listed)

    return MeasuredTable(
        TableOfCells(**facts["table"]),
        attributes(facts["attributes"]),
        tuple(
            Measurement(each["query"], each["epsilon"], attributes(each["attributes"]))
            for each in facts["measurements"]
        ),
        tuple(facts["variances"]),
    )
