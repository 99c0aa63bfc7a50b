"""HAVING, ORDER BY, LIMIT and OFFSET: what is done with the noisy answers, and so costs nothing.

An aggregate that only they refer to is asked for as well, and not shown.
"""

from __future__ import annotations

from sqlglot import exp

from celosia.queries.algebra import NamedExpression, PostProcessing
from celosia.queries.sql.group_by import has_aggregate
from celosia.queries.sql.kinds import TRUTHS, require_kind
from celosia.queries.sql.outputs import Outputs
from celosia.queries.sql.parser import Dialect
from celosia.queries.sql.refusals import check_arguments, refusal


def read_post_processing(
    select: exp.Select, outputs: Outputs, *, dialect: Dialect
) -> PostProcessing:
    """Read the post-processing of a query.

    Raises:
        QueryRefused: CEL-Q027 and CEL-Q057, and all that an expression may be refused for.
    """
    having = select.args.get("having")
    order = select.args.get("order")
    kept = _having(having.this, outputs) if having else None
    ordered = [_ordered(each, outputs, dialect) for each in order.expressions] if order else []
    return PostProcessing(
        having=kept,
        order=tuple(ordered),
        limit=_limit(select.args.get("limit")),
        offset=_offset(select.args.get("offset")),
        computed=tuple(
            NamedExpression(name, typed.tree) for name, typed in outputs.computed.items()
        ),
        columns=tuple(outputs.shown),
    )


def _having(node: exp.Expr, outputs: Outputs) -> exp.Expression:
    typed = outputs.read_computed(node, "HAVING")
    return require_kind(typed, TRUTHS, at=node, use="condition").tree


def _ordered(node: exp.Expr, outputs: Outputs, dialect: Dialect) -> tuple[str, bool]:
    check_arguments(node, frozenset({"this", "desc", "nulls_first"}))
    descending = bool(node.args.get("desc"))
    # DuckDB puts NULLs last; PostgreSQL holds them for the largest. Other wishes have no place.
    usual = descending if dialect == "postgres" else False
    if bool(node.args.get("nulls_first")) != usual:
        raise refusal("CEL-Q057.nulls_order", at=node)
    inner = node.this.unnest()
    if isinstance(inner, exp.Literal) and not inner.is_string:
        place = int(inner.name) if inner.name.isdecimal() else 0
        if not 1 <= place <= len(outputs.shown):
            raise refusal("CEL-Q057.order_position", position=inner.name, at=node)
        return outputs.shown[place - 1], descending
    typed = outputs.answer(inner, "ORDER BY")
    if typed is not None:
        return typed.tree.name, descending
    if inner.find(exp.Column) is None and not has_aggregate(inner):
        raise refusal("CEL-Q057.order_without_answer", at=node)
    name = outputs.free("order")
    outputs.computed[name] = outputs.read_computed(inner, "ORDER BY")
    return name, descending


def _offset(node: exp.Expr | None) -> int:
    if node is None:
        return 0
    check_arguments(node, frozenset({"expression"}))
    return _written(node.expression, "OFFSET", node)


def _limit(node: exp.Expr | None) -> int | None:
    if node is None:
        return None
    check_arguments(node, frozenset({"expression", "count", "direction", "limit_options"}))
    options = node.args.get("limit_options")
    number = node.args.get("count") if isinstance(node, exp.Fetch) else node.expression
    if options is not None:
        check_arguments(options, frozenset({"rows"}))
    return _written(number, "LIMIT", node)


def _written(number: exp.Expr | None, clause: str, node: exp.Expr) -> int:
    text = number.name if isinstance(number, exp.Literal) and not number.is_string else ""
    if not (text.isdecimal() and text.isascii() and len(text) <= 9):
        raise refusal("CEL-Q057.not_a_number", clause=clause, at=node)
    return int(text)
