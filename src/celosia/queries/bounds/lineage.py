"""Where a column comes from: the column of a table whose values it shows unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from celosia.queries.algebra import (
    Aggregate,
    Column,
    DerivedTable,
    Filter,
    GroupedTable,
    Join,
    LeftJoin,
    Relation,
    Scan,
    SemiJoin,
    UnionAll,
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


def find_origin(column: Column, relation: Relation) -> Origin | None:
    """The one column of a table that a column is, or None: computed, unknown, or from several.

    >>> customer = Scan("customer", "c")
    >>> print(find_origin(Column("c", "custkey"), customer))
    customer.custkey
    """
    found = find_origins(column, relation)
    return found[0] if found is not None and len(found) == 1 else None


def find_origins(  # noqa: PLR0911 - one for each kind of relation
    column: Column, relation: Relation
) -> tuple[Origin, ...] | None:
    """All columns of tables that a column shows: several under UNION ALL.

    None if it is computed in any of them, or unknown.
    """
    match relation:
        case Scan(table=table, alias=alias):
            return (Origin(table, alias, column.name),) if column.relation == alias else None
        case Filter(source=source):
            return find_origins(column, source)
        case SemiJoin(left=left):
            return find_origins(column, left)
        case Join(left=left, right=right) | LeftJoin(left=left, right=right):
            return find_origins(column, left if column.relation in aliases(left) else right)
        case DerivedTable(source=source) | GroupedTable(source=source):
            renamed = source_column(column, relation)
            return None if renamed is None else find_origins(renamed, source)
        case UnionAll(parts=parts):
            # One part whose column is computed makes the column of the union computed.
            found: list[Origin] = []
            for part in parts:
                inner = find_origins(Column(part.alias, column.name), part)
                if column.relation != relation.alias or inner is None:
                    return None
                found += inner
            return tuple(found)


Definition = tuple[exp.Expression | Aggregate, Relation]
"""What a column is made of, and of which relation; an aggregate with its groups."""


def find_definitions(column: Column, relation: Relation) -> list[Definition]:
    """What sub-queries make a column of: several under UNION ALL, none for a column of a table."""
    if column.relation not in aliases(relation):
        return []
    match relation:
        case DerivedTable(source=source, columns=columns):
            return [(each.expression, source) for each in columns if each.name == column.name]
        case GroupedTable(source=source, keys=keys, aggregates=aggregates):
            found: list[Definition] = [
                (each.expression, source) for each in keys if each.name == column.name
            ]
            found += [(each, relation) for each in aggregates if each.name == column.name]
            return found
        case UnionAll(parts=parts):
            stacked = (find_definitions(Column(part.alias, column.name), part) for part in parts)
            return [each for made in stacked for each in made]
        case Scan():
            return []
    return [each for inner in _shown(relation) for each in find_definitions(column, inner)]


def _shown(relation: Filter | Join | LeftJoin | SemiJoin) -> tuple[Relation, ...]:
    """The relations whose columns can be referred to outside."""
    match relation:
        case Filter(source=source) | SemiJoin(left=source):
            return (source,)
        case Join(left=left, right=right) | LeftJoin(left=left, right=right):
            return (left, right)


def find_conditions(column: Column, relation: Relation) -> Iterator[exp.Expr]:
    """The comparisons of a column, or of its year, that hold in every row of a relation."""
    match relation:
        case Filter(source=source, condition=condition):
            yield from _comparisons(column, condition)
            yield from find_conditions(column, source)
        case SemiJoin(left=source):
            yield from find_conditions(column, source)
        case Join(left=left, right=right, condition=condition):
            yield from _comparisons(column, condition)
            yield from find_conditions(column, left if column.relation in aliases(left) else right)
        case LeftJoin(left=left) if column.relation in aliases(left):
            yield from find_conditions(column, left)
        case DerivedTable(source=source) | GroupedTable(source=source):
            renamed = source_column(column, relation)
            if renamed is not None:
                yield from find_conditions(renamed, source)


def _comparisons(column: Column, condition: exp.Expr | None) -> Iterator[exp.Expr]:
    for each in conjuncts(condition):
        part = each.unnest()
        if isinstance(part, exp.Try):
            part = part.this.unnest()
        if isinstance(part, exp.Between):
            is_meant = as_column(part.this) == column
        else:
            is_meant = _is_year(part, column)
        if isinstance(part, exp.EQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
            is_meant |= column in (as_column(part.left), as_column(part.right))
        if is_meant:
            yield part


def _is_year(part: exp.Expr, column: Column) -> bool:
    if not isinstance(part, exp.EQ):
        return False
    inner = part.left.this if isinstance(part.left, exp.Try) else part.left
    if not isinstance(inner, exp.Extract):
        return False
    year = part.right
    is_written = isinstance(year, exp.Literal) and not year.is_string and len(year.name) == 4
    return is_written and inner.name.lower() == "year" and as_column(inner.expression) == column


def source_column(column: Column, derived: DerivedTable | GroupedTable) -> Column | None:
    """The column of a sub-query's source that one of its own is another name for, or None."""
    if column.relation != derived.alias:
        return None
    for named in derived.columns if isinstance(derived, DerivedTable) else derived.keys:
        if named.name == column.name:
            return as_column(named.expression)
    return None


