"""Totals by group in which a person is cut off over all groups together, in two steps.

First the people by level: how many add how much over all groups, and who adds most. When caps were
chosen from that, the totals under these caps alone. A person's entries are taken in an order that
follows from the person and the keys alone, and once they reach the cap in sum of sizes, the rest is
left out: one person moves all groups by at most the cap in sum (see `bounds.caps.grouped_totals`).

Only the rows of people above a cap have to be put in order. A cap that is worth choosing leaves few
of them: all rows are added up as if there was no cap, and what these few have too much is taken
away. They are among those who add most, so that the second query need not look for them: the rows
of all people are added up person by person once only, for all totals of a question.

Whoever they are, and however many, the second query is the same statement with another text
written in it (`_is_one_of`): the engine is shown it before any row is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.algebra import Question
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission import aggregates, truncation
from celosia.queries.emission.expression_types import infer_type
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.syntax import (
    as_alias,
    column,
    group_by,
    identifier,
    integer_literal,
    select_from,
)
from celosia.queries.emission.target import Target
from celosia.queries.ownership import OwnedRelation

LISTED = 1_000
"""People who add most that are listed for each total; where more are above a cap, all are searched.
"""
PEOPLE = "celosia_people"
MOST_WRITTEN = 2**63 - 1
"""The largest person, as a whole number, that is written in a query."""
UNWRITTEN = frozenset('"\\\n\0')
"""What no person may hold whose text is written in a query: marks of lists, and escapes."""


def contribution_levels_query(
    question: Question,
    owned: OwnedRelation,
    *,
    caps: Sequence[Sequence[int]],
    target: Target,
    group_keys: aggregates.GroupKeys,
    fixed: Mapping[str, FixedPoint] = aggregates.NO_SUMS,
) -> exp.Query:
    """How many people end at which steps of all ladders, and the people who add most.

    What a person adds is the sum of sizes over all groups. The columns of each row are a place, a
    level for each aggregate, an amount, and a person. Place 0 has the number of people at these
    levels, without a person (level n is up to the nth cap and above the one before, the last one
    has no end; level 0 is nothing). Where people are listed (`lists_people`), place n has one of
    at most `LISTED + 1` who add most to the nth aggregate, with what they add, cut off at its last
    cap; its levels are 0.

    Args:
        question: counts and sums with keys, and distinct counts of values that determine their
            owner.
        owned: the question's rows with their owners, of one class.
        caps: for each aggregate its caps, rising.
        target: the engine.
        group_keys: all values of each key.
        fixed: how sums are put on their grids.

    Raises:
        InputError: CEL-Q130 caps, CEL-Q130 a distinct count of values that people share.
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    ladders = [truncation.check_limits(each) for each in caps]
    flat = _flatten(question, owned, target, fixed, group_keys)
    words = [word for word, _ in flat.aggregates]
    # Ends at 2^53 are beyond all caps.
    fast = replace(flat, saturating=all(ladder[-1] <= aggregates.EXACT for ladder in ladders))
    rows = fast.rows(only_group_keys=True)
    if any(_may_cancel(flat, word) for word in words):
        sizes: list[exp.Expr] = [
            # No size above the last cap matters: 2^20 groups of at most 2^62 stay within 128 bits.
            as_alias(exp.Sum(this=truncation.clip(exp.Abs(this=column(word)), ladder[-1])), word)
            for word, ladder in zip(words, ladders, strict=True)
        ]
        entries = aggregates.aggregate_rows(fast, rows, [*flat.keys, "owner_1"])
        people = group_by(select_from(entries, [column("owner_1"), *sizes]), ["owner_1"])
    else:
        # All rows of a person at once: to add up over groups is to add up.
        people = aggregates.aggregate_rows(fast, rows, ["owner_1"])
    clipped = [
        as_alias(target.cast(truncation.clip(column(word), ladder[-1]), "whole"), word)
        for word, ladder in zip(words, ladders, strict=True)
    ]
    shares = select_from(people, [column("owner_1"), *clipped])
    if not lists_people(owned, target):
        return _people_by_levels(shares, words, ladders, target)
    common = exp.CTE(this=shares, alias=exp.TableAlias(this=identifier(PEOPLE)), materialized=True)
    named = exp.Select(
        expressions=[exp.Star()], from_=exp.From(this=exp.Table(this=identifier(PEOPLE)))
    )
    # Those with people first: the type of their column is then known where NULL stands in it.
    parts = [_largest(place, words) for place, _ in enumerate(words, start=1)]
    return exp.Union(
        this=_stacked(parts),
        expression=_people_by_levels(named, words, ladders, target),
        distinct=False,
        with_=exp.With(expressions=[common]),
    )


def lists_people(owned: OwnedRelation, target: Target) -> bool:
    """Whether the people who add most are found together with the numbers of people.

    Spark would add up the rows of all people once more for them; and of other types than these it
    is not said how a value is written.
    """
    return target.dialect != "spark" and _owner_type(owned, target) in ("integer", "text")


