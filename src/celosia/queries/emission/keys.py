"""How many people, or rows, have each key: for groups to be chosen by."""

from __future__ import annotations

from sqlglot import exp

from celosia.queries.algebra import Aggregate, Question
from celosia.queries.emission.flat import Flat
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


def _is_filled(word: str) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column(word), expression=exp.Null()))
