"""Race to the top over a ladder of caps: methods "r2t" and "r2t-cap", also for self-joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Any

from sqlglot import exp

from celosia.accounting.losses import ComposedLoss, Loss, PureLoss
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.queries.bounds.cap_ladder import rounding
from celosia.queries.bounds.dual_certificate import load_solvers
from celosia.queries.bounds.in_turn import load_kernel
from celosia.queries.bounds.r2t import R2T
from celosia.queries.bounds.r2t_cap import R2TCap
from celosia.queries.emission import truncated_totals_query
from celosia.queries.planning import plan
from celosia.queries.planning.aggregates import Total
from celosia.queries.planning.linear_programs import ProgramTerm


@dataclass(frozen=True, kw_only=True)
class R2TStep(plan.Step):
    """One total for each group, under the cap that race to the top (R2T) chooses.

    Where a row can belong to several people (`terms`), the totals are those of rows filled in turn
    (`bounds.in_turn`, up to two people), or optima of linear programs that share rows out among
    their owners (Dong et al. 2022), one run of R2T for each term; else sums of clipped
    contributions.

    Guarantee: that of `R2T` or `R2TCap`, delta 0, once for each run and for each group that
    a person can be in (`per_unit`): each pays its part of epsilon, and groups without the person do
    not change. Where a person is changed instead of added or removed, `halved` stands for one
    removal and one addition.
    """

    context: plan.StepContext
    total: Total
    most: int
    epsilon: Fraction
    """Of the total, all groups together."""
    groups: int
    per_unit: int
    """Groups that one person can be in."""
    releases_candidates: bool = False
    """Whether all candidates are released (method "r2t")."""
    terms: tuple[ProgramTerm, ...] = ()
    """The rows of several people; none where each row belongs to one person."""
    halved: bool = False
    typical: int

    def __post_init__(self) -> None:
        _ = self.mechanism  # parameters out of range are refused here

    @property
    def passes(self) -> int:
        """Many where a linear program shares rows out, some where rows are sorted."""
        return 2 if not self.terms else 4 if self.grain == 1 else 16

    @property
    def names(self) -> tuple[str, ...]:
        return (self.total.name,)

    @cached_property
    def mechanism(self) -> R2T | R2TCap:
        """Of one run in one group."""
        price: Any = self.epsilon / self.per_unit / len(self.signs) / (2 if self.halved else 1)
        kind = R2T if self.releases_candidates else R2TCap
        return kind(epsilon=price, most=self.most, grain=self.grain)

    @cached_property
    def grain(self) -> int:
        """Parts of a unit that totals are counted in: more than 1 where one needs a solver."""
        return max((term.grain for term in self.terms), default=1)

    @property
    def signs(self) -> tuple[int, ...]:
        """Whether the total of each run is added or taken away."""
        return tuple(sign for term in self.terms for sign in term.signs) or (1,)

    @property
    def parts(self) -> tuple[plan.Part, ...]:
        total = self.total
        bound = plan.describe_caps(self.most, total.step)
        of_rows = not self.terms or self.terms[0].context.target.policy.graph is None
        if self.terms and self.grain == 1:
            key = "queries.bound.in_turn" if of_rows else "queries.bound.in_turn_of_solutions"
            bound = Message(key, caps=bound)
        elif len(self.signs) > 1:
            key = "queries.bound.programs" if of_rows else "queries.bound.programs_of_solutions"
            bound = Message(key, programs=len(self.signs), caps=bound)
        elif self.terms:
            key = "queries.bound.program" if of_rows else "queries.bound.program_of_solutions"
            bound = Message(key, caps=bound)
        mechanism = Message("queries.mechanism.r2t_cap")
        if self.releases_candidates:
            mechanism = Message("queries.mechanism.r2t")
        typical = self.mechanism.typical_error(self.typical * total.reach)
        typical *= len(self.signs) ** 0.5
        return (
            plan.Part(
                name=total.label,
                mechanism=mechanism,
                bound=bound,
                epsilon=self.epsilon,
                error=typical * float(total.step),
            ),
        )

    def unit(self, number: int) -> Fraction:
        return self.total.step

    def losses(self, groups: int) -> tuple[Loss, ...]:
        if self.halved:
            return (PureLoss(self.epsilon),)
        count = self.per_unit * len(self.signs)
        return (ComposedLoss(tuple(self.mechanism.privacy_loss() for _ in range(count))),)

    def measure(
        self, execute: plan.Executor, *, group_keys: plan.GroupKeys | None, rng: Source
    ) -> tuple[plan.ReleasedValues, ...]:
        totals = (
            self._programs(execute, group_keys) if self.terms else self._sums(execute, group_keys)
        )
        found = [[self.mechanism.measure(each, rng=rng) for each in group] for group in totals]
        values = tuple(
            sum(sign * each.value for sign, each in zip(self.signs, group, strict=True))
            for group in found
        )
        names = ("cap", "candidates") if self.releases_candidates else ("cap",)
        released: dict[str, Any] = {
            name: [self._each([_plain(one.parts[name]) for one in group]) for group in found]
            for name in names
        }
        if len(self.signs) > 1:
            released["terms"] = [[one.value for one in group] for group in found]
        if self.groups == 1:
            released["cap"] = released["cap"][0]
        return (plan.ReleasedValues(values, released),)

    def _each(self, listed: list[Any]) -> Any:
        """One for each run, or the only one."""
        return listed[0] if len(self.signs) == 1 else listed

    def _results(self, measured: plan.ReleasedValues) -> list[list[Measurement[float]]]:
        """What was released of each run, group by group."""
        found = []
        for place, value in enumerate(measured.values):
            values = measured.released["terms"][place] if len(self.signs) > 1 else [value]
            parts = {
                name: measured.released[name]
                if self.groups == 1 and name == "cap"
                else measured.released[name][place]
                for name in measured.released
                if name != "terms"
            }
            found.append(
                [
                    Measurement(
                        each,
                        {
                            name: listed if len(self.signs) == 1 else listed[number]
                            for name, listed in parts.items()
                        },
                    )
                    for number, each in enumerate(values)
                ]
            )
        return found

    def queries(self, group_keys: plan.GroupKeys | None) -> Iterator[exp.Expr]:
        if self.terms:
            yield from (term.query for term in self.terms)
            return
        assert self.context.owned is not None
        yield truncated_totals_query(
            self.context.question_for([self.total]),
            self.context.owned,
            thresholds=self.mechanism.caps,
            target=self.context.target,
            fixed=plan.fixed_points([self.total]),
            group_keys=group_keys if self.context.key_count else None,
        )

    def prepare(self) -> None:
        if self.terms and self.grain == 1:
            load_kernel()
        elif self.terms:
            load_solvers()

    def empty_rows(self, query: exp.Expr, *, group_keys: plan.GroupKeys | None) -> plan.Rows:
        if self.terms:
            return []  # only rows with an owner are returned
        return super().empty_rows(query, group_keys=group_keys)

    def _sums(
        self, execute: plan.Executor, group_keys: plan.GroupKeys | None
    ) -> list[list[list[int]]]:
        (query,) = self.queries(group_keys)
        rows = execute(query)
        return [
            [[plan.clamp_total(each) for each in row[self.context.key_count :]]] for row in rows
        ]

    def _programs(
        self, execute: plan.Executor, group_keys: plan.GroupKeys | None
    ) -> list[list[list[int]]]:
        caps = self.mechanism.caps
        terms = [term.totals(execute, group_keys, caps, grain=self.grain) for term in self.terms]
        return [[each for part in group for each in part] for group in zip(*terms, strict=True)]

    def bounds(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[plan.Bounds | None, ...]:
        # All runs of a group keep to their bounds together.
        each = 1 - (1 - confidence) / len(self.signs)
        found: list[plan.Bounds | None] = []
        for group in self._results(measured):
            low = high = 0.0
            for sign, one in zip(self.signs, group, strict=True):
                ends = self.mechanism.interval(one, each)
                low += float(ends[0] if sign > 0 else -ends[1])
                high += float(ends[1] if sign > 0 else -ends[0])
            found.append((low, high) if isfinite(low) else None)
        return tuple(found)

    def noise(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[int | None, ...]:
        mechanism = self.mechanism
        each = 1 - (1 - confidence) / len(self.signs)
        # Noise has a part in which candidate wins, so all candidates keep to their bounds together;
        # the cap of `R2TCap` is chosen before the noise of its answer is drawn.
        size = len(mechanism.caps) if self.releases_candidates else 1
        found = []
        for group in self._results(measured):
            caps = [one.parts["cap"] for one in group]
            parts = sum(
                mechanism.laws[mechanism.caps.index(cap)].bound(each, size=size)
                + rounding(cap, mechanism.grain)
                for cap in caps
            )
            found.append(-(-parts // mechanism.grain))
        return tuple(found)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