def may_be_listed(people: Sequence[object], owned: OwnedRelation, target: Target) -> bool:
    """Whether people can be written in a query: by their declared type, and without escapes."""
    if _owner_type(owned, target) == "integer":
        return all(type(each) is int and abs(each) <= MOST_WRITTEN for each in people)
    return all(type(each) is str and not UNWRITTEN.intersection(each) for each in people)


def _owner_type(owned: OwnedRelation, target: Target) -> str | None:
    return infer_type(column_expression(owned.owners[0]), owned.relation, target=target)


def _people_by_levels(
    people: exp.Query, words: list[str], ladders: list[list[int]], target: Target
) -> exp.Select:
    names = [f"level_{place}" for place, _ in enumerate(words, start=1)]
    levels: list[exp.Expr] = [
        as_alias(truncation.level_of(column(word), ladder), name)
        for word, name, ladder in zip(words, names, ladders, strict=True)
    ]
    placed = select_from(people, levels)
    number = as_alias(target.cast(exp.Count(this=exp.Star()), "whole"), "amount")
    columns: list[exp.Expr] = [
        as_alias(integer_literal(0), "place"),
        *map(column, names),
        number,
        as_alias(exp.Null(), "owner_1"),
    ]
    return group_by(select_from(placed, columns), names)


def _largest(place: int, words: list[str]) -> exp.Select:
    """The people who add most to an aggregate."""
    amount = column(words[place - 1])
    levels = [
        as_alias(integer_literal(0), f"level_{number}") for number, _ in enumerate(words, start=1)
    ]
    found = exp.Select(
        expressions=[
            as_alias(integer_literal(place), "place"),
            *levels,
            as_alias(amount, "amount"),
            column("owner_1"),
        ],
        from_=exp.From(this=exp.Table(this=identifier(PEOPLE))),
        order=exp.Order(
            expressions=[exp.Ordered(this=amount.copy(), desc=True, nulls_first=False)]
        ),
    ).limit(LISTED + 1, copy=False)
    return select_from(found, [exp.Star()])


def _stacked(parts: Sequence[exp.Query]) -> exp.Query:
    stacked = parts[0]
    for part in parts[1:]:
        stacked = exp.Union(this=stacked, expression=part, distinct=False)
    return stacked


def truncated_groups_query(
    question: Question,
    owned: OwnedRelation,
    *,
    caps: Sequence[int],
    target: Target,
    group_keys: aggregates.GroupKeys,
    fixed: Mapping[str, FixedPoint] = aggregates.NO_SUMS,
    people: Sequence[int | str] | None = None,
) -> exp.Select:
    """The keys of each group, and its totals with every person cut off at caps over all groups.

    Args:
        question: with keys, and aggregates as for `contribution_levels_query`.
        owned: the question's rows with their owners, of one class.
        caps: for each aggregate the most that a person adds, in sum of sizes.
        target: the engine.
        group_keys: all values of each key.
        fixed: how sums are put on their grids.
        people: all who may add more than a cap, and perhaps others, if `may_be_listed` says so;
            None to search for them.

    Raises:
        InputError: CEL-Q130 the caps, CEL-Q130 not one for each aggregate, or an aggregate that
            people share.
        QueryRefused: CEL-Q120 rows that belong to several people, CEL-Q120 rows without a name.
    """
    limits = truncation.check_limits(caps)
    if len(question.aggregates) != len(limits):
        raise InputError("CEL-Q130.thresholds")
    flat = _flatten(question, owned, target, fixed, group_keys)
    keys: list[exp.Expr] = [column(key) for key in flat.keys]
    words = [word for word, _ in flat.aggregates]
    # Rows with other keys join no group that is shown. Sums may not end at 2^53 here: what is
    # taken away from them afterwards must have been in them.
    totals = aggregates.aggregate_rows(flat, flat.rows(), flat.keys)
    owner = column_expression(owned.owners[0])
    is_above = (
        exp.In(this=owner, query=exp.Subquery(this=_people_above(flat, limits)))
        if people is None
        else _is_one_of(owner, people, _owner_type(owned, target), target)
    )
    stacked = exp.Union(this=totals, expression=_excess(flat, limits, is_above), distinct=False)
    sums = [as_alias(exp.Sum(this=column(word)), word) for word in words]
    return flat.present_groups(group_by(select_from(stacked, [*keys, *sums]), flat.keys), words)


