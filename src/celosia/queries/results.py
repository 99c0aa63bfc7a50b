"""The execution of a plan into released numbers, and the rows of an answer from these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, floor, inf, isfinite, sqrt
from typing import Any

from sqlglot import exp

from celosia.core.randomness import Source
from celosia.queries.computed_intervals import propagate
from celosia.queries.emission.expression_types import infer_type
from celosia.queries.planning.aggregates import RANKS, Derivation
from celosia.queries.planning.moments import PairRanges
from celosia.queries.planning.plan import Bounds, Executor, GroupKeys, Plan, ReleasedValues, Step
from celosia.queries.planning.ranges import Range
from celosia.queries.post_processing import Row, post_process

Cell = tuple[float | int | None, Bounds | None]
"""A number of an answer, and between what the exact one lies; None where nothing is public."""
Interval = tuple[Fraction | None, Fraction | None]
"""Ends at infinity are None."""


def estimate(
    recipe: Derivation,
    values: Sequence[float],
    bounds: Sequence[Bounds | None],
    steps: Sequence[Fraction],
) -> Cell:
    """The number that a recipe makes of its totals, with its bounds.

    Args:
        recipe: how the aggregate follows.
        values: the noisy totals, in steps.
        bounds: of each exact total, in steps.
        steps: what one step of each total is worth.
    """
    kind = recipe.aggregate.kind
    totals = [Fraction(value) * step for value, step in zip(values, steps, strict=True)]
    limits = [_scale(each, step) for each, step in zip(bounds, steps, strict=True)]
    if (
        kind in COUNTS and totals[0].denominator != 1
    ):  # noise on a finer grid, as of linear programs
        return round(totals[0]), _as_floats(_outwards(limits[0]))
    if kind in RANKS or len(totals) == 1:
        return _number(totals[0]), _as_floats(limits[0])
    assert recipe.bounds is not None
    if recipe.pair is not None:
        return _estimate_pair(recipe, totals, limits)
    low, high = recipe.bounds
    inside = low - recipe.centre, high - recipe.centre
    count = totals[-1]
    if kind == "mean":
        mean = totals[0] / count + recipe.centre if count >= 1 else None
        spread = _mean_bounds(limits[0], limits[1], inside)
        moved = spread and (spread[0] + recipe.centre, spread[1] + recipe.centre)
        return (None if mean is None else float(_clip(mean, low, high))), _as_floats(moved)
    most = ((high - low) / 2) ** 2
    spread, found = _variance_bounds(limits, inside, most), None
    sample = recipe.aggregate.sample
    if count >= (2 if sample else 1):
        exact = _clip(totals[1] / count - (totals[0] / count) ** 2, Fraction(0), most)
        found = float(exact * (count / (count - 1) if sample else 1))
    if sample and spread is not None:
        spread = _sample_variance_bounds(spread, limits[2])
    return _take_root(found, spread, is_root=kind == "deviation")


def _estimate_pair(
    recipe: Derivation, totals: Sequence[Fraction], limits: Sequence[Interval | None]
) -> Cell:
    """The number of two values, from the moments of both (`moments`)."""
    assert recipe.bounds is not None
    assert recipe.pair is not None
    pair = PairRanges(
        recipe.aggregate, (recipe.bounds, recipe.pair[0]), (recipe.centre, recipe.pair[1])
    )
    count, value = totals[-1], None
    if count >= (2 if recipe.aggregate.sample else 1):
        means = [
            _clip(total / count, *ends) for total, ends in zip(totals, pair.within, strict=False)
        ]
        found = pair.estimate([(each, each) for each in means], (count, count))
        value = None if found is None else (found[0] + found[1]) / 2
    bounds = [
        _mean_bounds(each, limits[-1], ends)
        for each, ends in zip(limits, pair.within, strict=False)
    ]
    known = [each for each in bounds if each is not None]
    fewest, highest = limits[-1] or (None, None)
    if len(known) < len(pair.within) or fewest is None or fewest < 2:
        return value, None
    return value, pair.estimate(known, (fewest, highest))


COUNTS = ("rows", "count", "distinct")


def _outwards(limits: Interval | None) -> Interval | None:
    """Bounds of a count that end with whole numbers, and hold no less."""
    if limits is None:
        return None
    low, high = limits
    return (
        None if low is None else Fraction(floor(low)),
        None if high is None else Fraction(ceil(high)),
    )


def _scale(bounds: Bounds | None, step: Fraction) -> Interval | None:
    if bounds is None:
        return None
    low, high = (Fraction(end) * step if isfinite(end) else None for end in bounds)
    return low, high


def _mean_bounds(total: Interval | None, count: Interval | None, inside: Range) -> Range | None:
    """Bounds of a mean of values inside a range, from those of its sum and count.

    The quotient rises with the sum; in the count it falls where the sum is positive and rises where
    it is negative, so the extremes lie at ends of both. Where there may be no rows, or an end is
    not known, the end of the range stands for it.
    """
    if total is None or count is None:
        return None
    low, high = inside
    fewest, highest = count
    if fewest is None or fewest < 1:
        return inside
    least, most = total
    bottom, top = low, high
    if least is not None and (least <= 0 or highest is not None):
        bottom = least / (highest if highest is not None and least > 0 else fewest)
    elif least is not None:
        bottom = Fraction(0)
    if most is not None and (most >= 0 or highest is not None):
        top = most / (fewest if highest is None or most > 0 else highest)
    elif most is not None:
        top = Fraction(0)
    return _clip(bottom, low, high), _clip(top, low, high)


def _variance_bounds(
    limits: Sequence[Interval | None], inside: Range, most: Fraction
) -> Range | None:
    """Bounds of a variance from those of a sum, a sum of squares and a count."""
    farthest = max(abs(inside[0]), abs(inside[1])) ** 2
    mean = _mean_bounds(limits[0], limits[2], inside)
    square = _mean_bounds(limits[1], limits[2], (Fraction(0), farthest))
    if mean is None or square is None:
        return None
    nearest = Fraction(0) if mean[0] <= 0 <= mean[1] else min(abs(mean[0]), abs(mean[1]))
    largest = max(abs(mean[0]), abs(mean[1]))
    low, high = square[0] - largest**2, square[1] - nearest**2
    return _clip(low, Fraction(0), most), _clip(high, Fraction(0), most)


def _sample_variance_bounds(spread: Range, count: Interval | None) -> Range:
    """Bounds of a sample's variance: n / (n - 1) of the population's, which falls as n grows.

    There is one from two rows on, so n / (n - 1) is never more than 2.
    """
    fewest, highest = count or (None, None)
    least = highest / (highest - 1) if highest is not None and highest >= 2 else Fraction(1)
    most = fewest / (fewest - 1) if fewest is not None and fewest >= 2 else Fraction(2)
    return spread[0] * least, spread[1] * most


def _take_root(value: float | None, bounds: Range | None, *, is_root: bool) -> Cell:
    if not is_root:
        return value, _as_floats(bounds)
    ends = None if bounds is None else (sqrt(bounds[0]), sqrt(bounds[1]))
    return (None if value is None else sqrt(value)), ends


def _clip(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    return min(max(value, low), high)


def _number(value: Fraction) -> float | int:
    return int(value) if value.denominator == 1 else float(value)


def _as_floats(interval: Interval | Range | None) -> Bounds | None:
    """The ends as floats; None where neither is known."""
    if interval is None:
        return None
    low, high = interval
    return (-inf if low is None else float(low)), (inf if high is None else float(high))


PRESENT = 0.95
"""The chance that a group without rows is not shown by SELECT DISTINCT."""
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
    branches: tuple[Outcome, ...] = ()
    """What was released for each branch of the plan."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for the ledger."""
        if self.branches:
            return {"branches": [each.as_dict() for each in self.branches]}
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
        if plan.branches:
            pairs = zip(plan.branches, facts["branches"], strict=True)
            return _compound(plan, [cls.from_dict(*each) for each in pairs])
        known, places = facts["group_keys"], facts["kept_groups"]
        return cls(
            plan,
            None if known is None else tuple(tuple(each) for each in known),
            None if places is None else tuple(places),
            {name: ReleasedValues.from_dict(each) for name, each in facts["measured"].items()},
        )

    def amounts(self, name: str) -> list[float]:
        """The released numbers of a total, one for each combination of keys, in its unit."""
        step = self._step(name)
        return [float(Fraction(value) * step) for value in self.measured[name].values]

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
        if self.branches:
            return self._stacked_table(confidence)
        question = self.plan.question
        groups = [()] if self.group_keys is None else list(product(*self.group_keys))
        cells = {
            each.aggregate.name: self._cells(each, confidence) for each in self.plan.derivations
        }
        names = [each.name for each in question.keys]
        places = self._present(range(len(groups)) if self.kept_groups is None else self.kept_groups)
        rows: list[Row] = []
        for place in places:
            keys = self.plan.label_keys(dict(zip(names, groups[place], strict=True)))
            rows.append(keys | {name: listed[place][0][0] for name, listed in cells.items()})
        steps = question.post_processing
        shown: dict[str, Mapping[int, tuple[Cell, Cell]]] = {
            name: dict(enumerate(listed)) for name, listed in cells.items() if name in steps.columns
        }
        shown |= self._computed_cells(rows, places, confidence)
        return [
            (
                row,
                {name: listed[places[at]][0][1] for name, listed in shown.items()},
                {name: listed[places[at]][1][1] for name, listed in shown.items()},
            )
            for at, row in post_process(rows, steps)
        ]

    def _stacked_table(self, confidence: float) -> list[tuple[Row, RowBounds, RowBounds]]:
        """The tables of all branches below each other, with the names of the first."""
        steps = self.plan.question.post_processing
        names = self.plan.question.branches[0].post_processing.columns
        stacked: list[list[Row]] = []
        for branch in self.branches:
            words = dict(zip(branch.plan.question.post_processing.columns, names, strict=True))
            stacked += [
                [{words[name]: value for name, value in part.items()} for part in row]
                for row in branch._table(confidence)
            ]
        table = []
        for at, row in post_process([row for row, *_ in stacked], steps):
            bounds, noise = (
                {name: each for name, each in part.items() if name in row}
                for part in stacked[at][1:]
            )
            table.append((row, bounds, noise))
        return table

    def _present(self, places: Sequence[int]) -> Sequence[int]:
        """The groups whose count is above its noise, where these are asked for.

        Groups that were found in the data have rows.
        """
        counted = self.plan.question.post_processing.present
        if counted is None or self.kept_groups is not None:
            return places
        (recipe,) = (each for each in self.plan.derivations if each.aggregate.name == counted)
        cells = [noisy for _, noisy in self._cells(recipe, PRESENT)]
        return [place for place in places if _is_above(cells[place], 0)]

    def _computed_cells(
        self, rows: list[Row], places: Sequence[int], confidence: float
    ) -> dict[str, dict[int, tuple[Cell, Cell]]]:
        """The bounds of computed numbers that are shown, by the place of their group."""
        steps, recipes = self.plan.question.post_processing, self.plan.derivations
        named = {each.aggregate.name: each for each in recipes}
        trees: dict[str, exp.Expression] = {}
        found: dict[str, dict[int, tuple[Cell, Cell]]] = {}
        for each in steps.computed:
            trees[each.name] = tree = inline_columns(each.expression, trees)
            behind = {column.name for column in tree.find_all(exp.Column)} & set(named)
            if each.name not in steps.columns or not behind or tree.find(exp.Window) is not None:
                continue
            # All numbers behind it keep to their bounds together.
            apart = 1 - (1 - confidence) / len(behind)
            cells = {name: self._cells(named[name], apart) for name in behind}
            found[each.name] = {
                place: (
                    (
                        None,
                        _propagated(tree, row, {name: cells[name][place][0][1] for name in behind}),
                    ),
                    (
                        None,
                        _propagated(tree, row, {name: cells[name][place][1][1] for name in behind}),
                    ),
                )
                for place, row in zip(places, rows, strict=True)
            }
        return found

    def caps(self) -> dict[str, Any]:
        """The caps that were chosen privately, by what they were chosen for: released numbers."""
        if self.branches:
            return {
                f"{number}. {name}": cap
                for number, each in enumerate(self.branches, start=1)
                for name, cap in each.caps().items()
            }
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


