"""A ledger that is deleted or replaced while it is open is missed; a lost one is not begun anew."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import duckdb
import pytest
from tests.accounting.ledger.ledgers import asking, opened, reserved

from celosia.accounting.ledger import Ledger
from celosia.accounting.ledger.ledger import check_no_traces, known_charges
from celosia.core.errors import PrivacyError
from celosia.core.randomness import Seeded
from celosia.queries import Vault, ledger_path
from celosia.queries.service import AuditLog, TokenStore, audit_log_path, tokens_path
from celosia.queries.service.audit_log import AuditLine


def removed(path: Path) -> None:
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink()


def replaced_by_a_copy(path: Path) -> None:
    shutil.copy(path, path.with_suffix(".copy"))
    path.with_suffix(".copy").replace(path)


def begun_anew(path: Path) -> None:
    removed(path)
    with opened(path) as other:
        reserved(other, asking("one"))


def emptied(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TABLE celosia_ledger; DROP TABLE celosia_ledger_head")


@pytest.mark.parametrize("change", [removed, replaced_by_a_copy, begun_anew, emptied])
def test_an_open_ledger_misses_its_file(change: Callable[[Path], None], tmp_path: Path) -> None:
    place = tmp_path / "a.ledger"
    with opened(place) as ledger:
        pending = reserved(ledger, asking("one"))
        change(place)
        before = place.read_bytes() if place.exists() else None
        uses: list[Callable[[], object]] = [
            lambda: ledger.reserve(asking("two")),
            lambda: ledger.seal(pending, [1]),
            lambda: ledger.fail(pending, "CEL-X001"),
            lambda: ledger.note_incident(pending, "failed-query"),
            lambda: ledger.has_answer(asking("one")),
            lambda: ledger.remaining,
            ledger.history,
        ]
        for use in uses:
            with pytest.raises(PrivacyError) as refused:
                use()
            assert refused.value.key == "CEL-Q104.replaced"
        assert (place.read_bytes() if place.exists() else None) == before


def test_a_view_misses_its_file_too(tmp_path: Path) -> None:
    place = tmp_path / "a.ledger"
    opened(place).close()
    with Ledger.open_view(place) or pytest.fail("the ledger stands") as view:
        assert view.history() == ()
        replaced_by_a_copy(place)
        with pytest.raises(PrivacyError) as refused:
            view.history()
    assert refused.value.key == "CEL-Q104.replaced"


def test_an_older_copy_in_the_same_file_is_noticed_by_its_head(tmp_path: Path) -> None:
    place = tmp_path / "a.ledger"
    with opened(place) as ledger:
        reserved(ledger, asking("one"))
    shutil.copy(place, tmp_path / "older")
    with opened(place) as ledger:
        reserved(ledger, asking("two"))
        with (
            closing(sqlite3.connect(tmp_path / "older")) as older,
            closing(sqlite3.connect(place)) as there,
        ):
            older.backup(there)
        with pytest.raises(PrivacyError) as refused:
            ledger.reserve(asking("three"))
    assert refused.value.key == "CEL-Q104.rolled_back"


@pytest.mark.parametrize("anew", [False, True])
def test_a_ledger_on_a_server_misses_its_tables(postgres: str, anew: bool) -> None:
    psycopg = import_module("psycopg")
    with opened(postgres) as ledger:
        pending = reserved(ledger, asking("one"))
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(
                "DROP TABLE celosia_ledger, celosia_ledger_head, celosia_ledger_incidents"
            )
        if anew:
            with opened(postgres) as other:
                reserved(other, asking("one"))
        expected = "CEL-Q104.rolled_back" if anew else "CEL-Q104.replaced"
        with pytest.raises(PrivacyError) as refused:
            ledger.reserve(asking("two"))
        assert refused.value.key == expected
        with pytest.raises(PrivacyError) as refused:
            ledger.seal(pending, [1])
        assert refused.value.key == expected


COUNT = "SELECT COUNT(*) FROM people"
POLICY = """
name = "people"
database = { path = "people.duckdb" }
unit = { name = "row" }
budget = { epsilon = 5 }
[tables.people.columns]
id = { type = "integer", unique = true }
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT range AS id FROM range(9)")
    (tmp_path / "policy.toml").write_text(POLICY, "utf-8")
    return tmp_path / "policy.toml"