def _is_one_of(
    owner: exp.Expr, people: Sequence[int | str], kind: str | None, target: Target
) -> exp.Expr:
    """Whether the owner of a row is one of some people: a condition in which one text differs."""
    if target.dialect == "postgres":
        # A text without a type takes that of the column, so it is compared as the column is.
        array = exp.Literal.string("{" + ",".join(f'"{each}"' for each in people) + "}")
        return exp.EQ(this=owner, expression=exp.Any(this=exp.Paren(this=array)))
    if kind == "integer":
        written: exp.Expr = exp.Cast(
            this=exp.Literal.string(str(list(people))),
            to=exp.DataType.build("BIGINT[]", dialect="duckdb"),
        )
    else:  # an empty text is split into one empty text: a person who is not above loses nothing
        texts = [exp.Literal.string("\n".join(map(str, people))), exp.Literal.string("\n")]
        written = exp.Anonymous(this="STRING_SPLIT", expressions=texts)
    listed = exp.Select(expressions=[exp.Anonymous(this="UNNEST", expressions=[written])])
    return exp.In(this=owner, query=exp.Subquery(this=listed))


def _excess(flat: aggregates.FlatQuery, caps: Sequence[int], is_above: exp.Expr) -> exp.Select:
    """For each entry of people above a cap what they have too much, with the other sign.

    It is 0 where they are not above the cap of an aggregate.
    """
    keys: list[exp.Expr] = [column(key) for key in flat.keys]
    words = [word for word, _ in flat.aggregates]
    # The condition on people comes first: their rows are few, and values of others not computed.
    rows = flat.rows(only_group_keys=True, condition=is_above)
    entries = aggregates.aggregate_rows(flat, rows, [*flat.keys, "owner_1"])
    order = [flat.target.hash_values([*keys, column("owner_1")]), *keys]
    placed: list[exp.Expr] = [*keys]
    less: list[exp.Expr] = [*keys]
    for place, (word, cap) in enumerate(zip(words, caps, strict=True), start=1):
        size = truncation.clip(exp.Abs(this=column(word)), cap)
        upto = exp.Window(
            this=exp.Sum(this=size),
            partition_by=[column("owner_1")],
            order=exp.Order(
                expressions=[exp.Ordered(this=each.copy(), nulls_first=False) for each in order]
            ),
            spec=exp.WindowSpec(
                kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
            ),
        )
        placed += [
            column(word),
            as_alias(size.copy(), f"size_{place}"),
            as_alias(upto, f"upto_{place}"),
        ]
        less.append(as_alias(_too_much(word, place, cap), word))
    return select_from(select_from(entries, placed), less)


def _too_much(word: str, place: int, cap: int) -> exp.Sub:
    """What an entry keeps under the cap, without what it is."""
    upto = column(f"upto_{place}")
    before = exp.Paren(this=exp.Sub(this=upto.copy(), expression=column(f"size_{place}")))
    kept = exp.Sub(this=truncation.clip(upto, cap), expression=truncation.clip(before, cap))
    is_negative = exp.LT(this=column(word), expression=exp.Literal.number(0))
    left = exp.Case(
        ifs=[exp.If(this=is_negative, true=exp.Neg(this=exp.Paren(this=kept)))],
        default=kept.copy(),
    )
    return exp.Sub(this=left, expression=column(word))


def _people_above(flat: aggregates.FlatQuery, caps: Sequence[int]) -> exp.Select:
    """People whose sizes may add up to more than a cap: all others are never cut off."""
    fast = replace(flat, saturating=all(cap < aggregates.EXACT for cap in caps))
    tests: list[exp.Expr] = []
    for (word, aggregate), cap in zip(fast.aggregates, caps, strict=True):
        amount = fast.aggregate_expression(word, aggregate)
        if aggregate.kind == "distinct":
            amount = exp.Count(this=column(word))  # never fewer than different ones
        elif _may_cancel(flat, word):
            amount = exp.Sum(this=exp.Abs(this=column(word)))  # never less than the sums of groups
        tests.append(exp.GT(this=amount, expression=exp.Literal.number(str(cap))))
    people = group_by(
        select_from(fast.rows(only_group_keys=True), [column("owner_1")]), ["owner_1"]
    )
    people.set("having", exp.Having(this=exp.or_(*tests, copy=False)))
    return people


def _may_cancel(flat: aggregates.FlatQuery, word: str) -> bool:
    """Whether what a person adds to groups may be more, in sum of sizes, than to all rows at once.

    Values below 0 cancel others; a value that is in two groups is counted twice.
    """
    aggregate = dict(flat.aggregates)[word]
    if aggregate.kind == "sum":
        return flat.fixed[aggregate.name].low < 0
    return aggregate.kind == "distinct"


def _flatten(
    question: Question,
    owned: OwnedRelation,
    target: Target,
    fixed: Mapping[str, FixedPoint],
    group_keys: aggregates.GroupKeys,
) -> aggregates.FlatQuery:
    for each in question.aggregates:
        if each.kind == "distinct" and not owned.is_determined_by(each.argument):
            raise InputError("CEL-Q130.one_at_a_time_shared_values_by_group")
    return truncation.flatten_single_owner(question, owned, target, fixed, group_keys)
