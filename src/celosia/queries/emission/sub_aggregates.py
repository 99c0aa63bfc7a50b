"""The aggregates of a group inside a sub-query: exact, and the same in whatever order rows come.

Sums are taken in whole steps of a grid and become numbers again afterwards. Doubles that are added
up in another order differ in their last digits, and which order an engine takes depends on rows of
other people. The first and last value of a group are told apart by what they are ordered by, and
then by the value itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sqlglot import exp

from celosia.queries.algebra import Aggregate, Relation
from celosia.queries.emission import syntax
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.relations import write_expression
from celosia.queries.emission.target import Target


def argument_columns(
    aggregate: Aggregate, source: Relation, target: Target
) -> Iterator[tuple[str, exp.Expr]]:
    """The columns that an aggregate is made of, with their names."""
    if aggregate.argument is not None:
        tree = write_expression(aggregate.argument, source, target=target)
        if aggregate.steps is not None:
            lower, upper, step = aggregate.steps
            fixed = FixedPoint(lower=lower, upper=upper, step=step)
            declared = target.declared_column(aggregate.argument, source)
            is_whole = declared is not None and declared.type == "integer"
            tree = fixed.tree(tree, is_whole=is_whole, target=target)
        yield _argument(aggregate), tree
    if aggregate.order is not None:
        yield _order(aggregate), write_expression(aggregate.order, source, target=target)


def _argument(aggregate: Aggregate) -> str:
    return f"{aggregate.name}_argument"


def _order(aggregate: Aggregate) -> str:
    return f"{aggregate.name}_order"


def group_value(  # noqa: PLR0911 - one for each kind
    aggregate: Aggregate, target: Target
) -> exp.Expr:
    """An aggregate over the columns of `argument_columns`; NULL for no values, 0 for counts."""
    value = syntax.column(_argument(aggregate))
    match aggregate.kind:
        case "rows":
            return exp.Count(this=exp.Star())
        case "count":
            return exp.Count(this=value)
        case "distinct":
            return exp.Count(this=exp.Distinct(expressions=[value]))
        case "sum":
            return _sum(aggregate, value, target)
        case "mean":
            count = exp.Nullif(
                this=exp.Count(this=value.copy()), expression=syntax.integer_literal(0)
            )
            return _divide(_sum(aggregate, value, target), target.cast(count, "real"))
        case "minimum":
            return exp.Min(this=value)
        case "maximum":
            return exp.Max(this=value)
        case "quantile":
            share = exp.Literal.number(repr(aggregate.share))
            order = exp.Order(expressions=[exp.Ordered(this=value, nulls_first=False)])
            return exp.WithinGroup(this=exp.PercentileCont(this=share), expression=order)
    return _end(aggregate, value, target)


def _sum(aggregate: Aggregate, value: exp.Expr, target: Target) -> exp.Expr:
    total: exp.Expr = target.cast(exp.Sum(this=value), "real")
    step = Fraction(1) if aggregate.steps is None else aggregate.steps[2]
    if step.numerator != 1:
        total = exp.Mul(this=total, expression=_real(step.numerator, target))
    return total if step.denominator == 1 else _divide(total, _real(step.denominator, target))


def _real(number: int, target: Target) -> exp.Expr:
    return target.cast(syntax.integer_literal(number), "real")


def _divide(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.Div(this=one, expression=other, typed=True, safe=True)


def _end(aggregate: Aggregate, value: exp.Expr, target: Target) -> exp.Expr:
    """The value of the row that comes first, or last, in an order; rows without either are out."""
    by, is_last = syntax.column(_order(aggregate)), aggregate.kind == "last"
    present = [
        exp.Not(this=exp.Is(this=each.copy(), expression=exp.Null())) for each in (by, value)
    ]
    known = exp.Where(this=exp.and_(*present))
    if target.dialect == "spark":
        pair = exp.Struct(expressions=[by, value.copy()])
        word = "MAX_BY" if is_last else "MIN_BY"
        return exp.Filter(
            this=exp.Anonymous(this=word, expressions=[value, pair]), expression=known
        )
    order = exp.Order(
        this=value,
        expressions=[
            exp.Ordered(this=by, desc=is_last, nulls_first=False),
            exp.Ordered(this=value.copy(), desc=is_last, nulls_first=False),
        ],
    )
    if target.dialect == "duckdb":
        return exp.Filter(this=exp.First(this=order), expression=known)
    listed = exp.Filter(this=exp.ArrayAgg(this=order), expression=known)
    first = syntax.integer_literal(0)  # SQLGlot counts from 0, and writes 1
    return exp.Bracket(this=exp.Paren(this=listed), expressions=[first])
