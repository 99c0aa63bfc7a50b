"""GROUP BY: the columns and expressions that rows are grouped by."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.queries.sql.aggregates import is_aggregate
from celosia.queries.sql.conditions import read_expression
from celosia.queries.sql.forbidden_parts import AGGREGATES
from celosia.queries.sql.kinds import TypedExpression
from celosia.queries.sql.names import Scope, answer_or_column
from celosia.queries.sql.refusals import refusal

_NESTED = (*AGGREGATES, exp.Window)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether a part of a query holds an aggregate, sub-queries aside."""
    inside = node.walk(prune=lambda part: isinstance(part, exp.Query))
    return any(isinstance(part, _NESTED) for part in inside)


def computed_positions(select: exp.Select, scope: Scope) -> frozenset[int]:
    """The places of outputs that follow from aggregates: they hold one, or the alias of one.

    DuckDB lets outputs refer to others by their aliases: SUM(a) AS s, COUNT(*) AS n, s / n.
    """
    outputs = list(enumerate(each.unalias() for each in select.expressions))
    found = {place for place, each in outputs if has_aggregate(each)}
    size = -1
    while size < len(found):
        size = len(found)
        words = {select.expressions[place].alias.lower() for place in found}
        known = {word for word in words if word and not scope.has(word)}
        found |= {place for place, each in outputs if known & _mentioned_names(each)}
    return frozenset(found)


def _mentioned_names(node: exp.Expr) -> set[str]:
    if isinstance(node, exp.Query):
        return set()
    return {each.name.lower() for each in node.find_all(exp.Column) if not each.table}


def read_group_keys(select: exp.Select, scope: Scope) -> list[TypedExpression]:
    """The keys of GROUP BY, each once.

    Raises:
        QueryRefused: CEL-Q027, CEL-Q053, CEL-Q055 and CEL-Q056.
    """
    group = select.args.get("group")
    if group is None:
        return []
    sets = [name for name, value in group.args.items() if name not in _TAKEN and value]
    kinds = exp.GroupingSets | exp.Rollup | exp.Cube
    odd = next((each for each in group.expressions if isinstance(each, kinds)), None)
    if sets or odd is not None:
        raise refusal("CEL-Q055", at=odd if odd is not None else group)
    keys: dict[exp.Expression, TypedExpression] = {}
    for each in _list_keys(group, select, scope):
        typed = _group_key(each.unnest(), select, scope)
        if not any(True for _ in typed.tree.find_all(exp.Column)) or typed.kind == "interval":
            raise refusal("CEL-Q056.no_column", at=each)
        keys[typed.tree] = typed
    return list(keys.values())


_TAKEN = frozenset({"expressions", "all"})


def _list_keys(group: exp.Expr, select: exp.Select, scope: Scope) -> Sequence[exp.Expr]:
    """The expressions of GROUP BY; for ALL, every output without an aggregate."""
    if not group.args.get("all"):
        return list(group.expressions)
    computed = computed_positions(select, scope)
    outputs = enumerate(each.unalias() for each in select.expressions)
    return [each for place, each in outputs if place not in computed]


def _group_key(node: exp.Expr, select: exp.Select, scope: Scope) -> TypedExpression:
    """A key: a place in the SELECT list, an alias of it, or an expression of columns."""
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal():
        place = int(node.name) if len(node.name) < 6 else 0
        if not 1 <= place <= len(select.expressions):
            raise _no_such_position(node)
        return read_expression(select.expressions[place - 1].unalias(), scope)
    if isinstance(node, exp.Column) and not node.table:
        aliased = [
            each.this
            for each in select.expressions
            if isinstance(each, exp.Alias) and each.alias.lower() == node.name.lower()
        ]
        if aliased and not scope.has(node.name):
            return read_expression(aliased[0], scope)
        if aliased and (
            is_aggregate(aliased[0])
            or read_expression(aliased[0], scope).tree != scope.find(node).tree
        ):
            raise answer_or_column(node)
    return read_expression(node, scope)


def _no_such_position(node: exp.Expr) -> CelosiaError:
    return refusal("CEL-Q056.position", position=node.name, at=node)