def test_a_vault_answers_nothing_once_its_ledger_is_gone(policy: Path) -> None:
    with Vault.open(policy) as vault:
        vault.sql(COUNT, epsilon=0.5)
        removed(ledger_path(policy))
        for epsilon in (0.5, 1):
            with pytest.raises(PrivacyError) as refused:
                vault.sql(COUNT, epsilon=epsilon)
            assert refused.value.key == "CEL-Q104.replaced"
        assert not ledger_path(policy).exists()


def test_a_ledger_that_stood_at_opening_must_stand_at_the_first_question(policy: Path) -> None:
    with Vault.open(policy) as vault:
        vault.sql(COUNT, epsilon=0.5)
    with Vault.open(policy) as vault:
        removed(ledger_path(policy))
        with pytest.raises(PrivacyError) as refused:
            vault.sql(COUNT, epsilon=1)
        assert not ledger_path(policy).exists()
    assert refused.value.key == "CEL-Q104.rolled_back"


def logged(policy: Path, **line: object) -> None:
    with AuditLog(audit_log_path(policy)) as log:
        plain = {"action": "query", "outcome": "ok", "status": 200} | line
        log.write(AuditLine(**plain))  # type: ignore[arg-type]


def test_files_that_tell_of_no_charge_are_no_traces(policy: Path) -> None:
    logged(policy, action="explain")
    logged(policy, outcome="CEL-Q110", status=403, epsilon=0.5)
    TokenStore(tokens_path(policy)).create(role="analyst", name="ada")
    with Vault.open(policy) as vault:
        vault.sql(COUNT, epsilon=0.5)


def by_an_answer(policy: Path) -> None:
    logged(policy, action="explain")
    logged(policy, entry=1, epsilon=0.5)


def by_a_failure(policy: Path) -> None:
    logged(policy, outcome="CEL-Q140", status=500, epsilon=0.5)


def by_tokens(policy: Path) -> None:
    tokens = TokenStore(tokens_path(policy))
    tokens.note_charge()
    tokens.note_charge()


def by_a_damaged_file(policy: Path) -> None:
    tokens_path(policy).write_bytes(b"SQLite format 3\x00 and nothing else")


@pytest.mark.parametrize("left", [by_an_answer, by_a_failure, by_tokens, by_a_damaged_file])
def test_a_lost_ledger_is_begun_anew_only_if_the_curator_says_so(
    left: Callable[[Path], None], policy: Path, tmp_path: Path
) -> None:
    left(policy)
    for place in (None, tmp_path / "elsewhere.sqlite"):
        with pytest.raises(PrivacyError) as refused:
            Vault.open(policy, ledger=place)
        assert refused.value.code == "CEL-Q306"
    assert not ledger_path(policy).exists()
    with Vault.open(policy, rng=Seeded(1)) as vault:
        vault.sql(COUNT, epsilon=1)  # a simulation spends nothing
    with Vault.open(policy, new_ledger=True) as vault:
        vault.sql(COUNT, epsilon=1)
        vault.ledger.export(tmp_path / "a.jsonl")
    first = json.loads((tmp_path / "a.jsonl").read_text("ascii").splitlines()[0])
    assert json.loads(first["body"])["after_loss"] is True
    with Vault.open(policy) as vault:
        assert vault.sql(COUNT, epsilon=1).stored


def test_what_an_audit_log_knows_is_counted_once_for_each_entry(policy: Path) -> None:
    assert known_charges(audit_log_path(policy)) == (0, Fraction(0))
    logged(policy, entry=1, epsilon=0.5)
    logged(policy, entry=1, epsilon=0.5)
    logged(policy, entry=3, epsilon=0.1)
    with audit_log_path(policy).open("a") as log:
        log.write('{"entry": 5, "eps')
    assert known_charges(audit_log_path(policy)) == (2, Fraction(3, 5))


def test_a_file_that_is_not_there_tells_nothing(tmp_path: Path) -> None:
    check_no_traces([tmp_path / "none.jsonl", tmp_path / "none.sqlite"])
