"""The relational algebra, worked out row by row in plain Python: an oracle for everybody.

A database is a mapping from table names to lists of rows, a row a mapping from column names to
values, None for null. Nothing here is fast, and nothing is shared with the code under test but the
values of the algebra themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

from sqlglot import exp

from celosia.queries.algebra import (
    Aggregate,
    Column,
    DerivedTable,
    Filter,
    GroupedTable,
    Join,
    Keys,
    LeftJoin,
    Question,
    Relation,
    Scan,
    SemiJoin,
    UnionAll,
)

Row = dict[Column, Any]
Database = Mapping[str, Sequence[Mapping[str, Any]]]

COMPARISONS: dict[type[exp.Expression], Callable[[Any, Any], Any]] = {
    exp.EQ: lambda a, b: a == b,
    exp.NEQ: lambda a, b: a != b,
    exp.GT: lambda a, b: a > b,
    exp.GTE: lambda a, b: a >= b,
    exp.LT: lambda a, b: a < b,
    exp.LTE: lambda a, b: a <= b,
    exp.Add: lambda a, b: a + b,
    exp.Sub: lambda a, b: a - b,
    exp.Mul: lambda a, b: a * b,
    exp.Mod: lambda a, b: a % b if b else None,
    exp.Div: lambda a, b: Fraction(a) / b if b else None,
}


def rows(relation: Relation, database: Database) -> list[Row]:  # noqa: PLR0911 - one a kind
    """All rows of a relation."""
    match relation:
        case Scan(table=table, alias=alias):
            return [
                {Column(alias, name): value for name, value in row.items()}
                for row in database[table]
            ]
        case Filter(source=source, condition=condition):
            return [row for row in rows(source, database) if value(condition, row) is True]
        case Join(left=left, right=right, keys=keys, condition=condition):
            there = rows(right, database)
            return [
                mine | other
                for mine in rows(left, database)
                for other in there
                if agree(mine, other, keys, condition)
            ]
        case SemiJoin(left=left, right=right, keys=keys, condition=condition, negated=negated):
            there = rows(right, database)
            return [
                mine
                for mine in rows(left, database)
                if any(agree(mine, other, keys, condition) for other in there) is not negated
            ]
        case DerivedTable(source=source, alias=alias, columns=columns):
            return [
                {Column(alias, each.name): value(each.expression, row) for each in columns}
                for row in rows(source, database)
            ]
        case LeftJoin(left=left, right=right, keys=keys, condition=condition):
            there = rows(right, database)
            nothing = dict.fromkeys(there[0], None) if there else {}
            return [
                mine | other
                for mine in rows(left, database)
                for other in [each for each in there if agree(mine, each, keys, condition)]
                or [nothing]
            ]
        case GroupedTable(source=source, alias=alias, keys=named, aggregates=aggregates):
            groups: dict[tuple[Any, ...], list[Row]] = {}
            for row in rows(source, database):
                key = tuple(value(each.expression, row) for each in named)
                groups.setdefault(key, []).append(row)
            words = [Column(alias, each.name) for each in named]
            words += [Column(alias, each.name) for each in aggregates]
            return [
                dict(zip(words, (*key, *(aggregated(each, n) for each in aggregates)), strict=True))
                for key, n in groups.items()
            ]
        case UnionAll(parts=parts, alias=alias):
            return [
                {Column(alias, column.name): found for column, found in row.items()}
                for part in parts
                for row in rows(part, database)
            ]


def agree(left: Row, right: Row, keys: Keys, condition: exp.Expression | None) -> bool:
    """Whether two rows are partners: equal in all keys (null equals nothing), condition true."""
    for mine, other in keys:
        if left[mine] is None or left[mine] != right[other]:
            return False
    return condition is None or value(condition, left | right) is True


def value(expression: Any, row: Mapping[Column, Any]) -> Any:  # noqa: PLR0911, PLR0912
    """A row-wise expression on a row, in SQL's logic of three values."""
    match expression:
        case exp.Column():
            return row[Column(expression.table, expression.name)]
        case exp.Literal():
            return expression.this if expression.is_string else Fraction(expression.this)
        case exp.Boolean():
            return expression.this
        case exp.Null():
            return None
        case exp.Paren():
            return value(expression.this, row)
        case exp.Neg():
            inner = value(expression.this, row)
            return None if inner is None else -inner
        case exp.Not():
            inner = value(expression.this, row)
            return None if inner is None else not inner
        case exp.And() | exp.Or():
            both = [value(expression.left, row), value(expression.right, row)]
            decides = isinstance(expression, exp.Or)
            if decides in both:
                return decides
            return None if None in both else not decides
        case exp.Is():
            return value(expression.left, row) is value(expression.right, row)
        case exp.In():
            inner = value(expression.this, row)
            offered = [value(each, row) for each in expression.expressions]
            if inner is not None and inner in offered:
                return True
            return None if inner is None or None in offered else False
        case exp.Between():
            inner = value(expression.this, row)
            low, high = value(expression.args["low"], row), value(expression.args["high"], row)
            return None if None in (inner, low, high) else low <= inner <= high
        case exp.Case():
            subject = expression.this
            for branch in expression.args["ifs"]:
                test = (
                    branch.this if subject is None else exp.EQ(this=subject, expression=branch.this)
                )
                if value(test, row) is True:
                    return value(branch.args["true"], row)
            default = expression.args.get("default")
            return None if default is None else value(default, row)
        case exp.Coalesce():
            offered = [value(each, row) for each in (expression.this, *expression.expressions)]
            return next((each for each in offered if each is not None), None)
        case exp.Abs():
            inner = value(expression.this, row)
            return None if inner is None else abs(inner)
    if type(expression) not in COMPARISONS:
        raise NotImplementedError(type(expression).__name__)
    left, right = value(expression.left, row), value(expression.right, row)
    return None if left is None or right is None else COMPARISONS[type(expression)](left, right)


