"""A small shop behind a vault: people, their orders with items, messages between them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from celosia.core.errors import PrivacyWarning
from celosia.core.randomness import Seeded, Source
from celosia.queries import Vault
from celosia.queries.policy import Database, Policy, Spending, Unit, read_policy

Rows = dict[str, list[dict[str, Any]]]

POLICY = replace(
    read_policy(
        """
name = "shop"
most_per_unit = 64
database = { path = "shop.duckdb" }
unit = { name = "person", table = "person", key = "id" }
budget = { epsilon = 10, delta = 1e-6 }

[tables.person.columns]
id = { type = "integer", unique = true }
town = { type = "text", keys = ["A", "B", "C"] }
street = "text"
age = { type = "integer", lower = 0, upper = 100 }

[tables.orders]
references = { person = "person.id" }
[tables.orders.columns]
id = { type = "integer", unique = true }
person = "integer"
price = { type = "number", lower = 0, upper = 10, grid = 0.01 }
balance = { type = "integer", lower = -5, upper = 5 }
status = { type = "text", keys = ["open", "done"] }
placed = "date"

[tables.item]
references = { "order" = "orders.id", part = "part.id" }
[tables.item.columns]
"order" = "integer"
part = "integer"

[tables.message]
references = { sender = "person.id", receiver = "person.id" }
[tables.message.columns]
sender = "integer"
receiver = "integer"

[tables.part]
public = true
[tables.part.columns]
id = { type = "integer", unique = true }
kind = { type = "text", keys = ["x", "y"] }
"""
    ),
    # Tests ask with a large epsilon, and often.
    budget=Spending(epsilon=Fraction(10**6), delta=Fraction(1, 10**4)),
)
BY_ROW = replace(POLICY, unit=Unit())
TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE PRECISION",
    "text": "VARCHAR",
    "date": "DATE",
    "boolean": "BOOLEAN",
}


def capped(policy: Policy, **most: int) -> Policy:
    """The policy with caps, written as table__column=most."""
    wanted = {tuple(name.split("__")): number for name, number in most.items()}
    tables = tuple(
        replace(
            table,
            columns=tuple(
                replace(each, most=wanted.get((table.name, each.name), each.most))
                for each in table.columns
            ),
        )
        for table in policy.tables
    )
    return replace(policy, tables=tables)


def shop(random: Random, *, people: int = 12, orders: int = 30) -> Rows:
    """Rows that fit the policy; keys are NULL or lead nowhere at times."""
    keys = list(range(1, people + 1))
    return {
        "person": [
            {
                "id": each,
                "town": random.choice(["A", "B", "C", "D", None]),
                "street": random.choice(["long", "short", None]),
                "age": random.choice([None, 5, 30, 31, 70, 130]),
            }
            for each in keys
        ],
        "orders": [
            {
                "id": each,
                "person": random.choice([None, people + 5, *keys]),
                "price": random.choice([None, 0.5, 2.25, 9.99, 50.0]),
                "balance": random.choice([None, -5, -1, 0, 3, 9]),
                "status": random.choice(["open", "done", "lost", None]),
                "placed": random.choice(["2026-01-05", "2026-03-09", None]),
            }
            for each in range(1, orders + 1)
        ],
        "item": [
            {"order": random.randint(1, orders + 2), "part": random.choice([None, 1, 2, 3])}
            for _ in range(2 * orders)
        ],
        "message": [
            {"sender": random.choice(keys), "receiver": random.choice([None, *keys])}
            for _ in range(orders)
        ],
        "part": [{"id": 1, "kind": "x"}, {"id": 2, "kind": "y"}, {"id": 3, "kind": "x"}],
    }


def without(person: int, rows: Rows) -> Rows:
    """The neighbour: all rows of a person taken out."""
    owned = {each["id"] for each in rows["orders"] if each["person"] == person}
    return {
        "person": [each for each in rows["person"] if each["id"] != person],
        "orders": [each for each in rows["orders"] if each["id"] not in owned],
        "item": [each for each in rows["item"] if each["order"] not in owned],
        "message": [
            each for each in rows["message"] if person not in (each["sender"], each["receiver"])
        ],
        "part": rows["part"],
    }


def filled(connection: duckdb.DuckDBPyConnection, rows: Rows, policy: Policy = POLICY) -> None:
    """Make the tables of the policy with the rows."""
    connection.execute("; ".join(statements(rows, policy)))


def statements(rows: Rows, policy: Policy = POLICY) -> list[str]:
    """The SQL that makes the tables."""
    made = []
    for table in policy.tables:
        columns = ", ".join(f'"{each.name}" {TYPES[each.type]}' for each in table.columns)
        made.append(f'CREATE TABLE "{table.name}" ({columns})')
        lines = [
            f"({', '.join(literal(row[each.name]) for each in table.columns)})"
            for row in rows[table.name]
        ]
        if lines:
            made.append(f'INSERT INTO "{table.name}" VALUES {", ".join(lines)}')
    return made


def _at_once(rows: Rows, policy: Policy = POLICY) -> str:
    """The same in one transaction, which is quicker."""
    return "; ".join(("BEGIN", *statements(rows, policy), "COMMIT"))


def literal(value: Any) -> str:
    """A value as SQL."""
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


def opened(
    rows: Rows, folder: Path, policy: Policy = POLICY, *, rng: Source | None = None
) -> Vault:
    """A vault over the rows; a simulation unless told otherwise."""
    path = folder / f"shop_{len(list(folder.iterdir()))}.duckdb"
    path.write_bytes(_database(_at_once(rows, policy)))
    there = replace(policy, database=Database(path=str(path)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # of the large budget
        return Vault.open(there, rng=Seeded(1) if rng is None else rng)


@lru_cache(maxsize=16)
def _database(made: str) -> bytes:
    """The file of a database that some statements make; many tests have the same rows."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "shop.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(made)
        return path.read_bytes()


def exact(rows: Rows, query: str) -> list[tuple[Any, ...]]:
    """What DuckDB answers without privacy."""
    return in_memory(rows).execute(query).fetchall()


def in_memory(rows: Rows) -> duckdb.DuckDBPyConnection:
    """A database of the rows, for reading only: who has the same rows may get the same one."""
    return _in_memory(_at_once(rows))


@lru_cache(maxsize=16)
def _in_memory(made: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(made)
    return connection
