"""Totals by group in which a person is cut off over all groups together, in two steps.

First the people by level: how many add how much over all groups. When a cap was chosen from that,
the totals under this cap alone. A person's entries are taken in an order that follows from the
person and the keys alone, and once they reach the cap in sum of sizes, the rest is left out: one
person moves all groups by at most the cap in sum (see `bounds.caps.grouped_totals`).

Only the rows of people above the cap have to be put in order. A cap that is worth choosing leaves
few of them: all rows are added up as if there was no cap, and what these few have too much is taken
away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.algebra import Question
from celosia.queries.emission import aggregates, truncation
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.syntax import (
    as_alias,
    column,
    group_by,
    select_from,
)
from celosia.queries.emission.target import Target
from celosia.queries.ownership import OwnedRelation


def contribution_levels_query(
    question: Question,
    owned: OwnedRelation,
    *,
    caps: Sequence[Sequence[int]],
    target: Target,
    group_keys: aggregates.GroupKeys,
    fixed: Mapping[str, FixedPoint] = aggregates.NO_SUMS,
) -> exp.Select:
    """One row: for each aggregate, how many people add more than the cap before, up to each cap.

    What a person adds is the sum of sizes over all groups.

    Args:
        question: counts and sums with keys, and distinct counts of values that determine their
            owner.
        owned: the question's rows with their owners, of one class.
        caps: for each aggregate its caps, rising.
        target: the engine.
        group_keys: all values of each key.
        fixed: how sums are put on their grids.

    Raises:
        InputError: CEL-Q130 caps, CEL-Q130 a distinct count of values that people share.
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    ladders = [truncation.check_limits(each) for each in caps]
    flat = _flatten(question, owned, target, fixed, group_keys)
    words = [word for word, _ in flat.aggregates]
    # Ends at 2^53 are beyond all caps.
    fast = replace(flat, saturating=all(ladder[-1] <= aggregates.EXACT for ladder in ladders))
    rows = fast.rows(only_group_keys=True)
    if any(_may_cancel(flat, word) for word in words):
        sizes: list[exp.Expr] = [
            # No size above the last cap matters: 2^20 groups of at most 2^62 stay within 128 bits.
            as_alias(exp.Sum(this=truncation.clip(exp.Abs(this=column(word)), ladder[-1])), word)
            for word, ladder in zip(words, ladders, strict=True)
        ]
        entries = aggregates.aggregate_rows(fast, rows, [*flat.keys, "owner_1"])
        people = group_by(select_from(entries, sizes), ["owner_1"])
    else:
        # All rows of a person at once: to add up over groups is to add up.
        people = aggregates.aggregate_rows(fast, rows, ["owner_1"])
    levels = truncation.count_by_level(people, ladders, [False] * len(ladders), target)
    columns: list[exp.Expr] = [
        as_alias(
            aggregates.zero_if_null(truncation.people_at(place, level)), f"people_{place}_{level}"
        )
        for place, ladder in enumerate(ladders, start=1)
        for level, _ in enumerate(ladder, start=1)
    ]
    return select_from(levels, columns)


