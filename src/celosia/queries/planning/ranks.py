"""MIN, MAX and quantiles by the exponential mechanism, for units with one row or several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from celosia.accounting.losses import BoundedRangeLoss, Loss, PureLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.messages import Message, unit_word, unit_words
from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.mechanisms.selection.base import sampling_rate, shortfall
from celosia.mechanisms.statistics.quantiles import Segments, check_share
from celosia.queries.algebra import Aggregate, Question
from celosia.queries.emission import FixedPoint, histogram_query, people_by_rows_query
from celosia.queries.emission.histograms import Extreme
from celosia.queries.planning import plan
from celosia.queries.planning.aggregates import Derivation
from celosia.queries.planning.context import format_key
from celosia.queries.planning.ranges import choose_fixed_point, infer_grid, is_whole
from celosia.queries.planning.rank_contribution import CAP_SHARE, RankContribution, RowCap

MOST_POINTS = 2**18
"""Points between the bounds that an answer is chosen from."""
RANK_CONFIDENCE = 0.99
"""Of the intervals of ranks, whose ends are drawn for it: they hold for any lower one as well."""
END_SHARE = Fraction(1, 2)
"""The share of epsilon for the ends of an interval."""
End = Literal["lower", "upper"]
EXTREME = Fraction(1, 100)
"""The share that stands for the minimum, and one minus it for the maximum: the least value of all
is that of one unit, and no private answer can be near it."""


@dataclass(frozen=True, kw_only=True)
class RankStep(plan.Step):
    """A point of a grid whose rank is near the wanted one, for each group.

    The engine returns how many rows have each point; a point is chosen with a chance that falls
    exponentially with the number of rows by which its rank misses the target, as in `Quantile`.

    A unit with several rows counts with at most some of them: as many as declared caps allow it, or
    a cap that is chosen privately, for a fifth of epsilon. The greatest of all values is the
    greatest of each unit's own greatest, so for MIN and MAX a unit counts once in each group.

    Guarantee: epsilon-DP, delta 0, for all rows of one unit. Over all groups the unit moves the
    misses, of one point in each group, by at most `RankContribution.steps` in sum; chances are
    proportional to exp(-rate * miss), so the log-ratio of all groups together is at most 2 * rate *
    steps (McSherry & Talwar 2007, Thm 6, and independent draws). The rate is set by that. Which of
    a unit's rows count follows from its own rows and the cap. A chosen cap costs the epsilon of
    `RowCap` before, and the two add up (Dwork & Roth 2014, Thm 3.16).
    """

    context: plan.StepContext
    derivation: Derivation
    epsilon: Fraction
    relation: Relation
    rows: RankContribution
    groups: int
    """How many there are, or may be at most."""
    intervals: bool = False
    """Whether ends of an interval are drawn too, see `ends`."""

    def __post_init__(self) -> None:
        _ = self.rate(self.rows.most)  # out of reach is refused here
        for _end in self.ends:
            _ = self.end_rate(self.rows.most)
        if self.rows.is_chosen:
            _ = self.cap.mechanism

    @property
    def names(self) -> tuple[str, ...]:
        return (self.derivation.aggregate.name,)

    @cached_property
    def share(self) -> Fraction:
        """The wanted share of rows below the answer."""
        wanted = quantile_share(self.derivation.aggregate)
        return EXTREME if wanted == 0 else 1 - EXTREME if wanted == 1 else wanted

    @cached_property
    def extreme(self) -> Extreme | None:
        """Which of a unit's own values counts, where it is one only."""
        if not self.rows.is_reduced:
            return None
        return "minimum" if quantile_share(self.derivation.aggregate) == 0 else "maximum"

    @cached_property
    def fixed(self) -> FixedPoint:
        """The grid of the answer."""
        assert self.derivation.bounds is not None
        context, argument = self.context, self.derivation.aggregate.argument
        source, target = context.question.source, context.target
        low, high = self.derivation.bounds
        grid, whole = infer_grid(argument, source, target), is_whole(argument, source, target)
        made = choose_fixed_point((low, high), grid=grid, is_whole=whole)
        step = made.step
        while (high - low) / step > MOST_POINTS:
            step *= 10
        return choose_fixed_point((low, high), grid=step, is_whole=False)

    @cached_property
    def coarsened(self) -> int:
        """1 where the grid of the answer is coarser than that of the values, else 0."""
        assert self.derivation.bounds is not None
        context, argument = self.context, self.derivation.aggregate.argument
        source, target = context.question.source, context.target
        grid, whole = infer_grid(argument, source, target), is_whole(argument, source, target)
        made = choose_fixed_point(self.derivation.bounds, grid=grid, is_whole=whole)
        return int(made.step < self.fixed.step)

    @cached_property
    def epsilon_shares(self) -> tuple[Fraction, Fraction]:
        """The epsilon of the choice of a cap, and that of the ranks."""
        first = self.epsilon * CAP_SHARE if self.rows.is_chosen else Fraction(0)
        return first, self.epsilon - first

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """The ends of the interval that are drawn.

        An end is a point drawn like the answer, for a target that is `margin` rows lower, or
        higher: if its rank misses by less than that, it is on its side of the exact quantile. Below
        the minimum and above the maximum there is the declared bound.
        """
        if not self.intervals:
            return ()
        wanted = quantile_share(self.derivation.aggregate)
        return ("upper",) if wanted == 0 else ("lower",) if wanted == 1 else ("lower", "upper")

    @property
    def point_share(self) -> Fraction:
        """The epsilon of the answer itself; each end of the interval has a part of the rest."""
        whole = self.epsilon_shares[1]
        return whole * (1 - END_SHARE) if self.ends else whole

    def rate(self, rows: int) -> Fraction:
        """Of the exponential mechanism, per step of rank, where a unit has so many rows."""
        steps = self.rows.steps(self.share, self.relation, rows=rows, groups=self.groups)
        return sampling_rate(self.point_share, steps)

    @property
    def end_share(self) -> Fraction:
        """The epsilon of one end."""
        return self.epsilon_shares[1] * END_SHARE / len(self.ends)

    def end_rate(self, rows: int) -> Fraction:
        """The same of one end of the interval."""
        steps = self.rows.steps(self.share, self.relation, rows=rows, groups=self.groups)
        return sampling_rate(self.end_share, steps)

    def margin(self, rows: int) -> int:
        """By how much the targets of the ends are moved, in the steps of `Segments.misses`.

        The rank of an end misses its target by less, but for a chance of its part of one minus
        RANK_CONFIDENCE. One row more is for quantiles that lie between two rows.
        """
        sure = 1 - (1 - RANK_CONFIDENCE) / len(self.ends)
        points = self.fixed.high - self.fixed.low + 2
        return ceil(shortfall(sure, rate=self.end_rate(rows), size=points)) + (
            1 + self.share.denominator
        )

    def miss(self, rows: int) -> float:
        """Rows by which the rank misses in about half of all cases, or fewer."""
        points = self.fixed.high - self.fixed.low + 1
        return shortfall(0.5, rate=self.rate(rows), size=points) / self.share.denominator

    @cached_property
    def cap(self) -> RowCap:
        """How the cap is chosen."""
        return RowCap(
            epsilon=self.epsilon_shares[0],
            most=self.rows.most,
            miss=self.miss(self.rows.most) / self.rows.most,
            relation=self.relation,
        )

    @property
    def parts(self) -> tuple[plan.Part, ...]:
        return (
            plan.Part(
                name=self.derivation.label,
                mechanism=_with_interval(self, describe_mechanism(self)),
                bound=describe_bound(self),
                epsilon=self.epsilon,
            ),
        )

    def unit(self, number: int) -> Fraction:
        return self.fixed.step

    def cap_unit(self, number: int) -> Fraction:
        """Caps are on rows."""
        return Fraction(1)

    def losses(self, groups: int) -> tuple[Loss, ...]:
        first, last = self.epsilon_shares
        shares = (self.point_share, *(self.end_share for _ in self.ends))
        ranks: tuple[Loss, ...] = tuple(map(BoundedRangeLoss, shares))
        if self.context.key_count:
            ranks = (PureLoss(last),)
        if not first:
            return ranks
        if self.relation is Relation.CHANGE_ONE:
            return (PureLoss(first), *ranks)
        return (LaplaceLoss(self.cap.mechanism.level_noise.scale, 1), *ranks)

    def measure(
        self, execute: plan.Executor, *, group_keys: plan.GroupKeys | None, rng: Source
    ) -> tuple[plan.ReleasedValues, ...]:
        if not all(group_keys or ()):
            return (plan.ReleasedValues(()),)
        lists = group_keys if self.context.key_count else None
        rows, released = self.rows.most, dict[str, Any]()
        if self.rows.is_chosen:
            rows, noisy = self.cap.choose(self.levels(execute, lists), rng)
            released = {"cap": rows, "people": noisy}
        counted = self.histograms(execute, lists, rows)
        rate = self.rate(rows)
        points = [self.segments(each).draw(rate, rng) for each in counted]
        for end in self.ends:
            runs = [self.segments(each, end, rows) for each in counted]
            released[end] = [each.draw(self.end_rate(rows), rng) for each in runs]
        return (plan.ReleasedValues(tuple(points), released),)

    def queries(self, group_keys: plan.GroupKeys | None) -> Iterator[exp.Expr]:
        lists = group_keys if self.context.key_count else None
        if self.rows.is_chosen:
            yield self._levels_query(lists)
        yield self._histogram_query(lists, self.rows.most)

    def _levels_query(self, group_keys: plan.GroupKeys | None) -> exp.Expr:
        context = self.context
        assert context.owned is not None
        return people_by_rows_query(
            self._question,
            context.owned,
            fixed=self.fixed,
            target=context.target,
            most=self.rows.most,
            group_keys=group_keys,
            extreme=self.extreme,
        )

    def _histogram_query(self, group_keys: plan.GroupKeys | None, rows: int) -> exp.Expr:
        context = self.context
        return plan.limit_rows(
            histogram_query(
                self._question,
                fixed=self.fixed,
                target=context.target,
                owned=context.owned,
                group_keys=group_keys,
                extreme=self.extreme,
                most=rows if self.rows.is_chosen else None,
            )
        )

    def levels(self, execute: plan.Executor, group_keys: plan.GroupKeys | None) -> list[int]:
        """How many units have how many rows: exact and private, never released."""
        rows = execute(self._levels_query(group_keys))
        return self.cap.levels((int(held), int(people)) for held, people in rows)

    def histograms(
        self, execute: plan.Executor, group_keys: plan.GroupKeys | None, rows: int
    ) -> list[list[tuple[int, int]]]:
        """For each group the points with the number of their rows: exact, never released."""
        context = self.context
        found = plan.check_row_count(execute(self._histogram_query(group_keys, rows)))
        by_group: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for row in found:
            group = tuple(map(format_key, row[: context.key_count]))
            by_group.setdefault(group, []).append((int(row[-2]), int(row[-1])))
        groups = [tuple(map(format_key, each)) for each in product(*(group_keys or ()))]
        return [by_group.get(group, []) for group in groups]

    @property
    def _question(self) -> Question:
        asked = self.context.question
        return Question(asked.source, (self.derivation.aggregate,), asked.keys)

    def segments(
        self, counted: list[tuple[int, int]], end: End | None = None, rows: int = 1
    ) -> Segments:
        """The runs of points that miss the target equally: exact and private, never released.

        Args:
            counted: the points with the number of their rows.
            end: of the interval, whose target is moved; for the answer itself if None.
            rows: of one unit, for an end.
        """
        table = np.array(sorted(counted), dtype=np.int64).reshape(len(counted), 2)
        if end is None:
            return _weighted_segments(table[:, 0], table[:, 1], self.fixed, self.share)
        # Where the target lies beyond all rows, the bound itself is a point that does not miss it.
        moved = self.margin(rows) if end == "upper" else -self.margin(rows)
        found = _weighted_segments(table[:, 0], table[:, 1], self.fixed, self.share, moved=moved)
        total = min(int(table[:, 1].sum()), 2**40)
        target = self.share.numerator * total + moved
        beyond = target if end == "lower" else total * self.share.denominator - target
        place = self.fixed.low if end == "lower" else self.fixed.high
        return Segments(
            np.append(found.starts, place),
            np.append(found.sizes, 1),
            np.append(found.misses, max(0, beyond)),
        )

    def empty_rows(self, query: exp.Expr, *, group_keys: plan.GroupKeys | None) -> plan.Rows:
        return []  # only values that occur have a row

    def bounds(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[plan.Bounds | None, ...]:
        # How far a rank is in the unit of the values depends on how densely they lie.
        if confidence > RANK_CONFIDENCE or not self.ends:
            return (None,) * len(measured.values)
        if self.rows.is_chosen and len(self.ends) == 2:
            return (None,) * len(measured.values)  # rows beyond the chosen cap may lie anywhere
        return tuple((float(low), float(high)) for low, high in self._ends_of(measured))

    def noise(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[int | None, ...]:
        if confidence > RANK_CONFIDENCE or len(self.ends) < 2:
            return (None,) * len(measured.values)
        ends = self._ends_of(measured)
        return tuple(
            max(high - int(value), int(value) - low)
            for value, (low, high) in zip(measured.values, ends, strict=True)
        )

    def _ends_of(self, measured: plan.ReleasedValues) -> list[tuple[int, int]]:
        """The ends around the answer; values may have moved a step to a coarser grid."""
        low, high, points = self.fixed.low, self.fixed.high, list(map(int, measured.values))
        lower = measured.released.get("lower", [low] * len(points))
        upper = measured.released.get("upper", [high] * len(points))
        starts = (min(pair) - self.coarsened for pair in zip(lower, points, strict=True))
        ends = (max(pair) + self.coarsened for pair in zip(upper, points, strict=True))
        return [(max(low, a), min(high, b)) for a, b in zip(starts, ends, strict=True)]


def quantile_share(aggregate: Aggregate) -> Fraction:
    """The share that was asked for: 0 for MIN and 1 for MAX."""
    if aggregate.kind == "quantile":
        return check_share(aggregate.share)
    return Fraction(0 if aggregate.kind == "minimum" else 1)


def _with_interval(step: RankStep, mechanism: Message) -> Message:
    if not step.ends:
        return mechanism
    return Message(
        "queries.mechanism.with_interval",
        mechanism=mechanism,
        epsilon=float(step.end_share * len(step.ends)),
        confidence=100 * RANK_CONFIDENCE,
    )


def describe_mechanism(step: RankStep) -> Message:
    """What is chosen, for the plan."""
    wanted = quantile_share(step.derivation.aggregate)
    if wanted not in (0, 1):
        return Message("queries.mechanism.rank")
    is_minimum, share = wanted == 0, float(step.share)
    if step.rows.is_reduced:
        key = (
            "queries.mechanism.minimum_of_units"
            if is_minimum
            else "queries.mechanism.maximum_of_units"
        )
        return Message(key, share=share, unit=unit_word(step.context.target.policy.unit.name))
    key = "queries.mechanism.minimum" if is_minimum else "queries.mechanism.maximum"
    return Message(key, share=share)


def describe_bound(step: RankStep) -> Message:
    """With which rows a unit counts and how far the rank is off, for the plan: all of it public."""
    rows, name = step.rows, step.context.target.policy.unit.name
    units = unit_words(name if rows.is_reduced else "row")
    counts = _describe_counts(step, unit_word(name))
    if rows.is_chosen:
        return Message(
            "queries.bound.rank_of_chosen_cap",
            counts=counts,
            most=rows.most,
            epsilon=float(step.epsilon_shares[0]),
            miss=step.cap.miss,
            units=units,
        )
    return Message("queries.bound.rank", counts=counts, miss=step.miss(rows.most), units=units)


def _describe_counts(step: RankStep, unit: str) -> Message:  # noqa: PLR0911 - one for each case
    """With which rows a unit counts."""
    rows = step.rows
    if rows.is_chosen and rows.is_reduced:
        return Message("queries.bound.once_in_chosen_groups", unit=unit)
    if rows.is_chosen:
        return Message("queries.bound.chosen_rows", unit=unit)
    if rows.is_reduced and step.groups > 1:
        return Message("queries.bound.once_in_a_group", unit=unit, most=rows.most)
    if rows.is_reduced:
        return Message("queries.bound.once", unit=unit)
    if rows.most == 1:
        return Message("queries.bound.one_row")
    if step.context.owned is None:
        return Message("queries.bound.rows_of_a_row", most=rows.most)
    return Message("queries.bound.rows", unit=unit, most=rows.most)


def _weighted_segments(
    values: NDArray[np.int64],
    counts: NDArray[np.int64],
    fixed: FixedPoint,
    share: Fraction,
    *,
    moved: int = 0,
) -> Segments:
    """The same as `statistics.ranks.segments`, from points with the number of their rows.

    At most 2^40 rows are counted, times a denominator of at most 10^6: below 2^60.
    """
    upto = np.minimum(np.cumsum(counts), 2**40)
    below = np.concatenate([[0], upto])
    starts = np.concatenate([values, [fixed.low], values + 1])
    gaps = np.append(values, fixed.high + 1) - starts[-below.size :]
    sizes = np.concatenate([np.ones_like(values), gaps])
    lower = np.concatenate([below[:-1], below])
    upper = np.concatenate([upto, below])
    target = share.numerator * int(below[-1]) + moved
    misses = np.maximum(lower * share.denominator - target, target - upper * share.denominator)
    some = sizes > 0
    return Segments(starts[some], sizes[some], np.maximum(misses, 0)[some])
