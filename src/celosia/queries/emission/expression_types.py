"""What kind of value an expression of a question has, where that decides how it is written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.queries import algebra
from celosia.queries.bounds.lineage import as_column
from celosia.queries.emission.target import Target
from celosia.queries.policy.values import ColumnType

_TYPES: dict[exp.DType, ColumnType] = {
    **dict.fromkeys(exp.DataType.INTEGER_TYPES, "integer"),
    **dict.fromkeys(exp.DataType.REAL_TYPES, "number"),
    **dict.fromkeys(exp.DataType.TEXT_TYPES, "text"),
    exp.DType.BOOLEAN: "boolean",
    exp.DType.DATE: "date",
    exp.DType.TIMESTAMP: "timestamp",
    exp.DType.TIMESTAMPNTZ: "timestamp",
}
_TEXTS = (
    exp.Lower,
    exp.Upper,
    exp.Substring,
    exp.Left,
    exp.Right,
    exp.Trim,
    exp.Concat,
    exp.DPipe,
    exp.Replace,
)
_MIXED: dict[frozenset[ColumnType | None], ColumnType] = {
    frozenset({"integer", "number"}): "number",
    frozenset({"date", "timestamp"}): "timestamp",
}
_SAME_AS_FIRST = (exp.Paren, exp.Try, exp.Nullif)
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)
NUMERIC = (*ARITHMETIC, exp.Neg, exp.Abs, exp.Round, exp.Ceil, exp.Floor)
NUMBER = r"^\s*[-+]?([0-9]{1,200}(\.[0-9]{0,200})?|\.[0-9]{1,200})([eE][-+]?[0-9]{1,2})?\s*$"
"""Texts that are numbers, whatever comes after them."""
MOST_REPEATED = 500
"""The most parts of a value that is written several times: casts inside casts double each other."""
TRUE = ("true", "t", "1", "yes", "y")
FALSE = ("false", "f", "0", "no", "n")


def infer_type(  # noqa: PLR0911, PLR0912 - one for each kind of node
    tree: exp.Expr | None, relation: algebra.Relation, *, target: Target
) -> ColumnType | None:
    """The type of an expression over a relation, or None where it is unknown."""
    column = as_column(tree)
    if column is not None:
        return _column_type(column, relation, target)
    match tree:
        case exp.Literal():
            return "text" if tree.is_string else "number"
        case exp.Cast():
            return _TYPES.get(tree.args["to"].this)
        case exp.Length() | exp.Extract() | exp.StrPosition():
            return "integer"
        case exp.Window(this=exp.Lag() | exp.Lead() | exp.FirstValue() | exp.Min() | exp.Max()):
            return infer_type(tree.this.this, relation, target=target)
        case exp.Window():
            return "integer"
        case exp.TimestampTrunc():
            return "timestamp"
        case exp.Case():
            results = [*(each.args["true"] for each in tree.args["ifs"]), tree.args.get("default")]
            return _common_type(results, relation, target)
        case exp.Coalesce() | exp.Greatest() | exp.Least():
            return _common_type([tree.this, *tree.expressions], relation, target)
    if isinstance(tree, exp.Add | exp.Sub):
        return _sum_type(tree, relation, target)
    if isinstance(tree, _SAME_AS_FIRST):
        return infer_type(tree.this, relation, target=target)
    for parts, kind in ((NUMERIC, "number"), (_TEXTS, "text"), ((exp.Condition,), "boolean")):
        if isinstance(tree, parts) and not isinstance(tree, exp.Null):
            return kind  # type: ignore[return-value]
    return None


def _common_type(
    trees: Iterable[exp.Expr | None], relation: algebra.Relation, target: Target
) -> ColumnType | None:
    """The type of one of several values, as of the first known one; dates become timestamps."""
    found = [infer_type(each, relation, target=target) for each in trees]
    known = [each for each in found if each is not None]
    if {"date", "timestamp"} <= set(known):
        return "timestamp"
    return known[0] if known else None


def _sum_type(tree: exp.Add | exp.Sub, relation: algebra.Relation, target: Target) -> ColumnType:
    left, right = (infer_type(each, relation, target=target) for each in (tree.left, tree.right))
    moments = [each for each in (left, right) if each in ("date", "timestamp")]
    if tree.find(exp.Interval) and moments:
        return "timestamp"
    if left == "date" and right == "date":
        return "integer"
    return "date" if moments else "number"


def _column_type(  # noqa: PLR0911 - one for each kind of relation
    column: algebra.Column, relation: algebra.Relation, target: Target
) -> ColumnType | None:
    if column.relation not in algebra.aliases(relation):
        return None
    match relation:
        case algebra.Scan(table=table):
            declared = target.table(table).column(column.name)
            return declared.type if declared else None
        case algebra.Filter(source=inner) | algebra.SemiJoin(left=inner):
            return _column_type(column, inner, target)
        case algebra.Join(left=left, right=right) | algebra.LeftJoin(left=left, right=right):
            return _column_type(column, left, target) or _column_type(column, right, target)
        case algebra.GroupedTable():
            return _grouped_type(column.name, relation, target)
        case algebra.DerivedTable(source=source, columns=columns):
            named = next((each for each in columns if each.name == column.name), None)
            return infer_type(named.expression, source, target=target) if named else None
        case algebra.UnionAll(parts=parts):
            found = {
                _column_type(algebra.Column(part.alias, column.name), part, target)
                for part in parts
            }
            return found.pop() if len(found) == 1 else _MIXED.get(frozenset(found))


def _grouped_type(name: str, relation: algebra.GroupedTable, target: Target) -> ColumnType | None:
    """The type of a key or an aggregate of a sub-query."""
    for key in relation.keys:
        if key.name == name:
            return infer_type(key.expression, relation.source, target=target)
    for each in relation.aggregates:
        if each.name != name:
            continue
        if each.kind in ("rows", "count", "distinct"):
            return "integer"
        if each.kind in ("minimum", "maximum", "first", "last"):
            return infer_type(each.argument, relation.source, target=target)
        return "number"
    return None


@dataclass(frozen=True, slots=True)
class ExpressionWriter(ABC):
    """Writes expressions of a question for an engine that lacks TRY and TRY_CAST."""

    relation: algebra.Relation
    target: Target

    nested: ClassVar[str]
    """The refusal of a value that is too long to be written several times."""

    @abstractmethod
    def write(self, tree: exp.Expr) -> exp.Expr:
        """The same expression, total on every row."""

    def kind(self, tree: exp.Expr) -> ColumnType | None:
        """The kind of value that an expression has."""
        return infer_type(tree, self.relation, target=self.target)

    def short(self, tree: exp.Expr) -> exp.Expr:
        """A value that will be written several times.

        Raises:
            QueryRefused: CEL-Q127.
        """
        value = self.write(tree)
        # A cast writes its value twice; casts inside casts would grow with a power of two.
        if sum(1 for _ in value.walk()) > MOST_REPEATED:
            raise QueryRefused(self.nested)
        return value

    def rebuilt(self, tree: exp.Expr) -> exp.Expr:
        """The same node with all its parts written."""

        def again(value: object) -> object:
            if isinstance(value, list):
                return [again(each) for each in value]
            return self.write(value) if isinstance(value, exp.Expr) else value

        return type(tree)(**{name: again(value) for name, value in tree.args.items()})

    @staticmethod
    def truth(value: exp.Expr) -> exp.Expr:
        """The truth value that a text says, in any case; NULL for other texts."""
        lower = exp.Lower(this=value)
        lists = [[exp.Literal.string(each) for each in words] for words in (TRUE, FALSE)]
        return (
            exp.Case()
            .when(exp.In(this=lower, expressions=lists[0]), exp.true())
            .when(exp.In(this=lower.copy(), expressions=lists[1]), exp.false())
        )


def rounded_places(tree: exp.Round) -> int:
    """The places that are rounded to: -1 for tens."""
    given = tree.args.get("decimals")
    if given is None:
        return 0
    number = given.this if isinstance(given, exp.Neg) else given
    return -int(number.name) if isinstance(given, exp.Neg) else int(number.name)
