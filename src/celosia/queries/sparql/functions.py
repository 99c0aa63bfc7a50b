"""The functions of FILTER: an allow-list, each with the meaning that SPARQL gives it.

A function that is not here is refused. Left out on purpose: all that makes new terms, looks at the
clock or draws at random. Arithmetic and casts are in `arithmetic`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.queries.rdf.terms import XSD
from celosia.queries.sparql.comparisons import never_a_literal
from celosia.queries.sparql.constants import Constant, constant_number
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import whole
from celosia.queries.sparql.trees import part_of
from celosia.queries.sparql.values import (
    BoundVariable,
    StringValue,
    TypedValue,
    Value,
    cases,
    conjunction,
    disjunction,
    is_not_null,
    same_term,
    truth,
)

Read = Callable[[Any], Value]
Rule = Callable[[Any, Read], TypedValue]

_PLAIN = re.compile(r"(\^?)([\w \-,;:/@#%&=!<>'\"~]*)(\$?)")
_ORDINARY = r"[\w \-,;:/@#%&=!<>'\"~]"
_COMMON = re.compile(
    rf"\^?(?:(?:{_ORDINARY}|\\[.\\?*+^$|(){{}}\[\]\-]|\.|\(|\)|\||\[\^?(?:{_ORDINARY}|\.)+\])"
    r"(?:[*+?]|\{\d{1,2}(?:,\d{0,2})?\})?)*\$?"
)
"""Patterns that XPath and the engine read alike."""
MOST_PATTERN = 200
"""The longest pattern."""
_RANGE = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*", re.ASCII)

_PARTS: Mapping[str, Mapping[str, int]] = {
    "YEAR": {"dateTime": 1, "date": 1, "gYear": 1, "gYearMonth": 1},
    "MONTH": {"dateTime": 6, "date": 6, "gYearMonth": 6, "gMonth": 3, "gMonthDay": 3},
    "DAY": {"dateTime": 9, "date": 9, "gMonthDay": 6, "gDay": 4},
}
"""Where the digits of a part of a date begin, by its type."""
_MONTH, _DAY = "(0[1-9]|1[0-2])", "(0[1-9]|[12][0-9]|3[01])"
_FORMS: Mapping[str, str] = {
    name: f"^{form}(Z|[+-][0-9][0-9]:[0-9][0-9])?$"
    for name, form in {
        "gYear": "[0-9]{4}",
        "gYearMonth": f"[0-9]{{4}}-{_MONTH}",
        "gMonth": f"--{_MONTH}",
        "gMonthDay": f"--{_MONTH}-{_DAY}",
        "gDay": f"---{_DAY}",
    }.items()
}
"""How parts of a calendar are written; years of more digits, or before 1, are not known here, as
with dates."""


def require_object(value: object) -> BoundVariable:
    """A variable that is the object of a pattern."""
    if not isinstance(value, BoundVariable):
        raise refusal("CEL-Q259.not_a_variable")
    if value.facts is None:
        raise never_a_literal(value)
    return value


def _text(value: object) -> exp.Expression:
    if isinstance(value, StringValue):
        return value.tree()
    if isinstance(value, TypedValue) and value.kind == "text":
        return value.tree
    variable = require_object(value)
    return cases((variable.is_text(), variable.column("text")))


def _plain_text(value: object) -> exp.Expression:
    """The text of a literal without a language: what is made of others has theirs."""
    if isinstance(value, BoundVariable):
        variable = require_object(value)
        return cases((variable.is_string(), variable.column("text")))
    return _text(value)


def _number(value: object) -> exp.Expression:
    if isinstance(value, TypedValue) and value.kind == "number":
        return value.tree
    return require_object(value).column("number")


def _written(value: object, use: str) -> str:
    if not (isinstance(value, Constant) and value.sort == "string"):
        raise refusal("CEL-Q259.not_a_text", use=use)
    return value.text


def _contains(node: Any, read: Read) -> TypedValue:
    part = exp.Literal.string(_written(read(node["arg2"]), "CONTAINS"))
    place = exp.StrPosition(this=_text(read(node["arg1"])), substr=part)
    return TypedValue("truth", exp.GT(this=place, expression=whole(0)))


def _starts(node: Any, read: Read) -> TypedValue:
    part = _written(read(node["arg2"]), "STRSTARTS")
    return TypedValue("truth", _begins(_text(read(node["arg1"])), part))


def _ends(node: Any, read: Read) -> TypedValue:
    part = _written(read(node["arg2"]), "STRENDS")
    return TypedValue("truth", _finishes(_text(read(node["arg1"])), part))


def _begins(text: exp.Expression, part: str) -> exp.Expression:
    return exp.StartsWith(this=text, expression=exp.Literal.string(part))


def _finishes(text: exp.Expression, part: str) -> exp.Expression:
    return exp.EndsWith(this=text, expression=exp.Literal.string(part))


def _regex(node: Any, read: Read) -> TypedValue:
    """Patterns of plain letters are searched for as texts; others by the engine's own rules.

    Only what means the same in XPath and in the engine, in linear time, is let through.
    """
    pattern = _written(read(node["pattern"]), "REGEX")
    flags = _written(read(node["flags"]), "REGEX") if part_of(node, "flags") is not None else ""
    text = _text(read(node["text"]))
    if flags == "q":  # letters that mean themselves
        place = exp.StrPosition(this=text, substr=exp.Literal.string(pattern))
        return TypedValue("truth", exp.GT(this=place, expression=whole(0)))
    found = _PLAIN.fullmatch(pattern)
    if found is None or flags:
        return TypedValue("truth", _matched(text, pattern, flags))
    start, part, end = found.groups()
    if start and end:
        return TypedValue("truth", exp.EQ(this=text, expression=exp.Literal.string(part)))
    if start or end:
        return TypedValue("truth", _begins(text, part) if start else _finishes(text, part))
    place = exp.StrPosition(this=text, substr=exp.Literal.string(part))
    return TypedValue("truth", exp.GT(this=place, expression=whole(0)))


def _matched(text: exp.Expression, pattern: str, flags: str) -> exp.Expression:
    try:
        re.compile(pattern)
    except re.error:
        raise refusal("CEL-Q258.regex") from None
    is_odd = "(?" in pattern or pattern.count("{") > 1 or len(pattern) > MOST_PATTERN
    if is_odd or _COMMON.fullmatch(pattern) is None or flags not in ("", "i", "s"):
        raise refusal("CEL-Q258.regex")
    # Without line ends in it, `.` means the same everywhere; `$` is the end of the text.
    flag = exp.Literal.string(flags) if flags else None
    return exp.RegexpLike(this=text, expression=exp.Literal.string(pattern), flag=flag)


def _length(node: Any, read: Read) -> TypedValue:
    return TypedValue("number", exp.Length(this=_text(read(node["arg"]))))


def _changed_case(kind: type[exp.Expression]) -> Rule:
    def rule(node: Any, read: Read) -> TypedValue:
        return TypedValue("text", kind(this=_plain_text(read(node["arg"]))))

    return rule


def _part_of_text(node: Any, read: Read) -> TypedValue:
    """SUBSTR counts letters from 1; only written places within a text are let through."""
    places = [read(node["start"])]
    if part_of(node, "length") is not None:
        places.append(read(node["length"]))
    numbers = []
    for each in places:
        is_whole = isinstance(each, Constant) and each.sort == "number" and each.amount.isdecimal()
        if not is_whole:
            raise refusal("CEL-Q259.not_a_number")
        numbers.append(whole(int(each.amount)))  # type: ignore[union-attr]
    if numbers[0].name == "0":
        raise refusal("CEL-Q259.not_a_number")
    length = numbers[1] if len(numbers) > 1 else None
    text = _plain_text(read(node["arg"]))
    return TypedValue("text", exp.Substring(this=text, start=numbers[0], length=length))


def _joined(node: Any, read: Read) -> TypedValue:
    parts = [read(each) for each in node["arg"]]
    trees = [
        exp.Literal.string(each.text)
        if isinstance(each, Constant) and each.sort == "string"
        else _plain_text(each)
        for each in parts
    ]
    made = trees[0]
    for each in trees[1:]:
        made = exp.DPipe(this=made, expression=each, safe=True)
    return TypedValue("text", made)


def _beside(*, before: bool) -> Rule:
    """STRBEFORE and STRAFTER: nothing where the part is not in the text."""

    def rule(node: Any, read: Read) -> TypedValue:
        part = _written(read(node["arg2"]), "STRBEFORE" if before else "STRAFTER")
        text = _plain_text(read(node["arg1"]))
        place = exp.StrPosition(this=text.copy(), substr=exp.Literal.string(part))
        found = exp.GT(this=place, expression=whole(0))
        start = whole(1) if before else exp.Add(this=place.copy(), expression=whole(len(part)))
        length = exp.Sub(this=place.copy(), expression=whole(1)) if before else None
        cut = exp.Substring(this=text, start=start, length=length)
        empty = exp.EQ(this=place.copy(), expression=whole(0))
        return TypedValue("text", cases((found, cut), (empty, exp.Literal.string(""))))

    return rule


def _language(node: Any, read: Read) -> TypedValue:
    variable = require_object(read(node["arg"]))
    found = exp.Coalesce(this=variable.column("language"), expressions=[exp.Literal.string("")])
    return TypedValue("text", cases((variable.is_literal(), found)))


def _language_matches(node: Any, read: Read) -> TypedValue:
    wanted = _written(read(node["arg2"]), "LANGMATCHES")
    value = read(node["arg1"])
    if not isinstance(value, TypedValue) or value.kind != "text":
        raise refusal("CEL-Q259.language_matches")
    if wanted == "*":
        return TypedValue("truth", exp.NEQ(this=value.tree, expression=exp.Literal.string("")))
    if not _RANGE.fullmatch(wanted):
        raise refusal("CEL-Q259.language_range")
    low = wanted.lower()
    same = exp.EQ(this=value.tree, expression=exp.Literal.string(low))
    return TypedValue("truth", disjunction(same, _begins(value.tree.copy(), f"{low}-")))


def _datatype(node: Any, read: Read) -> TypedValue:
    return TypedValue("address", require_object(read(node["arg"])).column("datatype"))


def _is_kind(*kinds: int) -> Rule:
    def rule(node: Any, read: Read) -> TypedValue:
        variable = require_object(read(node["arg"]))
        column = variable.column("kind")
        return TypedValue("truth", exp.EQ(this=column, expression=whole(kinds[0])))

    return rule


def _is_numeric(node: Any, read: Read) -> TypedValue:
    variable = require_object(read(node["arg"]))
    special = exp.Coalesce(this=variable.is_special(), expressions=[truth(False)])
    return TypedValue("truth", disjunction(variable.has_number(), special))


def _same_term(node: Any, read: Read) -> TypedValue:
    sides = [read(node["arg1"]), read(node["arg2"])]
    if isinstance(sides[0], BoundVariable) and isinstance(sides[1], BoundVariable):
        return TypedValue("truth", same_term(sides[0], sides[1]))
    trees = []
    for side in sides:
        if isinstance(side, Constant):
            trees.append(whole(constant_number(side)))
        elif isinstance(side, BoundVariable):
            trees.append(side.number)
        else:
            raise refusal("CEL-Q259.same_term")
    if all(isinstance(side, Constant) for side in sides):
        raise refusal("CEL-Q259.same_term_of_constants")
    return TypedValue("truth", exp.EQ(this=trees[0], expression=trees[1]))


def _rounded(kind: type[exp.Expression]) -> Rule:
    def rule(node: Any, read: Read) -> TypedValue:
        return TypedValue("number", kind(this=_number(read(node["arg"]))))

    return rule


def _round(node: Any, read: Read) -> TypedValue:
    """Halves go up, as SPARQL has it; databases round them away from zero."""
    value = _number(read(node["arg"]))
    low = exp.Floor(this=value)
    rest = exp.Sub(this=value.copy(), expression=low)
    half = exp.LT(this=rest, expression=exp.Literal.number("0.5"))
    return TypedValue("number", cases((half, low.copy()), default=exp.Ceil(this=value.copy())))


def _part(word: str) -> Rule:
    def rule(node: Any, read: Read) -> TypedValue:
        variable = require_object(read(node["arg"]))
        branches = []
        for name, place in _PARTS[word].items():
            text = variable.column("text")
            is_sound = (
                is_not_null(variable.column("moment"))
                if name in ("dateTime", "date")
                else exp.RegexpLike(this=text, expression=exp.Literal.string(_FORMS[name]))
            )
            test = conjunction(variable.has_type(XSD + name), is_sound)
            digits = exp.Substring(
                this=variable.column("text"),
                start=whole(place),
                length=whole(4 if word == "YEAR" else 2),
            )
            branches.append((test, exp.Cast(this=digits, to=exp.DataType.build("BIGINT"))))
        return TypedValue("number", cases(*branches))

    return rule


def _time_part(place: int) -> Rule:
    """HOURS and MINUTES, as they are written."""

    def rule(node: Any, read: Read) -> TypedValue:
        variable = require_object(read(node["arg"]))
        test = variable.is_moment(XSD + "dateTime")
        digits = exp.Substring(this=variable.column("text"), start=whole(place), length=whole(2))
        number = exp.Cast(this=digits, to=exp.DataType.build("BIGINT"))
        return TypedValue("number", cases((test, number)))

    return rule


def _hashed(made: Callable[[exp.Expression], exp.Expression]) -> Rule:
    return lambda node, read: TypedValue("text", made(_plain_text(read(node["arg"]))))


RULES: Mapping[str, Rule] = {
    "Builtin_CONTAINS": _contains,
    "Builtin_STRSTARTS": _starts,
    "Builtin_STRENDS": _ends,
    "Builtin_REGEX": _regex,
    "Builtin_STRLEN": _length,
    "Builtin_UCASE": _changed_case(exp.Upper),
    "Builtin_LCASE": _changed_case(exp.Lower),
    "Builtin_MD5": _hashed(lambda text: exp.MD5(this=text)),
    "Builtin_SHA1": _hashed(lambda text: exp.SHA(this=text)),
    "Builtin_SHA256": _hashed(lambda text: exp.SHA2(this=text, length=whole(256))),
    "Builtin_SUBSTR": _part_of_text,
    "Builtin_CONCAT": _joined,
    "Builtin_STRBEFORE": _beside(before=True),
    "Builtin_STRAFTER": _beside(before=False),
    "Builtin_LANG": _language,
    "Builtin_LANGMATCHES": _language_matches,
    "Builtin_DATATYPE": _datatype,
    "Builtin_isIRI": _is_kind(0),
    "Builtin_isURI": _is_kind(0),
    "Builtin_isBLANK": _is_kind(1),
    "Builtin_isLITERAL": _is_kind(2),
    "Builtin_isNUMERIC": _is_numeric,
    "Builtin_sameTerm": _same_term,
    "Builtin_ABS": _rounded(exp.Abs),
    "Builtin_CEIL": _rounded(exp.Ceil),
    "Builtin_FLOOR": _rounded(exp.Floor),
    "Builtin_ROUND": _round,
    "Builtin_YEAR": _part("YEAR"),
    "Builtin_MONTH": _part("MONTH"),
    "Builtin_DAY": _part("DAY"),
    "Builtin_HOURS": _time_part(12),
    "Builtin_MINUTES": _time_part(15),
}
"""The allow-list."""


def unknown_function(node: Any) -> CelosiaError:
    """The refusal of a function, or another part, that has no rule."""
    word = str(getattr(node, "name", "")).removeprefix("Builtin_")
    if not word:
        return refusal("CEL-Q258.expression")
    if word == "Function":
        return refusal("CEL-Q258.by_address")
    return refusal("CEL-Q258.function", function=word)
