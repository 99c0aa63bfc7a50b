"""The functions of FILTER: an allow-list, each with the meaning that SPARQL gives it.

A function that is not here is refused. Left out on purpose: UCASE and LCASE (letters whose other
case is two letters differ between engines), arithmetic (decimal numbers of SPARQL are exact, those
of facts are doubles), and all that makes new terms, looks at the clock or draws at random.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    TypedValue,
    cases,
    conjunction,
    disjunction,
    is_not_null,
    same_term,
    truth,
)

Read = Callable[[Any], "TypedValue | BoundVariable | Constant | StringValue"]
Rule = Callable[[Any, Read], TypedValue]

_PLAIN = re.compile(r"(\^?)([\w \-,;:/@#%&=!<>'\"~]*)(\$?)")
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


@dataclass(frozen=True, slots=True)
class StringValue:
    """STR(?v): the text of a literal, or an address, which facts do not hold."""

    of: BoundVariable
    is_sure: bool
    """Whether another condition lets only literals through."""

    def tree(self) -> exp.Expression:
        """The text, where it is surely that of a literal."""
        if not self.is_sure:
            raise refusal("CEL-Q259.text_of_address", variable=self.of.name)
        return cases((self.of.is_literal(), self.of.column("text")))


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
    """A pattern of plain letters, with ^ and $ if wished: all engines agree on those."""
    found = _PLAIN.fullmatch(_written(read(node["pattern"]), "REGEX"))
    if found is None or part_of(node, "flags") is not None:
        raise refusal("CEL-Q258.regex")
    text = _text(read(node["text"]))
    start, part, end = found.groups()
    if start and end:
        return TypedValue("truth", exp.EQ(this=text, expression=exp.Literal.string(part)))
    if start or end:
        return TypedValue("truth", _begins(text, part) if start else _finishes(text, part))
    place = exp.StrPosition(this=text, substr=exp.Literal.string(part))
    return TypedValue("truth", exp.GT(this=place, expression=whole(0)))


def _length(node: Any, read: Read) -> TypedValue:
    return TypedValue("number", exp.Length(this=_text(read(node["arg"]))))


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


def _bound(node: Any, read: Read) -> TypedValue:
    read(node["arg"])
    return TypedValue("truth", truth(True))  # patterns bind all their variables


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


RULES: Mapping[str, Rule] = {
    "Builtin_CONTAINS": _contains,
    "Builtin_STRSTARTS": _starts,
    "Builtin_STRENDS": _ends,
    "Builtin_REGEX": _regex,
    "Builtin_STRLEN": _length,
    "Builtin_LANG": _language,
    "Builtin_LANGMATCHES": _language_matches,
    "Builtin_DATATYPE": _datatype,
    "Builtin_isIRI": _is_kind(0),
    "Builtin_isURI": _is_kind(0),
    "Builtin_isBLANK": _is_kind(1),
    "Builtin_isLITERAL": _is_kind(2),
    "Builtin_isNUMERIC": _is_numeric,
    "Builtin_sameTerm": _same_term,
    "Builtin_BOUND": _bound,
    "Builtin_ABS": _rounded(exp.Abs),
    "Builtin_CEIL": _rounded(exp.Ceil),
    "Builtin_FLOOR": _rounded(exp.Floor),
    "Builtin_ROUND": _round,
    "Builtin_YEAR": _part("YEAR"),
    "Builtin_MONTH": _part("MONTH"),
    "Builtin_DAY": _part("DAY"),
}
"""The allow-list."""


def unknown_function(node: Any) -> CelosiaError:
    """The refusal of a function, or another part, that has no rule."""
    word = str(getattr(node, "name", "")).removeprefix("Builtin_")
    match word:
        case "":
            return refusal("CEL-Q258.expression")
        case "MultiplicativeExpression" | "AdditiveExpression" | "UnaryMinus" | "UnaryPlus":
            return refusal("CEL-Q258.arithmetic")
        case "Function":
            return refusal("CEL-Q258.by_address")
    return refusal("CEL-Q258.function", function=word)
