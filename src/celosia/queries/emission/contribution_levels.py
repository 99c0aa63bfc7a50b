"""How many people add how much, and the totals under every cap of a ladder, in one pass.

From the rows of each query follow two numbers for each aggregate and each cap: the people whose
contribution is above the cap before and up to this one, and the total of all contributions cut off
at the cap (`read_totals`). So one person moves one number of people by one, and the total under a
cap by at most the cap. For totals by group see `group_truncation`.

A distinct count whose values do not determine their owner is no sum over people. Each person then
keeps the first t of their own pairs of a group and a value, and a pair counts if at least one
person keeps it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.algebra import Aggregate, Question
from celosia.queries.emission import truncation
from celosia.queries.emission.aggregates import EXACT, NO_SUMS, FlatQuery, GroupKeys, aggregate_rows
from celosia.queries.emission.deferred_joins import defer_owner_join
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.syntax import (
    as_alias,
    at_most,
    column,
    group_by,
    integer_literal,
    row_number,
    select_from,
)
from celosia.queries.emission.target import Target
from celosia.queries.ownership import OwnedRelation

Ladders = Sequence[Sequence[int]]
"""For each aggregate its caps, rising."""


def contribution_totals_query(
    question: Question,
    owned: OwnedRelation,
    *,
    caps: Ladders,
    target: Target,
    fixed: Mapping[str, FixedPoint] = NO_SUMS,
) -> exp.Select:
    """How many people add how much over all groups, for `read_totals`.

    Args:
        question: counts and sums without keys, and distinct counts of values that determine their
            owner.
        owned: the question's rows with their owners, of one class.
        caps: a ladder for each aggregate.
        target: the engine.
        fixed: how sums are put on their grids.

    Raises:
        InputError: CEL-Q130 caps, CEL-Q130 a distinct count that must be alone, or keys.
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    ladders = [truncation.check_limits(each) for each in caps]
    flat = truncation.flatten_single_owner(question, owned, target, fixed, None)
    if any(_is_shared(each, owned) for each in question.aggregates):
        raise InputError("CEL-Q130.one_at_a_time_shared_values")
    if flat.keys:
        raise InputError("CEL-Q130.one_at_a_time_ladder_by_group")
    # Ends at 2^53 are beyond all caps.
    fast = replace(flat, saturating=all(ladder[-1] <= EXACT for ladder in ladders))
    later = defer_owner_join(fast)
    if later is None:
        entries = aggregate_rows(fast, fast.rows(), ["owner_1"])
    else:
        entries = later.join_owners(aggregate_rows(later.flat, later.flat.rows(), ["owner_1"]))
    if _is_count(question):
        return truncation.count_by_size(entries)
    return truncation.count_by_level(entries, ladders, _signs(question, fixed), target)


def _is_count(question: Question) -> bool:
    """Whether one count is asked for: people then add few different numbers.

    For n of them there are n^2 / 2 rows: some thousands for ten million rows. So they are fetched
    as they are, and the engine finds no levels.
    """
    return [each.kind for each in question.aggregates] in (["rows"], ["count"], ["distinct"])


def _signs(question: Question, fixed: Mapping[str, FixedPoint]) -> list[bool]:
    """Whether contributions to each aggregate may be below 0."""
    return [each.kind == "sum" and fixed[each.name].low < 0 for each in question.aggregates]


def read_totals(
    rows: Sequence[Sequence[Any]],
    question: Question,
    *,
    caps: Ladders,
    fixed: Mapping[str, FixedPoint] = NO_SUMS,
) -> list[tuple[list[int], list[int]]]:
    """For each aggregate the people at each cap, and the total under it.

    The sum of min(x, cap) is the sum of all x up to the cap, and the cap times the number of x
    beyond it. So a few sums and numbers give the totals under all caps, and whole numbers of any
    length are added up here, where the engine would do it for dozens of columns.

    Args:
        rows: of `contribution_totals_query`.
        question: as given to the query, like all that follows.
        caps: a ladder for each aggregate.
        fixed: how sums are put on their grids.
    """
    if _is_count(question):
        (ladder,) = caps
        sizes = [(min(int(value), ladder[-1]), int(people)) for value, people in rows]
        rows = [(bisect_left((0, *ladder), size), people, size * people) for size, people in sizes]
    found: list[tuple[list[int], list[int]]] = []
    start = len(caps) + 1
    for place, (ladder, is_signed) in enumerate(zip(caps, _signs(question, fixed), strict=True)):
        people, beyond, sums = ([0] * (len(ladder) + 1) for _ in range(3))
        for row in rows:
            level, number, own = int(row[place]), int(row[len(caps)]), row[start:]
            people[level] += number
            beyond[level] += int(own[0]) if is_signed else number
            sums[level] += int(own[1 if is_signed else 0])
        totals = [
            sum(sums[: level + 1]) + cap * sum(beyond[level + 1 :])
            for level, cap in enumerate(ladder, start=1)
        ]
        found.append((people[1:], totals))
        start += 2 if is_signed else 1
    return found


