"""Totals of all rows with noise for a bound that caps guarantee: methods "capped" and "global"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sqlglot import exp

from celosia.accounting.losses import Loss, PureLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.values import from_zero
from celosia.queries.emission import count_query, grouped_query
from celosia.queries.planning import plan
from celosia.queries.planning.aggregates import Total


@dataclass(frozen=True, kw_only=True)
class LaplaceStep(plan.Step):
    """Totals of all rows, each with discrete Laplace noise for its own bound.

    Guarantee: epsilon times the number of totals, delta 0: each moves by at most its shift, over
    all groups together (Dwork & Roth 2014, Thm 3.6 and 3.16). It assumes that caps are enforced by
    the queries, and that columns declared unique are unique.
    """

    context: plan.StepContext
    totals: tuple[Total, ...]
    shifts: tuple[int, ...]
    """For each total the most that one unit moves it, over all groups, in steps."""
    epsilon: Fraction
    """Of each total."""
    bound: tuple[str, ...]
    """For each total where its shift comes from, in words."""

    def __post_init__(self) -> None:
        _ = self.laws  # a scale out of reach is refused here

    @property
    def passes(self) -> int:
        return 1

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.totals)

    @cached_property
    def laws(self) -> tuple[DiscreteLaplace, ...]:
        """The noise of each total."""
        return tuple(DiscreteLaplace(shift / self.epsilon) for shift in self.shifts)

    @property
    def parts(self) -> tuple[plan.Part, ...]:
        return tuple(
            plan.Part(
                name=total.label,
                mechanism=Message("queries.mechanism.laplace"),
                bound=bound,
                epsilon=self.epsilon,
                error=float(law.scale * total.step),
            )
            for total, law, bound in zip(self.totals, self.laws, self.bound, strict=True)
        )

    def unit(self, number: int) -> Fraction:
        return self.totals[number].step

    def losses(self, groups: int) -> tuple[Loss, ...]:
        if groups > 1:
            return tuple(PureLoss(self.epsilon) for _ in self.totals)
        return tuple(
            LaplaceLoss(law.scale, shift) for law, shift in zip(self.laws, self.shifts, strict=True)
        )

    def queries(self, group_keys: plan.GroupKeys | None) -> Iterator[exp.Expr]:
        question, target = self.context.question_for(self.totals), self.context.target
        if not question.keys and [each.kind for each in self.totals] == ["rows"]:
            yield count_query(question.source, target=target)
        else:
            fixed = plan.fixed_points(self.totals)
            lists = group_keys if question.keys else None
            yield grouped_query(question, target=target, fixed=fixed, group_keys=lists)

    def measure(
        self, execute: plan.Executor, *, group_keys: plan.GroupKeys | None, rng: Source
    ) -> tuple[plan.ReleasedValues, ...]:
        if not plan.count_groups(group_keys):  # no key was chosen
            return tuple(plan.ReleasedValues(()) for _ in self.totals)
        (query,) = self.queries(group_keys)
        rows = execute(query)
        found = []
        for place, law in enumerate(self.laws, start=self.context.key_count):
            noise = law.draw(plan.count_groups(group_keys), rng).tolist()
            exact = [plan.clamp_total(row[place]) for row in rows]
            found.append(
                plan.ReleasedValues(tuple(a + b for a, b in zip(exact, noise, strict=True)))
            )
        return tuple(found)

    def bounds(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[plan.Bounds | None, ...]:
        total, error = self.totals[number], self.laws[number].bound(confidence)
        ends = ((value - error, value, value + error) for value in measured.values)
        if total.is_signed:
            return tuple((low, high) for low, _, high in ends)
        return tuple(from_zero(*each) for each in ends)

    def noise(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[int | None, ...]:
        return (self.laws[number].bound(confidence),) * len(measured.values)
