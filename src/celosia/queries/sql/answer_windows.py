"""Window functions over the answers: shares of the whole, running sums and ranks of noisy numbers.

They work on released rows only, so they cost nothing. Each becomes a computed column of its own,
because DuckDB has no window inside TRY.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from sqlglot import exp

from celosia.queries.sql.names import Kind, TypedExpression
from celosia.queries.sql.refusals import check_arguments, refusal

_NUMBERS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_SHARES = (exp.PercentRank, exp.CumeDist)
_VALUES = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.Min, exp.Max)
_SUMS = (exp.Sum, exp.Avg, exp.Count)
_SIDES = frozenset({"PRECEDING", "FOLLOWING"})
_ENDS = frozenset({"UNBOUNDED", "CURRENT ROW"})
Read = Callable[[exp.Expr], TypedExpression]


def read_answer_window(node: exp.Window, read: Read) -> TypedExpression:
    """A window function over answers.

    Args:
        node: the window, as it is written.
        read: reads an expression of answers.

    Raises:
        QueryRefused: CEL-Q042 another function or frame; all that an expression of answers may be
            refused for.
    """
    check_arguments(node, frozenset({"this", "partition_by", "order", "over", "spec"}))
    function, kind = _function(node, read)
    made = exp.Window(
        this=function,
        partition_by=[read(each).tree for each in node.args.get("partition_by") or []],
    )
    order = node.args.get("order")
    if order is not None:
        made.set(
            "order", exp.Order(expressions=[_ordered(each, read) for each in order.expressions])
        )
    if (spec := node.args.get("spec")) is not None:
        made.set("spec", _frame(spec, node))
    return TypedExpression(made, kind)


def _function(node: exp.Window, read: Read) -> tuple[exp.Expression, Kind]:
    inner = node.this
    made = cast(type[exp.Expression], type(inner))
    if isinstance(inner, _NUMBERS + _SHARES):
        check_arguments(inner, frozenset())
        return made(), "integer" if isinstance(inner, _NUMBERS) else "number"
    if isinstance(inner, exp.Count) and type(inner.this) is exp.Star:
        return exp.Count(this=exp.Star()), "integer"
    if not isinstance(inner, _VALUES + _SUMS):
        raise refusal("CEL-Q042.answer_window", at=node)
    check_arguments(inner, frozenset({"this", "offset", "big_int"}))
    typed = read(inner.this)
    function = made(this=typed.tree)
    if (offset := inner.args.get("offset")) is not None:
        if not (isinstance(offset, exp.Literal) and offset.name.isdecimal()):
            raise refusal("CEL-Q042.answer_window", at=node)
        function.set("offset", offset.copy())
    if isinstance(inner, exp.Avg):
        return function, "number"
    return function, "integer" if isinstance(inner, exp.Count) else typed.kind


def _ordered(node: exp.Expr, read: Read) -> exp.Ordered:
    inner = node.this if isinstance(node, exp.Ordered) else node
    descending = isinstance(node, exp.Ordered) and bool(node.args.get("desc"))
    return exp.Ordered(this=read(inner).tree, desc=descending, nulls_first=False)


def _frame(spec: exp.Expr, node: exp.Expr) -> exp.Expr:
    """ROWS or RANGE between ends that are written out."""
    check_arguments(spec, frozenset({"kind", "start", "start_side", "end", "end_side"}))
    for name in ("start", "end"):
        end, side = spec.args.get(name), spec.args.get(f"{name}_side")
        is_number = isinstance(end, exp.Literal) and end.name.isdecimal() and len(end.name) < 7
        if end is not None and not is_number and end not in _ENDS:
            raise refusal("CEL-Q042.answer_window", at=node)
        if side is not None and side not in _SIDES:
            raise refusal("CEL-Q042.answer_window", at=node)
    return spec.copy()
