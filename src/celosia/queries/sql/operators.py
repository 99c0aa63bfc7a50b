"""The operators of row-wise expressions: logic, comparisons, arithmetic, CASE, literals, casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import cast

from sqlglot import exp

from celosia.queries.sql.names import (
    NUMBERS,
    TEXTS,
    TIMES,
    TRUTHS,
    Kind,
    TypedExpression,
    guard_casts,
    parse_moment,
    require_kind,
)
from celosia.queries.sql.names import unify_kinds as fitted
from celosia.queries.sql.refusals import both, check_arguments, refusal

Read = Callable[[exp.Expr], TypedExpression]
Rule = Callable[[exp.Expr, Read], TypedExpression]

_PAIR = frozenset({"this", "expression"})

TYPES: Mapping[exp.DType, Kind] = {
    exp.DType.TINYINT: "integer",
    exp.DType.SMALLINT: "integer",
    exp.DType.INT: "integer",
    exp.DType.BIGINT: "integer",
    exp.DType.FLOAT: "number",
    exp.DType.DOUBLE: "number",
    exp.DType.DECIMAL: "number",
    exp.DType.TEXT: "text",
    exp.DType.VARCHAR: "text",
    exp.DType.BOOLEAN: "boolean",
    exp.DType.DATE: "date",
    exp.DType.TIMESTAMP: "timestamp",
    exp.DType.TIMESTAMPNTZ: "timestamp",
}
"""Target types of casts; not those with a time zone, whose values depend on the server."""

_BUILT = {"integer": "BIGINT", "number": "DOUBLE", "text": "TEXT"}
_CASTS: Mapping[Kind, frozenset[Kind]] = {
    "integer": NUMBERS | TEXTS | TRUTHS,
    "number": NUMBERS | TEXTS | TRUTHS,
    "boolean": NUMBERS | TEXTS | TRUTHS,
    "text": NUMBERS | TEXTS | TRUTHS | TIMES,
    "date": TIMES | TEXTS,
    "timestamp": TIMES | TEXTS,
    "null": NUMBERS | TEXTS | TRUTHS | TIMES,
}
_SPANS = frozenset({"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"})


MOST_SPAN = 10_000
"""The most days, months, ... that a date is moved by."""


def conjoin(left: exp.Expression, right: exp.Expression) -> exp.And:
    """`left AND right`."""
    return exp.And(this=_truth(left, exp.And), expression=_truth(right))


_LOOSE = (exp.Connector, exp.Not, exp.Predicate)
"""Operators that bind less than arithmetic."""


def _bracketed(tree: exp.Expression) -> exp.Expression:
    return tree if isinstance(tree, exp.Paren) else exp.Paren(this=tree)


def _truth(tree: exp.Expression, same: type[exp.Expression] | None = None) -> exp.Expression:
    """A side of AND or OR: in brackets where it is the other of the two, or the same but right."""
    is_other = isinstance(tree, exp.Connector) and type(tree) is not same
    return _bracketed(tree) if is_other else tree


def comparison_side(tree: exp.Expression) -> exp.Expression:
    """A side of a comparison."""
    return _bracketed(tree) if isinstance(tree, _LOOSE) else tree


def _term(tree: exp.Expression, same: type[exp.Expression] | None = None) -> exp.Expression:
    """A side of an arithmetic operator: in brackets unless it is the same, on the left."""
    if type(tree) is same or not isinstance(tree, (*_LOOSE, exp.Binary, exp.Neg)):
        return tree
    return _bracketed(tree)


def _logic(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, _PAIR)
    kind = cast(type[exp.Expression], type(node))
    left, right = (
        require_kind(read(side), TRUTHS, at=side, use=node.key.upper()).tree
        for side in (node.this, node.expression)
    )
    return TypedExpression(kind(this=_truth(left, kind), expression=_truth(right)), "boolean")


def _not(node: exp.Expr, read: Read) -> TypedExpression:
    inner = require_kind(read(node.this), TRUTHS, at=node.this, use="NOT")
    return TypedExpression(exp.Not(this=_truth(inner.tree)), "boolean")


def negate_if_flagged(tree: exp.Expression, node: exp.Expr) -> TypedExpression:
    """A condition, or its opposite where the dialect keeps NOT as a flag of the node."""
    return TypedExpression(exp.Not(this=tree) if node.args.get("negate") else tree, "boolean")


def _comparison(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, _PAIR)
    parts, _ = fitted([read(node.this), read(node.expression)], at=node, use="comparison")
    kind = cast(type[exp.Expression], type(node))
    left, right = (comparison_side(part.tree) for part in parts)
    return TypedExpression(guard_casts(kind(this=left, expression=right), parts), "boolean")


def _is(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, _PAIR | {"negate"})
    value = node.expression
    if isinstance(value, exp.Null):
        return negate_if_flagged(
            exp.Is(this=comparison_side(read(node.this).tree), expression=exp.Null()), node
        )
    if not isinstance(value, exp.Boolean):
        raise refusal("CEL-Q049.is_value", at=node)
    truth = require_kind(read(node.this), TRUTHS, at=node, use="IS TRUE")
    return negate_if_flagged(
        exp.Is(this=comparison_side(truth.tree), expression=value.copy()), node
    )


def _in(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "expressions"}))
    if not node.expressions:
        raise refusal("CEL-Q049.empty_list", at=node)
    parts, _ = fitted(
        [read(node.this), *(read(each) for each in node.expressions)], at=node, use="IN"
    )
    first, *rest = (part.tree for part in parts)
    return TypedExpression(
        guard_casts(exp.In(this=comparison_side(first), expressions=rest), parts), "boolean"
    )


def _between(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "low", "high"}))
    sides = [read(node.args[name]) for name in ("this", "low", "high")]
    parts, _ = fitted(sides, at=node, use="BETWEEN")
    this, low, high = (comparison_side(part.tree) for part in parts)
    return TypedExpression(
        guard_casts(exp.Between(this=this, low=low, high=high), parts), "boolean"
    )


def _arithmetic(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, _PAIR | {"typed", "safe"})
    left, right = read(node.this), read(node.expression)
    kind = _result(node, left.kind, right.kind)
    made = cast(type[exp.Expression], type(node))
    same = made if isinstance(node, exp.Add | exp.Mul | exp.Sub) else None
    parts = {"this": _term(left.tree, same), "expression": _term(right.tree)}
    if not isinstance(node, exp.Div):
        return TypedExpression(made(**parts), kind)
    if node.args.get("typed") and {left.kind, right.kind} <= {"integer", "null"}:
        return TypedExpression(exp.IntDiv(**parts), "integer")  # PostgreSQL: 7 / 2 is 3
    return TypedExpression(exp.Div(**parts, typed=False, safe=False), "number")


def _result(node: exp.Expr, left: Kind, right: Kind) -> Kind:
    kinds = {left, right}
    if kinds <= NUMBERS | {"null"}:
        return "number" if "number" in kinds or isinstance(node, exp.Div) else "integer"
    if isinstance(node, exp.Add | exp.Sub) and left in TIMES and right == "interval":
        return "timestamp"
    if isinstance(node, exp.Add) and left == "interval" and right in TIMES:
        return "timestamp"
    if isinstance(node, exp.Add | exp.Sub) and (left, right) == ("date", "integer"):
        if not (isinstance(node.expression, exp.Literal) and _is_short(node.expression.name)):
            raise refusal("CEL-Q050.added_days", most_span=MOST_SPAN, at=node)
        return "date"
    if isinstance(node, exp.Sub) and (left, right) == ("date", "date"):
        return "integer"
    word = {"add": "+", "sub": "-", "mul": "*", "div": "/", "intdiv": "//", "mod": "%"}[node.key]
    raise refusal("CEL-Q049.mixed_kinds", use=f"'{word}'", kinds=both([left, right]), at=node)


def _minus(node: exp.Expr, read: Read) -> TypedExpression:
    inner = require_kind(read(node.this), NUMBERS, at=node, use="'-'")
    return TypedExpression(exp.Neg(this=_term(inner.tree)), inner.kind)


def _concatenation(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, _PAIR | {"safe"})
    left, right = (
        require_kind(read(side), TEXTS, at=side, use="'||'").tree
        for side in (node.this, node.expression)
    )
    tree = exp.DPipe(this=_term(left, exp.DPipe), expression=_term(right), safe=True)
    return TypedExpression(tree, "text")


def _literal(node: exp.Expr, read: Read) -> TypedExpression:
    if node.is_string:
        return TypedExpression(exp.Literal.string(node.name), "text")
    digits = node.name.replace(".", "", 1)
    if digits.isdecimal() and digits.isascii() and len(digits) <= 18:
        return TypedExpression(
            exp.Literal.number(node.name), "number" if "." in node.name else "integer"
        )
    try:
        is_finite = isfinite(float(node.name))
    except ValueError:
        is_finite = False
    if not is_finite:
        raise refusal("CEL-Q049.number_form", at=node)
    # With an exponent it is a double. A decimal number of many places would take a column beside it
    # along to as many places, and fail on each row whose value does not leave room for them.
    text = node.name if "e" in node.name.lower() else repr(float(node.name))
    return TypedExpression(
        exp.Literal.number(text if "e" in text.lower() else f"{text}e0"), "number"
    )


def _boolean(node: exp.Expr, read: Read) -> TypedExpression:
    return TypedExpression(exp.Boolean(this=bool(node.this)), "boolean")


def _null(node: exp.Expr, read: Read) -> TypedExpression:
    return TypedExpression(exp.Null(), "null")


def _interval(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "unit"}))
    number, unit = node.this, node.args.get("unit")
    span = unit.name.upper().removesuffix("S") if isinstance(unit, exp.Var) else ""
    if not (isinstance(number, exp.Literal) and _is_short(number.name) and span in _SPANS):
        raise refusal("CEL-Q050.interval", most_span=MOST_SPAN, spans=sorted(_SPANS), at=node)
    tree = exp.Interval(this=exp.Literal.string(number.name), unit=exp.var(span))
    return TypedExpression(tree, "interval")


def _is_short(number: str) -> bool:
    return number.isdecimal() and number.isascii() and int(number) <= MOST_SPAN


def _cast(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "to", "safe"}))
    to = node.args["to"]
    kind = (
        TYPES.get(to.this) if isinstance(to, exp.DataType) and not to.args.get("nested") else None
    )
    if kind is None:
        raise refusal("CEL-Q050.cast", type_name=to.sql(), at=node)
    inner = read(node.this)
    if kind in TIMES and isinstance(inner.tree, exp.Literal) and inner.kind == "text":
        return parse_moment(inner.tree.name, kind, at=node)
    if kind not in _CASTS.get(inner.kind, frozenset()):
        raise refusal("CEL-Q049.no_cast", kind=inner.kind, target=kind, at=node)
    built = to.copy() if to.expressions or kind in ("boolean", *TIMES) else _BUILT[kind]
    if kind == "timestamp":
        built = "TIMESTAMP"
    return TypedExpression(exp.Cast(this=inner.tree, to=exp.DataType.build(built)), kind)


def _case(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "ifs", "default"}))
    whens = [_when(each, node.args.get("this"), read) for each in node.args["ifs"]]
    last = node.args.get("default")
    results = [read(each.args["true"]) for each in node.args["ifs"]]
    results += [read(last)] if last is not None else []
    parts, kind = fitted(results, at=node, use="CASE")
    ifs = [exp.If(this=when, true=part.tree) for when, part in zip(whens, parts, strict=False)]
    tree = exp.Case(ifs=ifs, default=parts[-1].tree if last is not None else None)
    return TypedExpression(guard_casts(tree, parts), kind)


def _when(branch: exp.Expr, operand: exp.Expr | None, read: Read) -> exp.Expression:
    if operand is None:
        return require_kind(read(branch.this), TRUTHS, at=branch.this, use="WHEN").tree
    return _comparison(exp.EQ(this=operand.copy(), expression=branch.this.copy()), read).tree


def _if(node: exp.Expr, read: Read) -> TypedExpression:
    branch = exp.If(this=node.this.copy(), true=node.args["true"].copy())
    last = node.args.get("false")
    return _case(exp.Case(ifs=[branch], default=last.copy() if last is not None else None), read)


def _try(node: exp.Expr, read: Read) -> TypedExpression:
    return read(node.this)  # everything is put in TRY where it needs one


RULES: Mapping[type[exp.Expr], Rule] = {
    exp.And: _logic,
    exp.Or: _logic,
    exp.Not: _not,
    exp.EQ: _comparison,
    exp.NEQ: _comparison,
    exp.LT: _comparison,
    exp.LTE: _comparison,
    exp.GT: _comparison,
    exp.GTE: _comparison,
    exp.NullSafeEQ: _comparison,
    exp.NullSafeNEQ: _comparison,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Add: _arithmetic,
    exp.Sub: _arithmetic,
    exp.Mul: _arithmetic,
    exp.Div: _arithmetic,
    exp.IntDiv: _arithmetic,
    exp.Mod: _arithmetic,
    exp.Neg: _minus,
    exp.DPipe: _concatenation,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Interval: _interval,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Case: _case,
    exp.If: _if,
    exp.Try: _try,
}
"""Which operators there are, and what each makes of its parts."""
