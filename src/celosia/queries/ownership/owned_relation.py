"""A relation with the owners of its rows as columns."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from celosia.queries.algebra import Column, Relation
from celosia.queries.bounds.lineage import as_column
from celosia.queries.ownership.equalities import lower_case


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
