"""Rows that were compared with their policy are compared again as soon as anything may differ."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.queries import Vault, declaration_checks, ledger_path, sessions
from celosia.queries.declaration_checks import record_path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no record is kept on Windows")
TEXT = """
name = "shop"
database = {database}
unit = {{ name = "person", table = "person", key = "id" }}
ownerless = "refuse"
budget = {{ epsilon = 1 }}
[tables.person.columns]
id = {{ type = "integer", unique = true }}
"""
SOURCES = {
    "duckdb": '{ path = "shop.duckdb" }',
    "csv": '{ files = { person = "person.csv" } }',
    "parquet": '{ files = { person = "person.parquet" } }',
}


def fill(folder: Path, kind: str, numbers: list[int]) -> Path:
    """Write the rows of a kind of source; the file stays the same one."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE person (id BIGINT)")
        connection.executemany("INSERT INTO person VALUES (?)", [[each] for each in numbers])
        if kind == "duckdb":
            file = folder / "shop.duckdb"
            connection.execute(f"ATTACH '{file}' AS there")
            connection.execute("CREATE OR REPLACE TABLE there.person AS FROM person")
        else:
            file = folder / f"person.{kind}"
            connection.execute(f"COPY person TO '{folder / 'new'}' (FORMAT {kind})")
            file.write_bytes((folder / "new").read_bytes())
            (folder / "new").unlink()
    return file


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declaration_checks, "REST", 0.0)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The checks that were made."""
    made: list[Any] = []
    real = sessions.check_unique

    def counted(*arguments: Any, **settings: Any) -> None:
        made.append(arguments)
        real(*arguments, **settings)

    monkeypatch.setattr(sessions, "check_unique", counted)
    return made


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Makes a policy file with rows of some kind."""

    def made(kind: str = "duckdb") -> Path:
        fill(tmp_path, kind, [1, 2, 3])
        (tmp_path / "shop.toml").write_text(TEXT.format(database=SOURCES[kind]), "utf-8")
        return tmp_path / "shop.toml"

    return made


def open_once(policy: Path) -> None:
    """Open a vault and its ledger, as a question does."""
    with Vault.open(policy) as vault:
        assert vault.ledger.remaining is not None


@pytest.mark.parametrize("kind", list(SOURCES))
def test_rows_are_checked_once_and_again_when_they_change(
    kind: str, make: Callable[..., Path], checks: list[Any]
) -> None:
    policy = make(kind)
    open_once(policy)
    open_once(policy)
    assert len(checks) == 1
    fill(policy.parent, kind, [1, 2, 4])
    open_once(policy)
    assert len(checks) == 2
    fill(policy.parent, kind, [1, 2, 2])
    with pytest.raises(InputError, match="is declared unique"):
        Vault.open(policy)
    with pytest.raises(InputError, match="is declared unique"):  # what was refused is not recorded
        Vault.open(policy)


def test_a_file_that_is_given_its_old_date_is_checked(make: Callable[..., Path]) -> None:
    policy = make("csv")
    open_once(policy)
    file = policy.parent / "person.csv"
    before = file.stat()
    file.write_text(file.read_text("utf-8").replace("3", "2"), "utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    assert (before.st_size, before.st_mtime_ns, before.st_ino) == (
        after.st_size,
        after.st_mtime_ns,
        after.st_ino,
    )
    with pytest.raises(InputError, match="is declared unique"):
        Vault.open(policy)


def test_changes_that_are_only_in_the_log_of_the_database_are_checked(
    make: Callable[..., Path],
) -> None:
    policy = make()
    open_once(policy)
    file = policy.parent / "shop.duckdb"
    before = file.stat()
    with duckdb.connect(str(file)) as connection:
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute("INSERT INTO person VALUES (3)")
    assert (policy.parent / "shop.duckdb.wal").exists()
    assert file.stat().st_size == before.st_size
    with pytest.raises(InputError, match="is declared unique"):
        Vault.open(policy)


def test_another_policy_is_checked(make: Callable[..., Path], checks: list[Any]) -> None:
    policy = make()
    open_once(policy)
    text = policy.read_text("utf-8").replace('"refuse"', '"leave-out"')
    policy.write_text(text, "utf-8")
    open_once(policy)
    assert len(checks) == 2


@pytest.mark.parametrize("harm", ["mode", "owner", "content", "link"])
def test_a_record_that_another_user_could_have_written_does_not_count(
    harm: str, make: Callable[..., Path], checks: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = make()
    open_once(policy)
    record = record_path(ledger_path(policy))
    assert record is not None
    assert record.stat().st_mode & 0o777 == 0o600
    if harm == "mode":
        record.chmod(0o666)
    elif harm == "owner":
        if os.geteuid() == 0:
            os.chown(record, 65534, 65534)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: 65534)
    elif harm == "content":
        record.write_text("0" * 64, "ascii")
    else:
        record.rename(record.with_name("elsewhere"))
        record.symlink_to("elsewhere")
    with Vault.open(policy):
        assert len(checks) == 2


def test_a_record_holds_a_digest_and_nothing_else(make: Callable[..., Path]) -> None:
    policy = make()
    open_once(policy)
    record = record_path(ledger_path(policy))
    assert record is not None
    assert len(bytes.fromhex(record.read_text("ascii"))) == 32


def test_a_file_that_has_just_changed_is_not_recorded(
    make: Callable[..., Path], checks: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declaration_checks, "REST", 3600.0)
    policy = make()
    open_once(policy)
    open_once(policy)
    assert len(checks) == 2


@pytest.mark.parametrize(
    "computed",
    [
        "VIEW today AS SELECT id FROM person WHERE current_date > DATE '2020-01-01'",
        "TABLE chance (id BIGINT, number DOUBLE GENERATED ALWAYS AS (random()))",
    ],
)
def test_rows_that_are_computed_are_checked_each_time(
    computed: str, make: Callable[..., Path], checks: list[Any]
) -> None:
    policy = make()
    with duckdb.connect(str(policy.parent / "shop.duckdb")) as connection:
        connection.execute(f"CREATE {computed}")
    open_once(policy)
    open_once(policy)
    assert len(checks) == 2


def test_a_look_and_a_simulation_leave_no_record(make: Callable[..., Path]) -> None:
    policy = make()
    before = sorted(each.name for each in policy.parent.iterdir())
    with Vault.open(policy) as vault:
        vault.explain("SELECT count(*) FROM person", epsilon=0.5)
    with Vault.open(policy, rng=Seeded(1)) as vault:
        vault.sql("SELECT count(*) FROM person", epsilon=0.5)
    assert sorted(each.name for each in policy.parent.iterdir()) == before


def test_a_record_that_cannot_be_written_is_no_error(
    make: Callable[..., Path], checks: list[Any]
) -> None:
    policy = make()
    record = record_path(ledger_path(policy))
    assert record is not None
    record.mkdir()
    open_once(policy)
    open_once(policy)
    assert len(checks) == 2
    assert not list(policy.parent.glob(".celosia-*"))
