"""Equality and order of terms as SPARQL defines them: by value where it is known, else by name."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import cast

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.core.messages import Message
from celosia.queries.rdf.terms import XSD, term_number
from celosia.queries.sparql.constants import LANGUAGE_STRING, STRING, Constant
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import whole
from celosia.queries.sparql.values import (
    CALENDAR,
    BoundVariable,
    Kind,
    TypedValue,
    cases,
    conjunction,
    same_term,
    truth,
)

ORDERS: Mapping[str, type[exp.Expression]] = {
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FARTHEST = timedelta(hours=14)
"""How far a time without a zone may be from the same time with one (XML Schema, 3.2.7.4)."""
_TIMES = {"dateTime": XSD + "dateTime", "date": XSD + "date"}


def equal_constant(left: BoundVariable, right: Constant, *, loose: bool) -> exp.Expression:
    """Whether a variable is equal to a constant.

    Args:
        left: the variable.
        right: the constant.
        loose: whether an error may be taken for false, because only what is true counts there.
    """
    same = exp.EQ(this=left.number, expression=whole(right.number))
    if right.sort in ("address", "language"):
        return same
    if left.facts is None:
        raise never_a_literal(left)
    if right.datatype in CALENDAR:
        raise refusal("CEL-Q259.calendar")
    if right.sort == "other":
        return same if loose else cases((same, truth(True)), (left.has_no_value(), truth(False)))
    test, value = _by_value(left, right)
    if loose:
        return value if test is None else conjunction(test, value)
    if test is None:  # a number or text: equal, or not equal and known
        return cases((value.copy(), truth(True)), (left.is_known(), truth(False)))
    return cases((test, value), (left.is_known(), truth(False)))


def _by_value(left: BoundVariable, right: Constant) -> tuple[exp.Expression | None, exp.Expression]:
    """A test whether values can be compared, if one is needed, and the comparison."""
    match right.sort:
        case "number":
            amount = exp.Literal.number(right.amount)
            return None, exp.EQ(this=left.column("number"), expression=amount)
        case "string":
            return None, exp.EQ(this=left.number, expression=whole(right.number))
        case "boolean":
            return left.is_truth(), left.truth() if right.truth else exp.Not(this=left.truth())
    text, is_zoned = right.moment
    same = exp.EQ(this=left.column("moment"), expression=_moment(text))
    zone = left.is_zoned() if is_zoned else exp.Not(this=left.is_zoned())
    return left.is_moment(_TIMES[right.sort]), conjunction(same, zone)


def _moment(text: str) -> exp.Expression:
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType.build("TIMESTAMP"))


def equal_variables(left: BoundVariable, right: BoundVariable, *, loose: bool) -> exp.Expression:
    """Whether two variables are equal."""
    same = same_term(left, right)
    if left.is_resource or right.is_resource:
        return same  # addresses and blank nodes are equal by name only
    for each in (left, right):
        if each.facts is None:
            raise never_a_literal(each)
    both = (left, right)
    zones = exp.EQ(this=left.is_zoned(), expression=right.is_zoned())
    moments = exp.EQ(this=left.column("moment"), expression=right.column("moment"))
    branches = [
        (same, cases((left.is_not_a_number(), truth(False)), default=truth(True))),
        (
            conjunction(*(each.has_number() for each in both)),
            exp.EQ(this=left.column("number"), expression=right.column("number")),
        ),
        (
            conjunction(*(each.is_truth() for each in both)),
            exp.EQ(this=left.truth(), expression=right.truth()),
        ),
        *(
            (
                conjunction(*(each.is_moment(kind) for each in both)),
                conjunction(moments.copy(), zones.copy()),
            )
            for kind in _TIMES.values()
        ),
    ]
    if not loose:
        branches += [(each.has_no_value(), truth(False)) for each in both]
        branches.append((conjunction(*(each.is_known() for each in both)), truth(False)))
    return cases(*branches)


def order_constant(operator: str, left: BoundVariable, right: Constant) -> exp.Expression:
    """Whether a variable is before or after a constant; NULL where they have no order."""
    if left.facts is None:
        raise never_a_literal(left)
    kind = ORDERS[operator]
    text = exp.Literal.string(right.text)
    match right.sort:
        case "number":
            amount = exp.Literal.number(right.amount)
            return kind(this=left.column("number"), expression=amount)
        case "string":
            test, value = left.is_string(), kind(this=left.column("text"), expression=text)
            return cases((test, value))
        case "language":
            assert right.language is not None
            test = conjunction(
                left.has_type(LANGUAGE_STRING), left.among("language", (right.language,))
            )
            return cases((test, kind(this=left.column("text"), expression=text)))
        case "dateTime" | "date":
            return _order_moment(operator, left, right)
    raise refusal("CEL-Q259.no_order", operator=operator)


def _order_moment(operator: str, left: BoundVariable, right: Constant) -> exp.Expression:
    text, is_zoned = right.moment
    here = datetime.fromisoformat(text)
    try:
        earliest, latest = here - _FARTHEST, here + _FARTHEST
    except OverflowError:
        raise refusal("CEL-Q259.end_of_calendar") from None
    moment = left.column("moment")
    zone = left.is_zoned() if is_zoned else exp.Not(this=left.is_zoned())
    inner = cases(
        (zone, ORDERS[operator](this=moment, expression=_moment(text))),
        (
            exp.LT(this=moment.copy(), expression=_moment(str(earliest))),
            truth(operator in ("<", "<=")),
        ),
        (
            exp.GT(this=moment.copy(), expression=_moment(str(latest))),
            truth(operator in (">", ">=")),
        ),
    )
    return cases((left.is_moment(_TIMES[right.sort]), inner))


def order_variables(operator: str, left: BoundVariable, right: BoundVariable) -> exp.Expression:
    """Whether one variable is before or after another; NULL where they have no order."""
    for each in (left, right):
        if each.facts is None:
            raise never_a_literal(each)
    kind, both = ORDERS[operator], (left, right)

    def compared(word: str) -> exp.Expression:
        return kind(this=left.column(word), expression=right.column(word))

    languages = exp.EQ(this=left.column("language"), expression=right.column("language"))
    branches = [
        (conjunction(*(each.has_number() for each in both)), compared("number")),
        (conjunction(*(each.has_type(STRING) for each in both)), compared("text")),
        (
            conjunction(*(each.has_type(LANGUAGE_STRING) for each in both), languages),
            compared("text"),
        ),
        (
            # Two truths that differ have no order there.
            conjunction(
                *(each.is_truth() for each in both),
                exp.EQ(this=left.truth(), expression=right.truth()),
            ),
            truth(operator in ("<=", ">=")),
        ),
    ]
    for address in _TIMES.values():
        test = conjunction(*(each.is_moment(address) for each in both))
        branches.append((test, _order_moments(operator, left, right)))
    return cases(*branches)


def _order_moments(operator: str, left: BoundVariable, right: BoundVariable) -> exp.Expression:
    zones = exp.EQ(this=left.is_zoned(), expression=right.is_zoned())
    span = exp.Interval(this=exp.Literal.string("14"), unit=exp.var("HOUR"))
    one, other = left.column("moment"), right.column("moment")
    before = exp.Try(this=exp.LT(this=exp.Add(this=one, expression=span), expression=other))
    after = exp.Try(
        this=exp.GT(this=exp.Sub(this=one.copy(), expression=span.copy()), expression=other.copy())
    )
    return cases(
        (zones, ORDERS[operator](this=one.copy(), expression=other.copy())),
        (before, truth(operator in ("<", "<="))),
        (after, truth(operator in (">", ">="))),
    )


def compare_typed(operator: str, left: TypedValue, right: TypedValue) -> exp.Expression:
    """A comparison of two values of one kind."""
    if left.kind != right.kind:
        first, second = kind_in_words(left.kind), kind_in_words(right.kind)
        raise refusal("CEL-Q259.mixed_kinds", operator=operator, first=first, second=second)
    kind = {"=": exp.EQ, "!=": exp.NEQ, **ORDERS}[operator]
    if left.kind in ("address", "truth") and operator not in ("=", "!="):
        raise refusal("CEL-Q259.unordered_values", operator=operator)
    made = cast(type[exp.Expression], kind)(this=_side(left.tree), expression=_side(right.tree))
    return made


def _side(tree: exp.Expression) -> exp.Expression:
    loose = (exp.Connector, exp.Not, exp.Predicate)
    return exp.Paren(this=tree) if isinstance(tree, loose) else tree


def equal_text(left: BoundVariable, right: Constant) -> exp.Expression:
    """STR(?v) = "...": of literals the text, of addresses the address itself."""
    address = whole(term_number(f"<{right.text}>"))  # no address, if it holds what none may
    return cases(
        (
            left.is_literal(),
            exp.EQ(this=left.column("text"), expression=exp.Literal.string(right.text)),
        ),
        (
            exp.EQ(this=left.column("kind"), expression=whole(0)),
            exp.EQ(this=left.number, expression=address),
        ),
    )


def typed_constant(constant: Constant) -> TypedValue:
    """A constant as a value of one kind."""
    match constant.sort:
        case "number":
            return TypedValue("number", exp.Literal.number(constant.amount))
        case "string":
            return TypedValue("text", exp.Literal.string(constant.text))
        case "boolean":
            return TypedValue("truth", truth(constant.truth))
        case "address":
            return TypedValue("address", whole(constant.number))
    raise refusal("CEL-Q259.literal_kind")


def never_a_literal(variable: BoundVariable) -> CelosiaError:
    """The refusal of what only literals have, of a variable that is no object."""
    return refusal("CEL-Q253.subject", variable=variable.name)


_KIND_WORDS: Mapping[Kind, str] = {
    "number": "queries.sparql.kind_number",
    "text": "queries.sparql.kind_text",
    "truth": "queries.sparql.kind_truth",
    "address": "queries.sparql.kind_address",
}


def kind_in_words(kind: Kind) -> Message:
    """The name of a kind of values."""
    return Message(_KIND_WORDS[kind])
