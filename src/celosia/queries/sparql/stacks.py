"""Rows under new names: sub-queries of joins, and stacks of the rows of several alternatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from celosia.queries.algebra import (
    Column,
    DerivedTable,
    Filter,
    NamedExpression,
    Scan,
    UnionAll,
    Wording,
)
from celosia.queries.sparql.conditions import ConditionReader
from celosia.queries.sparql.constants import Constant
from celosia.queries.sparql.patterns import Variable
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.values import (
    OBJECT_WORDS,
    BoundVariable,
    Deferred,
    Kind,
    Scope,
    Solutions,
    StringValue,
    TypedValue,
    Value,
    describe_constant,
)
from celosia.queries.sql.conditions import make_total


class Surroundings(Protocol):
    """What is known of the query around."""

    described: frozenset[str]
    names: Iterator[str]
    wording: Wording

    def reading(self, scope: Scope) -> ConditionReader:
        """A reader of expressions over some variables."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """The columns that a variable has in all parts of a stack."""

    words: tuple[str, ...]
    kind: Kind | None = None
    """Of a computed value, which has one column."""
    is_nullable: bool = False


def derive(made: Solutions, around: Surroundings) -> Solutions:
    """The rows as one table: as they are, if they are of one pattern, else a sub-query."""
    relation = made.relation
    while isinstance(relation, Filter):
        relation = relation.source
    computed = any(not isinstance(each, BoundVariable) for each in made.scope.values())
    if isinstance(relation, Scan) and not computed:
        return made
    return _named([made], around)


def derive_all(made: Solutions, around: Surroundings) -> Solutions:
    """The rows as a sub-query, with all that is computed among its columns."""
    return _named([made], around, computes=True)


def stack(parts: Sequence[Solutions], around: Surroundings) -> Solutions:
    """The rows of all parts, one after the other; what a part does not bind is NULL there."""
    return _named(parts, around)


def _named(
    parts: Sequence[Solutions], around: Surroundings, *, computes: bool = False
) -> Solutions:
    alias = next(around.names)
    variables = [
        one for one in dict.fromkeys(v for p in parts for v in p.scope) if not one.is_hidden
    ]
    values = {
        one: [_read(part, one, around, computes=computes) for part in parts] for one in variables
    }
    shapes = {one: _shape(one, values[one], around.described) for one in variables}
    own = (
        [f"{alias}_{place}" for place, _ in enumerate(parts, start=1)]
        if len(parts) > 1
        else [alias]
    )
    tables = tuple(
        DerivedTable(
            part.relation,
            name,
            tuple(
                NamedExpression(f"{number}{word}", _written(values[one][place], word))
                for number, one in enumerate(variables, start=1)
                for word in shapes[one].words
            )
            or (NamedExpression("one", exp.Literal.number(1)),),
        )
        for place, (name, part) in enumerate(zip(own, parts, strict=True))
    )
    for number, one in enumerate(variables, start=1):
        for word in shapes[one].words:
            for name in (alias, *own):
                around.wording.columns[Column(name, f"{number}{word}")] = str(one)
    scope = {
        one: _value(one, Column(alias, f"{number}{shapes[one].words[0]}"), shapes[one])
        for number, one in enumerate(variables, start=1)
        if shapes[one].words
    }
    return Solutions(tables[0] if len(parts) == 1 else UnionAll(tables, alias), scope)


def _read(
    part: Solutions, variable: Variable, around: Surroundings, *, computes: bool
) -> Value | None:
    """The value of a variable in one part; what is computed only where something asks for it."""
    value = part.scope.get(variable)
    if isinstance(value, Deferred):
        if variable.name not in around.described and not computes:
            return value
        value = around.reading(part.scope).variable(variable.name)
    return TypedValue("text", value.tree()) if isinstance(value, StringValue) else value


def _shape(variable: Variable, values: Sequence[Value | None], described: frozenset[str]) -> _Shape:
    found = [each for each in values if each is not None]
    if any(isinstance(each, Deferred) for each in found):
        return _Shape(())
    kinds = {each.kind for each in found if isinstance(each, TypedValue)}
    is_nullable = len(found) < len(values) or any(
        isinstance(each, BoundVariable) and each.is_nullable for each in found
    )
    if kinds:
        if len(kinds) > 1 or not all(isinstance(each, TypedValue) for each in found):
            raise refusal("CEL-Q247.union_kinds", variable=variable.name)
        return _Shape(("value",), kinds.pop(), is_nullable=True)
    terms = [each for each in found if isinstance(each, BoundVariable)]
    if len(terms) == len(found) and all(each.is_resource for each in terms):
        return _Shape(("subject",), is_nullable=is_nullable)
    if any(each.facts is None for each in terms):
        return _Shape(("term",), is_nullable=is_nullable)
    words = ("object", *OBJECT_WORDS) if variable.name in described else ("object",)
    return _Shape(words, is_nullable=is_nullable)


def _written(value: Value | None, word: str) -> exp.Expression:
    match value:
        case TypedValue(tree=tree):
            return make_total(tree)
        case BoundVariable():
            return value.number if word in ("subject", "object", "term") else value.column(word)
        case Constant():
            return describe_constant(value, "object" if word in ("subject", "term") else word)
    return exp.Null()


def _value(variable: Variable, column: Column, shape: _Shape) -> Value:
    if shape.kind is not None:
        tree = exp.column(column.name, table=column.relation, quoted=True)
        return TypedValue(shape.kind, tree)
    return BoundVariable(variable.name, (column,), is_nullable=shape.is_nullable)
