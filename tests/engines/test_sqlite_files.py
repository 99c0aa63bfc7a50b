"""SQLite files behind a vault: copied when they are opened, or refused with what is missing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from celosia.core.errors import EngineError
from celosia.core.randomness import Seeded
from celosia.engines import DuckDBEngine, sqlite_files
from celosia.queries import Vault

needs_extension = pytest.mark.skipif(
    find_spec("duckdb_extension_sqlite_scanner") is None,
    reason="duckdb-extension-sqlite-scanner is not installed",
)
POLICY = """
name = "clinic"
database.path = "clinic.db"
unit = { name = "person", table = "person", key = "id" }
budget.epsilon = 10
[tables.person.columns]
id = { type = "integer", unique = true }
town = { type = "text", keys = ["A", "B"] }
[tables.visit]
references = { person = "person.id" }
[tables.visit.columns]
person = { type = "integer", most = 3 }
day = "date"
cost = { type = "number", lower = 0, upper = 10, grid = 0.01 }
"""


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A policy beside a SQLite file of 40 people, with its newest rows in another file."""
    with closing(sqlite3.connect(tmp_path / "clinic.db")) as base, base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, town TEXT COLLATE NOCASE)")
        base.execute("CREATE TABLE visit (person INTEGER, day DATE, cost REAL)")
        base.executemany("INSERT INTO person VALUES (?, ?)", [(n, "AB"[n % 2]) for n in range(40)])
        base.executemany(
            "INSERT INTO visit VALUES (?, '2026-01-05', 2.5)", [(n % 40,) for n in range(80)]
        )
    path = tmp_path / "clinic.toml"
    path.write_text(POLICY)
    return path


def test_what_is_missing_to_read_sqlite_is_told(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_files, "find_spec", lambda _: None)
    with pytest.raises(EngineError) as refused:
        Vault.open(clinic, rng=Seeded(1))
    assert refused.value.key == "CEL-E013.sqlite"
    assert "pip install duckdb-extension-sqlite-scanner" in refused.value.fix


def test_other_files_are_not_taken_for_sqlite(tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"SQLite")
    assert not sqlite_files.is_sqlite(tmp_path / "short")


@needs_extension
def test_a_sqlite_file_is_asked_as_it_was_when_it_was_opened(clinic: Path) -> None:
    with Vault.open(clinic, rng=Seeded(1)) as vault:
        with closing(sqlite3.connect(clinic.with_name("clinic.db"))) as base, base:
            base.execute("DELETE FROM visit")
        (row,) = vault.sql("SELECT COUNT(*) AS n, SUM(cost) AS s FROM visit", epsilon=9).rows
        # Noise of scale 2 * 3 / 9 on 80 and of ten times that, from the middle, on 200: the chance
        # that either is off by 20 or 200 is below 1e-12.
        assert abs(row["n"] - 80) < 20
        assert abs(row["s"] - 200) < 200
        assert vault._engine.state is None  # rows may come in a file beside it
        answer = vault.sql("SELECT town, COUNT(*) AS n FROM person GROUP BY town", epsilon=1)
        assert [row["town"] for row in answer.rows] == ["A", "B"]


@needs_extension
def test_a_cell_of_another_type_fails_when_the_file_is_opened(clinic: Path) -> None:
    with closing(sqlite3.connect(clinic.with_name("clinic.db"))) as base, base:
        base.execute("INSERT INTO visit VALUES ('seven', '2026-01-05', 1)")
    with pytest.raises(EngineError) as refused:
        DuckDBEngine(clinic.with_name("clinic.db"))
    assert refused.value.key == "CEL-E013.policy"
    assert "seven" not in str(refused.value)