def shared_values_query(
    question: Question,
    owned: OwnedRelation,
    *,
    caps: Sequence[int],
    target: Target,
    group_keys: GroupKeys | None = None,
) -> exp.Select:
    """The people and the totals of a distinct count of values that people share, by cap and group.

    The columns are the keys, the people for each cap, and the total for each. The people are the
    sum of the column over all groups: a person stands in one group of theirs only.

    Args:
        question: one distinct count whose values do not determine their owner.
        owned: the question's rows with their owners, of one class.
        caps: its ladder.
        target: the engine.
        group_keys: all values of each key; needed where there are keys.

    Raises:
        InputError: CEL-Q130 caps, CEL-Q130 more than one aggregate.
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    ladder = truncation.check_limits(caps)
    flat = truncation.flatten_single_owner(question, owned, target, NO_SUMS, group_keys)
    if len(question.aggregates) != 1 or not _is_shared(question.aggregates[0], owned):
        raise InputError("CEL-Q130.one_at_a_time_shared_values")
    parts = _shared_values(flat, flat.rows(only_group_keys=True), ladder)
    return flat.present_groups(parts, _names(ladder)) if flat.keys else parts


def _is_shared(aggregate: Aggregate, owned: OwnedRelation) -> bool:
    return aggregate.kind == "distinct" and not owned.is_determined_by(aggregate.argument)


def _names(ladder: list[int]) -> list[str]:
    return [
        f"{word}_{number}"
        for word in ("people", "total")
        for number, _ in enumerate(ladder, start=1)
    ]


def _shared_values(flat: FlatQuery, rows: exp.Select, ladder: list[int]) -> exp.Select:
    """Values of which several people may have one."""
    words = [*flat.keys, "owner_1", "value_1"]
    different = group_by(select_from(rows, [column(word) for word in words]), words)
    different.where(exp.Not(this=exp.Is(this=column("value_1"), expression=exp.Null())), copy=False)
    mixed: list[exp.Expr] = [column(word) for word in (*flat.keys, "value_1")]
    order = [flat.target.hash_values([*mixed, column("owner_1")]), *mixed]
    owner: list[exp.Expr] = [column("owner_1")]
    all_of = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[column("owner_1")])
    placed = select_from(
        different, [*mixed, as_alias(row_number(owner, order), "place"), as_alias(all_of, "whole")]
    )
    by = [*flat.keys, "value_1"]
    is_first = exp.EQ(this=column("place"), expression=integer_literal(1))
    people = [_people(column("whole"), low, high, is_first) for low, high in _levels(ladder)]
    firsts = [f"first_{number}" for number, _ in enumerate(ladder, start=1)]
    lowest = as_alias(exp.Min(this=column("place")), "place")
    counted = [as_alias(tree, word) for tree, word in zip(people, firsts, strict=True)]
    values = group_by(select_from(placed, [*map(column, by), lowest, *counted]), by)
    columns: list[exp.Expr] = [exp.Sum(this=column(word)) for word in firsts]
    columns += [exp.Sum(this=_one_if(at_most(column("place"), cap))) for cap in ladder]
    keys: list[exp.Expr] = [column(key) for key in flat.keys]
    counts = [
        as_alias(exp.Coalesce(this=tree, expressions=[integer_literal(0)]), word)
        for tree, word in zip(columns, _names(ladder), strict=True)
    ]
    return group_by(select_from(values, [*keys, *counts]), flat.keys)


def _levels(ladder: list[int]) -> list[tuple[int, int | None]]:
    """Above which and up to which contribution people are counted at each cap."""
    ends: list[int | None] = [*ladder[:-1], None]
    return list(zip([0, *ladder[:-1]], ends, strict=True))


def _people(
    size: exp.Expr, low: int, high: int | None, condition: exp.Expr | None = None
) -> exp.Sum:
    tests: list[exp.Expr] = [exp.GT(this=size.copy(), expression=integer_literal(low))]
    if high is not None:
        tests.append(at_most(size.copy(), high))
    if condition is not None:
        tests.append(condition.copy())
    both = tests[0]
    for test in tests[1:]:
        both = exp.And(this=both, expression=test)
    return exp.Sum(this=_one_if(both))


def _one_if(test: exp.Expr) -> exp.Case:
    # Put together by hand: builders copy and parse, which adds up over dozens of columns.
    return exp.Case(ifs=[exp.If(this=test, true=integer_literal(1))], default=integer_literal(0))
