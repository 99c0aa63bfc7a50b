"""A relation with the owners of its rows as columns, and the columns that it forces to be equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from celosia.queries.algebra import Column, Relation, aliases
from celosia.queries.bounds.lineage import as_column, conjuncts, find_origins
from celosia.queries.policy.values import Policy


def lower_case(column: Column) -> Column:
    """The column as it is compared: names of columns know no case."""
    return Column(column.relation, column.name.lower())


def equal_columns(condition: exp.Expr | None) -> Iterator[tuple[Column, Column]]:
    """The pairs of columns that are equal wherever a condition is true."""
    for each in conjuncts(condition):
        inner: exp.Expr | None = each
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, exp.EQ):
            left, right = as_column(inner.left), as_column(inner.right)
            if left is not None and right is not None:
                yield left, right


def exact_pairs(
    pairs: Iterable[tuple[Column, Column]], *sources: Relation, policy: Policy
) -> Iterator[tuple[Column, Column]]:
    """The pairs of equal columns from which more equalities follow.

    Numbers with fractions are not among them: two different whole numbers beyond 2^53 equal the
    same double, so that the keys on both sides of it may be those of two people.
    """
    for left, right in pairs:
        types = _types(left, sources, policy) | _types(right, sources, policy)
        if len(types) == 1 and not types & {None, "number"}:
            yield left, right


def _types(column: Column, sources: Iterable[Relation], policy: Policy) -> set[str | None]:
    """The declared types of the columns of tables that a column shows; None if computed."""
    source = next((each for each in sources if column.relation in aliases(each)), None)
    found = None if source is None else find_origins(column, source)
    if found is None:
        return {None}
    declared = ((policy.table(each.table), each.column) for each in found)
    columns = (table.column(name) if table else None for table, name in declared)
    return {each.type if each else None for each in columns}


class Equalities:
    """Classes of equal columns: union-find, without the tricks that only large ones need."""

    def __init__(self, pairs: Iterable[tuple[Column, Column]] = ()) -> None:
        self._classes: dict[Column, frozenset[Column]] = {}
        self.add(pairs)

    @classmethod
    def of(cls, *several: Equalities) -> Equalities:
        """All that several know together."""
        joint = cls()
        for each in several:
            for members in each._classes.values():
                joint.add((min(members, key=str), member) for member in members)
        return joint

    def add(self, pairs: Iterable[tuple[Column, Column]]) -> None:
        """Note pairs of equal columns."""
        for left, right in pairs:
            together = self.members(left) | self.members(right)
            for member in together:
                self._classes[member] = together

    def members(self, column: Column) -> frozenset[Column]:
        """All columns that are known to equal one, itself among them."""
        return self._classes.get(lower_case(column), frozenset({lower_case(column)}))

    def leader(self, column: Column) -> Column:
        """The same column for all that are equal."""
        return min(self.members(column), key=str)

    def are_equal(self, left: Column, right: Column) -> bool:
        """Whether two columns are known to be equal."""
        return lower_case(right) in self.members(left)


@dataclass(frozen=True, slots=True)
class OwnedRelation:
    """A relation with the owners of its rows as columns."""

    relation: Relation
    owners: tuple[Column, ...]
    """One column for each person that a row can belong to; never NULL."""
    tables: tuple[str, ...]
    """For each owner the table that the key is of: values of different tables are different."""
    determinants: tuple[frozenset[Column], ...]
    """For each owner the columns of which one value never goes with two owners."""
    key_columns: tuple[frozenset[Column], ...] = ()
    """For each owner the columns that hold the same key."""
    unidentified: int = 0
    """With a row as unit: private rows that take part and that no unique column identifies."""

    @property
    def owner_count(self) -> int:
        """How many different people (or rows) one row of the relation can belong to."""
        return len(self.owners) + self.unidentified

    def is_determined_by(self, expression: exp.Expression | None) -> bool:
        """Whether one value of an expression never goes with two different owners."""
        column = as_column(expression)
        known = {lower_case(each) for columns in self.determinants[:1] for each in columns}
        return self.owner_count == 1 and column is not None and lower_case(column) in known

    def is_identified_by(self, expression: exp.Expression | None) -> bool:
        """Whether an expression is the key of the only owner: one value is one person."""
        column = as_column(expression)
        known = {lower_case(each) for columns in self.key_columns[:1] for each in columns}
        return self.owner_count == 1 and column is not None and lower_case(column) in known

    def as_dict(self) -> dict[str, object]:
        """The same facts as plain values."""
        return {
            "owners": [str(each) for each in self.owners],
            "tables": list(self.tables),
            "owner_count": self.owner_count,
        }
