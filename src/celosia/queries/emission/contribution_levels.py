"""How many people add how much, and the totals under every cap of a ladder, in one pass.

For each aggregate and each cap the query returns two numbers: the people whose contribution is
above the cap before and up to this one, and the total of all contributions cut off at the cap. So
one person moves one number of people by one, and the total under a cap by at most the cap. For
totals by group see `group_truncation`.

A distinct count whose values do not determine their owner is no sum over people. Each person then
keeps the first t of their own pairs of a group and a value, and a pair counts if at least one
person keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.algebra import Question
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
    group_keys: GroupKeys | None = None,
) -> exp.Select:
    """For each aggregate its people and its totals, one for each cap, after the keys of each group.

    The people of an aggregate are the sum of the column over all groups: a person stands in one
    group of theirs only.

    Args:
        question: counts and sums, without keys; a distinct count whose values do not
            determine their owner must be alone, and may have keys.
        owned: the question's rows with their owners, of one class.
        caps: a ladder for each aggregate.
        target: the engine.
        fixed: how sums are put on their grids.
        group_keys: all values of each key; needed where there are keys.

    Raises:
        InputError: CEL-Q130 caps, CEL-Q130 a distinct count that must be alone, or keys.
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    ladders = [truncation.check_limits(each) for each in caps]
    flat = truncation.flatten_single_owner(question, owned, target, fixed, group_keys)
    shared = [
        each.kind == "distinct" and not owned.is_determined_by(each.argument)
        for each in question.aggregates
    ]
    if any(shared) and len(shared) > 1:
        raise InputError("CEL-Q130.one_at_a_time_shared_values")
    if any(shared):
        parts = _shared_values(flat, flat.rows(only_group_keys=True), ladders[0])
    elif flat.keys:
        raise InputError("CEL-Q130.one_at_a_time_ladder_by_group")
    else:
        parts = _own_contributions(flat, ladders)
    return flat.present_groups(parts, _names(ladders)) if flat.keys else parts


def _names(ladders: list[list[int]]) -> list[str]:
    return [
        f"{word}_{place}_{number}"
        for place, ladder in enumerate(ladders, start=1)
        for word in ("people", "total")
        for number, _ in enumerate(ladder, start=1)
    ]


def _own_contributions(flat: FlatQuery, ladders: list[list[int]]) -> exp.Select:
    """Contributions that add up: each person's own."""
    # Ends at 2^53 are beyond all caps.
    fast = replace(flat, saturating=all(ladder[-1] <= EXACT for ladder in ladders))
    later = defer_owner_join(fast)
    if later is None:
        entries = aggregate_rows(fast, fast.rows(), ["owner_1"])
    else:
        entries = later.join_owners(aggregate_rows(later.flat, later.flat.rows(), ["owner_1"]))
    signed = [
        each.kind == "sum" and flat.fixed[each.name].low < 0 for each in flat.question.aggregates
    ]
    columns: list[exp.Expr] = []
    for place, (ladder, is_signed) in enumerate(zip(ladders, signed, strict=True), start=1):
        caps = list(enumerate(ladder, start=1))
        columns += [truncation.people_at(place, level) for level, _ in caps]
        columns += [
            truncation.total_under(place, level, cap, signed=is_signed) for level, cap in caps
        ]
    return select_from(
        truncation.count_by_level(entries, ladders, signed, flat.target), _listed(columns, ladders)
    )


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
    return group_by(select_from(values, [*keys, *_listed(columns, [ladder])]), flat.keys)


def _listed(columns: list[exp.Expr], ladders: list[list[int]]) -> list[exp.Expr]:
    return [
        as_alias(exp.Coalesce(this=tree, expressions=[integer_literal(0)]), word)
        for tree, word in zip(columns, _names(ladders), strict=True)
    ]


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
