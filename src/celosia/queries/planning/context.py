"""What the planner knows when it chooses mechanisms; all of it public."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from celosia.core.errors import QueryRefused
from celosia.core.neighbours import Neighbours
from celosia.core.neighbours import Relation as NeighbourRelation
from celosia.queries.algebra import Question
from celosia.queries.emission import Target
from celosia.queries.emission.expression_types import infer_type
from celosia.queries.ownership import OwnedRelation
from celosia.queries.planning.aggregates import Derivation, RequiredTotals, Total
from celosia.queries.planning.facts import Frequency, PublicFacts
from celosia.queries.planning.key_domains import MOST_GROUPS, KeyDomains, is_whole_valued
from celosia.queries.planning.plan import Executor, Step, StepContext, count_groups
from celosia.queries.policy.values import Policy

if TYPE_CHECKING:
    from celosia.queries.planning.rank_contribution import RankContribution


def format_key(value: Any) -> str:
    """A key as one text: dates in ISO form, whatever the engine returns them as.

    >>> from datetime import date
    >>> format_key(date(2026, 11, 16)), format_key(3), format_key("a")
    ('2026-11-16', '3', 'a')
    """
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def as_plain_key(value: Any) -> str | int | bool:
    """A key as a plain value for JSON, which can be written into a query again."""
    if isinstance(value, float | Decimal) and value == int(value):
        return int(value)
    return value if isinstance(value, bool | int | str) else format_key(value)


TYPICAL = 64
"""Rows that a person is taken to have in an answer where no cap is declared: most have fewer."""
TYPICAL_GROUPS = 8
"""Groups that a person is taken to be in, likewise."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """The price of a question, and how public tables are looked at."""

    text: str
    epsilon: Fraction
    delta: Fraction
    method: str | None = None
    count: Frequency | None = None
    execute_public: Executor | None = None
    rank_intervals: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext:
    """A question under a policy, with what may be spent on it."""

    question: Question
    target: Target
    required: RequiredTotals
    keys: KeyDomains
    epsilon: Fraction
    delta: Fraction
    method: str | None
    facts: PublicFacts
    rank_intervals: bool = False

    @property
    def policy(self) -> Policy:
        """What is declared."""
        return self.target.policy

    @property
    def neighbours(self) -> Neighbours:
        """The neighbours that the answer protects."""
        return Neighbours(self.policy.relation, unit=self.policy.unit.name)

    @property
    def changes(self) -> bool:
        """Whether a unit is changed rather than added or removed."""
        return self.policy.relation is NeighbourRelation.CHANGE_ONE

    @property
    def finds_keys(self) -> bool:
        """Whether groups have to be found in the data."""
        return bool(self.keys.undeclared)

    @property
    def share(self) -> Fraction:
        """The epsilon of each total, rank and choice of groups."""
        count = len(self.required.totals) + len(self.required.ranks) + int(self.finds_keys)
        return self.epsilon / count

    def check_keys(self) -> None:
        """Refuse groups that have to be found without a delta."""
        if self.finds_keys and not self.delta:
            raise QueryRefused("CEL-Q146.no_keys", name=self.keys.undeclared[0])
        for key in self.question.keys if self.finds_keys else ():
            kind = infer_type(key.expression, self.question.source, target=self.target)
            if kind == "number" and not is_whole_valued(key.expression):
                raise QueryRefused("CEL-Q146.not_whole", name=key.name)

    def shift(self, total: Total, rows: int) -> int:
        """The most that a unit with so many rows moves a total, over all groups, in steps.

        A changed unit takes its rows out and puts others in. Of one number of at least 0 a row that
        leaves and one that comes work against each other; groups, and values of either sign, feel
        both.
        """
        both = self.changes and (bool(self.question.keys) or total.is_signed)
        return rows * total.reach * (2 if both else 1)

    def rank_steps(self, step_context: StepContext, rows: int | None) -> list[Step]:
        """The steps of MIN, MAX and quantiles.

        Args:
            step_context: the question, with owners where there are such.
            rows: the most rows that a unit has or moves, if declared caps bound them.

        Raises:
            QueryRefused: CEL-Q144 nothing bounds the rows that a row moves, CEL-Q143 nor those of
                a person, for the method `capped`.
        """
        if not self.required.ranks:
            return []
        from celosia.queries.planning.ranks import RankStep  # only where the plan needs it

        groups = MOST_GROUPS if self.keys.values is None else count_groups(self.keys.values)
        return [
            RankStep(
                context=step_context,
                derivation=each,
                epsilon=self.share,
                relation=self.policy.relation,
                rows=self._rank_rows(each, step_context, rows, groups),
                groups=groups,
                intervals=self.rank_intervals,
            )
            for each in self.required.ranks
        ]

    def _rank_rows(
        self, derivation: Derivation, step_context: StepContext, rows: int | None, groups: int
    ) -> RankContribution:
        from celosia.queries.planning.rank_contribution import (
            CAP_SHARE,
            MOST_ROWS,
            RankContribution,
        )
        from celosia.queries.planning.ranks import quantile_share

        if rows is not None and rows <= 1:
            return RankContribution()
        if step_context.owned is None:
            if rows is None:
                raise QueryRefused("CEL-Q144.rank_of_rows", label=derivation.label)
            return RankContribution(most=rows, is_paired=False)
        is_reduced = quantile_share(derivation.aggregate) in (0, 1)
        most, typical = rows, TYPICAL
        if is_reduced:  # a person is in at most as many groups as they have rows
            most = groups if rows is None else min(rows, groups)
            typical = TYPICAL_GROUPS
        is_chosen = most is None or most > typical / (1 - CAP_SHARE)
        if self.method == "capped":
            if most is None:
                raise QueryRefused("CEL-Q143.no_caps", method="capped")
            is_chosen = False
        elif self.method == "chosen-cap":
            is_chosen = most is None or most > 1
        if is_chosen:
            limit = min(self.policy.most_per_unit, MOST_ROWS)
            most = limit if most is None else min(most, limit)
        assert most is not None, "without a bound a cap is chosen"
        return RankContribution(most=most, is_chosen=is_chosen, is_reduced=is_reduced)

    def partition_steps(
        self, step_context: StepContext, per_unit: int, delta: Fraction
    ) -> list[Step]:
        """The step that finds the groups, where they are not public."""
        if not self.finds_keys:
            return []
        from celosia.queries.planning.partition_selection import (
            PartitionSelection,  # only where the plan needs it
        )

        return [
            PartitionSelection(
                context=step_context,
                per_unit=per_unit,
                epsilon=self.share,
                delta=delta,
                neighbours=self.neighbours,
            )
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismChoice:
    """The mechanisms that the planner has chosen."""

    method: str
    steps: list[Step]
    derivations: list[Derivation]
    owned: OwnedRelation | None = None
    notes: tuple[str, ...] = ()
    """What the analyst should know of the choice."""
