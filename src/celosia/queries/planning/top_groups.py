"""The groups with the largest counts by private selection: method "top-k"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from sqlglot import exp

from celosia.accounting.losses import BoundedRangeLoss, Loss, PureLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import QueryRefused
from celosia.core.messages import Message, unit_word
from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.noise.weighted_draw import draw_weighted
from celosia.mechanisms.selection.base import MOST_STEPS, sampling_rate, shortfall
from celosia.mechanisms.values import from_zero
from celosia.queries.algebra import Question
from celosia.queries.emission import grouped_query
from celosia.queries.ownership import attach_owners
from celosia.queries.planning import plan
from celosia.queries.planning.aggregates import Total
from celosia.queries.planning.context import MechanismChoice, PlanContext
from celosia.queries.planning.semi_joins import find_foreign_semi_joins

SELECTION_SHARE = Fraction(1, 2)
"""The share of epsilon for the choice, where the counts of the chosen groups are shown too."""


@dataclass(frozen=True, kw_only=True)
class TopStep(plan.Step):
    """A few groups with large counts, best first, and noise on the counts of these alone.

    Guarantee: epsilon-DP, delta 0. Each choice is the exponential mechanism among the groups that
    are left, drawn exactly, for its part of the epsilon of the selection (McSherry & Talwar 2007;
    see `mechanisms.TopSelection`): a unit moves each count by at most `in_group`, and all counts in
    one direction where it comes or goes. The counts of the chosen groups get Laplace noise of their
    own, drawn after the choice: a unit moves these `count` numbers by at most `shift` in sum,
    whichever were chosen. Both epsilons add up. Nothing is drawn for, or told of, other groups.
    """

    context: plan.StepContext
    total: Total
    count: int
    """How many groups are chosen."""
    groups: int
    in_group: int
    """The most that one unit moves the count of one group."""
    shift: int
    """The most that one unit moves the counts of all chosen groups together."""
    epsilon: Fraction
    relation: Relation
    shows_counts: bool
    """Whether the counts are released, or only which groups are the largest, in order."""
    bound: str

    def __post_init__(self) -> None:
        _ = self.rate  # out of reach is refused here
        if self.shows_counts:
            _ = self.law

    @property
    def passes(self) -> int:
        return 1

    @property
    def names(self) -> tuple[str, ...]:
        return (self.total.name,)

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """The epsilon of all choices together, and that of the counts."""
        chosen = self.epsilon * SELECTION_SHARE if self.shows_counts else self.epsilon
        return chosen, self.epsilon - chosen

    @cached_property
    def rate(self) -> Fraction:
        """Of one choice: how fast its chance falls with each row less."""
        is_monotone = self.relation is Relation.ADD_REMOVE
        return sampling_rate(self.shares[0] / self.count, self.in_group, monotone=is_monotone)

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise of each count."""
        return DiscreteLaplace(self.shift / self.shares[1])

    @property
    def parts(self) -> tuple[plan.Part, ...]:
        choice = plan.Part(
            name=Message("queries.part_name.top", count=self.count, groups=self.groups),
            mechanism=Message("queries.mechanism.top"),
            bound=self.bound,
            epsilon=self.shares[0],
            error=shortfall(0.5, rate=self.rate, size=self.groups),
        )
        if not self.shows_counts:
            return (choice,)
        counts = plan.Part(
            name=self.total.label,
            mechanism=Message("queries.mechanism.laplace"),
            bound=Message("queries.bound.chosen_groups", most=self.shift),
            epsilon=self.shares[1],
            error=float(self.law.scale),
        )
        return choice, counts

    @property
    def labelled(self) -> tuple[tuple[str, plan.Part], ...]:
        return ((self.total.name, self.parts[-1]),)

    def losses(self, groups: int) -> tuple[Loss, ...]:
        choice = BoundedRangeLoss(self.shares[0] / self.count)
        if not self.shows_counts:
            return (choice,) * self.count
        single = LaplaceLoss(self.law.scale, self.shift)
        counts = single if self.count == 1 else PureLoss(self.shares[1])
        return (*((choice,) * self.count), counts)

    def queries(self, group_keys: plan.GroupKeys | None) -> Iterator[exp.Expr]:
        question, target = self.context.question_for((self.total,)), self.context.target
        yield grouped_query(question, target=target, fixed={}, group_keys=group_keys)

    def counts(self, execute: plan.Executor, group_keys: plan.GroupKeys | None) -> list[int]:
        """The count of each group: exact and private, never released."""
        (query,) = self.queries(group_keys)
        place = self.context.key_count
        return [_clamp(row[place]) for row in execute(query)]

    def measure(
        self, execute: plan.Executor, *, group_keys: plan.GroupKeys | None, rng: Source
    ) -> tuple[plan.ReleasedValues, ...]:
        exact = self.counts(execute, group_keys)
        chosen = self.choose(exact, rng)
        values = [0] * len(exact)
        noise = self.law.draw(self.count, rng).tolist() if self.shows_counts else None
        for rank, place in enumerate(chosen):
            values[place] = self.count - rank if noise is None else exact[place] + noise[rank]
        return (plan.ReleasedValues(tuple(values), {"chosen": chosen}),)

    def choose(self, counts: list[int], rng: Source) -> list[int]:
        """The places of the chosen groups, best first."""
        scores = np.array(counts, dtype=np.int64)
        left, chosen = np.arange(scores.size), list[int]()
        for _ in range(self.count):
            index = draw_weighted(scores[left].max() - scores[left], rate=self.rate, rng=rng)
            chosen.append(int(left[index]))
            left = np.delete(left, index)
        return chosen

    def bounds(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[plan.Bounds | None, ...]:
        if not self.shows_counts:
            return (None,) * len(measured.values)
        error, chosen = self.law.bound(confidence), set(measured.released["chosen"])
        return tuple(
            from_zero(value - error, value, value + error) if place in chosen else None
            for place, value in enumerate(measured.values)
        )

    def noise(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[int | None, ...]:
        if not self.shows_counts:
            return (None,) * len(measured.values)
        error, chosen = self.law.bound(confidence), set(measured.released["chosen"])
        return tuple(error if place in chosen else None for place in range(len(measured.values)))


def _clamp(count: object) -> int:
    """A count whose differences fit a machine word; cutting off moves no two counts apart."""
    return max(0, min(2**50, plan.clamp_total(count)))


def choose_top_groups(context: PlanContext) -> MechanismChoice:
    """The groups with the largest counts, of people or of rows that caps bound.

    Raises:
        QueryRefused: CEL-Q143 another kind of question.
    """
    question, method = context.question, "top-k"
    if context.policy.unit.is_row:
        raise QueryRefused("CEL-Q143.bounds_people", method=method)
    if context.finds_keys:
        raise QueryRefused("CEL-Q143.private_keys", method=method)
    total, count = _wanted(context)
    groups = plan.count_groups(context.keys.values)
    if count >= groups:
        raise QueryRefused("CEL-Q143.all_groups", method=method, count=count, groups=groups)
    # Rows of one person each, so that a person who comes takes no row of others away.
    foreign = find_foreign_semi_joins(question.source, policy=context.policy)
    owned = None if foreign else attach_owners(question.source, policy=context.policy)
    if owned is None or owned.owner_count > 1:
        raise QueryRefused("CEL-Q143.top_of_several", method=method)
    from celosia.queries.planning.contribution_bounding import rows_per_person  # it knows us

    rows, unit = rows_per_person(context, owned), unit_word(context.policy.unit.name)
    is_of_people = total.kind == "distinct" and owned.is_identified_by(total.argument)
    if rows is None and not is_of_people:
        raise QueryRefused("CEL-Q143.no_caps", method=method)
    in_group = 1 if is_of_people else max(1, rows or 1)
    whole = None if rows is None else context.shift(total, max(1, rows))
    shift = count * in_group if whole is None else min(count * in_group, whole)
    if in_group > MOST_STEPS:
        raise QueryRefused("CEL-Q143.no_caps", method=method)
    step = TopStep(
        context=plan.StepContext(question=question, target=context.target, owned=owned),
        total=total,
        count=count,
        groups=groups,
        in_group=in_group,
        shift=shift,
        epsilon=context.epsilon,
        relation=context.policy.relation,
        shows_counts=_shows_counts(question),
        bound=Message("queries.bound.in_group", unit=unit, most=in_group),
    )
    is_cheaper = whole is None or step.shift * 2 < whole
    notes = () if is_cheaper else (Message("queries.plan.not_cheaper"),)
    return MechanismChoice(
        method=method,
        steps=[step],
        derivations=context.required.derivations,
        owned=owned,
        notes=notes,
    )


def _wanted(context: PlanContext) -> tuple[Total, int]:
    """The count that groups are ordered by, and how many of them are wanted."""
    question, required = context.question, context.required
    steps = question.post_processing
    is_plain = (
        question.keys
        and len(question.aggregates) == len(required.totals) == 1
        and not required.ranks
        and required.totals[0].kind != "sum"
        and steps.having is None
        and steps.present is None
        and steps.limit is not None
        and steps.order[:1] == ((question.aggregates[0].name, True),)
    )
    if not is_plain or not steps.limit:
        raise QueryRefused("CEL-Q143.no_top", method="top-k")
    return required.totals[0], steps.limit + steps.offset


def _shows_counts(question: Question) -> bool:
    """Whether the count is a column of the answer, or one is computed from it."""
    name, steps = question.aggregates[0].name, question.post_processing
    used = {each.name for part in steps.computed for each in part.expression.find_all(exp.Column)}
    return not steps.columns or name in steps.columns or name in used
