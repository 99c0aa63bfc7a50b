"""Where a column comes from: the column of a table whose values it shows unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


@dataclass(frozen=True, slots=True)
class Pinned:
    """A scan under filters, with what these say of its columns; names in small letters."""

    table: str
    alias: str
    constants: Mapping[str, int]
    """Columns that equal a written whole number."""
    pairs: tuple[tuple[str, str], ...]
    """Columns that equal each other."""

    def settled(self, names: frozenset[str], *, among: frozenset[str]) -> frozenset[str]:
        """The columns, out of some, that have one value only once those of given names have."""
        found = (names | frozenset(self.constants)) & among
        grew = True
        while grew:
            more = {
                other
                for one, two in self.pairs
                for each, other in ((one, two), (two, one))
                if each in found and other in among
            }
            grew = not more <= found
            found |= more
        return found


def pinned(relation: Relation) -> Pinned | None:
    """What filters fix of the scan below them; None where there is something else below.

    >>> import sqlglot
    >>> likes = Filter(Scan("likes", "t"), sqlglot.parse_one("t.object = 7 AND t.number > 2"))
    >>> sorted(pinned(likes).constants)
    ['object']
    """
    constants: dict[str, int] = {}
    pairs: list[tuple[str, str]] = []
    while isinstance(relation, Filter):
        for part in _conjuncts(relation.condition):
            if isinstance(part, exp.EQ):
                one, two = plain(part.left), plain(part.right)
                if one is not None and two is not None:
                    pairs.append((one.name.lower(), two.name.lower()))
                for column, other in ((one, part.right), (two, part.left)):
                    if column is not None and (number := _whole(other)) is not None:
                        constants[column.name.lower()] = number
        relation = relation.source
    if not isinstance(relation, Scan):
        return None
    return Pinned(relation.table, relation.alias, constants, tuple(pairs))


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def _whole(expression: exp.Expr) -> int | None:
    sign = 1
    while isinstance(expression, exp.Paren | exp.Neg):
        sign = -sign if isinstance(expression, exp.Neg) else sign
        expression = expression.this
    is_number = isinstance(expression, exp.Literal) and not expression.is_string
    return sign * int(expression.this) if is_number and str(expression.this).isdigit() else None


def plain(expression: exp.Expr | None) -> Column | None:
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
