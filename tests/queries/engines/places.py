"""The same rows in DuckDB, PostgreSQL and Spark, each behind its engine or a vault."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
from sqlglot import exp

from celosia.core.errors import PrivacyWarning
from celosia.core.randomness import Seeded, Source
from celosia.engines import DuckDBEngine, PostgresEngine, SparkEngine, SqlEngine
from celosia.queries import Vault
from celosia.queries.emission import Target
from celosia.queries.policy import Database, Policy

ENGINES = ("duckdb", "postgres", "spark")
Tables = Mapping[str, Sequence[Mapping[str, Any]]]

_FRAMES: dict[str, Any] = {
    "integer": pl.Int64,
    "number": pl.Float64,
    "text": pl.String,
    "boolean": pl.Boolean,
    "date": pl.Date,
    "timestamp": pl.Datetime("us"),
}
_COLUMNS = {
    "integer": "BIGINT",
    "number": "DOUBLE PRECISION",
    "text": "TEXT",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
_folders = count()


class Place:
    """A database of one kind, filled anew for each policy.

    Args:
        kind: one of `ENGINES`.
        folder: for files.
        url: of a PostgreSQL server.
    """

    def __init__(self, kind: str, folder: Path, url: str | None = None) -> None:
        self.kind = kind
        self.folder = folder
        self.url = url
        self.engine: SqlEngine | None = None
        self.vaults: list[Vault] = []
        self.files: tuple[tuple[str, str], ...] = ()

    def fill(self, rows: Tables, policy: Policy, **types: pl.DataType) -> Policy:
        """Put rows in place, and return the policy with the place.

        Args:
            rows: of each table.
            policy: which declares the tables.
            types: of columns by name, where they are not the usual ones of the declared type.
        """
        frames = {
            table.name: pl.DataFrame(
                [[row.get(each.name) for each in table.columns] for row in rows[table.name]],
                schema={
                    each.name: types.get(each.name, _FRAMES[each.type]) for each in table.columns
                },
                orient="row",
            )
            for table in policy.tables
        }
        if self.kind == "postgres":
            self._fill_postgres(frames, policy, types)
            return replace(policy, database=Database(kind="postgres", url=self.url))
        here = self.folder / str(next(_folders))
        here.mkdir()
        files = []
        for number, (name, frame) in enumerate(frames.items()):
            path = here / f"{number}.parquet"
            frame.write_parquet(path)
            files.append((name, str(path)))
        kind: Any = self.kind
        return replace(policy, database=Database(kind=kind, files=tuple(files)))

    def _fill_postgres(
        self, frames: Mapping[str, pl.DataFrame], policy: Policy, types: Mapping[str, pl.DataType]
    ) -> None:
        assert self.url is not None
        with psycopg.connect(self.url, autocommit=True) as connection:
            for table in policy.tables:
                name = quoted(table.name)
                columns = ", ".join(
                    f"{quoted(each.name)} {_column(each.type, types.get(each.name))}"
                    for each in table.columns
                )
                connection.execute(f"DROP TABLE IF EXISTS {name}")
                connection.execute(f"CREATE TABLE {name} ({columns})")
                with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                    for row in frames[table.name].iter_rows():
                        copy.write_row(row)

    def open(self, rows: Tables, policy: Policy, **types: pl.DataType) -> SqlEngine:
        """An engine over rows."""
        self.close()
        self.files = self.fill(rows, policy, **types).database.files
        self.engine = self._opened()
        return self.engine

    def _opened(self) -> SqlEngine:
        if self.kind == "postgres":
            return PostgresEngine(self.url or "")
        if self.kind == "spark":
            return SparkEngine(files=dict(self.files))
        return DuckDBEngine(files=dict(self.files), threads=1)

    def open_far(self, table: str, policy: Policy) -> None:
        """An engine over dates and timestamps (d and t): two beyond Python's, and one of 2024."""
        far = 150_000_000  # days: some 410,000 years, where no timestamp reaches
        engine = self.open({table: [{"i": 0}] * 3}, policy)
        if self.url is not None:
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute(f"DELETE FROM {quoted(table)}")
                connection.execute(
                    f"INSERT INTO {quoted(table)} (i, d, t) VALUES "
                    f"(0, DATE '1970-01-01' + {far}, 'infinity'), (0, 'infinity', '4000-01-01 BC'),"
                    "(0, '2024-01-01', '2024-01-01')"
                )
            return
        ((_, file),) = self.files
        near = (dt.date(2024, 1, 1) - dt.date(1970, 1, 1)).days
        days = pl.Series([far, -far, near], dtype=pl.Int32)
        moments = pl.Series([2**63 - 2, -(2**63) + 2, near * 86_400_000_000], dtype=pl.Int64)
        rows = pl.read_parquet(file).with_columns(
            d=days.cast(pl.Date), t=moments.cast(pl.Datetime("us"))
        )
        engine.close()
        rows.write_parquet(file)
        self.engine = self._opened()

    def ask(self, query: exp.Expr) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        assert self.engine is not None
        return self.engine.run(query, timeout=600)

    def target(self, policy: Policy) -> Target:
        """What queries are written for."""
        dialect: Any = self.kind
        return Target(policy=policy, dialect=dialect)

    def vault(
        self,
        rows: Tables,
        policy: Policy,
        *,
        rng: Source | None = None,
        ledger: Path | None = None,
        **types: pl.DataType,
    ) -> Vault:
        """A vault over rows; a simulation unless told otherwise."""
        there = self.fill(rows, policy, **types)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # of a large budget
            made = Vault.open(there, rng=Seeded(1) if rng is None else rng, ledger=ledger)
        self.vaults.append(made)
        return made

    def close(self) -> None:
        """Let go of all that was opened."""
        if self.engine is not None:
            self.engine.close()
        self.engine = None
        while self.vaults:
            self.vaults.pop().close()


def quoted(name: str) -> str:
    """An identifier as PostgreSQL reads it."""
    return '"' + name.replace('"', '""') + '"'


def _column(kind: str, given: pl.DataType | None) -> str:
    if isinstance(given, pl.Decimal):
        return f"DECIMAL({given.precision}, {given.scale})"
    return _COLUMNS[kind]
