"""Relations of the algebra as FROM and WHERE."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from celosia.queries.algebra import (
    DerivedTable,
    Filter,
    Join,
    Relation,
    Scan,
    SemiJoin,
    UnionAll,
)
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission.caps import table_source
from celosia.queries.emission.expression_types import infer_type
from celosia.queries.emission.target import Target, as_alias, identifier, integer_literal
from celosia.queries.emission.timestamps import DATE_TYPES, as_timestamp


def select(relation: Relation, projections: Iterable[exp.Expr], *, target: Target) -> exp.Select:
    """A SELECT of expressions over the rows of a relation."""
    body = _body(relation, target)
    return body.select([each.copy() for each in projections])


def write_expression(expression: exp.Expr, relation: Relation, *, target: Target) -> exp.Expr:
    """An expression of a question over a relation, every name quoted, total in the engine."""
    tree = expression.copy()
    for each in tree.find_all(exp.Identifier):
        each.set("quoted", True)
    match target.dialect:
        case "postgres":
            from celosia.queries.emission.postgres import (
                rewrite_for_postgres,  # one dialect is needed
            )

            return rewrite_for_postgres(tree, relation, target=target)
        case "spark":
            from celosia.queries.emission.spark import rewrite_for_spark

            return rewrite_for_spark(tree, relation, target=target)
    for cut in tree.find_all(exp.TimestampTrunc):
        # DuckDB cuts the first and last moment of a column when it plans, where no TRY around
        # helps if they are at the ends of time. Of TRY it knows no first and last.
        cut.set("this", exp.Try(this=cut.this))
    return tree


@dataclass(frozen=True, slots=True)
class _Body:
    """What FROM and WHERE hold: trees of its own, which become parts of one SELECT."""

    sources: tuple[exp.Expr, ...]
    conditions: tuple[exp.Expr, ...] = ()

    def select(self, projections: list[exp.Expr]) -> exp.Select:
        first, *others = self.sources
        made = exp.Select(
            expressions=projections,
            from_=exp.From(this=first),
            # A plain list, with all conditions in WHERE: the engine finds the order of joins.
            joins=[exp.Join(this=each) for each in others],
        )
        if self.conditions:
            made.set("where", exp.Where(this=exp.and_(*self.conditions, copy=False)))
        return made


def _body(relation: Relation, target: Target) -> _Body:
    match relation:
        case Scan(table=table, alias=alias):
            return _Body((table_source(table, alias=alias, target=target),))
        case Filter(source=source, condition=condition):
            inner = _body(source, target)
            return _Body(
                inner.sources,
                (*inner.conditions, write_expression(condition, source, target=target)),
            )
        case Join(left=left, right=right):
            one, other = _body(left, target), _body(right, target)
            agree = _join_conditions(relation, target)
            return _Body(one.sources + other.sources, (*one.conditions, *other.conditions, *agree))
        case SemiJoin(left=left, right=right, negated=negated):
            one, other = _body(left, target), _body(right, target)
            partners = _Body(
                other.sources, (*other.conditions, *_join_conditions(relation, target))
            )
            found: exp.Expr = exp.Exists(this=partners.select([integer_literal(1)]))
            test = exp.Not(this=found) if negated else found
            return _Body(one.sources, (*one.conditions, test))
        case DerivedTable(source=source, alias=alias):
            inner_query = select(source, _columns(relation, target), target=target)
            return _Body((_subquery(inner_query, alias),))
        case UnionAll(parts=parts, alias=alias):
            queries = [
                select(part.source, _columns(part, target), target=target)
                for part in _align_dates(parts, target)
            ]
            stacked: exp.Query = queries[0]
            for query in queries[1:]:
                stacked = exp.Union(this=stacked, expression=query, distinct=False)
            return _Body((_subquery(stacked, alias),))


def _join_conditions(pair: Join | SemiJoin, target: Target) -> tuple[exp.Expr, ...]:
    equal = (
        exp.EQ(this=column_expression(left), expression=column_expression(right))
        for left, right in pair.keys
    )
    if pair.condition is None:
        return tuple(equal)
    # The condition of a semi-join speaks of both sides, as that of a join does.
    both = Join(pair.left, pair.right, pair.keys)
    return (*equal, write_expression(pair.condition, both, target=target))


def _align_dates(parts: tuple[DerivedTable, ...], target: Target) -> list[DerivedTable]:
    """The parts of a stack, dates cast where other parts have timestamps."""
    kinds = [
        [infer_type(each.expression, part.source, target=target) for each in part.columns]
        for part in parts
    ]
    mixed = [set(place).issuperset(DATE_TYPES) for place in zip(*kinds, strict=True)]
    return [
        replace(
            part,
            columns=tuple(
                replace(each, expression=as_timestamp(each.expression))
                if is_mixed and kind == "date"
                else each
                for each, kind, is_mixed in zip(part.columns, own, mixed, strict=True)
            ),
        )
        for part, own in zip(parts, kinds, strict=True)
    ]


def _columns(derived: DerivedTable, target: Target) -> list[exp.Expr]:
    return [
        as_alias(write_expression(each.expression, derived.source, target=target), each.name)
        for each in derived.columns
    ]


def _subquery(query: exp.Query, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=identifier(alias)))