@dataclass(frozen=True, slots=True)
class PinnedScan:
    """A scan under filters, with what these say of its columns; names in small letters."""

    table: str
    alias: str
    constants: Mapping[str, int]
    """Columns that equal a written whole number."""
    pairs: tuple[tuple[str, str], ...]
    """Columns that equal each other."""

    def fixed_columns(self, names: frozenset[str], *, among: frozenset[str]) -> frozenset[str]:
        """The columns, out of some, that have one value only once those of given names have."""
        # Equality is transitive: what equals a fixed column is fixed, until nothing more is.
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


def find_pinned_scan(relation: Relation) -> PinnedScan | None:
    """What filters fix of the scan below them; None where there is something else below.

    >>> import sqlglot
    >>> likes = Filter(Scan("likes", "t"), sqlglot.parse_one("t.object = 7 AND t.number > 2"))
    >>> sorted(find_pinned_scan(likes).constants)
    ['object']
    """
    constants: dict[str, int] = {}
    pairs: list[tuple[str, str]] = []
    while isinstance(relation, Filter):
        # Only conditions that must all hold fix a column: one side of an OR may be false.
        for each in conjuncts(relation.condition):
            part = each.unnest()
            if isinstance(part, exp.EQ):
                one, two = as_column(part.left), as_column(part.right)
                if one is not None and two is not None:
                    pairs.append((one.name.lower(), two.name.lower()))
                for column, other in ((one, part.right), (two, part.left)):
                    if column is not None and (number := _whole(other)) is not None:
                        constants[column.name.lower()] = number
        relation = relation.source
    if not isinstance(relation, Scan):
        return None
    return PinnedScan(relation.table, relation.alias, constants, tuple(pairs))


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that must all be true for a condition to be true.

    >>> import sqlglot
    >>> [str(each) for each in conjuncts(sqlglot.parse_one("a AND (b AND (c OR d))"))]
    ['a', 'b', '(c OR d)']
    """
    inner = condition
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.And):
        yield from conjuncts(inner.left)
        yield from conjuncts(inner.right)
    elif condition is not None:
        yield condition


def numbered_limit(
    columns: Sequence[Column], condition: exp.Expr | None, source: Relation
) -> int | None:
    """The rows of one owner that a condition on their numbers leaves: 1 for `number = 1`.

    None where the columns do not tell the owner, or no condition bounds a number.
    """
    limits = []
    for each in conjuncts(condition):
        part = each.unnest()
        if not isinstance(part, exp.EQ | exp.LTE | exp.LT):
            continue
        number, limit = as_column(part.left), _number_limit(part)
        table = None if number is None else _numbering(number, source)
        if limit is not None and table is not None and _tells_owner(columns, source, table):
            limits.append(limit)
    return min(limits, default=None)


def _numbering(column: Column, relation: Relation) -> DerivedTable | None:
    """The sub-query that numbers the rows of each owner in a column, or None."""
    while isinstance(relation, DerivedTable):
        if column.relation == relation.alias and column.name in relation.numbered:
            return relation
        found = source_column(column, relation)
        if found is None:
            return None
        column, relation = found, relation.source
    return None


def _tells_owner(columns: Sequence[Column], relation: Relation, table: DerivedTable) -> bool:
    """Whether one of some columns of a relation tells the owner of rows of a sub-query in it."""
    names = list(columns)
    while isinstance(relation, DerivedTable) and relation is not table:
        found = (source_column(each, relation) for each in names)
        names, relation = [each for each in found if each is not None], relation.source
    return any(each.relation == table.alias and each.name in table.owner_columns for each in names)


def _number_limit(part: exp.EQ | exp.LTE | exp.LT) -> int | None:
    """The rows that `n = 3`, `n <= 3` or `n < 3` leave, for numbers from 1."""
    number = _whole(part.right)
    if number is None:
        return None
    if isinstance(part, exp.EQ):
        return 1
    return max(0, number if isinstance(part, exp.LTE) else number - 1)


def _whole(expression: exp.Expr) -> int | None:
    sign = 1
    while isinstance(expression, exp.Paren | exp.Neg):
        sign = -sign if isinstance(expression, exp.Neg) else sign
        expression = expression.this
    is_number = isinstance(expression, exp.Literal) and not expression.is_string
    return sign * int(expression.this) if is_number and str(expression.this).isdigit() else None


def as_column(expression: exp.Expr | None) -> Column | None:
    """The column that an expression is and nothing more, or None.

    >>> import sqlglot
    >>> print(as_column(sqlglot.parse_one("(o.custkey)")))
    o.custkey
    >>> print(as_column(sqlglot.parse_one("o.custkey + 1")))
    None
    """
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, exp.Column) and isinstance(expression.this, exp.Identifier):
        return Column(expression.table, expression.name)
    return None


def column_expression(column: Column) -> exp.Column:
    """A column as a part of an expression."""
    return exp.column(column.name, table=column.relation, quoted=True)
