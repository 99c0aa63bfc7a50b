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
from celosia.queries.emission.aggregates import NO_SUMS
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.flat_query import Flat, Known
from celosia.queries.emission.target import (
    Target,
    at_most,
    chosen,
    column,
    grouped,
    named,
    ordered,
    row_number,
    whole,
)
from celosia.queries.emission.truncation import check_limits, first_groups, of_one_person
from celosia.queries.ownership import Owned

Extreme = Literal["minimum", "maximum"]
DIGITS = 9
"""Decimal digits of the start: enough for the rows of any person, and far from 64 bits."""


def histogram_query(  # noqa: PLR0913 - each is a separate choice of the planner
    question: Question,
    *,
    fixed: FixedPoint,
    target: Target,
    owned: Owned | None = None,
    known: Known | None = None,
    extreme: Extreme | None = None,
    most: int | None = None,
) -> exp.Select:
    """The keys, a step of the grid, and how many rows of the group have it; NULL is left out.

    Args:
        question: with one aggregate, of which the argument is put on the grid.
        fixed: the grid.
        target: the engine.
        owned: the question's rows with their owners, where there are such.
        known: all values of each key; rows with others are left out.
        extreme: of each owner, and in each group, only the one row with the least or the greatest
            value counts.
        most: the rows that an owner counts with, over all groups; the others are left out.

    Raises:
        InputError: CEL-Q134 `most` is not a whole number.
        QueryRefused: CEL-Q124 rows that belong to several people, CEL-Q125 rows without a name.
    """
    flat = _flat(question, owned, fixed, target, known, followed=bool(extreme or most))
    rows = _rows(flat, extreme)
    if most is not None:
        rows = _spread(rows, flat, check_limits([most])[0])
    by = [*flat.keys, "value_1"]
    counted = named(exp.Count(this=exp.Star()), "n")
    return ordered(grouped(chosen(rows, [*map(column, by), counted]), by), by)


def people_by_rows_query(  # noqa: PLR0913 - each is a separate choice of the planner
    question: Question,
    owned: Owned,
    *,
    fixed: FixedPoint,
    target: Target,
    most: int,
    known: Known | None = None,
    extreme: Extreme | None = None,
) -> exp.Select:
    """Numbers of rows up to `most`, each with how many people have so many, or more at the last.

    The rows are those that `histogram_query` counts without `most`.

    Raises:
        InputError: CEL-Q134 `most` is not a whole number.
        QueryRefused: CEL-Q124 rows that belong to several people, CEL-Q125 rows without a name.
    """
    (limit,) = check_limits([most])
    flat = _flat(question, owned, fixed, target, known, followed=True)
    held = exp.func("LEAST", exp.Count(this=exp.Star()), whole(limit))
    people = grouped(chosen(_rows(flat, extreme), [named(held, "held")]), ["owner_1"])
    number = named(exp.Count(this=exp.Star()), "people")
    return ordered(grouped(chosen(people, [column("held"), number]), ["held"]), ["held"])


def people_by_key_query(
    question: Question, owned: Owned | None, *, groups: int, target: Target
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
        flat = Flat(question=asked, target=target, fixed=NO_SUMS)
        people: exp.Expr = exp.Count(this=exp.Star())
    else:
        flat = of_one_person(asked, owned, target, NO_SUMS, None)
        people = exp.Count(this=exp.Distinct(expressions=[column("owner_1")]))
    rows = chosen(flat.rows(), [exp.Star()])
    for key in flat.keys:
        rows.where(_is_filled(key), copy=False)
    if owned is not None:
        rows = first_groups(rows, flat, groups)
    made = grouped(chosen(rows, [*map(column, flat.keys), named(people, "people")]), flat.keys)
    return ordered(chosen(made, [*map(column, flat.keys), column("people")]), flat.keys)


def _flat(  # noqa: PLR0913 - as above
    question: Question,
    owned: Owned | None,
    fixed: FixedPoint,
    target: Target,
    known: Known | None,
    *,
    followed: bool,
) -> Flat:
    (asked,) = question.aggregates
    summed = Question(question.source, (Aggregate("sum", "n", asked.argument),), question.keys)
    if followed:
        assert owned is not None, "only rows with owners can be reduced by owner"
        return of_one_person(summed, owned, target, {"n": fixed}, known)
    return Flat(question=summed, target=target, owned=owned, fixed={"n": fixed}, known=known)


def _rows(flat: Flat, extreme: Extreme | None) -> exp.Select:
    """Each row with a value, or the one of each owner and group."""
    rows = chosen(flat.rows(of_known=True), [exp.Star()]).where(_is_filled("value_1"), copy=False)
    if extreme is None:
        return rows
    pick = exp.Min if extreme == "minimum" else exp.Max
    by = [*flat.keys, "owner_1"]
    value = named(pick(this=column("value_1")), "value_1")
    return grouped(chosen(rows, [*map(column, by), value]), by)


def _spread(rows: exp.Select, flat: Flat, most: int) -> exp.Select:
    """At most so many rows of each owner, spread evenly over their own."""
    words = [*flat.keys, "value_1"]
    owner = column("owner_1")
    held = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[owner.copy()])
    # Rows that agree in keys and value are the same here, so it matters not which is first.
    place = row_number([owner.copy()], [column(word) for word in words])
    placed = chosen(
        rows, [*map(column, [*words, "owner_1"]), named(held, "held"), named(place, "place")]
    )
    # A cap of at most 2^20 times 2^42 rows of one owner stays within 64 bits: Spark has 32 for a
    # place, and would go round, to numbers below 0 whose rows would all be kept.
    wide = flat.target.cast(column("place"), "whole")
    moved = exp.Add(this=exp.Mul(this=wide, expression=whole(most)), expression=_start(flat.target))
    rest = exp.Mod(this=exp.Paren(this=moved), expression=column("held"))
    # A case is lazy: no hash is needed of people who keep all their rows.
    kept = (
        exp.Case()
        .when(at_most(column("held"), most), exp.true())
        .else_(exp.LT(this=exp.Paren(this=rest), expression=whole(most)))
    )
    return chosen(placed, [exp.Star()]).where(kept, copy=False)


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
    first = exp.Substring(this=digits, start=whole(1), length=whole(DIGITS))
    return target.cast(exp.DPipe(this=exp.Literal.string("0"), expression=first), "whole")


def _is_filled(word: str) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column(word), expression=exp.Null()))
