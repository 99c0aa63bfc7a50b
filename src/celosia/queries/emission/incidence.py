"""What each set of people owns together: the rows of the linear program.

A row of the result can belong to several people (self-joins, messages of two). The race to the
top then weighs rows so that no person's rows weigh more than t together (Dong et al. 2022, section
6). All that it needs is, for each set of people that own rows together, how much they own; where
something counts once however often it is shown (a distinct value, a row with several partners), for
each such thing the sets of people who show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.algebra import Aggregate, Column, Question
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission.aggregates import NO_SUMS, FlatQuery, aggregate_rows, zero_if_null
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.syntax import (
    as_alias,
    column,
    group_by,
    identifier,
    integer_literal,
    order_by,
    select_from,
)
from celosia.queries.emission.target import Target
from celosia.queries.emission.truncation import check_identified
from celosia.queries.ownership import OwnedRelation

SHARES = "celosia_shares"
"""A name of our own, as all names of WITH are: one of a table would be taken for that table."""


def incidence_query(
    question: Question,
    owned: OwnedRelation,
    *,
    target: Target,
    fixed: Mapping[str, FixedPoint] = NO_SUMS,
    result_column: Column | None = None,
    numbered: bool = True,
) -> exp.Select:
    """The keys, one number for each owner, and the weight that these people own together.

    People are numbered from 0 within the table that their key is of (`OwnedRelation.tables`); their
    keys stay in the engine. Rows come in the order of keys and numbers. The weight is a count, or a
    sum in steps of its grid, below 0 if values may be; sets of people without weight have no row.

    Of a distinct count, and with `result_column`, the number of the value before the weight tells
    what counts once: numbered from 0, too, with the same weight in all rows.

    Args:
        question: with one aggregate: a count, a distinct count or a sum.
        owned: the question's rows with their owners.
        target: the engine.
        fixed: how a sum is put on its grid.
        result_column: identifies the rows that count once, whatever they were joined with.
        numbered: whether people are numbered; else their own keys stand there, and rows come in
            any order: for keys that are whole numbers, as those of entities, which is faster.

    Raises:
        InputError: CEL-Q130 more than one aggregate.
        QueryRefused: CEL-Q120 rows without a name.
    """
    check_identified(owned)
    if len(question.aggregates) != 1:
        raise InputError("CEL-Q130.one_at_a_time_weights", aggregate_count=len(question.aggregates))
    shares, flat = _shares(question, owned, target, fixed, result_column)
    with_weight = exp.NEQ(this=column("value_1"), expression=exp.Literal.number(0))
    shares = select_from(shares, [exp.Star()]).where(with_weight, copy=False)
    people = [f"person_{place}" for place, _ in enumerate(flat.owners, start=1)]
    columns: list[exp.Expr] = [as_alias(column(key, SHARES), key) for key in flat.keys]
    for owner, person in zip(flat.owners, people, strict=True):
        number_or_key = column("number", person) if numbered else column(owner, SHARES)
        columns.append(as_alias(number_or_key, person))
    shown = result_column is not None or question.aggregates[0].kind == "distinct"
    if shown:
        by_value = exp.Ordered(this=column("shown", SHARES), nulls_first=False)
        place = exp.Window(this=exp.DenseRank(), order=exp.Order(expressions=[by_value]))
        columns.append(as_alias(exp.Sub(this=place, expression=integer_literal(1)), "result"))
    columns.append(as_alias(column("value_1", SHARES), "weight"))
    made = exp.Select(expressions=columns, from_=exp.From(this=exp.Table(this=identifier(SHARES))))
    made = made.with_(identifier(SHARES), as_=shares, copy=False)
    if not numbered:
        for owner in flat.owners:  # as the join with their numbers would leave them out
            missing = exp.Is(this=column(owner, SHARES), expression=exp.Null())
            made.where(exp.Not(this=missing), copy=False)
        return made
    numbers = {
        table: f"celosia_numbers_{place}" for place, table in enumerate(dict.fromkeys(owned.tables))
    }
    for owner, person, table in zip(flat.owners, people, owned.tables, strict=True):
        known = exp.Table(
            this=identifier(numbers[table]), alias=exp.TableAlias(this=identifier(person))
        )
        same = exp.EQ(this=column(owner, SHARES), expression=column("owner", person))
        made.append("joins", exp.Join(this=known, on=same))
    order_by(made, [*flat.keys, *people, *(["result"] if shown else [])])
    for table, word in numbers.items():
        mine = [
            owner for owner, space in zip(flat.owners, owned.tables, strict=True) if space == table
        ]
        made = made.with_(identifier(word), as_=_numbered(mine), copy=False)
    return made


def _shares(
    question: Question,
    owned: OwnedRelation,
    target: Target,
    fixed: Mapping[str, FixedPoint],
    result_column: Column | None,
) -> tuple[exp.Select, FlatQuery]:
    """What each set of people owns; of each thing that counts once, where there are such."""
    aggregate = question.aggregates[0]
    flat = FlatQuery(question=question, target=target, owned=owned, fixed=fixed)
    by = [*flat.keys, *flat.owners]
    if result_column is None and aggregate.kind != "distinct":
        return aggregate_rows(flat, flat.rows(), by), flat
    value, shown = column("value_1"), column("value_1")
    rows = flat.rows()
    if result_column is not None:
        shown = column("value_2")
        both = (aggregate, Aggregate("distinct", "once", column_expression(result_column)))
        rows = replace(flat, question=replace(question, aggregates=both)).rows()
    if aggregate.kind in ("rows", "distinct"):
        weight: exp.Expr = integer_literal(1)
    elif aggregate.kind == "count":
        missing = exp.Is(this=value, expression=exp.Null())
        weight = exp.Max(
            this=exp.Case().when(missing, integer_literal(0)).else_(integer_literal(1))
        )
    else:
        weight = zero_if_null(exp.Max(this=value))
    words: list[exp.Expr] = [column(word) for word in by]
    parts = select_from(rows, [*words, as_alias(shown, "shown"), as_alias(weight, "value_1")])
    parts.where(exp.Not(this=exp.Is(this=shown.copy(), expression=exp.Null())), copy=False)
    parts.set("group", exp.Group(expressions=[*(each.copy() for each in words), shown.copy()]))
    return parts, flat


def _numbered(owners: list[str]) -> exp.Select:
    """Every person once, with a number from 0."""
    stacked: exp.Query | None = None
    for owner in owners:
        part = exp.Select(
            expressions=[as_alias(column(owner), "owner")],
            from_=exp.From(this=exp.Table(this=identifier(SHARES))),
        )
        stacked = (
            part if stacked is None else exp.Union(this=stacked, expression=part, distinct=False)
        )
    assert stacked is not None
    once = group_by(select_from(stacked, [column("owner")]), ["owner"])
    by_owner = exp.Order(expressions=[exp.Ordered(this=column("owner"), nulls_first=False)])
    place = exp.Window(this=exp.RowNumber(), order=by_owner)
    number = exp.Sub(this=place, expression=integer_literal(1))
    return select_from(once, [column("owner"), as_alias(number, "number")])
