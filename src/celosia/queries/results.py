"""The execution of a plan into released numbers, and the rows of an answer from these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, isfinite
from typing import Any

from sqlglot import exp

from celosia.core.randomness import Source
from celosia.queries.emission.expression_types import infer_type
from celosia.queries.estimates import Cell, estimate
from celosia.queries.planning.aggregates import Derivation
from celosia.queries.planning.plan import Plan
from celosia.queries.planning.step import Bounds, Executor, GroupKeys, ReleasedValues, Step
from celosia.queries.post_processing import Row, post_process

RowBounds = dict[str, Bounds | None]
"""Bounds of the numbers of a row, by their names."""
_ROUNDED_UP = Context(prec=15, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that was released for a plan; rows and intervals follow from it."""

    plan: Plan
    group_keys: GroupKeys | None
    """The values of each key of GROUP BY; the answer has a number for each combination."""
    kept_groups: tuple[int, ...] | None
    """Which combinations are groups; all of them if None."""
    measured: Mapping[str, ReleasedValues]
    """By the name of what was measured."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for the ledger."""
        return {
            "group_keys": None
            if self.group_keys is None
            else [list(each) for each in self.group_keys],
            "kept_groups": None if self.kept_groups is None else list(self.kept_groups),
            "measured": {name: each.as_dict() for name, each in self.measured.items()},
        }

    @classmethod
    def from_dict(cls, plan: Plan, facts: Mapping[str, Any]) -> Outcome:
        """Read what `as_dict` wrote, for the same plan."""
        known, places = facts["group_keys"], facts["kept_groups"]
        return cls(
            plan,
            None if known is None else tuple(tuple(each) for each in known),
            None if places is None else tuple(places),
            {name: ReleasedValues.from_dict(each) for name, each in facts["measured"].items()},
        )

    def table(self, confidence: float) -> list[tuple[Row, RowBounds]]:
        """The rows that are shown, each with the bounds of its numbers.

        Args:
            confidence: of each bound by itself.
        """
        return [(row, bounds) for row, bounds, _ in self._table(confidence)]

    def table_with_noise(
        self, confidence: float
    ) -> list[tuple[Row, RowBounds, dict[str, float | None]]]:
        """The same, and for each row what the noise alone does not add to each of its numbers.

        Sums and counts by their noise; means and variances by the farthest that theirs can take
        them. Each holds by itself, for the number under the caps that were chosen.
        """
        return [
            (row, bounds, {name: _largest_error(row[name], each) for name, each in noise.items()})
            for row, bounds, noise in self._table(confidence)
        ]

    def _table(self, confidence: float) -> list[tuple[Row, RowBounds, RowBounds]]:
        """The rows that are shown, with the bounds of their numbers and those of the noise alone.

        The latter hold the exact numbers under the caps that were chosen, and not what these took
        away.
        """
        question = self.plan.question
        groups = [()] if self.group_keys is None else list(product(*self.group_keys))
        cells = {
            each.aggregate.name: self._cells(each, confidence) for each in self.plan.derivations
        }
        names = [each.name for each in question.keys]
        places = range(len(groups)) if self.kept_groups is None else self.kept_groups
        rows: list[Row] = []
        for place in places:
            keys = self.plan.label_keys(dict(zip(names, groups[place], strict=True)))
            rows.append(keys | {name: listed[place][0][0] for name, listed in cells.items()})
        steps = question.post_processing
        shown = {name: listed for name, listed in cells.items() if name in steps.columns}
        return [
            (
                row,
                {name: listed[places[at]][0][1] for name, listed in shown.items()},
                {name: listed[places[at]][1][1] for name, listed in shown.items()},
            )
            for at, row in post_process(rows, steps)
        ]

    def caps(self) -> dict[str, Any]:
        """The caps that were chosen privately, by what they were chosen for: released numbers."""
        labels = {name: part.name for step in self.plan.steps for name, part in step.labelled}
        return {
            labels[name]: _scale_cap(each.released["cap"], self._cap_unit(name))
            for name, each in self.measured.items()
            if "cap" in each.released
        }

    def _cells(self, recipe: Derivation, confidence: float) -> list[tuple[Cell, Cell]]:
        """The numbers of an aggregate, one for each combination of keys.

        Each twice, with its bounds and with those of the noise alone, which are mostly the same.
        """
        names = recipe.totals or (recipe.aggregate.name,)
        # All totals of a number keep to their bounds together.
        each = 1 - (1 - confidence) / len(names)
        values = zip(*(self.measured[name].values for name in names), strict=True)
        bounds = zip(*(self._bounds(name, each) for name in names), strict=True)
        noises = zip(*(self._noise(name, each) for name in names), strict=True)
        steps = [self._step(name) for name in names]
        cells = []
        for totals, limits, noise in zip(values, bounds, noises, strict=True):
            cell = estimate(recipe, totals, limits, steps)
            cells.append(
                (cell, cell if limits == noise else estimate(recipe, totals, noise, steps))
            )
        return cells

    def _bounds(self, name: str, confidence: float) -> tuple[Bounds | None, ...]:
        step, number = self._made_by(name)
        return step.bounds(number, self.measured[name], confidence)

    def _noise(self, name: str, confidence: float) -> tuple[Bounds | None, ...]:
        step, number = self._made_by(name)
        measured = self.measured[name]
        errors = step.noise(number, measured, confidence)
        return tuple(
            None if error is None else (value - error, value + error)
            for value, error in zip(measured.values, errors, strict=True)
        )

    def _step(self, name: str) -> Fraction:
        step, number = self._made_by(name)
        return step.unit(number)

    def _cap_unit(self, name: str) -> Fraction:
        step, number = self._made_by(name)
        return step.cap_unit(number)

    def _made_by(self, name: str) -> tuple[Step, int]:
        for step in self.plan.steps:
            if name in step.names:
                return step, step.names.index(name)
        raise AssertionError("every total of a plan has its step")


