"""From a plan to released numbers, and from these to the rows of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from celosia.core.randomness import Source
from celosia.queries.after import Row, kept_places, shown
from celosia.queries.combining import Cell, combined
from celosia.queries.planning.plan import Plan
from celosia.queries.planning.step import Ask, Bounds, Known, Measured, Step
from celosia.queries.planning.totals import Recipe


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that was released for a plan; rows and intervals follow from it."""

    plan: Plan
    known: Known | None
    """The values of each key of GROUP BY; the answer has a number for each combination."""
    places: tuple[int, ...] | None
    """Which combinations are groups; all of them if None."""
    found: Mapping[str, Measured]
    """By the name of what was measured."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for the ledger."""
        return {
            "known": None if self.known is None else [list(each) for each in self.known],
            "places": None if self.places is None else list(self.places),
            "found": {name: each.as_dict() for name, each in self.found.items()},
        }

    @classmethod
    def from_dict(cls, plan: Plan, facts: Mapping[str, Any]) -> Outcome:
        """What `as_dict` wrote, for the same plan."""
        known, places = facts["known"], facts["places"]
        return cls(
            plan,
            None if known is None else tuple(tuple(each) for each in known),
            None if places is None else tuple(places),
            {name: Measured.from_dict(each) for name, each in facts["found"].items()},
        )

    def table(self, confidence: float) -> list[tuple[Row, dict[str, Bounds | None]]]:
        """The rows that are shown, each with the bounds of its numbers."""
        question = self.plan.question
        groups = [()] if self.known is None else list(product(*self.known))
        cells = {each.aggregate.name: self._cells(each, confidence) for each in self.plan.recipes}
        names = [each.name for each in question.keys]
        rows: list[Row] = []
        bounds: list[dict[str, Bounds | None]] = []
        for place in range(len(groups)) if self.places is None else self.places:
            numbers = {name: listed[place] for name, listed in cells.items()}
            keys = dict(zip(names, groups[place], strict=True))
            rows.append(keys | {name: value for name, (value, _) in numbers.items()})
            bounds.append({name: bound for name, (_, bound) in numbers.items()})
        after = question.after
        return [
            (
                shown(rows[place], after),
                {word: each for word, each in bounds[place].items() if word in after.columns},
            )
            for place in kept_places(rows, after)
        ]

    def caps(self) -> dict[str, Any]:
        """The caps that were chosen privately, by what they were chosen for: released numbers."""
        labels = {name: part.name for step in self.plan.work for name, part in step.labelled}
        return {
            labels[name]: _in_units(each.released["cap"], self._step(name))
            for name, each in self.found.items()
            if "cap" in each.released
        }

    def _cells(self, recipe: Recipe, confidence: float) -> list[Cell]:
        """The numbers of an aggregate, one for each combination of keys."""
        names = recipe.totals or (recipe.aggregate.name,)
        # All totals of a number keep to their bounds together.
        each = 1 - (1 - confidence) / len(names)
        measured = [self.found[name] for name in names]
        limits = [self._bounds(name, each) for name in names]
        steps = [self._step(name) for name in names]
        return [
            combined(
                recipe,
                [one.values[place] for one in measured],
                [one[place] for one in limits],
                steps,
            )
            for place in range(len(measured[0].values))
        ]

    def _bounds(self, name: str, confidence: float) -> tuple[Bounds | None, ...]:
        step, number = self._made_by(name)
        return step.bounds(number, self.found[name], confidence)

    def _step(self, name: str) -> Fraction:
        step, number = self._made_by(name)
        return step.unit(number)

    def _made_by(self, name: str) -> tuple[Step, int]:
        for step in self.plan.work:
            if name in step.names:
                return step, step.names.index(name)
        raise AssertionError("every total of a plan has its step")


def carry_out(plan: Plan, ask: Ask, *, rng: Source) -> Outcome:
    """Ask the engine and add noise. Call it only after the plan was charged."""
    known, places = plan.known if plan.question.keys else None, None
    found: dict[str, Measured] = {}
    for step in plan.work:
        if step.finds_keys:
            known, places = step.find(ask, rng=rng)
            continue
        found.update(zip(step.names, step.measure(ask, known=known, rng=rng), strict=True))
    return Outcome(plan, known, places, found)


def _in_units(cap: Any, step: Fraction) -> Any:
    """A cap, or one for each group, in the unit of the answer."""
    if isinstance(cap, list):
        return [_in_units(each, step) for each in cap]
    worth = cap * step
    return int(worth) if worth.denominator == 1 else float(worth)
