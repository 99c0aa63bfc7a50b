"""The state of a server's rows: the same only while nothing can have changed."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from celosia.engines import PostgresEngine

CHANGES = (
    "INSERT INTO visits VALUES (4)",
    "UPDATE visits SET n = n",
    "DELETE FROM visits WHERE n = 4",
    "TRUNCATE visits",
    "BEGIN; TRUNCATE visits; COPY visits FROM '/dev/null' (FREEZE); COMMIT",
    "ALTER TABLE visits ADD COLUMN m INT",
    "ALTER TABLE parts ATTACH PARTITION part FOR VALUES IN (1)",
    "BEGIN; INSERT INTO visits VALUES (5); ROLLBACK",  # nothing changes, which is not known
)


@pytest.fixture
def server(postgres: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "DROP TABLE IF EXISTS visits, parts, part CASCADE; "
            "CREATE TABLE visits (n INT); INSERT INTO visits VALUES (1), (2); "
            "CREATE TABLE parts (n INT) PARTITION BY LIST (n); "
            "CREATE TABLE part (n INT); INSERT INTO part VALUES (1)"
        )
        yield connection


def test_any_change_alters_the_state(postgres: str, server: psycopg.Connection) -> None:
    with PostgresEngine(postgres, tables=["visits", "parts"]) as engine:
        for change in CHANGES:
            before = engine.state
            assert before is not None
            server.execute("SELECT count(*) FROM visits")
            assert engine.state == before
            server.execute(change)
            assert engine.state != before


def test_a_change_counts_when_it_is_committed(postgres: str, server: psycopg.Connection) -> None:
    with PostgresEngine(postgres, tables=["visits"]) as engine:
        server.execute("BEGIN; INSERT INTO visits VALUES (3)")
        with psycopg.connect(postgres, autocommit=True) as other:
            other.execute("DELETE FROM visits WHERE n = 1")  # a later one that ends before
        before = engine.state
        server.execute("INSERT INTO visits VALUES (4)")
        assert engine.state == before
        server.execute("COMMIT")
        assert engine.state != before


def test_a_process_of_the_server_that_is_gone_takes_its_states_along(
    postgres: str, server: psycopg.Connection
) -> None:
    with PostgresEngine(postgres, tables=["visits"]) as engine:
        before = engine.state
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        after = engine.state
        assert after is not None
        assert after != before


@pytest.mark.parametrize(
    "made",
    [
        "CREATE VIEW odd AS SELECT n, random() AS r FROM visits",
        "CREATE TABLE odd (n INT); ALTER TABLE odd ENABLE ROW LEVEL SECURITY",
        "CREATE EXTENSION IF NOT EXISTS file_fdw; "
        "CREATE SERVER IF NOT EXISTS files FOREIGN DATA WRAPPER file_fdw; "
        "CREATE TABLE odd (n INT) PARTITION BY LIST (n); "
        "CREATE FOREIGN TABLE odd_part PARTITION OF odd DEFAULT SERVER files "
        "OPTIONS (filename '/dev/null')",
        "SELECT 1",  # no such table
    ],
)
def test_of_other_tables_no_state_is_known(
    postgres: str, server: psycopg.Connection, made: str
) -> None:
    server.execute("DROP VIEW IF EXISTS odd" if made.startswith("CREATE VIEW") else "SELECT 1")
    try:
        server.execute(made)
    except psycopg.errors.FeatureNotSupported:  # no file_fdw here
        return
    with PostgresEngine(postgres, tables=["visits", "odd"]) as engine:
        assert engine.state is None
    server.execute(f"DROP {'VIEW' if made.startswith('CREATE VIEW') else 'TABLE'} IF EXISTS odd")
    with PostgresEngine(postgres, tables=["visits"]) as engine:
        assert engine.state is not None
    with PostgresEngine(postgres) as engine:
        assert engine.state is None
