"""How many rows have each value, for ranks; with rows of people who have many, only some of them.

Which rows of a person are kept depends on their own rows only. To keep c of n rows, these are put
in the order of their groups and values, and the places at which (place * c + start) mod n < c are
taken, with a start that a hash of the person gives. That is a systematic sample: exactly c rows,
spread evenly over the person's own, each of them with the same chance c / n over all starts. So a
quantile of the rows that are kept leans to no side.
"""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from celosia.queries.algebra import Aggregate, Question
from celosia.queries.emission import truncation
from celosia.queries.emission.aggregates import NO_SUMS, FlatQuery, GroupKeys
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.syntax import (
    as_alias,
    at_most,
    column,
    group_by,
    identifier,
    integer_literal,
    order_by,
    row_number,
    select_from,
    sorted_by,
)
from celosia.queries.emission.target import Target
from celosia.queries.ownership import OwnedRelation

Extreme = Literal["minimum", "maximum"]
DIGITS = 9
"""Decimal digits of the start: enough for the rows of any person, and far from 64 bits."""

CROWD = "celosia_crowd"
"""The owners who have more rows than are kept."""


def histogram_query(
    question: Question,
    *,
    fixed: FixedPoint,
    target: Target,
    owned: OwnedRelation | None = None,
    group_keys: GroupKeys | None = None,
    extreme: Extreme | None = None,
    most: int | None = None,
) -> exp.Select:
    """The keys, a step of the grid, and how many rows of the group have it; NULL is left out.

    Args:
        question: with one aggregate, of which the argument is put on the grid.
        fixed: the grid.
        target: the engine.
        owned: the question's rows with their owners, where there are such.
        group_keys: all values of each key; rows with others are left out.
        extreme: of each owner, and in each group, only the one row with the least or the greatest
            value counts.
        most: the rows that an owner counts with, over all groups; the others are left out.

    Raises:
        InputError: CEL-Q130 `most` is not a whole number.
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    flat = _flat(question, owned, fixed, target, group_keys, followed=bool(extreme or most))
    rows: exp.Query = _rows(flat, extreme)
    common = None
    if most is not None:
        (limit,) = truncation.check_limits([most])
        assert isinstance(rows, exp.Select)
        # Spark would compute the rows three times, and so would all where rows are groups.
        if extreme is None and target.dialect != "spark":
            rows, common = _keep_rows(rows, flat, limit)
        else:
            rows = _sample_rows(rows, flat, limit)
    by = [*flat.keys, "value_1"]
    if target.dialect == "postgres" and not flat.keys:
        rows = sorted_by(rows, "value_1")
    counted = as_alias(exp.Count(this=exp.Star()), "n")
    made = order_by(group_by(select_from(rows, [*map(column, by), counted]), by), by)
    if common is not None:
        made.set("with_", common)
    return made


def people_by_rows_query(
    question: Question,
    owned: OwnedRelation,
    *,
    fixed: FixedPoint,
    target: Target,
    most: int,
    group_keys: GroupKeys | None = None,
    extreme: Extreme | None = None,
) -> exp.Select:
    """Numbers of rows up to `most`, each with how many people have so many, or more at the last.

    The rows are those that `histogram_query` counts without `most`.

    Raises:
        InputError: CEL-Q130 `most` is not a whole number.
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    (limit,) = truncation.check_limits([most])
    flat = _flat(question, owned, fixed, target, group_keys, followed=True)
    held = exp.func("LEAST", exp.Count(this=exp.Star()), integer_literal(limit))
    rows = _rows(flat, extreme)
    if extreme is None:
        rows = flat.owners_in_order(rows)
    people = group_by(select_from(rows, [as_alias(held, "held")]), ["owner_1"])
    number = as_alias(exp.Count(this=exp.Star()), "people")
    return order_by(group_by(select_from(people, [column("held"), number]), ["held"]), ["held"])


def people_by_key_query(
    question: Question, owned: OwnedRelation | None, *, groups: int, target: Target
) -> exp.Select:
    """Each combination of keys, none of them NULL, with the number of its people.

    A person counts once for a combination, and for the first `groups` combinations of theirs, in an
    order that follows from the person and the keys alone.

    Args:
        question: of which only the rows and keys matter.
        owned: its rows with their owners, of one class; None to count rows, each of which then
            has to be a unit of its own.
        groups: the most combinations that a person counts for.
        target: the engine.
    """
    asked = Question(question.source, (Aggregate("rows", "n"),), question.keys)
    if owned is None:
        flat = FlatQuery(question=asked, target=target, fixed=NO_SUMS)
        people: exp.Expr = exp.Count(this=exp.Star())
    else:
        flat = truncation.flatten_single_owner(asked, owned, target, NO_SUMS, None)
        people = exp.Count(this=exp.Distinct(expressions=[column("owner_1")]))
    rows = select_from(flat.rows(), [exp.Star()])
    for key in flat.keys:
        rows.where(_is_filled(key), copy=False)
    if owned is not None:
        rows = truncation.keep_first_groups(rows, flat, groups)
    made = group_by(
        select_from(rows, [*map(column, flat.keys), as_alias(people, "people")]), flat.keys
    )
    return order_by(select_from(made, [*map(column, flat.keys), column("people")]), flat.keys)


