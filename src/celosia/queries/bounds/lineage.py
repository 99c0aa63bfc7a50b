"""Where a column comes from: the column of a table whose values it shows unchanged."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from celosia.queries.algebra import (
    Column,
    Derived,
    Filter,
    Join,
    Match,
    Relation,
    Scan,
    Stack,
    aliases,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """A column of a table, as one scan of the question reads it.

    >>> print(Origin("orders", "o", "custkey"))
    orders.custkey
    """

    table: str
    alias: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


def origin(column: Column, relation: Relation) -> Origin | None:
    """The one column of a table that a column is, or None: computed, unknown, or from several.

    >>> customer = Scan("customer", "c")
    >>> print(origin(Column("c", "custkey"), customer))
    customer.custkey
    """
    found = origins(column, relation)
    return found[0] if found is not None and len(found) == 1 else None


def origins(  # noqa: PLR0911 - one for each kind of relation
    column: Column, relation: Relation
) -> tuple[Origin, ...] | None:
    """All columns of tables that a column shows: several under UNION ALL.

    None if it is computed in any of them, or unknown.
    """
    match relation:
        case Scan(table=table, alias=alias):
            return (Origin(table, alias, column.name),) if column.relation == alias else None
        case Filter(source=source):
            return origins(column, source)
        case Match(left=left):
            return origins(column, left)
        case Join(left=left, right=right):
            return origins(column, left if column.relation in aliases(left) else right)
        case Derived(source=source):
            renamed = inside(column, relation)
            return None if renamed is None else origins(renamed, source)
        case Stack(parts=parts):
            found: list[Origin] = []
            for part in parts:
                inner = origins(Column(part.alias, column.name), part)
                if column.relation != relation.alias or inner is None:
                    return None
                found += inner
            return tuple(found)


def inside(column: Column, derived: Derived) -> Column | None:
    """The column of a sub-query's source that one of its own is another name for, or None."""
    if column.relation != derived.alias:
        return None
    for named in derived.columns:
        if named.name == column.name:
            return plain(named.expression)
    return None


def plain(expression: exp.Expression | None) -> Column | None:
    """The column that an expression is and nothing more, or None.

    >>> import sqlglot
    >>> print(plain(sqlglot.parse_one("(o.custkey)")), plain(sqlglot.parse_one("o.custkey + 1")))
    o.custkey None
    """
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, exp.Column) and isinstance(expression.this, exp.Identifier):
        return Column(expression.table, expression.name)
    return None
