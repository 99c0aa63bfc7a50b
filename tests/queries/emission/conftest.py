"""Small databases in both engines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import exp
from tests.engines.server import postgres_server
from tests.queries.emission.shop import POLICY, SQL_TYPES, Rows

from celosia.engines import DuckDBEngine, PostgresEngine
from celosia.queries.emission import Target
from celosia.queries.policy.values import Policy


class Engines:
    """DuckDB over what some statements make; many tests load the same rows, so some stay open."""

    def __init__(self, folder: Path, *, most: int = 48) -> None:
        self.folder = folder
        self.most = most
        self.files = 0
        self.open: dict[str, DuckDBEngine] = {}

    def over(self, statements: str) -> DuckDBEngine:
        """The engine, as the last that was used."""
        engine = self.open.pop(statements, None)
        if engine is None:
            self.files += 1
            path = self.folder / f"{self.files}.duckdb"
            with duckdb.connect(str(path)) as connection:
                connection.execute(f"BEGIN; {statements}; COMMIT")
            engine = DuckDBEngine(path, threads=2)
        self.open[statements] = engine
        if len(self.open) > self.most:
            self.open.pop(next(iter(self.open))).close()
        return engine

    def close(self) -> None:
        for engine in self.open.values():
            engine.close()


class Bench:
    """One engine: load rows, then ask."""

    def __init__(self, dialect: str, engines: Engines, url: str | None) -> None:
        self.dialect = dialect
        self.engines = engines
        self.url = url
        self.engine: DuckDBEngine | PostgresEngine | None = None

    def target(self, policy: Policy = POLICY) -> Target:
        return Target(policy=policy, dialect="duckdb" if self.dialect == "duckdb" else "postgres")

    def load(self, rows: Mapping[str, Rows], policy: Policy = POLICY) -> None:
        statements = [text for table in policy.tables for text in written(table.name, rows, policy)]
        if self.url is not None:
            import psycopg

            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute("; ".join(statements))
            self.engine = self.engine or PostgresEngine(self.url)
            return
        self.engine = self.engines.over("; ".join(statements))

    def ask(self, query: exp.Expr) -> list[tuple[Any, ...]]:
        assert self.engine is not None
        return self.engine.run(query, timeout=600)

    def close(self) -> None:
        if isinstance(self.engine, PostgresEngine):
            self.engine.close()
        self.engine = None


def written(table: str, rows: Mapping[str, Rows], policy: Policy) -> list[str]:
    declared = policy.table(table)
    assert declared is not None
    columns = ", ".join(f'"{each.name}" {SQL_TYPES[each.type]}' for each in declared.columns)
    made = [f'DROP TABLE IF EXISTS "{table}"', f'CREATE TABLE "{table}" ({columns})']
    if rows.get(table):
        lines = [
            f"({', '.join(literal(row.get(each.name)) for each in declared.columns)})"
            for row in rows[table]
        ]
        made.append(f'INSERT INTO "{table}" VALUES {", ".join(lines)}')
    return made


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float) and not math.isfinite(value):
        return f"CAST('{value}' AS DOUBLE PRECISION)"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value) if not isinstance(value, bool) else str(value).upper()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The url of a private PostgreSQL server."""
    with postgres_server() as url:
        yield url


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engines]:
    """All that DuckDB has open."""
    made = Engines(tmp_path_factory.mktemp("emission"))
    yield made
    made.close()


@pytest.fixture(params=["duckdb", "postgres"])
def bench(request: pytest.FixtureRequest, engines: Engines) -> Iterator[Bench]:
    """Each engine in turn."""
    url = request.getfixturevalue("postgres") if request.param == "postgres" else None
    made = Bench(request.param, engines, url)
    yield made
    made.close()
