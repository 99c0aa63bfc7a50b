"""A small shop, drawn at random: people, their orders with items, messages between them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import sqlglot
from sqlglot import exp

from celosia.accounting.amounts import Spending
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
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy, Unit

Rows = list[dict[str, Any]]


def number(name: str, **facts: Any) -> ColumnPolicy:
    return ColumnPolicy(name=name, type="integer", **facts)


POLICY = Policy(
    name="shop",
    budget=Spending(epsilon=Fraction(1)),
    unit=Unit(name="person", table="Person", key="id"),
    tables=(
        TablePolicy(
            name="Person",
            columns=(number("id", unique=True), number("town")),
        ),
        TablePolicy(
            name="orders",
            columns=(
                number("id", unique=True),
                number("person"),
                number("amount"),
                ColumnPolicy(name="Price", type="number"),
                ColumnPolicy(name="note", type="text"),
            ),
            references=(("person", "Person", "id"),),
        ),
        TablePolicy(
            name="item",
            columns=(number("order"), number("part"), number("amount")),
            references=(("order", "orders", "id"), ("part", "part", "id")),
        ),
        TablePolicy(
            name="message",
            columns=(number("sender"), number("receiver"), number("amount")),
            references=(("sender", "Person", "id"), ("receiver", "Person", "id")),
        ),
        TablePolicy(name="part", columns=(number("id", unique=True), number("town")), public=True),
    ),
)
BY_ROW = replace(POLICY, unit=Unit())
SQL_TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE PRECISION",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}


def tree(text: str) -> exp.Expression:
    parsed = sqlglot.parse_one(text, read="duckdb")
    assert isinstance(parsed, exp.Expression)
    return parsed


def capped(policy: Policy, table: str, **most: int) -> Policy:
    """The policy with caps on columns of a table."""
    tables = tuple(
        replace(
            each,
            columns=tuple(
                replace(column, most=most.get(column.name, column.most)) for column in each.columns
            ),
        )
        if each.name == table
        else each
        for each in policy.tables
    )
    return replace(policy, tables=tables)


def database(random: Random, *, size: int = 5) -> dict[str, Rows]:
    """Rows with keys that are NULL or lead nowhere at times, and with duplicates."""

    def key(most: int) -> int | None:
        drawn: int = random.choice([0, *range(1, most + 2)])
        return drawn or None

    people = list(range(1, random.randrange(size) + 1))
    orders = list(range(1, random.randrange(2 * size) + 1))
    return {
        "Person": [{"id": each, "town": random.choice([1, 2, None])} for each in people],
        "orders": [
            {
                "id": each,
                "person": key(len(people)),
                "amount": random.choice([None, -3, 1, 2, 2**40]),
                "Price": random.choice([None, -2.5, 0.75, 3.0, 1e9]),
                "note": random.choice([None, "", "a", "b%", "quote \" and '"]),
            }
            for each in orders
        ],
        "item": [
            {"order": key(len(orders)), "part": key(3), "amount": random.randrange(4)}
            for _ in range(random.randrange(3 * size))
        ],
        "message": [
            {"sender": key(len(people)), "receiver": key(len(people)), "amount": 1}
            for _ in range(random.randrange(2 * size))
        ],
        "part": [{"id": each, "town": random.choice([1, 2])} for each in (1, 2, 3)],
    }


def owners_of(table: str, row: dict[str, Any], rows: dict[str, Rows]) -> set[Any]:
    """The people that a row belongs to, by the definition and nothing else."""
    if table == "Person":
        return {row["id"]}
    if table == "orders":
        return {row["person"]}
    if table == "message":
        return {row["sender"], row["receiver"]}
    if table == "item":
        return {each["person"] for each in rows["orders"] if each["id"] == row["order"]}
    return set()


def without(person: Any, rows: dict[str, Rows]) -> dict[str, Rows]:
    """The neighbour: all rows of a person taken out."""
    return {
        table: [row for row in found if person not in owners_of(table, row, rows)]
        for table, found in rows.items()
    }


class Trees:
    """Draws relations over the shop, with keys that often follow foreign keys."""

    LINKS = (
        ("Person", "id", "orders", "person"),
        ("orders", "id", "item", "order"),
        ("orders", "person", "orders", "person"),
        ("orders", "id", "orders", "id"),
        ("item", "part", "item", "part"),
        ("item", "part", "part", "id"),
        ("Person", "id", "message", "sender"),
        ("message", "receiver", "orders", "person"),
        ("item", "order", "item", "order"),
        ("Person", "town", "Person", "town"),
        ("message", "sender", "message", "receiver"),
    )

    def __init__(self, random: Random) -> None:
        self.random = random
        self.used = 0

    def alias(self) -> str:
        self.used += 1
        return f"t{self.used}"

    def relation(self, depth: int) -> tuple[Relation, list[tuple[str, Column]]]:
        """A relation, and its columns of whole numbers with their origins as `table.column`."""
        kind = self.random.choice(["join", "join", "join", "match", "filter", "derived", "stack"])
        if depth == 0:
            table = self.random.choice(["Person", "orders", "orders", "item", "message", "part"])
            return self.scan(table)
        if kind == "filter":
            source, columns = self.relation(depth - 1)
            _, column = self.random.choice(columns)
            test = self.random.choice(["< 3", "<> 1", "IS NOT NULL", "BETWEEN 1 AND 2"])
            return Filter(source, tree(f'{column.relation}."{column.name}" {test}')), columns
        if kind == "derived":
            return self.derived(*self.relation(depth - 1))
        if kind == "stack":
            source, columns = self.relation(depth - 1)
            again, others = Trees.relation(self, depth - 1)
            width = min(len(columns), len(others))
            alias = self.alias()
            parts = tuple(
                self.named(which, some[:width])
                for which, some in ((source, columns), (again, others))
            )
            seen = [
                (origin if origin == other else "", Column(alias, f"c{place}"))
                for place, ((origin, _), (other, _)) in enumerate(
                    zip(columns[:width], others[:width], strict=True)
                )
            ]
            return UnionAll(parts, alias), seen
        left, mine = self.relation(depth - 1)
        right, theirs = self.relation(self.random.randrange(depth))
        fitting = [
            (one, other)
            for origin, one in mine
            for there, other in theirs
            for a, b, c, d in self.LINKS
            if {origin, there} == {f"{a}.{b}", f"{c}.{d}"}
        ]
        pairs = fitting or [(mine[0][1], theirs[0][1])]
        keys = tuple(self.random.sample(pairs, min(len(pairs), self.random.choice([1, 1, 2]))))
        if kind == "match":
            return SemiJoin(left, right, keys, None, self.random.random() < 0.5), mine
        return Join(left, right, keys), mine + theirs

    def scan(self, table: str) -> tuple[Relation, list[tuple[str, Column]]]:
        alias = self.alias()
        declared = POLICY.table(table)
        assert declared is not None
        names = [each.name for each in declared.columns if each.type == "integer"]
        return Scan(table, alias), [(f"{table}.{name}", Column(alias, name)) for name in names]

    def derived(
        self, source: Relation, columns: list[tuple[str, Column]]
    ) -> tuple[Relation, list[tuple[str, Column]]]:
        some = self.random.sample(columns, self.random.randrange(1, len(columns) + 1))
        made = self.named(source, some)
        seen = [(origin, Column(made.alias, f"c{place}")) for place, (origin, _) in enumerate(some)]
        return made, seen

    def named(self, source: Relation, columns: list[tuple[str, Column]]) -> DerivedTable:
        assert {each.relation for _, each in columns} <= aliases(source)
        return DerivedTable(
            source,
            self.alias(),
            tuple(
                NamedExpression(f"c{place}", tree(f'{column.relation}."{column.name}"'))
                for place, (_, column) in enumerate(columns)
            ),
        )
