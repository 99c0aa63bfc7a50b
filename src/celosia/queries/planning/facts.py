"""Declared facts, and how often values repeat in public tables, which may be counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from celosia.queries.bounds.facts import DeclaredFacts
from celosia.queries.policy.values import Policy

Frequency = Callable[[str, str | None], int]
"""The most rows of a public table that share a value of a column; without one, all its rows."""


@dataclass(frozen=True, slots=True)
class PublicFacts:
    """Facts of a policy; frequencies of public tables are counted where nothing is declared.

    Nothing of a private table is ever measured here.
    """

    policy: Policy
    count: Frequency | None = None

    @property
    def _declared(self) -> DeclaredFacts:
        return DeclaredFacts(self.policy)

    def is_public(self, table: str) -> bool:
        """Whether the policy says so."""
        return self._declared.is_public(table)

    def frequency(self, table: str, column: str) -> int | None:
        """Counted for a public table, at most its declared number of rows; else None."""
        declared = self._declared.frequency(table, column)
        cap = self._declared.cap(table, column)
        if not self.is_public(table) or self.count is None or cap is not None:
            return declared
        return self.count(table, column)

    def size(self, table: str) -> int | None:
        """The rows of a public table: counted, else as declared."""
        declared = self.policy.table(table)
        if self.count is not None and self.is_public(table):
            return self.count(table, None)
        return None if declared is None else declared.rows

    def cap(self, table: str, column: str) -> int | None:
        """As declared."""
        return self._declared.cap(table, column)

    def displaced_rows(self, table: str) -> int:
        """As declared."""
        return self._declared.displaced_rows(table)

    def key(self, table: str) -> frozenset[str]:
        """As declared."""
        return self._declared.key(table)

    def containing_table(self, table: str) -> str | None:
        """As declared."""
        return self._declared.containing_table(table)
