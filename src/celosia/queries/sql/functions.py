"""The functions of row-wise expressions: an allow-list, each with the kinds that it takes.

A function that is not here is refused. Those that are here look at one row only, give the same for
the same row, and fail on no row once `make_total` has been over them. Counts and places inside
functions are written numbers, because several databases fail on some negative ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.queries.sql import patterns, shorthands
from celosia.queries.sql.kinds import (
    NUMBERS,
    TEXTS,
    TIMES,
    TypedExpression,
    guard_casts,
    require_kind,
    unify_kinds,
)
from celosia.queries.sql.names import Kind
from celosia.queries.sql.operators import Read, Rule
from celosia.queries.sql.refusals import check_arguments, refusal

PARTS = frozenset(
    {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "ISODOW", "DOY", "HOUR", "MINUTE"}
)
"""Parts of a date that EXTRACT accepts."""
UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE"})
"""Units that DATE_TRUNC accepts."""
MOST = 10_000
"""The largest count or place inside a text."""

VOLATILE = frozenset(
    [
        "clock_timestamp",
        "current_catalog",
        "current_date",
        "current_datetime",
        "current_role",
        "current_schema",
        "current_setting",
        "current_time",
        "current_timestamp",
        "current_user",
        "currval",
        "gen_random_uuid",
        "get_current_timestamp",
        "getdate",
        "getenv",
        "getvariable",
        "localtime",
        "localtimestamp",
        "nextval",
        "now",
        "pg_sleep",
        "rand",
        "randn",
        "random",
        "session_user",
        "setseed",
        "statement_timestamp",
        "sysdate",
        "timeofday",
        "today",
        "transaction_timestamp",
        "txid_current",
        "user",
        "uuid",
        "uuidv4",
        "uuidv7",
        "version",
    ]
)
"""Functions known to change from call to call or to depend on the server."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The argument and result kinds of a function."""

    gives: Kind | None = None
    """None: what its first argument is."""
    values: Mapping[str, frozenset[Kind]] | None = None
    """Arguments, by the parser's name."""
    counts: Mapping[str, int] | None = None
    """Arguments that are written whole numbers, with the least of each."""
    optional: frozenset[str] = frozenset()
    """Those of `counts` that may be left out."""
    literals: frozenset[str] = frozenset()
    """Optional arguments that are texts written out."""
    flags: frozenset[str] = frozenset()
    """Settings of the parser that are copied."""


_THIS_TEXT = {"this": TEXTS}
SIGNATURES: Mapping[type[exp.Expr], Signature] = {
    exp.Lower: Signature("text", _THIS_TEXT),
    exp.Upper: Signature("text", _THIS_TEXT),
    exp.Length: Signature("integer", _THIS_TEXT),
    exp.Substring: Signature(
        "text", _THIS_TEXT, {"start": 1, "length": 0}, optional=frozenset({"length"})
    ),
    exp.Left: Signature("text", _THIS_TEXT, {"expression": 0}),
    exp.Right: Signature("text", _THIS_TEXT, {"expression": 0}),
    exp.Trim: Signature(
        "text", _THIS_TEXT, literals=frozenset({"expression"}), flags=frozenset({"position"})
    ),
    exp.StartsWith: Signature("boolean", {"this": TEXTS, "expression": TEXTS}),
    exp.Abs: Signature(None, {"this": NUMBERS}),
    exp.Ceil: Signature("number", {"this": NUMBERS}),
    exp.Floor: Signature("number", {"this": NUMBERS}),
    exp.Round: Signature(
        "number", {"this": NUMBERS}, {"decimals": 0}, optional=frozenset({"decimals"})
    ),
}
"""Functions whose arguments have kinds of their own."""


_INSTEAD: Mapping[type[exp.Expr], str] = {
    **dict.fromkeys((exp.TimeToStr, exp.ToChar), "CEL-Q047.date_as_text"),
    **dict.fromkeys(
        (exp.RegexpLike, exp.RegexpILike, exp.SimilarTo, exp.RegexpReplace, exp.RegexpExtract),
        "CEL-Q047.regular_expression",
    ),
    **dict.fromkeys((exp.Sqrt, exp.Ln, exp.Log, exp.Exp), "CEL-Q047.root_or_logarithm"),
}
"""Functions that are often asked for, with the refusal that has an alternative to each."""


def unknown_function(node: exp.Expr) -> CelosiaError:
    """The refusal of a function, or another part, that has no rule."""
    if isinstance(node, exp.Anonymous):
        word = node.name
    else:
        word = node.sql_name() if isinstance(node, exp.Func) else type(node).__name__
    if word.lower() in VOLATILE or word.lower().startswith("current"):
        return refusal("CEL-Q048", word=word.upper(), at=node)
    key = _INSTEAD.get(type(node), "CEL-Q047.other")
    return refusal(key, function=word.upper(), at=node)


