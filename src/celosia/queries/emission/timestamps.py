"""Dates and timestamps far from our time, on which engines and drivers fail row by row.

A date may lie where timestamps do not reach: cast to one, alone or in silence beside another, it
fails in PostgreSQL and in Spark, even with Spark's ANSI mode off. Python's calendar ends sooner
still, so that one far date among the keys of a result fails when it is fetched. An error that
depends on a row reveals it. So far moments become NULL first.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from celosia.queries.emission.target import Target
from celosia.queries.policy.values import ColumnType

DATE_TYPES: tuple[ColumnType, ColumnType] = ("date", "timestamp")
SINGLE_TYPED = (exp.Case, exp.Coalesce, exp.Greatest, exp.Least)
"""What gives one of its values, so that all of them are cast to one type."""
COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.In, exp.Between, exp.Nullif),
)
FIRST, LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"
"""What Python, and with it every driver, has a value for."""


def as_timestamp(tree: exp.Expr) -> exp.TryCast:
    """A date as a timestamp, to be written as every cast of a question is."""
    return exp.TryCast(this=tree.copy(), to=exp.DataType.build("timestamp"))


def cast_dates(tree: exp.Expr, kind: Callable[[exp.Expr], ColumnType | None]) -> exp.Expr:
    """The same with a cast written out where the engine would cast a date in silence.

    Args:
        tree: one of `SINGLE_TYPED` or `COMPARISONS`.
        kind: returns the type of an operand.
    """
    kinds = {kind(each) for each in _operands(tree)}
    if not kinds.issuperset(DATE_TYPES):
        return tree
    made = tree.copy()
    for each in _operands(made):
        if kind(each) == "date" and each.find(exp.Column):
            each.replace(as_timestamp(each))
    return made


def _operands(tree: exp.Expr) -> list[exp.Expr]:
    """The values that get one type; of CASE its results."""
    if isinstance(tree, exp.Case):
        found = [*(each.args["true"] for each in tree.args["ifs"]), tree.args.get("default")]
    else:
        single = [tree.args.get(word) for word in ("this", "expression", "low", "high")]
        found = [*single, *(tree.args.get("expressions") or [])]
    return [each for each in found if isinstance(each, exp.Expr)]


def null_outside(value: exp.Expr, first: exp.Expr, last: exp.Expr, result: exp.Expr) -> exp.Case:
    """A result, or NULL where a value is not between two others."""
    inside = exp.Between(this=value.copy(), low=first, high=last)
    return exp.Case(ifs=[exp.If(this=inside, true=result)])


def as_key(tree: exp.Expr, kind: ColumnType | None, *, target: Target) -> exp.Expr:
    """A key whose values are fetched: a moment that Python has no value for is NULL.

    A timestamp of Spark with a time zone would be fetched in the zone of this machine, so it goes
    without; one of DuckDB may be finer than the bounds, which it is then compared with as they are.
    """
    if kind not in DATE_TYPES:
        return tree
    if kind == "date":  # compared as a date: a far one cannot be cast
        day = exp.DataType.build("date")
        first, last = (
            exp.Cast(this=exp.Literal.string(text[:10]), to=day.copy()) for text in (FIRST, LAST)
        )
        return null_outside(tree, first, last, tree.copy())
    word = "TIMESTAMP_NTZ" if target.dialect == "spark" else "TIMESTAMP"
    moment = exp.DataType.build(word, dialect=target.dialect)
    first, last = (
        exp.Cast(this=exp.Literal.string(text), to=moment.copy()) for text in (FIRST, LAST)
    )
    found = exp.Cast(this=tree.copy(), to=moment) if target.dialect == "spark" else tree.copy()
    coarse = as_timestamp(tree) if target.dialect == "duckdb" else tree
    return null_outside(coarse, first, last, found)
