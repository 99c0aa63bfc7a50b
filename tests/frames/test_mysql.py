"""Tables of a real MariaDB server, read by PyMySQL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import polars as pl
import pytest
import tests.cli.conftest as commands
from tests.cli.running import Run
from tests.frames.mariadb import mariadb_server

from celosia import frames
from celosia.core.errors import InputError

run = commands.run
"""The command line."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with mariadb_server() as found:
        yield found


@pytest.fixture(scope="module")
def owner(address: str) -> Iterator[Any]:
    import pymysql

    socket = parse_qs(urlsplit(address).query)["unix_socket"][0]
    with pymysql.connect(unix_socket=socket, database="test", autocommit=True) as connection:
        yield connection.cursor()


def test_every_type_comes_through(address: str, owner: Any) -> None:
    owner.execute(
        "CREATE TABLE kinds (`a ``b` INT, big BIGINT UNSIGNED, pay DECIMAL(10, 2), share DOUBLE, "
        "born DATE, at DATETIME, name VARCHAR(20) CHARACTER SET utf8mb4, sort ENUM('x', 'y'))"
    )
    day, time = dt.date(1963, 8, 19), dt.datetime(2026, 1, 2, 3)
    rows = [(1, 2**64 - 1, Decimal("9.50"), 0.1, day, time, "ñ🦓", "x"), (None,) * 8]
    owner.executemany(f"INSERT INTO kinds VALUES ({', '.join(['%s'] * 8)})", rows)
    found = frames.read(address, query="test.kinds")
    assert found.rows() == rows
    assert found.columns[0] == "a `b"
    assert found.schema["pay"] == pl.Decimal(38, 2)
    only = "SELECT name FROM kinds WHERE at > '2026-01-02 01:00:00'"
    assert frames.read(address.replace("mysql:", "mariadb:"), query=only).rows() == [("ñ🦓",)]


def test_a_source_is_never_changed_and_failures_quote_nothing(
    address: str, owner: Any, tmp_path: Path
) -> None:
    owner.execute("CREATE TABLE notes (note TEXT)")
    owner.execute("INSERT INTO notes VALUES ('secret')")
    for statement in (
        "DROP TABLE notes",
        f"SELECT note FROM notes INTO OUTFILE '{tmp_path / 'out'}'",
        "SELECT note FROM nowhere",
        "SELECT JSON_VALUE(note, note), extractvalue(note, note) FROM notes",
    ):
        with pytest.raises(InputError) as caught:
            frames.read(address, query=statement)
        assert caught.value.code == "CEL-F030"
        assert "secret" not in f"{caught.value} {caught.value.__cause__}"
    assert not list(tmp_path.iterdir())
    assert frames.read(address, query="notes").rows() == [("secret",)]
    with pytest.raises(InputError) as caught:
        frames.read("mysql://nobody@127.0.0.1:1/test", query="notes")
    assert caught.value.code == "CEL-F030"


def test_a_table_is_published_from_the_command_line(
    address: str, owner: Any, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CENSUS", address)
    owner.execute("CREATE TABLE people (age INT, sex CHAR(1), illness VARCHAR(9))")
    rows = [(20 + n % 5, "FM"[n % 2], "flu" if n % 3 else "gout") for n in range(60)]
    owner.executemany("INSERT INTO people VALUES (%s, %s, %s)", rows)
    roles = ("-q", "age", "-q", "sex", "--sensitive", "illness", "--k", 6)
    for source in ("$CENSUS", address):
        for how in ((), ("--stream",)):
            made = run(
                "publish", source, "--query", "people", *roles, *how, "-o", "safe.csv",
                "--overwrite",
            )  # fmt: skip
            assert made.code == 0, made.err
            assert frames.read("safe.csv").group_by("age", "sex").len()["len"].min() == 6
