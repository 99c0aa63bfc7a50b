"""The functions of row-wise expressions: an allow-list, each with the kinds that it takes.

DuckDB matches a pattern of `%` and letters piece by piece, in time that grows with the text. With a
`_` in it, and in ILIKE always, it tries again from every letter for each `%`: `'%a_%a_%a_%b'` takes
the third power of the length, so one long text could keep a question from being answered in time,
and the lack of an answer would reveal it. So ILIKE is LIKE of lower-case texts, as both databases
define it, and with a `_` only one `%` is taken beside those at the end, which cost nothing. What is
looked for is written out and short: the time is then at most its length times that of the text.

So each means the same in every dialect, and nothing has to be known of it further on.

A function that is not here is refused. Those that are here look at one row only, give the same for
the same row, and fail on no row once `make_total` has been over them. Counts and places inside
functions are written numbers, because several databases fail on some negative ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.queries.sql.names import (
    NUMBERS,
    TEXTS,
    TIMES,
    Kind,
    TypedExpression,
    guard_casts,
    require_kind,
    unify_kinds,
)
from celosia.queries.sql.operators import Read, Rule, comparison_side, negate_if_flagged
from celosia.queries.sql.refusals import check_arguments, refusal

MOST_LETTERS = 200
"""The longest text that is looked for."""


def _like(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "expression", "negate"}))
    text = require_kind(read(node.this), TEXTS, at=node, use="LIKE").tree
    written: exp.Expr = _pattern(node)
    if isinstance(node, exp.ILike):
        text, written = exp.Lower(this=text), exp.Lower(this=written)
    return negate_if_flagged(exp.Like(this=comparison_side(text), expression=written), node)


def _pattern(node: exp.Expr) -> exp.Literal:
    pattern = node.expression
    # A pattern that ends in an escape fails in PostgreSQL, but only on rows that match so far.
    if not (isinstance(pattern, exp.Literal) and pattern.is_string) or "\\" in pattern.name:
        raise refusal("CEL-Q050.pattern_not_written", at=node)
    word = pattern.name
    if len(word) > MOST_LETTERS:
        raise refusal("CEL-Q050.pattern_too_long", most_letters=MOST_LETTERS, at=node)
    if "_" in word and len(re.findall("%+", word.rstrip("%"))) > 1:
        raise refusal("CEL-Q050.pattern_too_slow", at=node)
    return exp.Literal.string(word)


def _position(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "substr"}))
    text = require_kind(read(node.this), TEXTS, at=node, use="STRPOS")
    wanted = node.args["substr"]
    if not (isinstance(wanted, exp.Literal) and wanted.is_string):
        raise refusal("CEL-Q050.text_not_written", at=node)
    if len(wanted.name) > MOST_LETTERS:
        raise refusal("CEL-Q050.text_too_long", most_letters=MOST_LETTERS, at=node)
    found = exp.StrPosition(this=text.tree, substr=exp.Literal.string(wanted.name))
    return TypedExpression(found, "integer")


SEARCHES: Mapping[type[exp.Expr], Rule] = {
    exp.Like: _like,
    exp.ILike: _like,
    exp.StrPosition: _position,
}
"""The part of the allow-list that looks for a text in another."""


MOST_POWER = 4
"""The highest power that is written out as a product."""
_MONTHS = "January February March April May June July August September October November December"
_DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday"


def read_date_difference(node: exp.Expr, read: Read) -> TypedExpression:
    """DATE_DIFF('month', a, b): how many beginnings of a month lie between two moments."""
    check_arguments(node, frozenset({"this", "expression", "unit", "date_part_boundary"}))
    unit = node.args.get("unit")
    word = unit.name.upper() if unit is not None else "DAY"
    if word not in ("DAY", "MONTH", "QUARTER", "YEAR"):
        raise refusal("CEL-Q050.date_diff_unit", at=node)
    later, earlier = (_day(side, read) for side in (node.this, node.expression))
    if word == "DAY":
        return read(exp.Sub(this=later, expression=earlier))
    years = exp.Sub(this=_part_of("YEAR", later), expression=_part_of("YEAR", earlier))
    if word == "YEAR":
        return read(years)
    parts = exp.Sub(this=_part_of(word, later), expression=_part_of(word, earlier))
    number = exp.Literal.number(12 if word == "MONTH" else 4)
    in_years = exp.Mul(this=exp.Paren(this=years), expression=number)
    return read(exp.Add(this=in_years, expression=exp.Paren(this=parts)))


def _day(side: exp.Expr, read: Read) -> exp.Expr:
    if read(side).kind == "date":
        return side.copy()
    return exp.Cast(this=side.copy(), to=exp.DataType.build("date"))


def _part_of(word: str, moment: exp.Expr) -> exp.Extract:
    return exp.Extract(this=exp.var(word), expression=moment.copy())


def _read_date_shift(node: exp.Expr, read: Read) -> TypedExpression:
    """DATE_ADD(d, INTERVAL '1' DAY) is d + INTERVAL '1' DAY."""
    check_arguments(node, frozenset({"this", "expression"}))
    kind = exp.Add if isinstance(node, exp.DateAdd) else exp.Sub
    if not isinstance(node.expression, exp.Interval):
        raise refusal("CEL-Q050.added_interval", at=node)
    return read(kind(this=node.this.copy(), expression=node.expression.copy()))


def _contains(node: exp.Expr, read: Read) -> TypedExpression:
    check_arguments(node, frozenset({"this", "expression"}))
    place = exp.StrPosition(this=node.this.copy(), substr=node.expression.copy())
    return read(exp.GT(this=place, expression=exp.Literal.number(0)))


def _ends_with(node: exp.Expr, read: Read) -> TypedExpression:
    """The last letters are the text, which must be written out: they must be counted."""
    check_arguments(node, frozenset({"this", "expression"}))
    text = node.expression
    if not (isinstance(text, exp.Literal) and text.is_string):
        raise refusal("CEL-Q050.ends_with", at=node)
    length = exp.Literal.number(len(text.name))
    last = exp.Right(this=node.this.copy(), expression=length)
    return read(exp.EQ(this=last, expression=text.copy()))


def _power(node: exp.Expr, read: Read) -> TypedExpression:
    """POWER(x, 2) is the product of doubles, as which databases compute it."""
    check_arguments(node, frozenset({"this", "expression"}))
    power = node.expression.unnest()
    text = power.name if isinstance(power, exp.Literal) and not power.is_string else ""
    if not (text.isdecimal() and 1 < int(text[:9]) <= MOST_POWER):
        raise refusal("CEL-Q050.power", most_power=MOST_POWER, at=node)
    if node.this.find(exp.Pow) is not None:  # it is repeated, and so would be all inside
        raise refusal("CEL-Q050.power_of_power", at=node)
    require_kind(read(node.this), NUMBERS, at=node, use="POWER")
    factor = exp.Cast(this=node.this.copy(), to=exp.DataType.build("double"))
    product: exp.Expr = factor
    for _ in range(int(text) - 1):
        product = exp.Mul(this=product, expression=factor.copy())
    return read(product)


def _name_of(part: str, names: str, first: int) -> Rule:
    """MONTHNAME(d): the cases of EXTRACT, whose results are known without the data."""

    def rule(node: exp.Expr, read: Read) -> TypedExpression:
        check_arguments(node, frozenset({"this"}))
        ifs = [
            exp.If(this=exp.Literal.number(number), true=exp.Literal.string(name))
            for number, name in enumerate(names.split(), start=first)
        ]
        return read(exp.Case(this=_part_of(part, node.this), ifs=ifs))

    return rule


def _anonymous(node: exp.Expr, read: Read) -> TypedExpression | None:
    """DuckDB's functions that the parser knows by their names only."""
    word, values = node.name.lower(), node.expressions
    if word == "date_part" and len(values) == 2 and _is_text(values[0]):
        return read(_part_of(values[0].name, values[1]))
    if word == "suffix" and len(values) == 2:
        return read(exp.EndsWith(this=values[0].copy(), expression=values[1].copy()))
    if word == "prefix" and len(values) == 2:
        return read(exp.StartsWith(this=values[0].copy(), expression=values[1].copy()))
    return None


