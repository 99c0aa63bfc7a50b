"""Arithmetic and casts of FILTER and BIND.

Facts keep numbers as doubles, so sums and products are those of doubles: exact for whole numbers up
to 15 digits, and as near as a double is for all others. What SPARQL calls an error is NULL: a
division by zero, a text that is no number, a term of another kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from celosia.queries.rdf.terms import DECIMAL_FORM, DOUBLE_FORM, WHOLE_FORM, XSD
from celosia.queries.sparql.comparisons import typed_constant
from celosia.queries.sparql.constants import WHOLE, Constant
from celosia.queries.sparql.functions import Read, Rule, require_object, unknown_function
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import whole
from celosia.queries.sparql.values import (
    BoundVariable,
    Kind,
    StringValue,
    TypedValue,
    Value,
    cases,
    conjunction,
    is_not_null,
    truth,
    type_number,
)

_SIGNS: Mapping[str, type[exp.Expression]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "/": exp.Div,
}
_PROMOTED = (XSD + "integer", XSD + "decimal", XSD + "float", XSD + "double")
"""Types of numbers, each of which goes with a later one as that one."""
_FORMS = {
    XSD + "integer": WHOLE_FORM,
    XSD + "decimal": DECIMAL_FORM,
    XSD + "double": DOUBLE_FORM,
    XSD + "float": DOUBLE_FORM,
}


def number_of(value: Value) -> exp.Expression:
    """A value as a number; NULL where it is none.

    Raises:
        QueryRefused: CEL-Q259 a value that never is one.
    """
    if isinstance(value, Constant):
        value = typed_constant(value)
    if isinstance(value, TypedValue) and value.kind == "number":
        return value.tree
    if isinstance(value, BoundVariable):
        return require_object(value).column("number")
    raise refusal("CEL-Q259.not_a_number")


def of_kind(variable: BoundVariable, kind: Kind) -> TypedValue:
    """A variable as a value of one kind; NULL where it is of another."""
    if kind == "address":
        return TypedValue(kind, variable.number)
    term = require_object(variable)
    match kind:
        case "number":
            return TypedValue(kind, term.column("number"))
        case "text":
            return TypedValue(kind, cases((term.is_string(), term.column("text"))))
        case "truth":
            return TypedValue(kind, cases((term.is_truth(), term.truth())))


def _chain(node: Any, read: Read) -> TypedValue:
    tree = number_of(read(node["expr"]))
    for sign, each in zip(node["op"], node["other"], strict=True):
        right = number_of(read(each))
        left = _real(tree) if str(sign) == "/" else tree
        tree = _SIGNS[str(sign)](this=_side(left), expression=_side(right))
    return TypedValue("number", tree)


def _real(tree: exp.Expression) -> exp.Expression:
    """Whole numbers are divided into numbers with fractions."""
    return exp.Cast(this=tree, to=exp.DataType.build("DOUBLE"))


def _side(tree: exp.Expression) -> exp.Expression:
    return tree if isinstance(tree, exp.Column | exp.Literal) else exp.Paren(this=tree)


RULES: Mapping[str, Rule] = {
    "AdditiveExpression": _chain,
    "MultiplicativeExpression": _chain,
}
"""Chains of numbers and signs."""


def cast(address: str, node: Any, read: Read) -> Value:
    """The value of a call such as `xsd:integer(?v)`.

    Raises:
        QueryRefused: CEL-Q258 another function by its address.
    """
    (inner,) = node["expr"] if len(node["expr"]) == 1 else (None,)
    word = address.removeprefix(XSD)
    if inner is None or word not in ("integer", "decimal", "double", "float", "string", "boolean"):
        raise unknown_function(node)
    value = read(inner)
    if isinstance(value, Constant):
        value = typed_constant(value)
    if word == "string":
        return _as_text(value)
    return _as_truth(value) if word == "boolean" else _as_number(value, address)


def _as_text(value: Value) -> Value:
    if isinstance(value, StringValue) or (isinstance(value, TypedValue) and value.kind == "text"):
        return value
    return StringValue(require_object(value), is_sure=False)


def _as_number(value: Value, address: str) -> TypedValue:
    if isinstance(value, TypedValue):
        branches = [_number_of_typed(value, address)]
    elif isinstance(value, StringValue):  # the text of an address is no number
        branches = [(value.of.is_literal(), _parsed(value.of.column("text"), address))]
    else:
        term = require_object(value)
        branches = [
            (term.has_number(), _cut(term.column("number"), address)),
            (term.is_truth(), _of_truth(term.truth())),
            (term.is_string(), _parsed(term.column("text"), address)),
        ]
    return TypedValue("number", cases(*branches))


def _number_of_typed(value: TypedValue, address: str) -> tuple[exp.Expression, exp.Expression]:
    match value.kind:
        case "number":
            return truth(True), _cut(value.tree, address)
        case "truth":
            return truth(True), _of_truth(value.tree)
        case "text":
            return truth(True), _parsed(value.tree, address)
    raise refusal("CEL-Q259.not_a_number")


def _cut(tree: exp.Expression, address: str) -> exp.Expression:
    """To a whole number towards zero, where that is asked for."""
    if address != XSD + "integer":
        return tree
    test = exp.LT(this=tree, expression=whole(0))
    return cases((test, exp.Ceil(this=tree.copy())), default=exp.Floor(this=tree.copy()))


def _of_truth(tree: exp.Expression) -> exp.Expression:
    return cases((tree, whole(1)), (exp.Not(this=exp.Paren(this=tree.copy())), whole(0)))


def _parsed(text: exp.Expression, address: str) -> exp.Expression:
    form = exp.RegexpLike(this=text, expression=exp.Literal.string(f"^(?:{_FORMS[address]})$"))
    number = exp.Cast(this=text.copy(), to=exp.DataType.build("DOUBLE"))
    return cases((form, number))


def _as_truth(value: Value) -> TypedValue:
    if isinstance(value, TypedValue):
        match value.kind:
            case "truth":
                return value
            case "number":
                return TypedValue("truth", exp.NEQ(this=_side(value.tree), expression=whole(0)))
        raise refusal("CEL-Q259.no_truth")
    term = value.of if isinstance(value, StringValue) else require_object(value)
    texts = [["true", "1"], ["false", "0"]]
    written = [
        exp.In(this=term.column("text"), expressions=list(map(exp.Literal.string, each)))
        for each in texts
    ]
    if isinstance(value, StringValue):
        test = term.is_literal()
        return TypedValue(
            "truth",
            cases(
                (conjunction(test, written[0]), truth(True)),
                (conjunction(test.copy(), written[1]), truth(False)),
            ),
        )
    return TypedValue(
        "truth",
        cases(
            (term.has_number(), exp.NEQ(this=term.column("number"), expression=whole(0))),
            (term.is_truth(), term.truth()),
            (conjunction(term.is_string(), written[0]), truth(True)),
            (conjunction(term.is_string(), written[1]), truth(False)),
        ),
    )


def cast_datatype(address: str, value: Value) -> exp.Expression:
    """The number of the type of a cast, where it has a value."""
    if isinstance(value, StringValue):  # every literal, and every address, has a text
        return cases((exp.NEQ(this=value.of.column("kind"), expression=whole(1)), _type(address)))
    assert isinstance(value, TypedValue), "casts are computed"
    return cases((is_not_null(value.tree), _type(address)))


def _type(address: str) -> exp.Expression:
    return whole(type_number(address))


def datatype_of(node: Any, read: Read) -> exp.Expression:
    """The number of the type of a sum or product: the later one of `_PROMOTED`."""
    parts = [node["expr"], *node["other"]]
    ranks = [_rank(each, read) for each in parts]
    if any(str(each) == "/" for each in node["op"]):
        ranks.append(whole(1))  # whole numbers are divided into decimal ones
    return cases(
        *(
            (_reaches(ranks, place), _type(address))
            for place, address in reversed(list(enumerate(_PROMOTED)))
        )
    )


def _reaches(ranks: Sequence[exp.Expression], place: int) -> exp.Expression:
    tests = [exp.GTE(this=each.copy(), expression=whole(place)) for each in ranks]
    known = [exp.GTE(this=each.copy(), expression=whole(0)) for each in ranks]
    any_one = exp.or_(*tests)
    made = exp.and_(*known, exp.Paren(this=any_one))
    assert isinstance(made, exp.Expression)
    return made


def _rank(node: Any, read: Read) -> exp.Expression:
    value = read(node)
    if isinstance(value, Constant):
        places = [place for place, each in enumerate(_PROMOTED) if each == value.datatype]
        return whole(places[0] if places else 0)
    term = require_object(value)
    types = (WHOLE, *((each,) for each in _PROMOTED[1:]))
    return cases(
        *(
            (conjunction(term.has_type(*each), term.has_number()), whole(place))
            for place, each in enumerate(types)
        )
    )