def answer(question: Question, database: Database) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The exact aggregates of every group that has rows; of the empty key if there are no keys.

    What comes after the noise (`After`) is not applied: see `after`.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {} if question.keys else {(): []}
    for row in rows(question.source, database):
        groups.setdefault(tuple(value(key.expression, row) for key in question.keys), []).append(
            row
        )
    return {
        key: tuple(aggregated(each, found) for each in question.aggregates)
        for key, found in groups.items()
    }


def after(
    question: Question, groups: Mapping[tuple[Any, ...], tuple[Any, ...]]
) -> list[dict[str, Any]]:
    """The table that a question shows: having, order, limit and columns, on given groups."""
    names = [key.name for key in question.keys] + [each.name for each in question.aggregates]
    table = [dict(zip(names, (*key, *found), strict=True)) for key, found in groups.items()]
    having = question.post_processing.having
    if having is not None:
        as_columns = [{Column("", name): found for name, found in row.items()} for row in table]
        table = [
            row
            for row, columns in zip(table, as_columns, strict=True)
            if value(having, columns) is True
        ]
    for name, largest_first in reversed(question.post_processing.order):
        table.sort(key=lambda row: row[name], reverse=largest_first)
    shown = question.post_processing.columns or tuple(names)
    return [{name: row[name] for name in shown} for row in table[: question.post_processing.limit]]


def aggregated(aggregate: Aggregate, found: Sequence[Row]) -> Any:  # noqa: PLR0911
    """One exact aggregate over rows; nulls are left out, as in SQL, and a sum of nothing is 0."""
    if aggregate.kind == "rows":
        return len(found)
    assert aggregate.argument is not None
    values = [value(aggregate.argument, row) for row in found]
    known = [each for each in values if each is not None]
    match aggregate.kind:
        case "count":
            return len(known)
        case "distinct":
            return len(set(known))
        case "sum":
            return sum(known)
    if not known:
        return None
    mean = Fraction(sum(known)) / len(known) if aggregate.kind in MOMENTS else None
    match aggregate.kind:
        case "mean":
            return mean
        case "variance" | "deviation":
            assert mean is not None
            variance = sum((each - mean) ** 2 for each in known) / len(known)
            return variance if aggregate.kind == "variance" else sqrt(variance)
        case "minimum":
            return min(known)
        case "maximum":
            return max(known)
        case "quantile":
            assert aggregate.share is not None
            return sorted(known)[max(0, -(-len(known) * Fraction(aggregate.share) // 1) - 1)]


MOMENTS = {"mean", "variance", "deviation"}