_EXAMPLE_KEYS: Mapping[str | None, Any] = {
    "integer": 0,
    "boolean": False,
    "date": "2000-01-01",
    "timestamp": "2000-01-01",
}
"""A key of each kind, in the place of those that are found later; else a text."""


def list_planned_queries(plan: Plan) -> Iterator[exp.Expr]:
    """Every query of a plan, as far as the policy and the question tell it.

    Keys that will be found in the data have a value of their kind in their place, and caps that
    will be chosen another cap: only written values differ.

    Raises:
        QueryRefused: CEL-Q127 and others, what cannot be written for the engine.
    """
    question = plan.question
    known = plan.group_keys if question.keys else None
    for step in plan.steps:
        if step.finds_keys:
            from celosia.queries.planning.partition_selection import (
                PartitionSelection,  # loaded by now
            )

            assert isinstance(step, PartitionSelection)
            target = step.context.target
            kinds = [
                infer_type(key.expression, question.source, target=target) for key in question.keys
            ]
            known = tuple((_EXAMPLE_KEYS.get(kind, ""),) for kind in kinds)
        yield from step.queries(known)


def execute_plan(plan: Plan, ask: Executor, *, rng: Source) -> Outcome:
    """Ask the engine and add noise. Call it only after the plan was charged."""
    return _execute(plan, lambda _step, _known: ask, rng)


def execute_plan_on_empty(plan: Plan, *, rng: Source) -> Outcome:
    """Execute a plan on the empty database: noise on zero. No engine runs."""
    return _execute(plan, lambda step, known: partial(step.empty_rows, group_keys=known), rng)


def _execute(
    plan: Plan, asker: Callable[[Step, GroupKeys | None], Executor], rng: Source
) -> Outcome:
    known, places = plan.group_keys if plan.question.keys else None, None
    found: dict[str, ReleasedValues] = {}
    for step in plan.steps:
        ask = asker(step, known)
        if step.finds_keys:
            known, places = step.find(ask, rng=rng)
            continue
        found.update(zip(step.names, step.measure(ask, group_keys=known, rng=rng), strict=True))
    return Outcome(plan, known, places, found)


def _largest_error(value: float | None, bounds: Bounds | None) -> float | None:
    """The largest distance of the bounds from a number, rounded up to the digits of a double.

    Numbers of a decimal grid are taken as they are written, so that 159.91 - 100 is 59.91.
    """
    if value is None or bounds is None:
        return None
    if not all(map(isfinite, bounds)):
        return inf
    middle, low, high = (Decimal(repr(each)) for each in (value, *bounds))
    return float(_ROUNDED_UP.plus(max(high - middle, middle - low, Decimal(0))))


def _scale_cap(cap: Any, step: Fraction) -> Any:
    """A cap, or one for each group, in the unit of the answer."""
    if isinstance(cap, list):
        return [_scale_cap(each, step) for each in cap]
    value = cap * step
    return int(value) if value.denominator == 1 else float(value)
