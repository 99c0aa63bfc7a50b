"""Random relations over tables A and B (private) and P (public), all with columns x and y."""

from __future__ import annotations

from random import Random
from typing import Any

import sqlglot

from celosia.queries.algebra import (
    Column,
    DerivedTable,
    Filter,
    Join,
    NamedExpression,
    Relation,
    Scan,
    SemiJoin,
    UnionAll,
    aliases,
)

NAMES = ("x", "y")


def parsed(text: str) -> Any:
    """A row-wise expression."""
    return sqlglot.parse_one(text)


class Trees:
    """Draws relations with fresh aliases."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.used = 0

    def alias(self) -> str:
        self.used += 1
        return f"t{self.used}"

    def column(self, relation: Relation) -> Column:
        return Column(self.random.choice(sorted(aliases(relation))), self.random.choice(NAMES))

    def relation(self, depth: int) -> Relation:
        kinds = (
            ["scan"]
            if depth == 0
            else ["join"] * 4 + ["match"] * 2 + ["filter", "derived", "stack"]
        )
        match self.random.choice(kinds):
            case "scan":
                return Scan(self.random.choice("AAABBP"), self.alias())
            case "filter":
                source = self.relation(depth - 1)
                return Filter(source, self.condition(source))
            case "derived":
                return self.derived(depth - 1)
            case "stack":
                parts = tuple(self.derived(depth - 1) for _ in range(2))
                return UnionAll(parts, self.alias())
        left = self.relation(depth - 1)
        right = self.relation(self.random.randrange(depth))
        both = [
            (self.column(left), self.column(right)) for _ in range(self.random.choice([1, 1, 2]))
        ]
        condition = self.comparison(self.column(left), self.column(right))
        extra = condition if self.random.random() < 0.3 else None
        if self.random.random() < 0.65:
            return Join(left, right, tuple(both), extra)
        return SemiJoin(left, right, tuple(both), extra, self.random.random() < 0.5)

    def derived(self, depth: int) -> DerivedTable:
        source = self.relation(depth)
        columns = tuple(NamedExpression(name, self.tree(self.column(source))) for name in NAMES)
        return DerivedTable(source, self.alias(), columns)

    def condition(self, relation: Relation) -> Any:
        return self.comparison(self.column(relation), self.random.choice([1, 2]))

    def comparison(self, left: Column, right: Column | int) -> Any:
        return parsed(f"{left} {self.random.choice(['<', '<=', '<>', '='])} {right}")

    @staticmethod
    def tree(column: Column) -> Any:
        return parsed(str(column))
