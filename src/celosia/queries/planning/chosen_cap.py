"""Totals under a cap that is chosen privately, for rows of one person each: "chosen-cap"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from sqlglot import exp

from celosia.accounting.losses import Loss, PureLoss
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.queries.bounds.private_cap import ContributionSummary, PrivateCap
from celosia.queries.emission import (
    contribution_levels_query,
    contribution_totals_query,
    truncated_groups_query,
)
from celosia.queries.planning import plan
from celosia.queries.planning.aggregates import Total


@dataclass(frozen=True, kw_only=True)
class ChosenCapStep(plan.Step):
    """Totals in which no person counts for more than a cap, which is chosen inside epsilon.

    Guarantee: that of `PrivateCap` for each total: epsilon times their number, delta 0, for one
    person with all their rows, added or removed. Where a person is changed instead, `halved` stands
    for one removal and one addition, each at half the epsilon.
    """

    context: plan.StepContext
    totals: tuple[Total, ...]
    most: tuple[int, ...]
    """For each total the most that one person may add, in steps."""
    epsilon: Fraction
    """Of each total."""
    halved: bool = False
    typical: int
    """Rows that a person is taken to add, to predict the error."""

    def __post_init__(self) -> None:
        _ = self.mechanisms(1)  # parameters out of range are refused here

    @property
    def passes(self) -> int:
        return 4  # rows are added up by person

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.totals)

    def mechanisms(self, groups: int) -> tuple[PrivateCap, ...]:
        """The mechanism of each total."""
        if groups not in self._made:
            price: Any = self.epsilon / 2 if self.halved else self.epsilon
            self._made[groups] = tuple(
                PrivateCap(epsilon=price, most=most, groups=groups, signed=total.is_signed)
                for total, most in zip(self.totals, self.most, strict=True)
            )
        return self._made[groups]

    @cached_property
    def _made(self) -> dict[int, tuple[PrivateCap, ...]]:
        return {}

    @property
    def parts(self) -> tuple[plan.Part, ...]:
        return tuple(
            plan.Part(
                name=total.label,
                mechanism=Message("queries.mechanism.chosen_cap"),
                bound=plan.describe_caps(most, total.step),
                epsilon=self.epsilon,
                error=mechanism.typical_error(self.typical * total.reach) * float(total.step),
            )
            for total, mechanism, most in zip(
                self.totals, self.mechanisms(1), self.most, strict=True
            )
        )

    def unit(self, number: int) -> Fraction:
        return self.totals[number].step

    def losses(self, groups: int) -> tuple[Loss, ...]:
        if self.halved:
            return tuple(PureLoss(self.epsilon) for _ in self.totals)
        return tuple(each.privacy_loss() for each in self.mechanisms(groups))

    def measure(
        self, execute: plan.Executor, *, group_keys: plan.GroupKeys | None, rng: Source
    ) -> tuple[plan.ReleasedValues, ...]:
        groups = plan.count_groups(group_keys)
        if not groups:  # no key was chosen
            return tuple(plan.ReleasedValues(()) for _ in self.totals)
        return tuple(
            _release_values(mechanism.measure(people, rng=rng))
            for mechanism, people in zip(
                self.mechanisms(groups), self._people(execute, group_keys), strict=True
            )
        )

    def queries(self, group_keys: plan.GroupKeys | None) -> Iterator[exp.Expr]:
        by_group, apart = self._split(group_keys)
        if by_group and group_keys is not None:
            yield self._levels_query(by_group, group_keys)
            yield from (
                self._cut_query(each, self._caps(each)[-1], group_keys) for each in by_group
            )
        yield from (self._totals_query(totals, group_keys) for totals in apart)

    def _split(self, group_keys: plan.GroupKeys | None) -> tuple[list[Total], list[list[Total]]]:
        """The totals that are asked for by group and cap, and those of other queries."""
        owned = self.context.owned
        assert owned is not None
        own = [
            each
            for each in self.totals
            if each.kind != "distinct" or owned.is_determined_by(each.argument)
        ]
        # Apart for distinct values that people share.
        shared = [[each] for each in self.totals if each not in own]
        if own and self.context.key_count and group_keys is not None:
            return own, shared
        return [], [own, *shared] if own else shared

    def _people(
        self, execute: plan.Executor, group_keys: plan.GroupKeys | None
    ) -> list[ContributionSummary]:
        """Exact numbers."""
        found: dict[str, ContributionSummary] = {}
        by_group, apart = self._split(group_keys)
        if by_group and group_keys is not None:
            found |= self._by_group(by_group, execute, group_keys)
        for totals in apart:
            rows, start = execute(self._totals_query(totals, group_keys)), self.context.key_count
            for total, ladder in zip(totals, map(self._caps, totals), strict=True):
                found[total.name] = _read_summary(rows, start, len(ladder))
                start += 2 * len(ladder)
        return [found[each.name] for each in self.totals]

    def _by_group(
        self, totals: list[Total], execute: plan.Executor, group_keys: plan.GroupKeys
    ) -> dict[str, ContributionSummary]:
        """People by level now, and totals of groups when a cap was chosen: under this cap only."""
        ((*numbers,),) = execute(self._levels_query(totals, group_keys))

        def under(total: Total, cap: int) -> list[int]:
            rows = execute(self._cut_query(total, cap, group_keys))
            return [plan.clamp_total(row[self.context.key_count]) for row in rows]

        found = {}
        for total, ladder in zip(totals, map(self._caps, totals), strict=True):
            levels, numbers = numbers[: len(ladder)], numbers[len(ladder) :]
            found[total.name] = ContributionSummary(
                [int(each) for each in levels], partial(under, total)
            )
        return found

    def _totals_query(self, totals: list[Total], group_keys: plan.GroupKeys | None) -> exp.Expr:
        assert self.context.owned is not None
        return contribution_totals_query(
            self.context.question_for(totals),
            self.context.owned,
            caps=[self._caps(each) for each in totals],
            target=self.context.target,
            fixed=plan.fixed_points(totals),
            group_keys=group_keys if self.context.key_count else None,
        )

    def _levels_query(self, totals: list[Total], group_keys: plan.GroupKeys) -> exp.Expr:
        assert self.context.owned is not None
        return contribution_levels_query(
            self.context.question_for(totals),
            self.context.owned,
            caps=[self._caps(each) for each in totals],
            target=self.context.target,
            group_keys=group_keys,
            fixed=plan.fixed_points(totals),
        )

    def _cut_query(self, total: Total, cap: int, group_keys: plan.GroupKeys) -> exp.Expr:
        assert self.context.owned is not None
        return truncated_groups_query(
            self.context.question_for([total]),
            self.context.owned,
            cap=cap,
            target=self.context.target,
            group_keys=group_keys,
            fixed=plan.fixed_points([total]),
        )

    def _caps(self, total: Total) -> tuple[int, ...]:
        return self.mechanisms(1)[self.totals.index(total)].caps

    def bounds(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[plan.Bounds | None, ...]:
        groups = len(measured.values)
        if not groups:
            return ()
        mechanism = self.mechanisms(groups)[number]
        value: Any = np.array(measured.values) if groups > 1 else measured.values[0]
        low, high = mechanism.interval(Measurement(value, measured.released), confidence)
        lows, highs = np.atleast_1d(low).tolist(), np.atleast_1d(high).tolist()
        return tuple(zip(map(float, lows), map(float, highs), strict=True))

    def noise(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[int | None, ...]:
        groups = len(measured.values)
        if not groups:
            return ()
        mechanism = self.mechanisms(groups)[number]
        # The noise of the answer is drawn after the choice of the cap, so that choice does not
        # change its law.
        law = mechanism.laws[mechanism.caps.index(measured.released["cap"])]
        return (law.bound(confidence),) * groups


def _read_summary(rows: plan.Rows, start: int, size: int) -> ContributionSummary:
    levels = [sum(int(row[start + place]) for row in rows) for place in range(size)]
    totals = [
        [plan.clamp_total(row[start + size + place]) for row in rows] for place in range(size)
    ]
    return ContributionSummary(levels, totals if len(rows) > 1 else [each[0] for each in totals])


def _release_values(measurement: Measurement[Any]) -> plan.ReleasedValues:
    values = np.atleast_1d(measurement.value).tolist()
    parts = dict(measurement.parts)
    kept = {"cap": parts["cap"], "people": list(parts["people"])}
    return plan.ReleasedValues(tuple(values), kept)
