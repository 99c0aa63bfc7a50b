"""IN and EXISTS as semi-joins, NOT EXISTS as anti-joins.

They are joins as far as privacy goes: one row of the inner table can bring in or take out many of
the outer one.

NOT IN is another matter: where the inner column or the outer one is NULL, it keeps nothing, or
everything, by the rules of three-valued logic, and that is no anti-join. It is taken only where
both are said to be not NULL by conditions of the query, which makes the two the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.core.messages import Message
from celosia.queries.algebra import Relation, SemiJoin
from celosia.queries.sql.conditions import conjunction, conjuncts, read_expression
from celosia.queries.sql.joins import JoinCondition, find_join_keys, make_equality, not_an_equijoin
from celosia.queries.sql.names import Scope
from celosia.queries.sql.parser import set_operation_refusal
from celosia.queries.sql.refusals import check_arguments, refusal
from celosia.queries.sql.select_star import read_selection
from celosia.queries.sql.subqueries import CommonTable, check_rows

if TYPE_CHECKING:
    from celosia.queries.sql.relations import RelationBuilder, SelectRows


def is_semi_join(node: exp.Expr) -> bool:
    """Whether a condition is [NOT] EXISTS (SELECT ...) or x [NOT] IN (SELECT ...)."""
    inner = _without_not(node)
    return isinstance(inner, exp.Exists) or (
        isinstance(inner, exp.In) and inner.args.get("query") is not None
    )


def _without_not(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Not | exp.Paren):
        node = node.this
    return node


def _is_negated(node: exp.Expr) -> bool:
    negated = False
    while isinstance(node, exp.Not | exp.Paren):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    return negated


@dataclass(frozen=True, slots=True)
class OuterQuery:
    """The query around a sub-query."""

    scope: Scope
    conditions: Sequence[exp.Expr]
    """All conditions that AND puts together with the one that holds the sub-query."""
    visible: Mapping[str, CommonTable]


def read_semi_join(
    node: exp.Expr, left: Relation, around: OuterQuery, *, builder: RelationBuilder
) -> SemiJoin:
    """The rows of a relation that meet a condition with a sub-query.

    Args:
        node: the condition.
        left: the rows so far.
        around: the query that it is in.
        builder: of the question.
    """
    inner, negated = _without_not(node), _is_negated(node)
    select = _select(inner)
    check_rows(select)
    rows = builder.rows(select, visible=around.visible, outer=around.scope)
    ties = list(rows.ties)
    if isinstance(inner, exp.In):
        check_arguments(inner, frozenset({"this", "query"}))
        ties.insert(0, _membership(inner, select, around.scope, rows))
        if negated:
            _check_not_in(inner, select, around.conditions)
    else:
        # What EXISTS selects makes no difference, but it must be something that could be selected.
        read_selection(select, rows.scope, rows.relation)
    keys, used = find_join_keys(ties, around.scope.aliases, rows.scope.aliases)
    if not keys:
        raise _no_join_key(inner, ties)
    rest = [each.tree for each in ties if each not in used]
    return SemiJoin(left, rows.relation, keys, conjunction(rest), negated)


def _select(node: exp.Expr) -> exp.Select:
    query = node.args["query"] if isinstance(node, exp.In) else node.this
    while isinstance(query, exp.Subquery):
        check_arguments(query, frozenset({"this"}))
        query = query.this
    if isinstance(query, exp.SetOperation):
        raise set_operation_refusal(query)
    if not isinstance(query, exp.Select):
        raise refusal("CEL-Q044.not_a_select", at=node)
    return query


def _membership(node: exp.In, select: exp.Select, scope: Scope, inner: SelectRows) -> JoinCondition:
    """`x IN (SELECT y ...)` as the equality of x and y."""
    made = read_selection(select, inner.scope, inner.relation)
    if len(made.columns) != 1 or made.has_gaps:
        raise refusal("CEL-Q046.several_columns", column_count=len(made.columns), at=select)
    return make_equality(read_expression(node.this, scope), made.columns[0].value, at=node.this)


def _check_not_in(node: exp.In, select: exp.Select, beside: Sequence[exp.Expr]) -> None:
    where = select.args.get("where")
    within = list(conjuncts(where.this if where else None))
    if _says_not_null(node.this, beside) and _says_not_null(
        select.expressions[0].unalias(), within
    ):
        return
    raise refusal("CEL-Q045", at=node)


def _says_not_null(column: exp.Expr, conditions: Sequence[exp.Expr]) -> bool:
    for each in conditions:
        inner = each.this.unnest() if isinstance(each, exp.Not) else each
        negated = isinstance(each, exp.Not) != bool(inner.args.get("negate"))
        if (
            negated
            and isinstance(inner, exp.Is)
            and isinstance(inner.expression, exp.Null)
            and inner.this.unnest() == column.unnest()
        ):
            return True
    return False


def _no_join_key(node: exp.Expr, ties: Sequence[JoinCondition]) -> CelosiaError:
    for each in ties:
        return not_an_equijoin(each, Message("queries.sql.sub_query"))
    return refusal("CEL-Q046.not_tied", at=node)
