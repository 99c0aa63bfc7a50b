"""How many people, or rows, have each key or each value: for groups and ranks to be chosen by."""

from __future__ import annotations

from sqlglot import exp

from celosia.queries.algebra import Aggregate, Question
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.flat import Flat, Known
from celosia.queries.emission.people import first_groups, of_one_person
from celosia.queries.emission.target import Target, chosen, column, grouped, named, ordered
from celosia.queries.emission.totals import NO_SUMS
from celosia.queries.ownership import Owned


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


def histogram_query(
    question: Question,
    *,
    fixed: FixedPoint,
    target: Target,
    owned: Owned | None = None,
    known: Known | None = None,
) -> exp.Select:
    """The keys, a step of the grid, and how many rows of the group have it; NULL is left out.

    Args:
        question: with one aggregate, of which the argument is put on the grid.
        fixed: the grid.
        target: the engine.
        owned: the question's rows with their owners, where there are such.
        known: all values of each key; rows with others are left out.
    """
    (asked,) = question.aggregates
    summed = Question(question.source, (Aggregate("sum", "n", asked.argument),), question.keys)
    flat = Flat(question=summed, target=target, owned=owned, fixed={"n": fixed}, known=known)
    by = [*flat.keys, "value_1"]
    rows = chosen(flat.rows(of_known=True), [exp.Star()]).where(_is_filled("value_1"), copy=False)
    counted = named(exp.Count(this=exp.Star()), "n")
    return ordered(grouped(chosen(rows, [*map(column, by), counted]), by), by)


def _is_filled(word: str) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column(word), expression=exp.Null()))
