"""What each person adds to an answer, and the totals of that, clipped at many thresholds at once.

Let f_t be the total with every person's contribution clipped to at most t (a sum with negative
values: to [-t, t]). One person moves f_t by at most t; f_t never exceeds the answer where
contributions are not negative; and f_t is the answer once t is as large as every contribution. That
is what the race to the top needs (Dong, Fang, Yi, Tao and Machanavajjhala, SIGMOD 2022).

COUNT(DISTINCT x) is a sum over people only where one value of x never goes with two people. Else
each person keeps the first t of their own values, in an order that follows from the person and the
value alone, and f_t counts the values that at least one person keeps: the three facts hold again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from celosia.core.errors import InputError, QueryRefused
from celosia.core.numbers import whole as as_whole
from celosia.queries.algebra import Question
from celosia.queries.emission.aggregates import NO_SUMS
from celosia.queries.emission.fixed_point import FARTHEST, FixedPoint
from celosia.queries.emission.flat_query import FlatQuery, GroupKeys, aggregate_rows, zero_if_null
from celosia.queries.emission.target import (
    Target,
    as_alias,
    at_most,
    column,
    group_by,
    integer_literal,
    order_by,
    row_number,
    select_from,
)
from celosia.queries.ownership import OwnedRelation


def per_owner_query(
    question: Question,
    owned: OwnedRelation,
    *,
    target: Target,
    fixed: Mapping[str, FixedPoint] = NO_SUMS,
) -> exp.Select:
    """The keys, the number of a person, and what the person adds to each aggregate.

    People are numbered from 1; their keys stay in the engine.

    Raises:
        QueryRefused: CEL-Q124 rows that belong to several people, CEL-Q125 rows without a name.
    """
    flat = flatten_single_owner(question, owned, target, fixed, None)
    amounts = aggregate_rows(flat, flat.rows(), [*flat.keys, "owner_1"])
    by_owner = exp.Order(expressions=[exp.Ordered(this=column("owner_1"), nulls_first=False)])
    number = exp.Window(this=exp.DenseRank(), order=by_owner)
    columns: list[exp.Expr] = [column(key) for key in flat.keys]
    columns.append(as_alias(number, "person"))
    columns += [column(word) for word, _ in flat.aggregates]
    return order_by(select_from(amounts, columns), ["person", *flat.keys])


def truncated_totals_query(
    question: Question,
    owned: OwnedRelation,
    *,
    thresholds: Sequence[int],
    target: Target,
    fixed: Mapping[str, FixedPoint] = NO_SUMS,
    group_keys: GroupKeys | None = None,
    groups: int | None = None,
) -> exp.Select:
    """The total of the one aggregate at every threshold, in one pass; by key where there are keys.

    With keys, a person's contribution to each group is clipped on its own, so over all groups a
    person moves the totals by t times the groups that they are in: at most `groups`, if given.

    Args:
        question: with one aggregate: a count, a distinct count or a sum.
        owned: the question's rows with their owners.
        thresholds: whole numbers from 0; of a sum, in steps of its grid.
        target: the engine.
        fixed: how a sum is put on its grid.
        group_keys: all values of each key, as for `grouped_query`.
        groups: the most groups that a person counts in: the first ones of theirs, in an order that
            follows from the person and the key alone.

    Raises:
        InputError: CEL-Q134 thresholds, CEL-Q135 more than one aggregate.
        QueryRefused: CEL-Q124 rows that belong to several people, CEL-Q125 rows without a name.
    """
    limits = check_limits(thresholds, groups)
    if len(question.aggregates) != 1:
        raise InputError("CEL-Q135.clipped_totals", aggregate_count=len(question.aggregates))
    flat = flatten_single_owner(question, owned, target, fixed, group_keys)
    aggregate = question.aggregates[0]
    rows = flat.rows(only_group_keys=groups is not None)
    if groups is not None and flat.keys:
        rows = keep_first_groups(rows, flat, groups)
    words = [f"total_{number}" for number, _ in enumerate(limits, start=1)]
    if aggregate.kind == "distinct" and not owned.is_determined_by(aggregate.argument):
        parts = _lowest_places(rows, flat)
        totals = [
            exp.Sum(
                this=exp.Case()
                .when(at_most(column("place"), limit), integer_literal(1))
                .else_(integer_literal(0))
            )
            for limit in limits
        ]
    else:
        parts = aggregate_rows(flat, rows, [*flat.keys, "owner_1"])
        signed = aggregate.kind == "sum" and fixed[aggregate.name].low < 0
        totals = [_clipped_sum(limit, signed=signed, target=target) for limit in limits]
    columns: list[exp.Expr] = [column(key) for key in flat.keys]
    columns += [
        as_alias(zero_if_null(total), word) for word, total in zip(words, totals, strict=True)
    ]
    return flat.present_groups(group_by(select_from(parts, columns), flat.keys), words)


def _clipped_sum(limit: int, *, signed: bool, target: Target) -> exp.Sum:
    clipped = exp.func("LEAST", column("value_1"), integer_literal(limit))
    if signed:
        clipped = exp.func("GREATEST", clipped, integer_literal(-limit))
    # Back to 64 bits, where it fits: engines add those up in 128 bits, and fast.
    return exp.Sum(this=target.cast(clipped, "whole"))


def _lowest_places(rows: exp.Select, flat: FlatQuery) -> exp.Select:
    """For each value, the lowest place that it has among the values of a person."""
    keys = flat.keys
    words = [*keys, "owner_1", "value_1"]
    different = group_by(select_from(rows, [column(word) for word in words]), words)
    different.where(exp.Not(this=exp.Is(this=column("value_1"), expression=exp.Null())), copy=False)
    order = [
        flat.target.hash_values([column("value_1"), column("owner_1")]),
        column("value_1"),
    ]
    place = row_number([column(word) for word in [*keys, "owner_1"]], order)
    placed = select_from(
        different, [*(column(word) for word in [*keys, "value_1"]), as_alias(place, "place")]
    )
    lowest = as_alias(exp.Min(this=column("place")), "place")
    by = [*keys, "value_1"]
    return group_by(select_from(placed, [*(column(word) for word in by), lowest]), by)


def keep_first_groups(rows: exp.Select, flat: FlatQuery, groups: int) -> exp.Select:
    """The rows of the first groups of each person."""
    keys: list[exp.Expr] = [column(key) for key in flat.keys]
    order = [flat.target.hash_values([*keys, column("owner_1")]), *keys]
    place = exp.Window(
        this=exp.DenseRank(),
        partition_by=[column("owner_1")],
        order=exp.Order(expressions=[exp.Ordered(this=each, nulls_first=False) for each in order]),
    )
    placed = select_from(rows, [exp.Star(), as_alias(place, "group_place")])
    made = select_from(placed, [exp.Star()])
    return made.where(at_most(column("group_place"), groups), copy=False)


def flatten_single_owner(
    question: Question,
    owned: OwnedRelation,
    target: Target,
    fixed: Mapping[str, FixedPoint],
    group_keys: GroupKeys | None,
) -> FlatQuery:
    """The rows of a question, each of which belongs to one person.

    Raises:
        QueryRefused: CEL-Q124 rows that belong to several people, CEL-Q125 rows without a name.
    """
    check_identified(owned)
    if owned.owner_count != 1:
        raise QueryRefused("CEL-Q124", owner_count=owned.owner_count)
    return FlatQuery(
        question=question, target=target, owned=owned, fixed=fixed, group_keys=group_keys
    )


def check_identified(owned: OwnedRelation) -> None:
    """Refuse rows that no unique column identifies.

    Raises:
        QueryRefused: CEL-Q125.
    """
    if owned.unidentified:
        raise QueryRefused("CEL-Q125")


def check_limits(thresholds: Sequence[int], groups: int | None = None) -> list[int]:
    """Thresholds as plain numbers.

    Raises:
        InputError: CEL-Q134.
    """
    limits = [as_whole(each) for each in thresholds]
    wrong = not limits or any(each is None or not 0 <= each <= FARTHEST for each in limits)
    if wrong or (groups is not None and (as_whole(groups) is None or groups < 1)):
        raise InputError("CEL-Q134")
    return [each for each in limits if each is not None]
