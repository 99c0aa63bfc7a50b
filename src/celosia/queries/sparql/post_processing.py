"""HAVING, ORDER BY, LIMIT and OFFSET: what is done with the noisy answers, and so costs nothing.

An aggregate that only they refer to is asked for as well, and not shown.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from celosia.queries.algebra import PostProcessing
from celosia.queries.sparql.comparisons import ORDERS, compare_typed, typed_constant
from celosia.queries.sparql.constants import Constant, TermReader
from celosia.queries.sparql.outputs import Outputs
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.trees import is_variable, name_of, part_of, strip_layers
from celosia.queries.sparql.values import TypedValue, disjunction
from celosia.queries.sql.operators import conjoin


def read_post_processing(query: Any, outputs: Outputs, reader: TermReader) -> PostProcessing:
    """Read the post-processing of a query.

    Raises:
        QueryRefused: CEL-Q268, and all that an aggregate may be refused for.
    """
    having, order = part_of(query, "having"), part_of(query, "orderby")
    limits = part_of(query, "limitoffset")
    condition: exp.Expression | None = None
    for each in having["condition"] if having is not None else ():
        part = _condition(each, outputs, reader)
        condition = part if condition is None else conjoin(condition, part)
    return PostProcessing(
        having=condition,
        order=tuple(_ordered(each, outputs) for each in order["condition"]) if order else (),
        limit=_count(part_of(limits, "limit"), "LIMIT") if limits is not None else None,
        offset=(_count(part_of(limits, "offset"), "OFFSET") or 0) if limits is not None else 0,
        columns=tuple(outputs.shown),
    )


def _condition(node: Any, outputs: Outputs, reader: TermReader) -> exp.Expression:
    node = strip_layers(node)
    match name_of(node):
        case "ConditionalAndExpression":
            made = _condition(node["expr"], outputs, reader)
            for each in node["other"]:
                made = conjoin(made, _condition(each, outputs, reader))
            return made
        case "ConditionalOrExpression":
            parts = [node["expr"], *node["other"]]
            return disjunction(*(_condition(each, outputs, reader) for each in parts))
        case "UnaryNot":
            return exp.Not(this=exp.Paren(this=_condition(node["expr"], outputs, reader)))
        case "RelationalExpression" if str(node["op"]) in ("=", "!=", *ORDERS):
            sides = [_answer(node[each], outputs, reader) for each in ("expr", "other")]
            return compare_typed(str(node["op"]), *sides)
    raise refusal("CEL-Q268.having")


def _answer(node: Any, outputs: Outputs, reader: TermReader) -> TypedValue:
    node = strip_layers(node)
    name = name_of(node)
    if name.startswith("Aggregate_"):
        return _column(outputs.aggregate_name(node))
    if is_variable(node):
        return _column(_named(str(node), outputs, "HAVING"))
    if name in ("", "literal"):
        constant: Constant = reader.constant(node)
        if constant.sort == "number":
            return typed_constant(constant)
    raise refusal("CEL-Q268.having_sides")


def _column(name: str) -> TypedValue:
    return TypedValue("number", exp.column(name, quoted=True))


def _named(name: str, outputs: Outputs, clause: str) -> str:
    if name not in outputs.aggregates:
        raise refusal("CEL-Q268.not_an_aggregate", clause=clause, variable=name)
    return name


def _ordered(node: Any, outputs: Outputs) -> tuple[str, bool]:
    inner = strip_layers(node["expr"])
    if is_variable(inner):
        name = _named(str(inner), outputs, "ORDER BY")
    elif name_of(inner).startswith("Aggregate_"):
        name = outputs.aggregate_name(inner)
    else:
        raise refusal("CEL-Q268.order_by")
    return name, str(part_of(node, "order") or "").upper() == "DESC"


def _count(node: Any, clause: str) -> int | None:
    if node is None:
        return None
    text = str(node)
    if not (text.isdecimal() and text.isascii() and len(text) <= 9):
        raise refusal("CEL-Q268.not_a_number", clause=clause)
    return int(text)
