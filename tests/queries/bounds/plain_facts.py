"""Facts as plain numbers, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PlainFacts:
    frequencies: Mapping[tuple[str, str], int]
    public: frozenset[str] = frozenset()
    caps: Mapping[tuple[str, str], int] = field(default_factory=dict)
    pushed: Mapping[str, int] = field(default_factory=dict)
    keys: Mapping[str, frozenset[str]] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)

    def is_public(self, table: str) -> bool:
        return table in self.public

    def frequency(self, table: str, column: str) -> int | None:
        return self.frequencies.get((table, column))

    def cap(self, table: str, column: str) -> int | None:
        return self.caps.get((table, column))

    def displaced_rows(self, table: str) -> int:
        return self.pushed.get(table, 0)

    def key(self, table: str) -> frozenset[str]:
        return self.keys.get(table, frozenset())

    def containing_table(self, table: str) -> str | None:
        return self.parts.get(table)