def truncated_groups_query(
    question: Question,
    owned: OwnedRelation,
    *,
    cap: int,
    target: Target,
    group_keys: aggregates.GroupKeys,
    fixed: Mapping[str, FixedPoint] = aggregates.NO_SUMS,
) -> exp.Select:
    """The keys of each group, and its total with every person cut off at a cap over all groups.

    Args:
        question: with keys and one aggregate, as for `contribution_levels_query`.
        owned: the question's rows with their owners, of one class.
        cap: the most that a person adds, in sum of sizes.
        target: the engine.
        group_keys: all values of each key.
        fixed: how a sum is put on its grid.

    Raises:
        InputError: CEL-Q130 the cap, CEL-Q130 not one aggregate, or one that people share.
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    (limit,) = truncation.check_limits([cap])
    if len(question.aggregates) != 1:
        raise InputError(
            "CEL-Q130.one_at_a_time_truncated_groups", aggregate_count=len(question.aggregates)
        )
    flat = _flatten(question, owned, target, fixed, group_keys)
    keys: list[exp.Expr] = [column(key) for key in flat.keys]
    everything = aggregates.aggregate_rows(flat, flat.rows(only_group_keys=True), flat.keys)
    stacked = exp.Union(this=everything, expression=_excess(flat, limit), distinct=False)
    total = as_alias(exp.Sum(this=column("value_1")), "value_1")
    return flat.present_groups(
        group_by(select_from(stacked, [*keys, total]), flat.keys), ["value_1"]
    )


def _excess(flat: aggregates.FlatQuery, cap: int) -> exp.Select:
    """For each entry of people above the cap what they have too much, with the other sign."""
    keys: list[exp.Expr] = [column(key) for key in flat.keys]
    rows = select_from(flat.rows(only_group_keys=True), [exp.Star()])
    above = exp.In(this=column("owner_1"), query=exp.Subquery(this=_people_above(flat, cap)))
    entries = aggregates.aggregate_rows(
        flat, rows.where(above, copy=False), [*flat.keys, "owner_1"]
    )
    size = truncation.clip(exp.Abs(this=column("value_1")), cap)
    order = [flat.target.hash_values([*keys, column("owner_1")]), *keys]
    upto = exp.Window(
        this=exp.Sum(this=size),
        partition_by=[column("owner_1")],
        order=exp.Order(
            expressions=[exp.Ordered(this=each.copy(), nulls_first=False) for each in order]
        ),
        spec=exp.WindowSpec(
            kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
        ),
    )
    placed = select_from(
        entries,
        [*keys, column("value_1"), as_alias(size.copy(), "size"), as_alias(upto, "upto")],
    )
    before = exp.Paren(this=exp.Sub(this=column("upto"), expression=column("size")))
    kept = exp.Sub(
        this=truncation.clip(column("upto"), cap), expression=truncation.clip(before, cap)
    )
    is_negative = exp.LT(this=column("value_1"), expression=exp.Literal.number(0))
    left = exp.Case(
        ifs=[exp.If(this=is_negative, true=exp.Neg(this=exp.Paren(this=kept)))],
        default=kept.copy(),
    )
    less = exp.Sub(this=left, expression=column("value_1"))
    return select_from(placed, [*keys, as_alias(less, "value_1")])


def _people_above(flat: aggregates.FlatQuery, cap: int) -> exp.Select:
    """People whose sizes may add up to more than the cap: all others are never cut off."""
    fast = replace(flat, saturating=cap < aggregates.EXACT)
    ((word, aggregate),) = fast.aggregates
    amount = fast.aggregate_expression(word, aggregate)
    if aggregate.kind == "distinct":
        amount = exp.Count(this=column(word))  # never fewer than different ones
    elif _may_cancel(flat, word):
        amount = exp.Sum(this=exp.Abs(this=column(word)))  # never less than the sums of groups
    people = group_by(
        select_from(fast.rows(only_group_keys=True), [column("owner_1")]), ["owner_1"]
    )
    test = exp.GT(this=amount, expression=exp.Literal.number(str(cap)))
    people.set("having", exp.Having(this=test))
    return people


def _may_cancel(flat: aggregates.FlatQuery, word: str) -> bool:
    """Whether what a person adds to groups may be more, in sum of sizes, than to all rows at once.

    Values below 0 cancel others; a value that is in two groups is counted twice.
    """
    aggregate = dict(flat.aggregates)[word]
    if aggregate.kind == "sum":
        return flat.fixed[aggregate.name].low < 0
    return aggregate.kind == "distinct"


def _flatten(
    question: Question,
    owned: OwnedRelation,
    target: Target,
    fixed: Mapping[str, FixedPoint],
    group_keys: aggregates.GroupKeys,
) -> aggregates.FlatQuery:
    for each in question.aggregates:
        if each.kind == "distinct" and not owned.is_determined_by(each.argument):
            raise InputError("CEL-Q130.one_at_a_time_shared_values_by_group")
    return truncation.flatten_single_owner(question, owned, target, fixed, group_keys)
