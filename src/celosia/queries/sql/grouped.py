"""GROUP BY and DISTINCT in sub-queries, as groups of the algebra."""

from __future__ import annotations

from sqlglot import exp

from celosia.queries import algebra
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.sql.aggregates import read_inner_aggregate
from celosia.queries.sql.names import Scope, TypedExpression
from celosia.queries.sql.outputs import Outputs, read_having, read_outputs


def group_rows(
    select: exp.Select, scope: Scope, relation: algebra.Relation, alias: str
) -> tuple[algebra.Relation, list[tuple[str, TypedExpression, exp.Expr]]]:
    """The groups of a sub-query that HAVING keeps, and the columns that it selects of them.

    Args:
        select: the sub-query.
        scope: its relations.
        relation: its rows.
        alias: of the groups.

    Raises:
        QueryRefused: all that keys and aggregates may be refused for.
    """
    outputs = read_outputs(select, scope, read=read_inner_aggregate, is_inner=True)
    having = select.args.get("having")
    kept = None if having is None else read_having(having.this, outputs)
    names = _Names.of(outputs, alias)
    aggregates, keys = outputs.parts()
    made: algebra.Relation = algebra.GroupedTable(
        relation,
        alias,
        tuple(algebra.NamedExpression(names.words[each.name], each.expression) for each in keys),
        tuple(_renamed(each, names.words[each.name]) for each in aggregates),
        key_count=len(keys),
    )
    if kept is not None:
        made = algebra.Filter(made, names.inline(kept))
    columns = []
    for name, node in zip(outputs.shown, select.expressions, strict=True):
        typed = outputs.find(name)
        assert typed is not None
        plain = name in outputs.keys and outputs.keys[name].is_plain
        tree = names.inline(typed.tree)
        columns.append((node.alias_or_name or name, TypedExpression(tree, typed.kind, plain), node))
    return made, columns


def distinct_rows(
    columns: list[tuple[str, TypedExpression, exp.Expr]], relation: algebra.Relation, alias: str
) -> tuple[algebra.Relation, list[tuple[str, TypedExpression, exp.Expr]]]:
    """The different rows that some columns make: groups without aggregates."""
    words = [f"key_{place}" for place, _ in enumerate(columns, start=1)]
    keys = tuple(
        algebra.NamedExpression(word, typed.tree)
        for word, (_, typed, _) in zip(words, columns, strict=True)
    )
    shown = [
        (name, TypedExpression(_column(alias, word), typed.kind, typed.is_plain), node)
        for word, (name, typed, node) in zip(words, columns, strict=True)
    ]
    return algebra.GroupedTable(relation, alias, keys, key_count=len(keys)), shown


def _column(alias: str, word: str) -> exp.Expression:
    return column_expression(algebra.Column(alias, word))


def _renamed(aggregate: algebra.Aggregate, word: str) -> algebra.Aggregate:
    return algebra.Aggregate(
        aggregate.kind, word, aggregate.argument, aggregate.share, order=aggregate.order
    )


class _Names:
    """What the names of a sub-query's outputs stand for: columns of its groups."""

    def __init__(self, words: dict[str, str], trees: dict[str, exp.Expression]) -> None:
        self.words = words
        self._trees = trees

    @classmethod
    def of(cls, outputs: Outputs, alias: str) -> _Names:
        words = {name: f"key_{place}" for place, name in enumerate(outputs.keys, start=1)}
        words |= {name: f"value_{place}" for place, name in enumerate(outputs.aggregates, start=1)}
        made = cls(words, {name: _column(alias, word) for name, word in words.items()})
        for name, typed in outputs.computed.items():  # each may refer to those before it
            made._trees[name] = exp.Paren(this=made.inline(typed.tree))
        return made

    def inline(self, tree: exp.Expression) -> exp.Expression:
        """An expression of outputs as one of the columns of groups."""

        def changed(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and not node.table and node.name in self._trees:
                return self._trees[node.name].copy()
            return node

        made = tree.transform(changed)
        assert isinstance(made, exp.Expression)
        return made
