"""Check that the columns compared in a question have types that can be compared safely.

Types are facts of the schema, not of rows: a refusal tells nothing of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.queries.algebra import (
    Column,
    DerivedTable,
    Filter,
    Join,
    Question,
    Relation,
    SemiJoin,
    UnionAll,
    aliases,
    walk,
)
from celosia.queries.bounds.lineage import Origin, as_column, find_origins
from celosia.queries.policy.database_schema import LONGEST_TYPE, DatabaseColumns, column_type
from celosia.queries.policy.type_comparison import are_comparable
from celosia.queries.policy.values import Policy

_COERCING = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Between, exp.In, exp.Coalesce, exp.Greatest, exp.Least, exp.Nullif, exp.Case),
)
"""Operators that convert their operands to one common type."""


def check_comparisons(question: Question, policy: Policy, types: DatabaseColumns) -> None:
    """Refuse a question that compares columns whose types in the database do not go together.

    Raises:
        QueryRefused: CEL-Q161.
    """
    for group in _groups(question):
        for one, other in combinations(dict.fromkeys(group), 2):
            kinds = [column_type(types, each.table, each.column) for each in (one, other)]
            if None in kinds or are_comparable(*map(str, kinds), dialect=policy.database.kind):
                continue
            first, second = (str(kind)[:LONGEST_TYPE] for kind in kinds)
            raise QueryRefused("CEL-Q161", one=one, first=first, other=other, second=second)


def _groups(question: Question) -> Iterator[list[Origin]]:
    """Columns of tables that are taken to one type somewhere."""
    for relation in walk(question.source):
        match relation:
            case (
                Join(left=left, right=right, keys=keys)
                | SemiJoin(left=left, right=right, keys=keys)
            ):
                for one, other in keys:
                    yield [*_table_columns(one, left), *_table_columns(other, right)]
                if relation.condition is not None:
                    yield from _in_tree(relation.condition, (left, right))
            case Filter(source=source, condition=condition):
                yield from _in_tree(condition, (source,))
            case DerivedTable(source=source, columns=columns):
                for each in columns:
                    yield from _in_tree(each.expression, (source,))
            case UnionAll(parts=parts, alias=alias):
                for each in parts[0].columns:
                    yield _table_columns(Column(alias, each.name), relation)
    for tree in (
        *(each.argument for each in question.aggregates if each.argument is not None),
        *(each.expression for each in question.keys),
    ):
        yield from _in_tree(tree, (question.source,))


def _in_tree(tree: exp.Expression, sides: Iterable[Relation]) -> Iterator[list[Origin]]:
    sides = tuple(sides)
    for node in tree.find_all(*_COERCING):
        if isinstance(node, exp.Case):
            yield from _in_branches(node, sides)
        else:
            yield _of_operands(node.iter_expressions(), sides)


def _in_branches(case: exp.Case, sides: tuple[Relation, ...]) -> Iterator[list[Origin]]:
    branches = case.args["ifs"]
    results = [*(each.args["true"] for each in branches), case.args.get("default")]
    yield _of_operands(results, sides)
    if case.this is not None:
        yield _of_operands([case.this, *(each.this for each in branches)], sides)


def _of_operands(operands: Iterable[exp.Expr | None], sides: tuple[Relation, ...]) -> list[Origin]:
    found: list[Origin] = []
    for operand in operands:
        column = as_column(operand)
        for side in sides if column is not None else ():
            if column is not None and column.relation in aliases(side):
                found += _table_columns(column, side)
                break
    return found


def _table_columns(column: Column, relation: Relation) -> list[Origin]:
    return list(find_origins(column, relation) or ())
