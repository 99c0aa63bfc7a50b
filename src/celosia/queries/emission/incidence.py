"""Which people share how much of an answer: the rows of the linear program.

A row of the result can belong to several people (self-joins, messages of two). The race to the
top then weighs rows so that no person's rows weigh more than t together (Dong et al. 2022, section
6). All that it needs is, for each set of people that own rows together, how much they own.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from celosia.core.errors import InputError, QueryRefused
from celosia.queries.algebra import Question
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.flat import Flat, aggregated
from celosia.queries.emission.people import check_named
from celosia.queries.emission.target import Target, chosen, column, grouped, name, named, ordered
from celosia.queries.emission.totals import NO_SUMS
from celosia.queries.ownership import Owned


def incidence_query(
    question: Question,
    owned: Owned,
    *,
    target: Target,
    fixed: Mapping[str, FixedPoint] = NO_SUMS,
) -> exp.Select:
    """The keys, one number for each owner, and the weight that these people own together.

    People are numbered from 0 within the table that their key is of (`Owned.tables`); their keys
    stay in the engine. Rows come in the order of keys and numbers. The weight is a count, or a sum
    in steps of its grid; sets of people without weight have no row.

    Raises:
        InputError: CEL-Q135 more than one aggregate.
        QueryRefused: CEL-Q125 rows without a name, CEL-Q126 no weight that only grows.
    """
    check_named(owned)
    if len(question.aggregates) != 1 or not owned.owners:
        raise InputError(
            "CEL-Q135",
            f"weights are of one aggregate over private rows, got {len(question.aggregates)}.",
            why="Each aggregate is clipped, and paid for, on its own.",
            fix="Ask for one after the other.",
        )
    aggregate = question.aggregates[0]
    is_signed = aggregate.kind == "sum" and (
        aggregate.name in fixed and fixed[aggregate.name].low < 0
    )
    if aggregate.kind == "distinct" or is_signed:
        raise QueryRefused(
            "CEL-Q126",
            "a distinct count, or a sum with values below 0, over rows of several people.",
            why="Leaving out a row does not always lower it, so rows cannot be weighed.",
            fix="Ask for a count, or declare a lower bound of 0.",
        )
    flat = Flat(question=question, target=target, owned=owned, fixed=fixed)
    shares = aggregated(flat, flat.rows(), [*flat.keys, *flat.owners])
    with_weight = exp.NEQ(this=column("value_1"), expression=exp.Literal.number(0))
    shares = chosen(shares, [exp.Star()]).where(with_weight, copy=False)
    numbers = {table: f"numbers_{place}" for place, table in enumerate(dict.fromkeys(owned.tables))}
    people = [f"person_{place}" for place, _ in enumerate(flat.owners, start=1)]
    columns: list[exp.Expr] = [named(column(key, "shares"), key) for key in flat.keys]
    columns += [named(column("number", person), person) for person in people]
    columns.append(named(column("value_1", "shares"), "weight"))
    made = exp.Select(expressions=columns, from_=exp.From(this=exp.Table(this=name("shares"))))
    for owner, person, table in zip(flat.owners, people, owned.tables, strict=True):
        known = exp.Table(this=name(numbers[table]), alias=exp.TableAlias(this=name(person)))
        same = exp.EQ(this=column(owner, "shares"), expression=column("owner", person))
        made.append("joins", exp.Join(this=known, on=same))
    ordered(made, [*flat.keys, *people])
    made = made.with_(name("shares"), as_=shares, copy=False)
    for table, word in numbers.items():
        mine = [
            owner for owner, space in zip(flat.owners, owned.tables, strict=True) if space == table
        ]
        made = made.with_(name(word), as_=_numbered(mine), copy=False)
    return made


def _numbered(owners: list[str]) -> exp.Select:
    """Every person once, with a number from 0."""
    stacked: exp.Query | None = None
    for owner in owners:
        part = exp.Select(
            expressions=[named(column(owner), "owner")],
            from_=exp.From(this=exp.Table(this=name("shares"))),
        )
        stacked = (
            part if stacked is None else exp.Union(this=stacked, expression=part, distinct=False)
        )
    assert stacked is not None
    once = grouped(chosen(stacked, [column("owner")]), ["owner"])
    by_owner = exp.Order(expressions=[exp.Ordered(this=column("owner"), nulls_first=False)])
    place = exp.Window(this=exp.RowNumber(), order=by_owner)
    number = exp.Sub(this=place, expression=exp.Literal.number(1))
    return chosen(once, [column("owner"), named(number, "number")])
