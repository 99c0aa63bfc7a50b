"""Groups of sub-queries before they are planned: what each may hold, and on which grid it adds up.

All of it follows from the policy and the question. A bound that is too low clips values, and costs
accuracy, never privacy; whose rows a group holds is for `ownership.per_owner`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.queries import algebra
from celosia.queries.bounds.stability import StabilityAnalysis
from celosia.queries.emission import Target
from celosia.queries.ownership import attach_owners
from celosia.queries.planning.aggregates import format_aggregate
from celosia.queries.planning.facts import PublicFacts
from celosia.queries.planning.ranges import (
    choose_fixed_point,
    infer_grid,
    infer_range,
    is_whole,
)
from celosia.queries.sql import make_total
from celosia.queries.sql.aggregates import encode_tuple

ADDED_UP = frozenset({"sum", "mean"})


def bound_sub_queries(
    question: algebra.Question, target: Target, facts: PublicFacts
) -> algebra.Question:
    """The question with bounds on what the groups of its sub-queries hold.

    Raises:
        QueryRefused: CEL-Q144 a sum of values without bounds; CEL-Q043, CEL-Q042 and CEL-Q036 what
            has no bound for single rows; all that `attach_owners` refuses.
    """
    if not any(_is_special(each) for each in algebra.walk(question.source)):
        return question
    bounder = _Bounder(target, facts)
    counted = _count_different(question)
    if counted is not None and not bounder.tells_owner(question.source):
        question = counted
    return replace(question, source=bounder.bound(question.source))


def _is_special(relation: algebra.Relation) -> bool:
    return isinstance(relation, algebra.GroupedTable | algebra.LeftJoin) or (
        isinstance(relation, algebra.DerivedTable) and _has_windows(relation)
    )


def _has_windows(relation: algebra.DerivedTable) -> bool:
    return any(each.expression.find(exp.Window) for each in relation.columns)


def _count_different(question: algebra.Question) -> algebra.Question | None:
    """COUNT(*) over SELECT DISTINCT as COUNT(DISTINCT (...)), which also counts lists with NULL."""
    derived = question.source
    if not isinstance(derived, algebra.DerivedTable) or question.keys:
        return None
    grouped = derived.source
    if not isinstance(grouped, algebra.GroupedTable) or grouped.aggregates:
        return None
    if any(each.kind != "rows" for each in question.aggregates):
        return None
    values = exp.Tuple(expressions=[each.expression.copy() for each in grouped.keys])
    tree = encode_tuple([values], at=values)
    assert isinstance(tree, exp.Expression)
    argument = make_total(tree)
    counts = tuple(
        replace(each, kind="distinct", argument=argument, label=format_aggregate(each))
        for each in question.aggregates
    )
    return replace(question, source=grouped.source, aggregates=counts)


@dataclass(frozen=True, slots=True)
class _Bounder:
    """Goes through the relations of one question, the innermost first."""

    target: Target
    facts: PublicFacts

    def tells_owner(self, source: algebra.Relation) -> bool:
        """Whether the groups of a relation hold rows of one owner each."""
        if self.target.policy.unit.is_row:
            return True  # refused with its own words
        try:
            attach_owners(source, policy=self.target.policy)
        except QueryRefused as refusal:
            if refusal.key != "CEL-Q043.groups_of_several":
                raise
            return False
        return True

    def bound(self, relation: algebra.Relation) -> algebra.Relation:
        """The relation with bounds in its groups."""
        match relation:
            case algebra.Scan():
                return relation
            case algebra.Filter(source=source):
                return replace(relation, source=self.bound(source))
            case algebra.DerivedTable(source=source):
                if _has_windows(relation):
                    self._check_unit(source, "CEL-Q042.window_of_rows")
                return replace(relation, source=self.bound(source))
            case algebra.GroupedTable(source=source):
                self._check_unit(source, "CEL-Q043.groups_of_rows")
                return self._group(replace(relation, source=self.bound(source)))
            case algebra.UnionAll(parts=parts):
                made = (replace(part, source=self.bound(part.source)) for part in parts)
                return replace(relation, parts=tuple(made))
            case algebra.LeftJoin(right=right):
                self._check_unit(right, "CEL-Q036.outer_of_rows")
        left, right = relation.left, relation.right
        return replace(relation, left=self.bound(left), right=self.bound(right))

    def _check_unit(self, source: algebra.Relation, refusal: str) -> None:
        """Refuse for single rows what is bounded for people only."""
        if self.target.policy.unit.is_row and self._is_private(source):
            raise QueryRefused(refusal)

    def _is_private(self, source: algebra.Relation) -> bool:
        return any(not self.facts.is_public(scan.table) for scan in algebra.scans(source))

    def _group(self, grouped: algebra.GroupedTable) -> algebra.GroupedTable:
        if not self._is_private(grouped.source):
            return grouped
        aggregates = tuple(self._steps(each, grouped.source) for each in grouped.aggregates)
        return replace(grouped, aggregates=aggregates, most=self._most(grouped.source))

    def _most(self, source: algebra.Relation) -> int:
        """The most rows of one owner, if declared caps bound them; else what the policy allows."""
        owned, limit = attach_owners(source, policy=self.target.policy), None
        analysis = StabilityAnalysis(self.facts)
        with suppress(QueryRefused):
            limit = analysis.frequency(owned.owners[0], owned.relation).limit
        most = self.target.policy.most_per_unit
        return most if limit is None else max(1, min(limit, most))

    def _steps(self, aggregate: algebra.Aggregate, source: algebra.Relation) -> algebra.Aggregate:
        if aggregate.kind not in ADDED_UP or aggregate.argument is None:
            return aggregate
        bounds = infer_range(aggregate.argument, source, self.target)
        if bounds is None:
            raise QueryRefused("CEL-Q144.no_bounds", label=format_aggregate(aggregate))
        fixed = choose_fixed_point(
            bounds,
            grid=infer_grid(aggregate.argument, source, self.target),
            is_whole=is_whole(aggregate.argument, source, self.target),
        )
        return replace(aggregate, steps=(fixed.lower, fixed.upper, fixed.step))
