"""Groups and windows of sub-queries, each of which holds the rows of one owner only.

GROUP BY in a sub-query turns rows into groups, and a window function gives a row a value that
follows from other rows. Both are answered where every group, and every part of a window
(PARTITION BY), is told apart by a column of which one value never goes with two owners: the key of
the person, or that of a row which belongs to one. Then what comes out follows from the rows of one
owner alone and belongs to that owner. Who is added or removed brings or takes their own groups and
rows, and changes no value of anybody else's (docs/proofs/private-sql-sub-queries.md).

The owner is written into GROUP BY and PARTITION BY as well, which changes nothing where it follows
from a key, and lets the bound hold for whatever the engine finds in the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.queries.algebra import Column, DerivedTable, GroupedTable, NamedExpression
from celosia.queries.bounds.lineage import as_column, column_expression
from celosia.queries.ownership.owned_relation import OwnedRelation

IsFixed = Callable[[Column], bool]
"""Whether a column has one value for each owner."""


def close_groups(
    grouped: GroupedTable, owned: OwnedRelation, words: tuple[str, ...], is_fixed: IsFixed
) -> GroupedTable:
    """Groups with the owner as a key.

    Args:
        grouped: the groups.
        owned: their rows with owners.
        words: the names of the columns of owners.
        is_fixed: whether a column has one value for each owner.

    Raises:
        QueryRefused: CEL-Q043 a group may hold rows of several owners.
    """
    if not owned.owner_count:
        return replace(grouped, source=owned.relation)
    telling = frozenset(
        each.name for each in grouped.keys if owned.is_determined_by(each.expression)
    )
    if not telling:
        raise QueryRefused("CEL-Q043.groups_of_several")
    (owner,), (word,) = owned.owners, words
    is_single = all(_follows(each.expression, is_fixed) for each in grouped.keys)
    return replace(
        grouped,
        source=owned.relation,
        keys=(*grouped.keys, NamedExpression(word, column_expression(owner))),
        owner_columns=telling | {word} if is_single else frozenset(),
    )


def close_windows(
    derived: DerivedTable, owned: OwnedRelation, words: tuple[str, ...], is_fixed: IsFixed
) -> DerivedTable:
    """A sub-query whose windows hold the rows of one owner each.

    Raises:
        QueryRefused: CEL-Q042 a window may hold rows of several owners.
    """
    if not owned.owner_count or not any(_windows(each) for each in derived.columns):
        return derived
    columns, numbered = [], set()
    for each in derived.columns:
        tree = each.expression.copy()
        if not _windows(each):
            columns.append(each)
            continue
        for window in tree.find_all(exp.Window):
            parts = window.args.get("partition_by") or []
            if not any(owned.is_determined_by(part) for part in parts):
                raise QueryRefused("CEL-Q042.window_of_several")
            is_single = all(_follows(part, is_fixed) for part in parts)
            if is_single and window is tree and isinstance(window.this, exp.RowNumber):
                numbered.add(each.name)
            window.set("partition_by", [*parts, *map(column_expression, owned.owners)])
        columns.append(replace(each, expression=tree))
    telling = {each.name for each in columns if owned.is_determined_by(each.expression)}
    return replace(
        derived,
        columns=tuple(columns),
        numbered=frozenset(numbered),
        owner_columns=frozenset({*telling, *words}),
    )


def _windows(column: NamedExpression) -> list[exp.Window]:
    """The window functions of a column that the question asks for: they have an order or parts."""
    return [
        each
        for each in column.expression.find_all(exp.Window)
        if each.args.get("partition_by") or each.args.get("order")
    ]


def _follows(tree: exp.Expr, is_fixed: IsFixed) -> bool:
    """Whether an expression has one value for each owner."""
    columns = [as_column(each) for each in tree.find_all(exp.Column)]
    return all(each is not None and is_fixed(each) for each in columns)