def anonymous(unknown: Rule) -> Rule:
    """The rule of functions that the parser has no type for."""

    def rule(node: exp.Expr, read: Read) -> TypedExpression:
        found = _anonymous(node, read)
        return unknown(node, read) if found is None else found

    return rule


def read_replace(node: exp.Expr, read: Read) -> TypedExpression:
    """REPLACE(x, 'ab', 'c'), which makes no text longer: nested ones could fill the memory."""
    check_arguments(node, frozenset({"this", "expression", "replacement"}))
    old, new = node.expression, node.args.get("replacement")
    texts = [each.name for each in (old, new) if isinstance(each, exp.Literal) and each.is_string]
    if len(texts) != 2 or not texts[0] or len(texts[0]) < len(texts[1]):
        raise refusal("CEL-Q050.replace", at=node)
    typed = require_kind(read(node.this), TEXTS, at=node, use="REPLACE")
    first, second = map(exp.Literal.string, texts)
    return TypedExpression(
        exp.Replace(this=typed.tree, expression=first, replacement=second), "text"
    )


def _is_text(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)


SHORTHANDS: Mapping[type[exp.Expr], Rule] = {
    exp.DateDiff: read_date_difference,
    exp.DateAdd: _read_date_shift,
    exp.DateSub: _read_date_shift,
    exp.Contains: _contains,
    exp.EndsWith: _ends_with,
    exp.Pow: _power,
    exp.Replace: read_replace,
    exp.Monthname: _name_of("MONTH", _MONTHS, 1),
    exp.Dayname: _name_of("DOW", _DAYS, 0),
}
"""The part of the allow-list that is read as something longer."""


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
        return refusal("CEL-Q047.changes", word=word.upper(), at=node)
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