def inline_columns(tree: exp.Expression, trees: Mapping[str, exp.Expression]) -> exp.Expression:
    """An expression with others in the place of their names."""

    def changed(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in trees:
            return exp.Paren(this=trees[node.name].copy())
        return node

    made = tree.transform(changed)
    assert isinstance(made, exp.Expression)
    return made


def _propagated(
    tree: exp.Expression, row: Row, bounds: Mapping[str, Bounds | None]
) -> Bounds | None:
    """The bounds of an expression of a row; keys are exact numbers."""
    keys = {
        name: (float(value), float(value))
        for name, value in row.items()
        if name not in bounds and isinstance(value, int | float)
    }
    return propagate(tree, {**keys, **bounds})


def list_planned_queries(plan: Plan) -> Iterator[exp.Expr]:
    """Every query of a plan, as far as the policy and the question tell it.

    Keys that will be found in the data have a value of their kind in their place, and caps that
    will be chosen another cap: only written values differ.

    Raises:
        QueryRefused: CEL-Q127 and others, what cannot be written for the engine.
    """
    if plan.branches:
        for each in plan.branches:
            yield from list_planned_queries(each)
        return
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
    if plan.branches:
        return _compound(plan, [_execute(each, asker, rng) for each in plan.branches])
    known, places = plan.group_keys if plan.question.keys else None, None
    found: dict[str, ReleasedValues] = {}
    for step in plan.steps:
        ask = asker(step, known)
        if step.finds_keys:
            known, places = step.find(ask, rng=rng)
            continue
        made = step.measure(ask, group_keys=known, rng=rng)
        found.update(zip(step.names, made, strict=True))
        for each in made:  # some groups were chosen among those of public keys
            places = tuple(sorted(each.released["chosen"])) if "chosen" in each.released else places
    return Outcome(plan, known, places, found)


def _compound(plan: Plan, branches: Sequence[Outcome]) -> Outcome:
    return Outcome(plan, None, None, {}, tuple(branches))


def _is_above(cell: Cell, least: float) -> bool:
    """Whether a number is above another, as far as its noise tells."""
    value, bounds = cell
    return (value or 0) > least if bounds is None else bounds[0] > least


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
