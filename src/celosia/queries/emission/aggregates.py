"""Counts and sums of whole questions and of their groups, as exact whole numbers."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from celosia.queries.algebra import (
    Aggregate,
    Column,
    Filter,
    Join,
    Question,
    Relation,
    Scan,
    SemiJoin,
)
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.flat_query import FlatQuery, GroupKeys, aggregate_rows, zero_if_null
from celosia.queries.emission.relations import select
from celosia.queries.emission.target import (
    Target,
    as_alias,
    column,
    group_by,
    identifier,
    select_from,
)
from celosia.queries.ownership import OwnedRelation

NO_SUMS: Mapping[str, FixedPoint] = {}


def count_query(
    source: Relation, *, target: Target, argument: exp.Expression | None = None
) -> exp.Select:
    """How many rows a relation has, or how many have a value of an argument.

    The rows of a join in which either side may have many partners are not made at all: they are
    counted key by key on each side, and the products added up.
    """
    if argument is None and isinstance(source, Join) and _is_many_to_many(source, target):
        return _product_count(source, target)
    kind = Aggregate("rows", "n") if argument is None else Aggregate("count", "n", argument)
    return _single(source, kind, target, NO_SUMS)


def distinct_count_query(
    source: Relation, argument: exp.Expression, *, target: Target
) -> exp.Select:
    """How many different values an argument has, NULL not counted."""
    return _single(source, Aggregate("distinct", "n", argument), target, NO_SUMS)


def sum_query(
    source: Relation, argument: exp.Expression, *, fixed: FixedPoint, target: Target
) -> exp.Select:
    """The sum of an argument, in whole steps of its grid; one of values from 0 may end at 2^53."""
    return _single(source, Aggregate("sum", "n", argument), target, {"n": fixed})


def grouped_query(
    question: Question,
    *,
    target: Target,
    fixed: Mapping[str, FixedPoint] = NO_SUMS,
    group_keys: GroupKeys | None = None,
    owned: OwnedRelation | None = None,
) -> exp.Select:
    """The keys of each group and all its aggregates, in one pass.

    A sum of values from 0 may end at 2^53 steps: noise is added to what is far below.

    Args:
        question: what is asked; its keys may be none.
        target: the engine.
        fixed: how each sum is put on a grid, by the name of its aggregate.
        group_keys: all values of each key. Every combination then has a row, in order, and nothing
            else has one. Without it the rows are the groups that exist, which is for the curator.
        owned: adds a last column, the number of people that each group has rows of.
    """
    flat = FlatQuery(
        question=question,
        target=target,
        owned=owned,
        fixed=fixed,
        group_keys=group_keys,
        saturating=True,
    )
    groups = aggregate_rows(flat, flat.rows(), flat.keys)
    amounts = [word for word, _ in flat.aggregates]
    if owned is not None:
        amounts.append("people")
        groups = _with_people(groups, flat)
    return flat.present_groups(groups, amounts)


def _single(
    source: Relation, aggregate: Aggregate, target: Target, fixed: Mapping[str, FixedPoint]
) -> exp.Select:
    question = Question(source, (aggregate,))
    flat = FlatQuery(question=question, target=target, fixed=fixed, saturating=True)
    return aggregate_rows(flat, flat.rows(), [])


def _with_people(groups: exp.Select, flat: FlatQuery) -> exp.Select:
    """The groups with the number of different people in each; a row of two counts for both."""
    if len(flat.owners) == 1:
        return groups.select(as_alias(_different("owner_1"), "people"), copy=False)
    keys = [column(key) for key in flat.keys]
    parts = [
        select_from(flat.rows(), [*keys, as_alias(column(owner), "owner")]) for owner in flat.owners
    ]
    stacked: exp.Query = parts[0]
    for part in parts[1:]:
        stacked = exp.Union(this=stacked, expression=part, distinct=False)
    people = group_by(
        select_from(stacked, [*keys, as_alias(_different("owner"), "people")]), flat.keys
    )
    words = [*flat.keys, *(word for word, _ in flat.aggregates)]
    made = select_from(
        groups,
        [
            *(as_alias(column(each, "one"), each) for each in words),
            as_alias(column("people", "other"), "people"),
        ],
        alias="one",
    )
    same = [
        exp.NullSafeEQ(this=column(each, "one"), expression=column(each, "other"))
        for each in flat.keys
    ]
    other = exp.Subquery(this=people, alias=exp.TableAlias(this=identifier("other")))
    made.append("joins", exp.Join(this=other, on=exp.and_(*same) if same else exp.true()))
    return made


def _different(word: str) -> exp.Count:
    return exp.Count(this=exp.Distinct(expressions=[column(word)]))


def _is_many_to_many(join: Join, target: Target) -> bool:
    if join.condition is not None or not join.keys:
        return False
    left = [one for one, _ in join.keys]
    right = [other for _, other in join.keys]
    return not (_is_unique(join.left, left, target) or _is_unique(join.right, right, target))


def _is_unique(side: Relation, keys: list[Column], target: Target) -> bool:
    """Whether at most one row of a side has given values of the keys, as far as is declared."""
    match side:
        case Scan(table=table, alias=alias):
            mine = (each.name for each in keys if each.relation == alias)
            declared = (target.table(table).column(name) for name in mine)
            return any(each is not None and each.unique for each in declared)
        case Filter(source=inner) | SemiJoin(left=inner):
            return _is_unique(inner, keys, target)
        case Join(left=left, right=right):
            # A row stays alone if it finds at most one partner.
            ends = [one for one, _ in side.keys], [other for _, other in side.keys]
            return (_is_unique(left, keys, target) and _is_unique(right, ends[1], target)) or (
                _is_unique(right, keys, target) and _is_unique(left, ends[0], target)
            )
    return False


def _product_count(join: Join, target: Target) -> exp.Select:
    """Sum over keys of rows on the left times rows on the right.

    At most 2^63 rows on each side, so products and their sum stay below 2^126.
    """
    parts = []
    for side, place in ((join.left, 0), (join.right, 1)):
        words = [f"key_{number}" for number, _ in enumerate(join.keys, start=1)]
        rows = select(
            side,
            [
                as_alias(column_expression(pair[place]), word)
                for word, pair in zip(words, join.keys, strict=True)
            ],
            target=target,
        )
        counted = as_alias(target.cast(exp.Count(this=exp.Star()), "wide"), "n")
        parts.append(group_by(select_from(rows, [*map(column, words), counted]), words))
    product = exp.Mul(this=column("n", "one"), expression=column("n", "other"))
    made = select_from(
        parts[0], [as_alias(zero_if_null(exp.Sum(this=product)), "value_1")], alias="one"
    )
    agree = [exp.EQ(this=column(word, "one"), expression=column(word, "other")) for word in words]
    other = exp.Subquery(this=parts[1], alias=exp.TableAlias(this=identifier("other")))
    made.append("joins", exp.Join(this=other, on=exp.and_(*agree)))
    return made