def _whole(node: exp.Expr, part: exp.Expr | None, least: int, most: int = MOST) -> int:
    text = part.name if isinstance(part, exp.Literal) and not part.is_string else ""
    if not (text.isdecimal() and text.isascii() and least <= int(text) <= most):
        raise refusal(
            "CEL-Q050.not_a_written_number", function=_word(node), least=least, most=most, at=node
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


def _round(node: exp.Expr, read: Read) -> TypedExpression:
    """ROUND(x), ROUND(x, 2), and ROUND(x, -2) for hundreds."""
    check_arguments(node, frozenset({"this", "decimals"}))
    typed = require_kind(read(node.this), NUMBERS, at=node.this, use="ROUND")
    made = exp.Round(this=typed.tree)
    digits = node.args.get("decimals")
    if isinstance(digits, exp.Neg):
        made.set("decimals", exp.Neg(this=exp.Literal.number(_whole(node, digits.this, 1, 15))))
    elif digits is not None:
        made.set("decimals", exp.Literal.number(_whole(node, digits, 0)))
    return TypedExpression(made, "number")


def _written_number(tree: exp.Expr | None) -> float | None:
    sign = -1 if isinstance(tree, exp.Neg) else 1
    inner = tree.this if isinstance(tree, exp.Neg) else tree
    is_number = isinstance(inner, exp.Literal) and not inner.is_string
    return sign * float(inner.name) if inner is not None and is_number else None


def _width_bucket(node: exp.Expr, read: Read) -> TypedExpression:
    """WIDTH_BUCKET(x, low, high, n): 0 below, n + 1 from `high` on, else the n-th part of it."""
    words = ("min_value", "max_value", "num_buckets")
    check_arguments(node, frozenset({"this", *words}))
    written = [node.args.get(word) for word in words]
    count = _whole(node, written[2], 1)
    low, high = (_written_number(each) for each in written[:2])
    if low is None or high is None or low >= high:
        raise refusal("CEL-Q050.width_bucket", at=node)
    value, first, last = node.this, node.args["min_value"], node.args["max_value"]
    moved = exp.Mul(
        this=exp.Paren(this=exp.Sub(this=value.copy(), expression=exp.Paren(this=first.copy()))),
        expression=exp.Literal.number(count),
    )
    width = exp.Paren(this=exp.Sub(this=last.copy(), expression=exp.Paren(this=first.copy())))
    inside = exp.Floor(this=exp.Div(this=moved, expression=width))
    tree = exp.Case(
        ifs=[
            exp.If(
                this=exp.LT(this=value.copy(), expression=first.copy()), true=exp.Literal.number(0)
            ),
            exp.If(
                this=exp.GTE(this=value.copy(), expression=last.copy()),
                true=exp.Literal.number(count + 1),
            ),
        ],
        default=exp.Add(this=inside, expression=exp.Literal.number(1)),
    )
    return read(tree)


def _unknown(node: exp.Expr, read: Read) -> TypedExpression:
    raise unknown_function(node)


RULES: Mapping[type[exp.Expr], Rule] = {
    **SHORTHANDS,
    **SEARCHES,
    exp.Anonymous: anonymous(_unknown),
    **dict.fromkeys(SIGNATURES, _by_signature),
    exp.Coalesce: _of_one_kind,
    exp.Greatest: _of_one_kind,
    exp.Least: _of_one_kind,
    exp.Nullif: _nullif,
    exp.Concat: _concat,
    exp.Round: _round,
    exp.WidthBucket: _width_bucket,
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