def _by_signature(node: exp.Expr, read: Read) -> TypedExpression:
    signature = SIGNATURES[type(node)]
    values, counts = signature.values or {}, signature.counts or {}
    check_arguments(node, frozenset({*values, *counts, *signature.literals, *signature.flags}))
    made: dict[str, object] = {
        name: node.args[name] for name in signature.flags if node.args.get(name)
    }
    first: Kind = "null"
    for name, kinds in values.items():
        part = node.args[name]
        typed = require_kind(read(part), kinds, at=part, use=_word(node))
        made[name] = typed.tree
        first = typed.kind if name == "this" else first
    for name, least in counts.items():
        if node.args.get(name) is not None or name not in signature.optional:
            made[name] = exp.Literal.number(_whole(node, node.args.get(name), least))
    for name in signature.literals:
        if (part := node.args.get(name)) is not None:
            if not (isinstance(part, exp.Literal) and part.is_string):
                raise refusal("CEL-Q050.not_a_written_text", function=_word(node), at=node)
            made[name] = exp.Literal.string(part.name)
    tree = cast(type[exp.Expression], type(node))(**made)
    return TypedExpression(tree, signature.gives or first)


def _whole(node: exp.Expr, part: exp.Expr | None, least: int) -> int:
    text = part.name if isinstance(part, exp.Literal) and not part.is_string else ""
    if not (text.isdecimal() and text.isascii() and least <= int(text) <= MOST):
        raise refusal(
            "CEL-Q050.not_a_written_number", function=_word(node), least=least, most=MOST, at=node
        )
    return int(text)


def _word(node: exp.Expr) -> str:
    return node.sql_name() if isinstance(node, exp.Func) else node.key.upper()


def _of_one_kind(node: exp.Expr, read: Read) -> TypedExpression:
    """COALESCE, GREATEST, LEAST: any number of values of one kind."""
    check_arguments(node, frozenset({"this", "expressions", "ignore_nulls", "is_nvl", "is_null"}))
    values = [read(node.this), *(read(each) for each in node.expressions)]
    parts, kind = unify_kinds(values, at=node, use=_word(node))
    first, *rest = (part.tree for part in parts)
    flags = {"ignore_nulls": True} if node.args.get("ignore_nulls") else {}
    tree = cast(type[exp.Expression], type(node))(this=first, expressions=rest, **flags)
    return TypedExpression(guard_casts(tree, parts), kind)


def _nullif(node: exp.Expr, read: Read) -> TypedExpression:
    parts, _ = unify_kinds([read(node.this), read(node.expression)], at=node, use="NULLIF")
    tree = exp.Nullif(this=parts[0].tree, expression=parts[1].tree)
    return TypedExpression(guard_casts(tree, parts), parts[0].kind)


def _concat(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"expressions", "safe", "coalesce"}))
    parts = [
        require_kind(read(each), TEXTS, at=each, use="CONCAT").tree for each in node.expressions
    ]
    return TypedExpression(exp.Concat(expressions=parts, safe=True, coalesce=True), "text")


def _extract(node: exp.Expr, read: Read) -> TypedExpression:
    return _part(node, node.name.upper(), node.expression, read)


def _part(node: exp.Expr, part: str, value: exp.Expr, read: Read) -> TypedExpression:
    part = {"DAYOFWEEK": "DOW", "DAYOFYEAR": "DOY"}.get(part, part)
    if part not in PARTS:
        raise refusal("CEL-Q050.extract", parts=sorted(PARTS), at=node)
    typed = require_kind(read(value), TIMES, at=node, use="EXTRACT")
    return TypedExpression(exp.Extract(this=exp.var(part), expression=typed.tree), "integer")


def _part_function(part: str) -> Rule:
    """YEAR(d) is EXTRACT(YEAR FROM d)."""

    def rule(node: exp.Expr, read: Read) -> TypedExpression:
        check_arguments(node, frozenset({"this"}))
        return _part(node, part, node.this, read)

    return rule


def _truncate(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "unit", "input_type_preserved"}))
    unit = node.args["unit"].name.upper()
    if unit not in UNITS:
        raise refusal("CEL-Q050.date_trunc", units=sorted(UNITS), at=node)
    typed = require_kind(read(node.this), TIMES, at=node, use="DATE_TRUNC")
    return TypedExpression(exp.TimestampTrunc(this=typed.tree, unit=exp.var(unit)), "timestamp")


def _unknown(node: exp.Expr, read: Read) -> TypedExpression:
    raise unknown_function(node)


RULES: Mapping[type[exp.Expr], Rule] = {
    **shorthands.RULES,
    **patterns.RULES,
    exp.Anonymous: shorthands.anonymous(_unknown),
    **dict.fromkeys(SIGNATURES, _by_signature),
    exp.Coalesce: _of_one_kind,
    exp.Greatest: _of_one_kind,
    exp.Least: _of_one_kind,
    exp.Nullif: _nullif,
    exp.Concat: _concat,
    exp.Extract: _extract,
    exp.TimestampTrunc: _truncate,
    exp.DateTrunc: _truncate,
    exp.Year: _part_function("YEAR"),
    exp.Quarter: _part_function("QUARTER"),
    exp.Month: _part_function("MONTH"),
    exp.Week: _part_function("WEEK"),
    exp.Day: _part_function("DAY"),
    exp.DayOfWeek: _part_function("DOW"),
    exp.DayOfYear: _part_function("DOY"),
    exp.Hour: _part_function("HOUR"),
    exp.Minute: _part_function("MINUTE"),
}
"""The allow-list."""
