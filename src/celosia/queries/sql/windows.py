"""Window functions, QUALIFY and DISTINCT ON in sub-queries: first, last and neighbouring rows.

The values of windows are columns of an inner sub-query; conditions and expressions over them come
outside. Rows that agree in what a window orders by are put in order by all else that the query
refers to, so that no value depends on the order in which an engine reads rows: rows that agree in
all of it are the same to the query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from celosia.queries import algebra
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.sql.conditions import read_expression
from celosia.queries.sql.names import Kind, Scope, TypedExpression
from celosia.queries.sql.refusals import check_arguments, refusal

_NUMBERS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_VALUES = (exp.Lag, exp.Lead, exp.FirstValue)
_WHOLE = (exp.Count, exp.Min, exp.Max)
_UNTIED = (exp.RowNumber, *_VALUES)
"""Functions that tell rows apart which agree in ORDER BY."""


@dataclass(frozen=True, slots=True)
class _WindowColumn:
    """A window function with its parts and its order."""

    function: exp.Expression
    parts: tuple[exp.Expression, ...]
    order: tuple[tuple[exp.Expression, bool], ...]
    """Expressions, each with whether the largest come first."""

    @property
    def trees(self) -> list[exp.Expression]:
        """The row-wise expressions that it is made of."""
        inner = [] if self.function.this is None else [self.function.this]
        return [*inner, *self.parts, *(tree for tree, _ in self.order)]


@dataclass(slots=True)
class WindowReader:
    """Reads the windows of one SELECT, each as a column of a sub-query below it."""

    scope: Scope
    alias: str
    windows: dict[str, _WindowColumn] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)

    def special(self, node: exp.Expr) -> TypedExpression | None:
        """The column that a window function becomes; None for anything else."""
        if not isinstance(node, exp.Window):
            return None
        check_arguments(node, frozenset({"this", "partition_by", "order", "over"}))
        function, kind = self._function(node)
        parts = [self._read(each).tree for each in node.args.get("partition_by") or []]
        if not parts:
            raise refusal("CEL-Q042.window", at=node)
        ordered = node.args.get("order")
        order = [self._ordered(each) for each in ordered.expressions] if ordered else []
        self._check_order(function, node, has_order=bool(order))
        return self.add(_WindowColumn(function, tuple(parts), tuple(order)), kind)

    def number_rows(self, parts: list[exp.Expr], order: list[exp.Expr]) -> TypedExpression:
        """The number of each row among those that agree in some expressions, for DISTINCT ON."""
        trees = tuple(self._read(each).tree for each in parts)
        by = tuple(self._ordered(each) for each in order)
        return self.add(_WindowColumn(exp.RowNumber(), trees, by), "integer")

    def add(self, window: _WindowColumn, kind: Kind) -> TypedExpression:
        """The column of a window function."""
        name = next(
            (each for each, known in self.windows.items() if known == window),
            f"window_{len(self.windows) + 1}",
        )
        self.windows[name] = window
        self.kinds[name] = kind
        return TypedExpression(column_expression(algebra.Column(self.alias, name)), kind)

    def _read(self, node: exp.Expr) -> TypedExpression:
        return read_expression(node, self.scope)

    def _ordered(self, node: exp.Expr) -> tuple[exp.Expression, bool]:
        if not isinstance(node, exp.Ordered):
            return self._read(node).tree, False
        check_arguments(node, frozenset({"this", "desc", "nulls_first"}))
        return self._read(node.this).tree, bool(node.args.get("desc"))

    def _function(self, node: exp.Window) -> tuple[exp.Expression, Kind]:
        inner = node.this
        if isinstance(inner, _NUMBERS):
            check_arguments(inner, frozenset())
            return type(inner)(), "integer"
        if isinstance(inner, exp.Count) and type(inner.this) is exp.Star:
            return exp.Count(this=exp.Star()), "integer"
        if not isinstance(inner, _VALUES + _WHOLE):
            raise refusal("CEL-Q042.window_function", at=node)
        check_arguments(inner, frozenset({"this", "offset", "big_int"}))
        typed = self._read(inner.this)
        if typed.kind == "interval":
            raise refusal("CEL-Q042.window_function", at=node)
        made = type(inner)(this=typed.tree)
        if (offset := inner.args.get("offset")) is not None:
            if not (isinstance(offset, exp.Literal) and offset.name in _SMALL):
                raise refusal("CEL-Q042.window_function", at=node)
            made.set("offset", offset.copy())
        return made, "integer" if isinstance(inner, exp.Count) else typed.kind

    @staticmethod
    def _check_order(function: exp.Expression, node: exp.Expr, *, has_order: bool) -> None:
        if isinstance(function, _WHOLE) == has_order:
            raise refusal("CEL-Q042.window_function", at=node)

    def place(
        self,
        relation: algebra.Relation,
        columns: list[tuple[str, TypedExpression, exp.Expr]],
        condition: exp.Expression | None,
    ) -> tuple[algebra.Relation, list[tuple[str, TypedExpression, exp.Expr]]]:
        """The rows with their windows, as far as a condition keeps them, and columns of them."""
        trees = [typed.tree for _, typed, _ in columns]
        said = [*trees, *([] if condition is None else [condition])]
        words: dict[tuple[str, str], str] = {}
        for tree in said:
            for each in tree.find_all(exp.Column):
                if each.table != self.alias:
                    words.setdefault((each.table, each.name), f"column_{len(words) + 1}")
        shown = [
            algebra.NamedExpression(word, column_expression(algebra.Column(*name)))
            for name, word in words.items()
        ]
        ties = [each.expression for each in shown]
        ties += [tree for window in self.windows.values() for tree in window.trees]
        shown += [
            algebra.NamedExpression(name, _written(window, ties))
            for name, window in self.windows.items()
        ]
        made: algebra.Relation = algebra.DerivedTable(relation, self.alias, tuple(shown))
        if condition is not None:
            made = algebra.Filter(made, self._renamed(condition, words))
        return made, [
            (
                name,
                TypedExpression(self._renamed(typed.tree, words), typed.kind, typed.is_plain),
                at,
            )
            for name, typed, at in columns
        ]

    def _renamed(
        self, tree: exp.Expression, words: Mapping[tuple[str, str], str]
    ) -> exp.Expression:
        def changed(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and (node.table, node.name) in words:
                word = words[node.table, node.name]
                return column_expression(algebra.Column(self.alias, word))
            return node

        made = tree.transform(changed)
        assert isinstance(made, exp.Expression)
        return made


_SMALL = frozenset(map(str, range(1, 101)))


def _written(window: _WindowColumn, ties: list[exp.Expression]) -> exp.Expression:
    made = exp.Window(
        this=window.function.copy(), partition_by=[each.copy() for each in window.parts]
    )
    order = list(window.order)
    if isinstance(window.function, _UNTIED):
        first = [tree for tree, _ in order]
        rest = [each for each in dict.fromkeys(ties) if each not in first]
        order += [(each, False) for each in rest if each.find(exp.Column) is not None]
    if order:
        ordered = [
            exp.Ordered(this=tree.copy(), desc=descending, nulls_first=False)
            for tree, descending in order
        ]
        made.set("order", exp.Order(expressions=ordered))
    return made
