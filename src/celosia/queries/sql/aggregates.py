"""Aggregate functions of the query to aggregates of the algebra."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.queries.algebra import Aggregate, AggregateKind
from celosia.queries.sql.conditions import read
from celosia.queries.sql.kinds import NUMBERS, Typed, misfit
from celosia.queries.sql.names import Kind, Scope
from celosia.queries.sql.refusals import only, refusal
from celosia.queries.sql.stops import AGGREGATES

_SIMPLE: Mapping[type[exp.Expr], AggregateKind] = {
    exp.Sum: "sum",
    exp.Avg: "mean",
    exp.Min: "minimum",
    exp.Max: "maximum",
    exp.Variance: "variance",
    exp.VariancePop: "variance",
    exp.Stddev: "deviation",
    exp.StddevPop: "deviation",
    exp.StddevSamp: "deviation",
}
_QUANTILES = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile)


@dataclass(frozen=True, slots=True)
class Asked:
    """An aggregate before it has a name."""

    kind: AggregateKind
    argument: exp.Expression | None = None
    share: float | None = None

    def named(self, name: str) -> Aggregate:
        """The aggregate under a name."""
        return Aggregate(self.kind, name, self.argument, self.share)

    @property
    def gives(self) -> Kind:
        """What the answer is."""
        return "integer" if self.kind in ("rows", "count", "distinct") else "number"

    @property
    def word(self) -> str:
        """A name for it, where the query gives none."""
        prefix = "count" if self.kind in ("rows", "count", "distinct") else self.kind
        if isinstance(self.argument, exp.Column):
            return f"{prefix}_{self.argument.name}"
        return prefix


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a part of a query is an aggregate as a whole."""
    return isinstance(node, AGGREGATES)


def aggregate(node: exp.Expr, scope: Scope) -> Asked:
    """The aggregate that is asked for.

    Raises:
        QueryRefused: CEL-Q054 for forms that are not supported, and all that a row-wise expression
            may be refused for.
    """
    if isinstance(node, exp.Count):
        return _count(node, scope)
    if isinstance(node, exp.Median):
        return _quantile(node, node.this, 0.5, scope)
    if isinstance(node, exp.WithinGroup):
        return _within_group(node, scope)
    if isinstance(node, _QUANTILES):
        share = node.args.get("quantile") or node.args.get("expression")
        only(node, frozenset({"this", "quantile", "expression"}))
        return _quantile(node, node.this, _share(node, share), scope)
    kind = _SIMPLE.get(type(node))
    if kind is None:
        raise _unsupported(node)
    if isinstance(node.this, exp.Distinct) or set(_given(node)) != {"this"}:
        raise _unsupported(node)
    return Asked(kind, _number(node, node.this, scope))


def _given(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value not in (None, False, [])]


def _count(node: exp.Count, scope: Scope) -> Asked:
    only(node, frozenset({"this", "big_int"}))
    inner = node.this
    if type(inner) is exp.Star:
        only(inner, frozenset())
        return Asked("rows")
    if isinstance(inner, exp.Distinct):
        only(inner, frozenset({"expressions"}))
        if len(inner.expressions) != 1:
            raise _several(node)
        tree = read(inner.expressions[0], scope).tree
        if len({column.sql() for column in tree.find_all(exp.Column)}) != 1:
            raise _several(node)
        return Asked("distinct", tree)
    if inner is None:
        raise _unsupported(node)
    typed = read(inner, scope)
    _check_not_interval(typed, node)
    if isinstance(typed.tree, exp.Literal):
        return Asked("rows")  # COUNT(1)
    if typed.tree.find(exp.Column) is None:
        raise _unsupported(node)
    return Asked("count", typed.tree)


def _check_not_interval(typed: Typed, node: exp.Expr) -> None:
    if typed.kind == "interval":
        raise misfit("an aggregate takes no interval", at=node)


def _number(node: exp.Expr, inner: exp.Expr, scope: Scope) -> exp.Expression:
    typed = read(inner, scope)
    if typed.kind not in NUMBERS:
        raise misfit(f"{_word(node)} takes numbers, not {typed.kind}", at=node)
    if typed.tree.find(exp.Column) is None:
        raise refusal(
            "CEL-Q054",
            f"{_word(node)} speaks of no column",
            at=node,
            why="Every row would add the same.",
            fix="Use COUNT(*) for the number of rows.",
        )
    return typed.tree


def _within_group(node: exp.WithinGroup, scope: Scope) -> Asked:
    """PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)."""
    inner, order = node.this, node.expression
    if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc):
        raise _unsupported(node)
    only(inner, frozenset({"this"}))
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise _unsupported(node)
    by = order.expressions[0]
    if isinstance(by, exp.Ordered):
        if by.args.get("desc") or by.args.get("nulls_first") or by.args.get("with_fill"):
            raise _unsupported(node)
        by = by.this
    return _quantile(node, by, _share(node, inner.this), scope)


def _share(node: exp.Expr, share: exp.Expr | None) -> float:
    if isinstance(share, exp.Literal) and not share.is_string:
        value = float(share.name)
        if 0 <= value <= 1:
            return value
    raise refusal(
        "CEL-Q054",
        "a quantile needs one written share from 0 to 1",
        at=node,
        why="Its place in the order must be known before the data is touched.",
        fix="Write it as QUANTILE_CONT(x, 0.9).",
    )


def _quantile(node: exp.Expr, inner: exp.Expr, share: float, scope: Scope) -> Asked:
    if isinstance(inner, exp.Distinct):
        raise _unsupported(node)
    return Asked("quantile", _number(node, inner, scope), share)


def _word(node: exp.Expr) -> str:
    if isinstance(node, exp.WithinGroup | exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        return _word(node.this)
    return node.sql_name() if isinstance(node, exp.Func) else node.key.upper()


def _several(node: exp.Expr) -> CelosiaError:
    return refusal(
        "CEL-Q054",
        "COUNT(DISTINCT ...) is not of one column",
        at=node,
        why="Different values are told apart within one column, or an expression of one.",
        fix="Count the different values of one column.",
    )


def _unsupported(node: exp.Expr) -> CelosiaError:
    return refusal(
        "CEL-Q054",
        f"this form of {_word(node)} is not supported",
        at=node,
        why="No mechanism here answers it: DISTINCT inside SUM, FILTER (...), other orders and "
        "other aggregates have none.",
        fix="Use COUNT, SUM, AVG, MIN, MAX, MEDIAN, QUANTILE_CONT(x, 0.9), VAR_SAMP or "
        "STDDEV_SAMP of one number; instead of FILTER (WHERE c), SUM(CASE WHEN c THEN x END).",
    )
