"""Inner joins as a whole, taken apart and put together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from celosia.queries.algebra import Column, Filter, Join, Relation, SemiJoin, aliases
from celosia.queries.bounds.lineage import column_expression, conjuncts

Pairs = list[tuple[Column, Column]]


@dataclass(slots=True)
class JoinBlock:
    """Inner joins as a whole: members, equal columns, conditions, and partners outside."""

    members: list[Relation]
    pairs: Pairs
    conditions: list[exp.Expr]
    matches: list[SemiJoin]


def flatten_joins(relation: Relation) -> JoinBlock | None:
    """The block that a relation is; None where partners are looked for inside its joins."""
    match relation:
        case Filter(source=source, condition=condition) if not _is_member(source):
            inner = flatten_joins(source)
            if inner is not None:
                inner.conditions.extend(conjuncts(condition))
            return inner
        case SemiJoin(left=left):
            inner = flatten_joins(left)
            if inner is not None:
                inner.matches.append(relation)
            return inner
        case Join(left=left, right=right, keys=keys, condition=condition):
            one, other = flatten_joins(left), flatten_joins(right)
            if one is None or other is None or one.matches or other.matches:
                return None
            both = [*one.conditions, *other.conditions, *conjuncts(condition)]
            pairs = [*one.pairs, *other.pairs, *keys]
            return JoinBlock([*one.members, *other.members], pairs, both, [])
        case _:
            return JoinBlock([relation], [], [], [])


def _is_member(relation: Relation) -> bool:
    """Whether a relation, under its filters, is something else than joins."""
    while isinstance(relation, Filter):
        relation = relation.source
    return not isinstance(relation, Join | SemiJoin)


def rebuild_joins(block: JoinBlock, names: Mapping[Column, Column]) -> Relation:
    """The members of a block as joins, each after one that it shares a column with."""
    pairs = [(names.get(one, one), names.get(other, other)) for one, other in block.pairs]
    waiting = list(block.members)
    made: Relation = waiting.pop(0)
    while waiting:
        near = next((each for each in waiting if _between(pairs, made, each)), waiting[0])
        waiting.remove(near)
        made = Join(made, near, tuple(_between(pairs, made, near)))
    if block.conditions:
        trees = [rename_columns(each, names) for each in block.conditions]
        made = Filter(made, conjunction(trees))
    for match in block.matches:
        keys = tuple((names.get(one, one), other) for one, other in match.keys)
        condition = None if match.condition is None else rename_columns(match.condition, names)
        made = replace(match, left=made, keys=keys, condition=condition)
    return made


def _between(pairs: Pairs, one: Relation, other: Relation) -> Pairs:
    left, right = aliases(one), aliases(other)
    found = [each for each in pairs if each[0].relation in left and each[1].relation in right]
    turned = [
        (second, first)
        for first, second in pairs
        if second.relation in left and first.relation in right
    ]
    return found + turned


def conjunction(trees: Sequence[exp.Expr]) -> exp.Expression:
    """The condition that all of some conditions are true."""
    made = exp.and_(*trees)
    assert isinstance(made, exp.Expression)
    return made


def relations_in(tree: exp.Expr) -> frozenset[str]:
    """The aliases that an expression speaks of."""
    return frozenset(each.relation for each in columns_in(tree))


def columns_in(tree: exp.Expr) -> list[Column]:
    """The columns that an expression speaks of."""
    return [Column(each.table, each.name) for each in tree.find_all(exp.Column)]


def rename_columns(tree: exp.Expr, names: Mapping[Column, Column]) -> exp.Expression:
    """An expression with other names for some columns."""
    return replace_columns(tree, {each: column_expression(other) for each, other in names.items()})


def replace_columns(tree: exp.Expr, columns: Mapping[Column, exp.Column]) -> exp.Expression:
    """An expression with other expressions in the place of some columns."""

    def changed(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            found = columns.get(Column(node.table, node.name))
            return node if found is None else found.copy()
        return node

    made = tree.transform(changed)
    assert isinstance(made, exp.Expression)
    return made
