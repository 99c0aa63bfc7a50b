"""Names and scopes: the columns that names mean, and the kinds of values that they hold.

SQLGlot's own qualifier is not used: it rewrites while it resolves (stars, USING, aliases), and
here each name must lead to one declared column or to a refusal that shows its place.

A database casts in silence where kinds differ (`name = 5` reads every name as a number), and such
a cast can fail on a row: an error that reveals the data. So kinds must fit here, before that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.core.messages import Message, did_you_mean
from celosia.queries.algebra import Column, Relation
from celosia.queries.policy.values import ColumnType
from celosia.queries.sql.refusals import both, check_arguments, either, refusal

Kind = ColumnType | Literal["interval", "null"]
"""The kind of an expression: a type of columns, a span of time, or a bare NULL."""

MOST_RELATIONS = 64
"""The most relations of a question: CTEs that use each other twice double at every step."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column that can be referred to."""

    column: Column
    kind: Kind
    is_plain: bool
    """Whether it is a column of a table, and not computed on the way: only those can be joined."""

    @property
    def tree(self) -> exp.Expression:
        """The column as a part of an expression."""
        return exp.column(self.column.name, table=self.column.relation, quoted=True)


@dataclass(frozen=True, slots=True)
class FromItem:
    """A relation in FROM: its name there, and its columns by their names in lower case."""

    name: str
    alias: str
    relation: Relation
    fields: Mapping[str, Field]
    ambiguous: frozenset[str] = frozenset()
    """Names that `*` gave to several of its columns."""


@dataclass(slots=True)
class Aliases:
    """Gives every relation of a question an alias of its own."""

    taken: set[str] = field(default_factory=set)
    ending: str = ""
    """Of all aliases: in Spark `t.x` is first a field of a column t, then a column of a table."""

    def fresh(self, word: str) -> str:
        """The word, or the word with a number that makes it new.

        >>> aliases = Aliases()
        >>> aliases.fresh("Orders"), aliases.fresh("orders")
        ('orders', 'orders_2')
        """
        if len(self.taken) >= MOST_RELATIONS:
            raise refusal("CEL-Q023.too_many_relations", most_relations=MOST_RELATIONS)
        word = word.lower() + self.ending
        number = 1
        alias = word
        while alias in self.taken:
            number += 1
            alias = f"{word}_{number}"
        self.taken.add(alias)
        return alias


@dataclass(slots=True)
class Scope:
    """The relations that the expressions of a SELECT can refer to.

    `outer` is the scope of the query around an EXISTS or IN, one level and no more.
    """

    outer: Scope | None = None
    items: dict[str, FromItem] = field(default_factory=dict)
    merged: dict[str, tuple[Field, frozenset[str]]] = field(default_factory=dict)
    """Columns of USING: their bare names mean the left one; with all aliases it is equal in."""

    def add(self, item: FromItem, *, at: exp.Expr) -> None:
        """Put a relation of FROM into the scope."""
        if item.name.lower() in self.items:
            raise refusal("CEL-Q027.same_alias", relation=item.name, at=at)
        self.items[item.name.lower()] = item

    @property
    def aliases(self) -> frozenset[str]:
        """The aliases of the scope itself, without those around it."""
        return frozenset(item.alias for item in self.items.values())

    def find(self, node: exp.Column) -> Field:
        """The column that is meant."""
        check_arguments(node, frozenset({"this", "table"}))
        found = self._look(node) or (self.outer._look(node) if self.outer else None)
        if found is None:
            raise self._unknown(node)
        return found

    def has(self, name: str) -> bool:
        """Whether a bare name is a column of the scope itself."""
        return any(name.lower() in item.fields for item in self.items.values())

    def merge(self, name: str, left: Field, right: Field) -> None:
        """Let the bare name of a column of USING mean the left one."""
        first, equal = self.merged.get(name, (left, frozenset({left.column.relation})))
        self.merged[name] = (first, equal | {right.column.relation})

    def _look(self, node: exp.Column) -> Field | None:
        name = node.name.lower()
        if node.table:
            item = self.items.get(node.table.lower())
            if item is not None and name in item.ambiguous:
                raise _in_doubt(node, item)
            return item.fields.get(name) if item else None
        for item in self.items.values():
            if name in item.ambiguous:
                raise _in_doubt(node, item)
        hits = [item for item in self.items.values() if name in item.fields]
        if name in self.merged:
            field, equal = self.merged[name]
            if all(item.alias in equal for item in hits):
                return field
        if len(hits) > 1:
            raise refusal(
                "CEL-Q027.ambiguous",
                name=node.name,
                readings=either([f"{item.name}.{node.name}" for item in hits]),
                at=node,
            )
        return hits[0].fields[name] if hits else None

    def _unknown(self, node: exp.Column) -> CelosiaError:
        scopes = [self, self.outer] if self.outer else [self]
        items = [item for scope in scopes for item in scope.items.values()]
        names: list[str] = [field.column.name for item in items for field in item.fields.values()]
        written = f"{node.table}.{node.name}" if node.table else node.name
        if node.table and node.table.lower() not in {item.name.lower() for item in items}:
            near = did_you_mean(node.table, [item.name for item in items])
            return refusal(
                "CEL-Q025.column_no_relation",
                table=node.table,
                near=near,
                column_name=written,
                at=node,
            )
        near = did_you_mean(node.name, names)
        return refusal("CEL-Q025.column_no_column", column_name=written, near=near, at=node)


