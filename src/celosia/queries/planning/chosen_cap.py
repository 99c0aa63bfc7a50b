"""Totals under a cap that is chosen privately, for rows of one person each: "chosen-cap"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from sqlglot import exp

from celosia.accounting.losses import Loss, PureLoss
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.queries.bounds.private_cap import ChosenCap, ContributionSummary, PrivateCap
from celosia.queries.emission import (
    contribution_levels_query,
    contribution_totals_query,
    shared_values_query,
    truncated_groups_query,
)
from celosia.queries.emission.contribution_levels import read_totals
from celosia.queries.emission.group_truncation import LISTED, lists_people, may_be_listed
from celosia.queries.planning import plan
from celosia.queries.planning.aggregates import Total


@dataclass(frozen=True, slots=True, repr=False)
class Contributors:
    """What people add to a total over all groups: nothing of it may be shown."""

    levels: list[int]
    """People whose sum of sizes is above the cap before, up to this one."""
    largest: list[tuple[int, Any]] | None
    """Those who add most, and what they add, cut off at the last cap; `LISTED + 1` or all. None
    where the engine lists nobody."""
    last: int
    """The last cap."""

    def above(self, cap: int) -> list[Any] | None:
        """All who may add more than a cap; None where the list does not tell.

        What is cut off at the last cap may be more, so who stands there may be above it.
        """
        least = cap if cap == self.last else cap + 1
        if self.largest is None:
            return None
        if len(self.largest) > LISTED and min(amount for amount, _ in self.largest) >= least:
            return None
        return [person for amount, person in self.largest if amount >= least]


def _all_above(contributors: Sequence[Contributors], caps: Sequence[int]) -> list[Any] | None:
    """All who may be above the cap of a total, where the lists tell."""
    found: dict[Any, None] = {}
    for each, cap in zip(contributors, caps, strict=True):
        people = each.above(cap)
        if people is None:
            return None
        found |= dict.fromkeys(people)
    return list(found)


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
        by_group, apart = self._split(group_keys)
        contributors: dict[str, Contributors] = {}
        if by_group and group_keys is not None:
            rows = execute(self._levels_query(by_group, group_keys))
            contributors = self._read_contributors(by_group, rows)
        people = self._people(apart, execute, group_keys)
        measured: dict[str, Measurement[Any]] = {}
        chosen: dict[str, ChosenCap] = {}
        for total, mechanism in zip(self.totals, self.mechanisms(groups), strict=True):
            if total.name in contributors:
                levels = contributors[total.name].levels
                chosen[total.name] = mechanism.choose(levels, rng=rng)
            else:
                measured[total.name] = mechanism.measure(people[total.name], rng=rng)
        if by_group and group_keys is not None:
            caps = [chosen[each.name].cap for each in by_group]
            above = _all_above([contributors[each.name] for each in by_group], caps)
            if above is not None and not self._may_be_listed(above):
                above = None
            # Who is above, and whether they are searched for, decides how long the query takes and
            # nothing else: answers leave at deadlines that follow from public facts.
            rows = execute(self._cut_query(by_group, caps, group_keys, above))
            start = self.context.key_count
            for place, total in enumerate(by_group, start=start):
                exact = [plan.clamp_total(row[place]) for row in rows]
                measured[total.name] = chosen[total.name].release(exact)
        return tuple(_release_values(measured[each.name]) for each in self.totals)

    def queries(self, group_keys: plan.GroupKeys | None) -> Iterator[exp.Expr]:
        by_group, apart = self._split(group_keys)
        if by_group and group_keys is not None:
            yield self._levels_query(by_group, group_keys)
            caps = [self._caps(each)[-1] for each in by_group]
            yield self._cut_query(by_group, caps, group_keys, None)
            if self._lists_people:
                yield self._cut_query(by_group, caps, group_keys, [])
        yield from (self._totals_query(totals, group_keys) for totals in apart)

    def _split(self, group_keys: plan.GroupKeys | None) -> tuple[list[Total], list[list[Total]]]:
        """The totals that are asked for by group and cap, and those of other queries."""
        own = [each for each in self.totals if not self._is_shared(each)]
        # Apart for distinct values that people share.
        shared = [[each] for each in self.totals if each not in own]
        if own and self.context.key_count and group_keys is not None:
            return own, shared
        return [], [own, *shared] if own else shared

    def _is_shared(self, total: Total) -> bool:
        """Whether one value may count for several people, so that it is no sum over people."""
        assert self.context.owned is not None
        return total.kind == "distinct" and not self.context.owned.is_determined_by(total.argument)

    def empty_rows(self, query: exp.Expr, *, group_keys: plan.GroupKeys | None) -> plan.Rows:
        if isinstance(query, exp.Union):
            return []  # only people are returned
        return super().empty_rows(query, group_keys=group_keys)

    @property
    def _lists_people(self) -> bool:
        assert self.context.owned is not None
        return lists_people(self.context.owned, self.context.target)

    def _may_be_listed(self, people: Sequence[Any]) -> bool:
        assert self.context.owned is not None
        return may_be_listed(people, self.context.owned, self.context.target)

    def _people(
        self,
        apart: list[list[Total]],
        execute: plan.Executor,
        group_keys: plan.GroupKeys | None,
    ) -> dict[str, ContributionSummary]:
        """Exact numbers, by the name of the total."""
        found: dict[str, ContributionSummary] = {}
        for totals in apart:
            rows = execute(self._totals_query(totals, group_keys))
            caps = [self._caps(each) for each in totals]
            if self._is_shared(totals[0]):
                found[totals[0].name] = _read_summary(rows, self.context.key_count, len(caps[0]))
                continue
            question = self.context.question_for(totals)
            read = read_totals(rows, question, caps=caps, fixed=plan.fixed_points(totals))
            for total, (levels, sums) in zip(totals, read, strict=True):
                clamped = [plan.clamp_total(each) for each in sums]
                found[total.name] = ContributionSummary(levels, clamped)
        return found

    def _read_contributors(self, totals: list[Total], rows: plan.Rows) -> dict[str, Contributors]:
        found = {}
        for place, (total, ladder) in enumerate(
            zip(totals, map(self._caps, totals), strict=True), start=1
        ):
            levels = [0] * len(ladder)
            for kind, *numbers in rows:
                if kind == 0 and numbers[place - 1] > 0:
                    levels[numbers[place - 1] - 1] += int(numbers[len(totals)])
            largest = [(int(row[-2]), row[-1]) for row in rows if row[0] == place]
            found[total.name] = Contributors(
                levels, largest if self._lists_people else None, ladder[-1]
            )
        return found

    def _totals_query(self, totals: list[Total], group_keys: plan.GroupKeys | None) -> exp.Expr:
        assert self.context.owned is not None
        question, owned = self.context.question_for(totals), self.context.owned
        if self._is_shared(totals[0]):
            return shared_values_query(
                question,
                owned,
                caps=self._caps(totals[0]),
                target=self.context.target,
                group_keys=group_keys if self.context.key_count else None,
            )
        return contribution_totals_query(
            question,
            owned,
            caps=[self._caps(each) for each in totals],
            target=self.context.target,
            fixed=plan.fixed_points(totals),
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

    def _cut_query(
        self,
        totals: list[Total],
        caps: list[int],
        group_keys: plan.GroupKeys,
        people: list[int | str] | None,
    ) -> exp.Expr:
        assert self.context.owned is not None
        return truncated_groups_query(
            self.context.question_for(totals),
            self.context.owned,
            caps=caps,
            target=self.context.target,
            group_keys=group_keys,
            fixed=plan.fixed_points(totals),
            people=people,
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
