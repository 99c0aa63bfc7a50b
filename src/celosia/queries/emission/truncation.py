"""What each person adds to an answer, and the totals of that, clipped at many thresholds at once.

A contribution v adds v to the totals under all caps from its size on, and the cap itself (with its
sign) to those below. So a total follows from a few numbers for each step of the ladder: how many
contributions end there, and their sum. The engine counts these in one pass with one test each,
where a sum for each cap would take dozens; the rest is arithmetic on a table of a few rows.

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
from celosia.queries.emission import aggregates
from celosia.queries.emission.fixed_point import FARTHEST, FixedPoint
from celosia.queries.emission.syntax import (
    as_alias,
    at_most,
    column,
    computed_once,
    group_by,
    integer_literal,
    order_by,
    row_number,
    select_from,
)
from celosia.queries.emission.target import Target
from celosia.queries.ownership import OwnedRelation


def count_by_level(
    entries: exp.Select, ladders: Sequence[Sequence[int]], signed: Sequence[bool], target: Target
) -> exp.Select:
    """How many contributions end at which steps of all ladders, and their sums.

    Args:
        entries: contributions in columns value_1, value_2, ...; none of them NULL.
        ladders: for each its caps, rising.
        signed: for each whether it may be below 0.
        target: the engine.

    Returns:
        A query with columns level_1, ... (from 1; 0 for contributions of 0), people, and for each
        contribution sign_1, ... where it is signed, and sum_1, ..., cut off at the last cap.
    """
    clipped: list[exp.Expr] = []
    levels: list[exp.Expr] = []
    sums: list[exp.Expr] = [as_alias(exp.Count(this=exp.Star()), "people")]
    for place, (ladder, is_signed) in enumerate(zip(ladders, signed, strict=True), start=1):
        word, last = f"value_{place}", ladder[-1]
        amount: exp.Expr = clip(column(word), last)
        if is_signed:
            amount = exp.Greatest(
                this=amount, expressions=[integer_literal(-last)], ignore_nulls=True
            )
            sums.append(as_alias(exp.Sum(this=_sign(column(word))), f"sign_{place}"))
        # Back to 64 bits, where it fits: engines add those up in 128 bits, and fast.
        clipped.append(as_alias(target.cast(amount, "whole"), word))
        size = exp.Abs(this=column(word)) if is_signed else column(word)
        levels += [column(word), as_alias(level_of(size, ladder), f"level_{place}")]
        sums.append(as_alias(exp.Sum(this=column(word)), f"sum_{place}"))
    words = [f"level_{place}" for place, _ in enumerate(ladders, start=1)]
    cut = select_from(entries, clipped)
    placed = select_from(computed_once(cut) if target.dialect == "postgres" else cut, levels)
    return order_by(group_by(select_from(placed, [*map(column, words), *sums]), words), words)


def count_by_size(entries: exp.Select) -> exp.Select:
    """How many contributions there are of each size, in the columns value_1 and people."""
    people = as_alias(exp.Count(this=exp.Star()), "people")
    sizes = group_by(select_from(entries, [column("value_1"), people]), ["value_1"])
    return order_by(sizes, ["value_1"])


def clip(amount: exp.Expr, cap: int) -> exp.Least:
    """An amount, but not more than a cap."""
    return exp.Least(this=amount, expressions=[integer_literal(cap)], ignore_nulls=True)


def level_of(size: exp.Expr, ladder: Sequence[int]) -> exp.Expr:
    """The step of a ladder at which a size ends, from 1; 0 for a size of 0.

    Halved again and again: most sizes are told after five tests, not after one for each step.
    """
    ends = [0, *ladder[:-1]]

    # Put together by hand: builders copy and parse, which adds up over dozens of columns.
    def within(low: int, high: int) -> exp.Expr:
        if low == high:
            return integer_literal(low)
        middle = (low + high) // 2
        return _case(
            at_most(size.copy(), ends[middle]), within(low, middle), within(middle + 1, high)
        )

    return within(0, len(ladder))


def _sign(amount: exp.Expr) -> exp.Case:
    # Not SIGN, which is a double in PostgreSQL.
    negative = exp.LT(this=amount, expression=integer_literal(0))
    return _case(
        negative,
        integer_literal(-1),
        _case(at_most(amount.copy(), 0), integer_literal(0), integer_literal(1)),
    )


def _case(test: exp.Expr, one: exp.Expr, other: exp.Expr) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=test, true=one)], default=other)


def per_owner_query(
    question: Question,
    owned: OwnedRelation,
    *,
    target: Target,
    fixed: Mapping[str, FixedPoint] = aggregates.NO_SUMS,
) -> exp.Select:
    """The keys, the number of a person, and what the person adds to each aggregate.

    People are numbered from 1; their keys stay in the engine.

    Raises:
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    flat = flatten_single_owner(question, owned, target, fixed, None)
    amounts = aggregates.aggregate_rows(flat, flat.rows(), [*flat.keys, "owner_1"])
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
    fixed: Mapping[str, FixedPoint] = aggregates.NO_SUMS,
    group_keys: aggregates.GroupKeys | None = None,
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
        InputError: CEL-Q130 thresholds, CEL-Q130 more than one aggregate.
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    limits = check_limits(thresholds, groups)
    if len(question.aggregates) != 1:
        raise InputError(
            "CEL-Q130.one_at_a_time_clipped_totals", aggregate_count=len(question.aggregates)
        )
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
        parts = aggregates.aggregate_rows(flat, rows, [*flat.keys, "owner_1"])
        signed = aggregate.kind == "sum" and fixed[aggregate.name].low < 0
        totals = [_clipped_sum(limit, signed=signed, target=target) for limit in limits]
    columns: list[exp.Expr] = [column(key) for key in flat.keys]
    columns += [
        as_alias(aggregates.zero_if_null(total), word)
        for word, total in zip(words, totals, strict=True)
    ]
    return flat.present_groups(group_by(select_from(parts, columns), flat.keys), words)


def _clipped_sum(limit: int, *, signed: bool, target: Target) -> exp.Sum:
    clipped = exp.func("LEAST", column("value_1"), integer_literal(limit))
    if signed:
        clipped = exp.func("GREATEST", clipped, integer_literal(-limit))
    # Back to 64 bits, where it fits: engines add those up in 128 bits, and fast.
    return exp.Sum(this=target.cast(clipped, "whole"))


def _lowest_places(rows: exp.Select, flat: aggregates.FlatQuery) -> exp.Select:
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


def keep_first_groups(rows: exp.Select, flat: aggregates.FlatQuery, groups: int) -> exp.Select:
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
    group_keys: aggregates.GroupKeys | None,
) -> aggregates.FlatQuery:
    """The rows of a question, each of which belongs to one person."""
    check_identified(owned)
    if owned.owner_count != 1:
        raise QueryRefused("CEL-Q120.several_people", owner_count=owned.owner_count)
    return aggregates.FlatQuery(
        question=question, target=target, owned=owned, fixed=fixed, group_keys=group_keys
    )


def check_identified(owned: OwnedRelation) -> None:
    """Refuse rows that no unique column identifies."""
    if owned.unidentified:
        raise QueryRefused("CEL-Q120.same_rows")


def check_limits(thresholds: Sequence[int], groups: int | None = None) -> list[int]:
    """Thresholds as plain numbers."""
    limits = [as_whole(each) for each in thresholds]
    wrong = not limits or any(each is None or not 0 <= each <= FARTHEST for each in limits)
    if wrong or (groups is not None and (as_whole(groups) is None or groups < 1)):
        raise InputError("CEL-Q130.thresholds")
    return [each for each in limits if each is not None]
