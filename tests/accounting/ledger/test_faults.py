"""A database that fails: nothing is answered, and what was charged stays."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.accounting.ledger.ledgers import TENTH, asking, opened, reserved

from celosia.accounting.ledger import Reservation, sqlite_file
from celosia.accounting.ledger.sqlite_file import SqliteConnection
from celosia.core.errors import EngineError, InputError


@contextmanager
def at_commit(act: Callable[[SqliteConnection], None]) -> Iterator[None]:
    """Every file does something else for a while where a transaction is to end well."""
    usual = SqliteConnection.execute

    def execute(self: SqliteConnection, statement: str, **values: Any) -> Any:
        return act(self) if statement == "COMMIT" else usual(self, statement, **values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteConnection, "execute", execute)
        yield


@pytest.mark.parametrize("pragma", ["query_only = ON", "max_page_count = 1"])
def test_a_file_that_cannot_be_written_charges_and_answers_nothing(
    tmp_path: Path, pragma: str
) -> None:
    with opened(tmp_path / "l.db") as ledger:
        ledger.reserve(asking("first"))
        with ledger._transaction(writing=False) as connection:
            connection.execute(f"PRAGMA {pragma}")
        with pytest.raises(EngineError) as caught:
            ledger.reserve(asking("long " + "x" * 100_000))  # more than the pages have room for
        assert caught.value.key == "CEL-Q114.unavailable"
        assert str(tmp_path / "l.db") in str(caught.value)
        assert ledger.spent["epsilon"] == TENTH
        assert len(ledger.history()) == 1
    with opened(tmp_path / "l.db") as ledger:
        ledger.verify()
        assert ledger.spent["epsilon"] == TENTH
        assert isinstance(ledger.reserve(asking("long " + "x" * 100_000)), Reservation)


def test_a_read_only_file_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = sqlite_file.connect

    def forbidden(path: Path, *, patience: float) -> sqlite3.Connection:
        connection = usual(path, patience=patience)
        connection.execute("PRAGMA query_only = ON")
        return connection

    opened(tmp_path / "l.db").close()
    monkeypatch.setattr(sqlite_file, "connect", forbidden)
    with pytest.raises(EngineError) as caught:
        opened(tmp_path / "l.db")
    assert caught.value.key == "CEL-Q114.unavailable"


def test_a_commit_that_fails_is_not_taken_for_a_charge(tmp_path: Path) -> None:
    def refuse(_connection: SqliteConnection) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with opened(tmp_path / "l.db") as ledger:
        reservation = reserved(ledger, asking("first"))
        with at_commit(refuse):
            for attempt in (
                lambda: ledger.reserve(asking("second")),
                lambda: ledger.seal(reservation, 5),
                lambda: ledger.fail(reservation, "x"),
            ):
                with pytest.raises(EngineError) as caught:
                    attempt()
                assert caught.value.key == "CEL-Q114.unavailable"
        assert ledger.spent["epsilon"] == TENTH
        assert [each.status for each in ledger.history()] == ["reserved"]
        assert ledger.seal(reservation, 5).answer == 5


def test_a_commit_that_succeeds_unheard_is_charged_and_can_be_sealed_again(tmp_path: Path) -> None:
    """The server has committed, but the connection broke before it could say so."""

    def commit_and_fail(connection: SqliteConnection) -> None:
        connection.raw.execute("COMMIT")
        raise sqlite3.OperationalError("gone")

    with opened(tmp_path / "l.db") as ledger:
        with at_commit(commit_and_fail), pytest.raises(EngineError):
            ledger.reserve(asking("first"))
        assert ledger.spent["epsilon"] == TENTH
        reservation = reserved(ledger, asking("second"))
        with at_commit(commit_and_fail), pytest.raises(EngineError):
            ledger.seal(reservation, 5)
        assert ledger.seal(reservation, 5).answer == 5
        ledger.verify()


def test_who_waits_too_long_is_told_and_charged_nothing(place: str) -> None:
    with opened(place) as one, opened(place, patience=0.2) as two:
        with one._transaction(writing=True), pytest.raises(EngineError) as caught:
            two.reserve(asking("q"))
        assert caught.value.key == "CEL-Q114.unavailable"
        assert two.spent["epsilon"] == 0
        assert isinstance(two.reserve(asking("q")), Reservation)


def test_reading_does_not_wait_for_who_writes(place: str) -> None:
    with opened(place) as one, opened(place, patience=0.2) as two, one._transaction(writing=True):
        assert two.spent["epsilon"] == 0
        assert two.history() == ()


def test_a_server_that_goes_away_and_comes_back_is_used_again(postgres: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with opened(postgres) as ledger:
        ledger.reserve(asking("first"))
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        assert isinstance(ledger.reserve(asking("second")), Reservation)
        assert ledger.spent["epsilon"] == 2 * TENTH


def test_a_server_commits_to_disk_though_its_default_is_not_to(postgres: str) -> None:
    off = postgres + "%20-csynchronous_commit%3Doff"
    with opened(off) as ledger, ledger._transaction(writing=False) as connection:
        assert list(connection.execute("SHOW synchronous_commit")) == [("on",)]


def test_a_place_without_a_journal_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> Any:
            return super().execute(statement.replace("= WAL", "= MEMORY"), *values)

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **k, factory=Forgetful))
    with pytest.raises(InputError) as caught:
        opened(tmp_path / "l.db")
    assert caught.value.code == "CEL-Q116"
