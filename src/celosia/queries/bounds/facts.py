"""What bounds may rest on: declared caps, public tables, and frequencies measured on the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from celosia.core.errors import InputError, QueryRefused
from celosia.core.numbers import whole
from celosia.queries.policy.values import (
    ANY_PREDICATE,
    ColumnPolicy,
    Policy,
    TablePolicy,
    graph_table,
    split_graph_table,
)

NOTHING: Mapping[tuple[str, str], int] = MappingProxyType({})


class Facts(Protocol):
    """What is known of the tables of a database. The case of names must not matter."""

    def is_public(self, table: str) -> bool:
        """Whether a table is the same in all neighbours."""

    def frequency(self, table: str, column: str) -> int | None:
        """The most rows that share one value, nulls apart, before any row is left out.

        Measured on a private table it depends on the data: whatever follows from it is for the
        curator only.
        """

    def cap(self, table: str, column: str) -> int | None:
        """The most rows that share one value in every database that may be asked."""

    def displaced_rows(self, table: str) -> int:
        """How many rows of a table may come or go, at most, because one other row does.

        A cap that is kept by leaving rows out lets one row push another one out. If a row is kept
        when it is among the first `most` of its value, in an order that depends on the contents of
        rows only, for every capped column *of the whole table* (no column after the other), one
        row displaces at most one more for each such column. A unique column displaces none: the
        database itself refuses the second row.
        """

    def key(self, table: str) -> frozenset[str]:
        """Columns of whole numbers in which, together, no two rows agree, in small letters.

        Empty where there are none. Only of whole numbers does one constant equal one value.
        """

    def containing_table(self, table: str) -> str | None:
        """A table, in small letters, that has all rows of a table among its own, or None.

        A row that comes to the one, or leaves it, does so in the other as well.
        """


@dataclass(frozen=True, slots=True)
class DeclaredFacts:
    """Facts of a policy, with frequencies that were measured where the policy allows it.

    Args:
        policy: its `unique` and `most` are caps, and `rows` bounds frequencies of public tables.
        measured: the most rows that share a value, by table and column.

    Raises:
        InputError: CEL-Q061 a measured frequency is not a whole number of at least 0.
        QueryRefused: CEL-Q062 its table is not declared, CEL-Q065 the table is private and the
            policy does not allow measured frequencies.
    """

    policy: Policy
    measured: Mapping[tuple[str, str], int] = field(default_factory=lambda: NOTHING)

    def __post_init__(self) -> None:
        for (table, column), number in self.measured.items():
            count = whole(number)
            if count is None or count < 0:
                raise InputError("CEL-Q061", table=table, column=column)
            if not (self.policy.elastic or self.is_public(table)):
                raise QueryRefused("CEL-Q065.not_allowed", table=table)
        small = {(table.lower(), column.lower()): n for (table, column), n in self.measured.items()}
        object.__setattr__(self, "measured", MappingProxyType(small))

    def is_public(self, table: str) -> bool:
        """Whether the policy says so."""
        return self._table(table).public

    def frequency(self, table: str, column: str) -> int | None:
        """The measured one; of a public table at most its number of rows."""
        self._column(table, column)
        found = self.measured.get((table.lower(), column.lower()))
        declared = self._table(table)
        return declared.rows if found is None and declared.public else found

    def cap(self, table: str, column: str) -> int | None:
        """1 for a unique column, else what is declared as `most`."""
        declared = self._column(table, column)
        return 1 if declared.unique else declared.most

    def displaced_rows(self, table: str) -> int:
        """One for each column with a `most` that is not unique anyway."""
        declared = self._table(table)
        if declared.public:
            return 0
        return sum(each.most is not None and not each.unique for each in declared.columns)

    def key(self, table: str) -> frozenset[str]:
        """The declared one, if it is of whole numbers."""
        declared = self._table(table)
        columns = [declared.column(name) for name in declared.key]
        if any(each is None or each.type != "integer" for each in columns):
            return frozenset()
        return frozenset(name.lower() for name in declared.key)

    def containing_table(self, table: str) -> str | None:
        """The table of all facts, for that of one predicate of a graph."""
        graph = self.policy.graph
        names = () if graph is None else (name.lower() for _, name in graph.predicates)
        name, place = split_graph_table(table.lower())
        if name not in names or self.policy.table(ANY_PREDICATE) is None:
            return None
        return graph_table(ANY_PREDICATE, place) if place else ANY_PREDICATE

    def _table(self, name: str) -> TablePolicy:
        found = self.policy.table(name)
        if found is None:
            raise QueryRefused("CEL-Q062.table", name=name)
        return found

    def _column(self, table: str, name: str) -> ColumnPolicy:
        found = self._table(table).column(name)
        if found is None:
            raise QueryRefused("CEL-Q062.column", name=name, table=table)
        return found