def _in_doubt(node: exp.Expr, item: FromItem) -> CelosiaError:
    return refusal("CEL-Q027.twice_in_star", relation=item.name, name=node.name, at=node)


def answer_or_column(node: exp.Expr) -> CelosiaError:
    """The refusal of a name that an output and a column of FROM have."""
    readings = [Message("queries.sql.answer_of_name"), Message("queries.sql.column_of_name")]
    return refusal("CEL-Q027.ambiguous", name=node.name, readings=either(readings), at=node)


NUMBERS: frozenset[Kind] = frozenset({"integer", "number"})
TEXTS: frozenset[Kind] = frozenset({"text"})
TRUTHS: frozenset[Kind] = frozenset({"boolean"})
TIMES: frozenset[Kind] = frozenset({"date", "timestamp"})

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class TypedExpression:
    """A row-wise expression, with its kind."""

    tree: exp.Expression
    kind: Kind
    is_plain: bool = False
    """Whether it is a column of a table, and not computed on the way."""


def typed_field(field: Field) -> TypedExpression:
    """A column as an expression."""
    return TypedExpression(field.tree, field.kind, field.is_plain)


def require_kind(
    typed: TypedExpression, wanted: frozenset[Kind], *, at: exp.Expr, use: str
) -> TypedExpression:
    """The expression, if it is of a wanted kind; a bare NULL is of every kind."""
    if typed.kind in wanted or typed.kind == "null":
        return typed
    if wanted == TIMES and _is_text(typed.tree):
        return _moment(typed.tree, "timestamp", at=at)
    raise refusal(
        "CEL-Q049.kind", use=_in_words(use), kinds=either(sorted(wanted)), kind=typed.kind, at=at
    )


def unify_kinds(
    parts: Sequence[TypedExpression], *, at: exp.Expr, use: str
) -> tuple[list[TypedExpression], Kind]:
    """Convert expressions to one kind: literal texts become dates beside dates."""
    kinds = {part.kind for part in parts if not _is_text(part.tree)} - {"null"}
    if kinds and kinds <= TIMES:
        kind: Kind = "timestamp" if "timestamp" in kinds else "date"
        return [
            _moment(part.tree, kind, at=at) if _is_text(part.tree) else part for part in parts
        ], (kind)
    kinds = {part.kind for part in parts} - {"null"}
    if "interval" in kinds:
        raise refusal("CEL-Q049.interval", use=_in_words(use), at=at)
    if kinds == NUMBERS:
        return list(parts), "number"
    if len(kinds) > 1:
        raise refusal("CEL-Q049.mixed_kinds", use=_in_words(use), kinds=both(sorted(kinds)), at=at)
    return list(parts), kinds.pop() if kinds else "null"


def guard_casts(tree: exp.Expression, parts: Sequence[TypedExpression]) -> exp.Expression:
    """Wrap a combination of parts in TRY where the database may cast one of them and fail.

    Beside a decimal number of more places, a decimal column is cast to as many, and a value that
    leaves no room for them fails; so does a date beside timestamps that do not reach its year.
    """
    kinds = {part.kind for part in parts}
    written = [part.tree for part in parts if isinstance(part.tree, exp.Literal)]
    # With an exponent it is a double, beside which all numbers become doubles.
    decimal = [each for each in written if "." in each.name and "e" not in each.name.lower()]
    has_places = len(parts) - len(written) > 1 or bool(decimal)
    has_dates = any(part.kind == "date" and part.tree.find(exp.Column) for part in parts)
    may_fail = ("number" in kinds and has_places) or (has_dates and "timestamp" in kinds)
    return exp.Try(this=tree) if may_fail else tree


def parse_moment(text: str, kind: Kind, *, at: exp.Expr) -> TypedExpression:
    """A date or timestamp that is written out and exists in the calendar."""
    written = _DATE if kind == "date" else _TIMESTAMP
    try:
        if not written.fullmatch(text):
            raise ValueError
        (date if kind == "date" else datetime).fromisoformat(text)
    except ValueError:
        form = "2026-01-31" if kind == "date" else "2026-01-31 23:59:59"
        raise refusal(
            "CEL-Q050.moment", kind=kind, form=form, keyword=kind.upper(), at=at
        ) from None
    return TypedExpression(
        exp.Cast(this=exp.Literal.string(text), to=exp.DataType.build(kind)), kind
    )


def _is_text(tree: exp.Expression) -> bool:
    return isinstance(tree, exp.Literal) and tree.is_string


def _moment(tree: exp.Expression, kind: Kind, *, at: exp.Expr) -> TypedExpression:
    if kind == "date" and not _DATE.fullmatch(tree.name):
        kind = "timestamp"
    return parse_moment(tree.name, kind, at=at)


_USES = {
    "condition": "queries.sql.a_condition",
    "comparison": "queries.sql.a_comparison",
    "join": "queries.sql.a_join",
}


def _in_words(use: str) -> str:
    """Where a value is used: a keyword or sign as it is, else in the words for it."""
    return Message(_USES[use]) if use in _USES else use
