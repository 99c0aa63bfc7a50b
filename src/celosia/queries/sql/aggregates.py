"""Aggregate functions of SQL as aggregates of the algebra.

Each value is written with its length before it, `N` for NULL, so no two lists of values have one
text: (12, 3) is `2:121:3` and (1, 23) is `1:12:23`. A list with a NULL is a value like any other,
as it is in both dialects.

`FILTER (WHERE c)` is no step of its own: an aggregate passes over NULL, so
`SUM(x) FILTER (WHERE c)` is `SUM(CASE WHEN c THEN x END)`, and `COUNT(*) FILTER (WHERE c)`, like
`COUNT_IF(c)`, counts `CASE WHEN c THEN 1 END`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.core.messages import Message
from celosia.queries.algebra import Aggregate, AggregateKind
from celosia.queries.sql.conditions import read_expression
from celosia.queries.sql.names import NUMBERS, TIMES, Kind, Scope, TypedExpression
from celosia.queries.sql.refusals import AGGREGATES, check_arguments, refusal


def encode_tuple(values: Sequence[exp.Expr], at: exp.Expr) -> exp.Expr:
    """The one expression whose different values are counted."""
    first = values[0].unnest() if values else None
    if first is None or len(values) != 1:
        raise refusal("CEL-Q054.without_brackets", at=at)
    condition = None
    if isinstance(first, exp.Case) and isinstance(first.args["ifs"][0].args["true"], exp.Tuple):
        condition = first.args["ifs"][0].this  # FILTER (WHERE ...) around a list
        first = first.args["ifs"][0].args["true"]
    if not isinstance(first, exp.Tuple):
        return first
    check_arguments(first, frozenset({"expressions"}))
    parts = [_encode_value(each) for each in first.expressions]
    if not parts:
        raise refusal("CEL-Q054.without_brackets", at=at)
    whole = parts[0]
    for part in parts[1:]:
        whole = exp.DPipe(this=whole, expression=part, safe=True)
    if condition is None:
        return whole
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=whole)])


def _encode_value(value: exp.Expr) -> exp.Expr:
    """`3:abc`, or `N` for NULL."""
    text = exp.Cast(this=value.copy(), to=exp.DataType.build("text"))
    length = exp.Cast(this=exp.Length(this=text.copy()), to=exp.DataType.build("text"))
    mark = exp.DPipe(this=length, expression=exp.Literal.string(":"), safe=True)
    text_value = exp.DPipe(this=mark, expression=text, safe=True)
    return exp.Coalesce(this=text_value, expressions=[exp.Literal.string("N")])


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
_ENDS: Mapping[type[exp.Expr], AggregateKind] = {exp.ArgMin: "first", exp.ArgMax: "last"}
_SAMPLES = (exp.Variance, exp.Stddev, exp.StddevSamp)
"""VARIANCE and STDDEV are VAR_SAMP and STDDEV_SAMP in both dialects."""
_QUANTILES = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile)


@dataclass(frozen=True, slots=True)
class UnnamedAggregate:
    """An aggregate before it has a name."""

    kind: AggregateKind
    argument: exp.Expression | None = None
    share: float | None = None
    sample: bool = False
    is_whole: bool = False
    """Whether it adds up or ranks whole numbers."""
    order: exp.Expression | None = None
    """Of the first or last: what rows are ordered by."""
    second: exp.Expression | None = None
    """Of two values the other one."""
    of: Kind | None = None
    """In a sub-query: the kind of its values, where it is one of them."""
    label: str | None = None
    """Its text in the question, where the question is not in SQL."""

    def named(self, name: str) -> Aggregate:
        """The aggregate under a name."""
        return Aggregate(
            self.kind,
            name,
            self.argument,
            self.share,
            self.sample,
            self.label,
            order=self.order,
            second=self.second,
        )

    @property
    def gives(self) -> Kind:
        """The kind of the answer."""
        if self.of is not None:
            return self.of
        if self.kind in ("sum", "minimum", "maximum"):
            return "integer" if self.is_whole else "number"
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


def read_aggregate(node: exp.Expr, scope: Scope) -> UnnamedAggregate:
    """The aggregate that is asked for.

    Raises:
        QueryRefused: CEL-Q054 for forms that are not supported, and all that a row-wise expression
            may be refused for.
    """
    if isinstance(node, exp.Filter):
        node = _read_filter(node)
    if isinstance(node, exp.CountIf):
        check_arguments(node, frozenset({"this"}))
        node = exp.Count(this=_case(node.this, exp.Literal.number(1)))
    if isinstance(node, exp.Count):
        return _count(node, scope)
    if isinstance(node, exp.Median):
        return _quantile(node, node.this, 0.5, scope)
    if isinstance(node, exp.WithinGroup):
        return _within_group(node, scope)
    if isinstance(node, _QUANTILES):
        share = node.args.get("quantile") or node.args.get("expression")
        check_arguments(node, frozenset({"this", "quantile", "expression"}))
        return _quantile(node, node.this, _share(node, share), scope)
    if type(node) in _PAIRS or type(node) in _OF_PAIRS:
        return _pair(node, scope)
    kind = _SIMPLE.get(type(node))
    if kind is None:
        raise _unsupported(node)
    if isinstance(node.this, exp.Distinct) or set(_given(node)) != {"this"}:
        raise _unsupported(node)
    typed = _number(node, node.this, scope)
    return UnnamedAggregate(
        kind,
        typed.tree,
        sample=isinstance(node, _SAMPLES),
        is_whole=typed.kind == "integer",
    )


_PAIRS: Mapping[type[exp.Expr], AggregateKind] = {
    exp.CovarPop: "covariance",
    exp.CovarSamp: "covariance",
    exp.Corr: "correlation",
    exp.RegrSlope: "slope",
    exp.RegrIntercept: "intercept",
    exp.RegrR2: "determination",
}
_OF_PAIRS: Mapping[type[exp.Expr], AggregateKind] = {
    exp.RegrCount: "count",
    exp.RegrAvgx: "mean",
    exp.RegrAvgy: "mean",
}
"""Aggregates of one value in rows that have both."""


def _pair(node: exp.Expr, scope: Scope) -> UnnamedAggregate:
    """An aggregate of two values, such as CORR(y, x)."""
    if set(_given(node)) != {"this", "expression"} or isinstance(node.this, exp.Distinct):
        raise _unsupported(node)
    first, second = (
        _number(node, each, scope).tree for each in (node.this, node.args["expression"])
    )
    kind = _OF_PAIRS.get(type(node))
    if kind is not None:
        is_second = isinstance(node, exp.RegrAvgx)
        value, other = (second, first) if is_second else (first, second)
        present = exp.Not(this=exp.Is(this=other.copy(), expression=exp.Null()))
        both = exp.Case(ifs=[exp.If(this=present, true=value.copy())])
        return UnnamedAggregate(kind, both)
    sample = isinstance(node, exp.CovarSamp)
    return UnnamedAggregate(_PAIRS[type(node)], first, sample=sample, second=second)


def read_inner_aggregate(node: exp.Expr, scope: Scope) -> UnnamedAggregate:
    """An aggregate of a group inside a sub-query: also the least date, or the first value.

    Raises:
        QueryRefused: as `read_aggregate`; CEL-Q054 those whose value depends on the order of rows.
    """
    if isinstance(node, exp.Filter):
        node = _read_filter(node)
    kind = _ENDS.get(type(node))
    if kind is not None:
        check_arguments(node, frozenset({"this", "expression"}))
        value, order = (read_expression(each, scope) for each in (node.this, node.expression))
        for each in (value, order):
            _check_not_interval(each, node)
        return UnnamedAggregate(kind, value.tree, order=order.tree, of=value.kind)
    if isinstance(node, exp.Min | exp.Max) and set(_given(node)) == {"this"}:
        typed = read_expression(node.this, scope)
        _check_not_interval(typed, node)
        return UnnamedAggregate(_SIMPLE[type(node)], typed.tree, of=typed.kind)
    made = read_aggregate(node, scope)
    if made.kind in ("variance", "deviation") or made.second is not None:
        raise refusal("CEL-Q054.in_sub_query", aggregate=_word(node), at=node)
    return replace(made, of="number") if made.kind == "sum" else made


def _case(condition: exp.Expr, value: exp.Expr) -> exp.Case:
    """CASE WHEN condition THEN value END."""
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])


def _read_filter(node: exp.Filter) -> exp.Expr:
    """The aggregate inside FILTER, of an argument that is NULL where the condition is not true."""
    check_arguments(node, frozenset({"this", "expression"}))
    inner: exp.Expr = node.this.copy()
    where = node.expression
    if not isinstance(where, exp.Where) or not is_aggregate(inner) or isinstance(inner, exp.Filter):
        raise _unsupported(node)
    if isinstance(inner, exp.Count) and type(inner.this) is exp.Star:
        check_arguments(inner.this, frozenset())
        return exp.Count(this=_case(where.this, exp.Literal.number(1)))
    if isinstance(inner, exp.CountIf):
        return exp.CountIf(this=exp.And(this=where.this.copy(), expression=inner.this.copy()))
    holder: exp.Expr = inner
    if isinstance(inner, exp.WithinGroup):
        holder = inner.find(exp.Ordered) or inner
    if isinstance(inner.this, exp.Distinct):
        values = inner.this.expressions
        inner.this.set("expressions", [_case(where.this, each) for each in values[:1]] + values[1:])
    elif isinstance(holder.this, exp.Expr):
        holder.set("this", _case(where.this, holder.this))
    return inner


def _given(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value not in (None, False, [])]


def _count(node: exp.Count, scope: Scope) -> UnnamedAggregate:
    check_arguments(node, frozenset({"this", "big_int"}))
    inner = node.this
    if type(inner) is exp.Star:
        check_arguments(inner, frozenset())
        return UnnamedAggregate("rows")
    if isinstance(inner, exp.Distinct):
        check_arguments(inner, frozenset({"expressions"}))
        typed = read_expression(encode_tuple(inner.expressions, node), scope)
        if typed.tree.find(exp.Column) is None:
            raise refusal("CEL-Q054.constant", aggregate=_word(node), at=node)
        _check_not_interval(typed, node)
        return UnnamedAggregate("distinct", typed.tree)
    if inner is None:
        raise _unsupported(node)
    typed = read_expression(inner, scope)
    _check_not_interval(typed, node)
    if isinstance(typed.tree, exp.Literal):
        return UnnamedAggregate("rows")  # COUNT(1)
    if typed.tree.find(exp.Column) is None:
        raise refusal("CEL-Q054.constant", aggregate=_word(node), at=node)
    return UnnamedAggregate("count", typed.tree)


def _check_not_interval(typed: TypedExpression, node: exp.Expr) -> None:
    if typed.kind == "interval":
        raise refusal("CEL-Q049.interval", use=Message("queries.sql.an_aggregate"), at=node)


def _number(node: exp.Expr, inner: exp.Expr, scope: Scope) -> TypedExpression:
    typed = read_expression(inner, scope)
    if typed.kind in TIMES:
        raise refusal("CEL-Q049.moment_as_number", use=_word(node), kind=typed.kind, at=node)
    if typed.kind not in NUMBERS:
        raise refusal("CEL-Q049.not_a_number", use=_word(node), kind=typed.kind, at=node)
    if typed.tree.find(exp.Column) is None:
        raise refusal("CEL-Q054.constant", aggregate=_word(node), at=node)
    return typed


def _within_group(node: exp.WithinGroup, scope: Scope) -> UnnamedAggregate:
    """PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)."""
    inner, order = node.this, node.expression
    if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc):
        raise _unsupported(node)
    check_arguments(inner, frozenset({"this"}))
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
    raise refusal("CEL-Q054.share", at=node)


def _quantile(node: exp.Expr, inner: exp.Expr, share: float, scope: Scope) -> UnnamedAggregate:
    if isinstance(inner, exp.Distinct):
        raise _unsupported(node)
    return UnnamedAggregate("quantile", _number(node, inner, scope).tree, share)


def _word(node: exp.Expr) -> str:
    if isinstance(node, exp.WithinGroup | exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        return _word(node.this)
    if type(node) in _WORDS:
        return _WORDS[type(node)]
    return node.sql_name() if isinstance(node, exp.Func) else node.key.upper()


_WORDS: Mapping[type[exp.Expr], str] = {
    exp.LogicalOr: "BOOL_OR",
    exp.LogicalAnd: "BOOL_AND",
    exp.GroupConcat: "STRING_AGG",
    exp.ApproxDistinct: "APPROX_COUNT_DISTINCT",
}
"""Functions to which the parser gives other names."""


_INSTEAD: Mapping[type[exp.Expr], str] = {
    exp.LogicalOr: "CEL-Q054.any",
    exp.LogicalAnd: "CEL-Q054.all",
    exp.ApproxDistinct: "CEL-Q054.approximate_distinct",
    exp.ApproxQuantile: "CEL-Q054.approximate_quantile",
    exp.Mode: "CEL-Q054.mode",
}
"""Aggregates without a mechanism, with the refusal that has an alternative to each."""


def _unsupported(node: exp.Expr) -> CelosiaError:
    inner = node
    while isinstance(inner, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        inner = inner.this
    key = _INSTEAD.get(type(inner), "CEL-Q054.other")
    return refusal(key, aggregate=_word(node), at=node)
