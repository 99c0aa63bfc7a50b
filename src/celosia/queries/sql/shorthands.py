"""Functions that are shorthands of others, read as the longer form.

So each means the same in every dialect, and nothing has to be known of it further on.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from celosia.queries.sql.kinds import NUMBERS, TEXTS, TypedExpression, require_kind
from celosia.queries.sql.operators import Read, Rule
from celosia.queries.sql.refusals import check_arguments, refusal

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
    years = exp.Sub(this=_part("YEAR", later), expression=_part("YEAR", earlier))
    if word == "YEAR":
        return read(years)
    parts = exp.Sub(this=_part(word, later), expression=_part(word, earlier))
    number = exp.Literal.number(12 if word == "MONTH" else 4)
    in_years = exp.Mul(this=exp.Paren(this=years), expression=number)
    return read(exp.Add(this=in_years, expression=exp.Paren(this=parts)))


def _day(side: exp.Expr, read: Read) -> exp.Expr:
    if read(side).kind == "date":
        return side.copy()
    return exp.Cast(this=side.copy(), to=exp.DataType.build("date"))


def _part(word: str, moment: exp.Expr) -> exp.Extract:
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
        return read(exp.Case(this=_part(part, node.this), ifs=ifs))

    return rule


def _anonymous(node: exp.Expr, read: Read) -> TypedExpression | None:
    """DuckDB's functions that the parser knows by their names only."""
    word, values = node.name.lower(), node.expressions
    if word == "date_part" and len(values) == 2 and _is_text(values[0]):
        return read(_part(values[0].name, values[1]))
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


RULES: Mapping[type[exp.Expr], Rule] = {
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
"""The allow-list, beside `functions.RULES`."""