def _flat(
    question: Question,
    owned: OwnedRelation | None,
    fixed: FixedPoint,
    target: Target,
    group_keys: GroupKeys | None,
    *,
    followed: bool,
) -> FlatQuery:
    (asked,) = question.aggregates
    summed = Question(question.source, (Aggregate("sum", "n", asked.argument),), question.keys)
    if followed:
        assert owned is not None, "only rows with owners can be reduced by owner"
        return truncation.flatten_single_owner(summed, owned, target, {"n": fixed}, group_keys)
    return FlatQuery(
        question=summed, target=target, owned=owned, fixed={"n": fixed}, group_keys=group_keys
    )


def _rows(flat: FlatQuery, extreme: Extreme | None) -> exp.Select:
    """Each row with a value, or the one of each owner and group."""
    rows = select_from(flat.rows(only_group_keys=True), [exp.Star()]).where(
        _is_filled("value_1"), copy=False
    )
    if extreme is None:
        return rows
    pick = exp.Min if extreme == "minimum" else exp.Max
    by = [*flat.keys, "owner_1"]
    value = as_alias(pick(this=column("value_1")), "value_1")
    return group_by(select_from(rows, [*map(column, by), value]), by)


def _keep_rows(rows: exp.Select, flat: FlatQuery, most: int) -> tuple[exp.Query, exp.With]:
    """The same rows as those of `_sample_rows`, of which few are put in an order; with their CTE.

    An owner who has no more rows than are kept keeps all of them. The others are found first; what
    they have is put in order, and all other rows are taken as they are.
    """
    owners = group_by(select_from(flat.owners_in_order(rows), [column("owner_1")]), ["owner_1"])
    is_more = exp.Not(this=at_most(exp.Count(this=exp.Star()), most))
    owners.set("having", exp.Having(this=is_more))
    named = exp.Table(this=identifier(CROWD))
    common = exp.CTE(this=owners, alias=exp.TableAlias(this=identifier(CROWD)), materialized=True)
    crowd = exp.Select(expressions=[column("owner_1")], from_=exp.From(this=named))
    is_among = exp.In(this=column("owner_1"), query=exp.Subquery(this=crowd))
    words = [*flat.keys, "value_1"]
    few = select_from(rows.copy(), [*map(column, words)])
    # No owner should be NULL. Were one, it must not depend on others whether its rows are kept.
    few.where(exp.Not(this=exp.func("COALESCE", is_among.copy(), exp.false())), copy=False)
    many = select_from(rows.copy(), [exp.Star()]).where(is_among, copy=False)
    kept = select_from(_sample_rows(many, flat, most), [*map(column, words)])
    return exp.Union(this=few, expression=kept, distinct=False), exp.With(expressions=[common])


def _sample_rows(rows: exp.Select, flat: FlatQuery, most: int) -> exp.Select:
    """At most so many rows of each owner, spread evenly over their own."""
    words = [*flat.keys, "value_1"]
    owner = column("owner_1")
    held = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[owner.copy()])
    # Rows that agree in keys and value are the same here, so it matters not which is first.
    place = row_number([owner.copy()], [column(word) for word in words])
    placed = select_from(
        rows, [*map(column, [*words, "owner_1"]), as_alias(held, "held"), as_alias(place, "place")]
    )
    # A cap of at most 2^20 times 2^42 rows of one owner stays within 64 bits: Spark has 32 for a
    # place, and would go round, to numbers below 0 whose rows would all be kept.
    wide = flat.target.cast(column("place"), "whole")
    moved = exp.Add(
        this=exp.Mul(this=wide, expression=integer_literal(most)), expression=_start(flat.target)
    )
    rest = exp.Mod(this=exp.Paren(this=moved), expression=column("held"))
    # A case is lazy: no hash is needed of people who keep all their rows.
    kept = (
        exp.Case()
        .when(at_most(column("held"), most), exp.true())
        .else_(exp.LT(this=exp.Paren(this=rest), expression=integer_literal(most)))
    )
    return select_from(placed, [exp.Star()]).where(kept, copy=False)


def _start(target: Target) -> exp.Expr:
    """A number that a hash of the owner gives, the same in all engines: its decimal digits."""
    text = target.cast(column("owner_1"), "text")
    digits = exp.Anonymous(
        this="TRANSLATE",
        expressions=[
            exp.Anonymous(this="MD5", expressions=[text]),
            exp.Literal.string("abcdef"),
            exp.Literal.string(""),
        ],
    )
    # The zero in front makes it a number even of a hash that has letters only.
    first = exp.Substring(this=digits, start=integer_literal(1), length=integer_literal(DIGITS))
    return target.cast(exp.DPipe(this=exp.Literal.string("0"), expression=first), "whole")


def _is_filled(word: str) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column(word), expression=exp.Null()))
