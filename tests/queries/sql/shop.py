"""A small shop: its policy, a few rows of every table, and the same rows in DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from fractions import Fraction
from random import Random
from typing import Any

import duckdb
from tests.queries.databases import empty_database

from celosia.accounting.amounts import Spending
from celosia.queries.policy.values import ColumnPolicy, ColumnType, Policy, TablePolicy

COLUMNS: dict[str, dict[str, ColumnType]] = {
    "customer": {
        "custkey": "integer",
        "name": "text",
        "region": "text",
        "born": "date",
        "balance": "number",
        "active": "boolean",
    },
    "orders": {
        "orderkey": "integer",
        "custkey": "integer",
        "price": "number",
        "quantity": "integer",
        "placed": "date",
        "shipped": "timestamp",
        "status": "text",
    },
    "nation": {"region": "text", "country": "text"},
}

POLICY = Policy(
    name="shop",
    budget=Spending(epsilon=Fraction(1)),
    tables=tuple(
        TablePolicy(
            name=table,
            public=table == "nation",
            columns=tuple(ColumnPolicy(name=name, type=kind) for name, kind in columns.items()),
        )
        for table, columns in COLUMNS.items()
    ),
)

ROWS: dict[str, list[tuple[Any, ...]]] = {
    "customer": [
        (1, "Ada", "north", date(1980, 1, 31), 10.0, True),
        (2, "Ben", "south", date(1990, 6, 15), -5.0, False),
        (3, "Cid", "north", None, 0.0, None),
        (4, None, "west", date(2000, 2, 29), None, True),
        (None, "Eve", None, date(1990, 6, 15), 2.5, False),
    ],
    "orders": [
        (1, 1, 5.0, 1, date(2020, 1, 1), datetime(2020, 1, 2, 9, 30), "open"),
        (2, 1, 7.5, 2, date(2020, 2, 29), datetime(2020, 3, 1, 0, 0), "done"),
        (3, 2, 1.0, 0, date(2021, 12, 31), None, "done"),
        (4, 3, None, 3, None, datetime(2021, 1, 1, 23, 59), "lost"),
        (5, None, 2.0, 5, date(2020, 1, 1), None, None),
        (6, 9, 1.0, None, date(2019, 5, 5), datetime(2019, 5, 6, 12, 0), "open"),
        (7, 3, 0.0, 2, date(2021, 12, 31), None, ""),
    ],
    "nation": [("north", "X"), ("north", "Y"), ("south", "X"), (None, "Z")],
}

DATABASE = {
    table: [dict(zip(COLUMNS[table], row, strict=True)) for row in rows]
    for table, rows in ROWS.items()
}

_TYPES = {
    "integer": "INTEGER",
    "number": "DOUBLE",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}


def random_rows(rng: Random) -> dict[str, list[tuple[Any, ...]]]:
    """Rows whose cells are drawn from those of the shop, column by column."""
    drawn = {}
    for table, rows in ROWS.items():
        columns = list(zip(*rows, strict=True))
        number = rng.randrange(12)
        drawn[table] = [tuple(rng.choice(column) for column in columns) for _ in range(number)]
    return drawn


def in_duckdb(
    filled: Mapping[str, list[tuple[Any, ...]]] = ROWS,
) -> duckdb.DuckDBPyConnection:
    """The shop as a database."""
    connection = empty_database()
    for table, columns in COLUMNS.items():
        declared = ", ".join(f"{name} {_TYPES[kind]}" for name, kind in columns.items())
        connection.execute(f"CREATE TABLE {table} ({declared})")
        marks = ", ".join("?" for _ in columns)
        if filled[table]:
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", filled[table])
    return connection
