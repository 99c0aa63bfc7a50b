"""Rows without an owner: told in plans and answers, counted for the curator, refused if wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import psycopg
import pytest
from tests.engines.server import postgres_server
from tests.queries.vaults import BY_ROW, POLICY, Rows, capped, exact, opened, shop

from celosia.core.errors import EngineError, InputError
from celosia.core.randomness import Seeded
from celosia.engines import PostgresEngine
from celosia.queries import Policy, Vault, declaration_checks, read_policy
from celosia.queries.catalogue import Executor, read_columns, read_foreign_keys, read_keys
from celosia.queries.declaration_checks import OwnerCounts, count_owners
from celosia.queries.ownership import ownerless_notes
from celosia.queries.ownership.paths import OwnerPath
from celosia.queries.policy import Database, policy_hash, policy_text
from celosia.queries.sessions import open_engine

TEXT = """
name = "clinic"
database = { path = "clinic.duckdb" }
unit = { name = "patient", table = "patients", key = "id" }
budget = { epsilon = 20 }
most_per_unit = 64
[tables.patients.columns]
id = { type = "integer", unique = true }
card = { type = "text", unique = true }
[tables.visits]
references = { patient = "patients.id" }
[tables.visits.columns]
id = { type = "integer", unique = true }
patient = "integer"
[tables.bills]
references = { visit = "visits.id" }
[tables.bills.columns]
visit = "integer"
[tables.cards]
references = { card = "patients.card" }
[tables.cards.columns]
card = "text"
"""
NO_PATIENT = "rows of visits that lead to no patient are not counted (visits.patient is NULL)"
MISSING = "a visits.patient that is missing in patients counts as one patient"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as url:
        yield url


def clinic(folder: Path, **tables: dict[str, list[Any]]) -> Policy:
    """A policy over Parquet files; visits of one patient have no owner, of another one no row."""
    held: dict[str, dict[str, list[Any]]] = {
        "patients": {"id": [1, 2, 3], "card": ["a", "b", "c"]},
        "visits": {"id": [1, 2, 3, 4, 5, 6], "patient": [1, 1, 2, None, 9, 9]},
        "bills": {"visit": [1, 4, 5, 7, None]},
        "cards": {"card": ["a", "z", None]},
    }
    for name, columns in (held | tables).items():
        pl.DataFrame(columns).write_parquet(folder / f"{name}.parquet")
    files = tuple((name, str(folder / f"{name}.parquet")) for name in held)
    return replace(read_policy(TEXT), database=Database(files=files))


WHOLE: dict[str, dict[str, list[Any]]] = {
    "visits": {"id": [1, 2], "patient": [1, 2]},
    "bills": {"visit": [1, 1, 2]},
    "cards": {"card": ["a"]},
}


def test_plans_and_answers_say_which_rows_are_left_out(tmp_path: Path) -> None:
    with Vault.open(clinic(tmp_path), rng=Seeded(1)) as vault:
        plan = vault.explain("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        answer = vault.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        people = vault.sql("SELECT COUNT(*) AS n FROM patients", epsilon=1)
    assert plan.notes == (NO_PATIENT, MISSING)
    assert plan.as_dict()["notes"] == [NO_PATIENT, MISSING]
    assert f"note: {NO_PATIENT}" in str(plan)
    assert answer.warnings == (NO_PATIENT, MISSING)
    assert people.warnings == ()


def test_what_is_said_depends_on_the_policy_alone(tmp_path: Path) -> None:
    policy = read_policy(TEXT)
    bills = (
        "rows of bills that lead to no patient are not counted (bills.visit is NULL or missing in "
        "visits, or visits.patient is NULL)"
    )
    cards = (
        "rows of cards that lead to no patient are not counted (cards.card is NULL or missing in "
        "patients)"
    )
    assert ownerless_notes(["bills", "BILLS"], policy) == (bills, MISSING)
    assert ownerless_notes(["cards"], policy) == (cards,)
    assert ownerless_notes(["bills", "visits", "patients"], policy) == (bills, MISSING, NO_PATIENT)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    asked = "SELECT COUNT(*) AS n FROM bills JOIN visits ON bills.visit = visits.id"
    said = []
    for part in (clinic(tmp_path / "one"), clinic(tmp_path / "two", **WHOLE)):
        with Vault.open(part, rng=Seeded(1)) as vault:
            said.append(
                (vault.explain(asked, epsilon=1).notes, vault.sql(asked, epsilon=1).warnings)
            )
    assert said[0] == said[1]


COUNTED = {
    "SELECT COUNT(*) FROM orders": "SELECT COUNT(*) FROM orders WHERE person IS NOT NULL",
    "SELECT COUNT(*) FROM item": 'SELECT COUNT(*) FROM item JOIN orders ON orders.id = item."order"'
    " WHERE person IS NOT NULL",
    "SELECT COUNT(DISTINCT person) FROM orders": "SELECT COUNT(DISTINCT person) FROM orders",
    # Who joins the table of the unit asks for people that it holds.
    "SELECT COUNT(*) FROM orders JOIN person ON person.id = orders.person": (
        "SELECT COUNT(*) FROM orders JOIN person ON person.id = orders.person"
    ),
}


def with_gaps() -> Rows:
    """Orders of 30 people, of 20 whom the unit table lacks, and of nobody; items, some of none."""
    rows = shop(Random(5), people=30, orders=200)
    for number, each in enumerate(rows["orders"]):
        each["person"] = None if number < 50 else 100 + number % 20 if number < 110 else number % 30
    rows["item"] = [{"order": each % 250 + 1, "part": 1} for each in range(250)]
    return rows


@pytest.mark.parametrize("method", ["chosen-cap", "r2t", "r2t-cap", None])
@pytest.mark.parametrize("query", COUNTED)
def test_a_key_that_the_unit_table_lacks_is_one_person_in_every_method(
    query: str, method: str | None, tmp_path: Path
) -> None:
    """The noise is far below the number of rows that another rule would count or leave out."""
    rows = with_gaps()
    ((wanted,),) = exact(rows, COUNTED[query])
    with opened(rows, tmp_path, replace(POLICY, most_per_unit=8)) as vault:
        found = vault.sql(query, epsilon=100, method=method).value
    assert abs(found - wanted) < 10


def test_the_rows_of_a_key_that_the_unit_table_lacks_share_one_cap(tmp_path: Path) -> None:
    """They are bounded as the rows of one person, not as those of several."""
    rows = with_gaps()
    for each in rows["orders"]:
        each["person"] = 99 if (each["person"] or 0) >= 100 else each["person"]
    policy = capped(POLICY, orders__person=4)
    with opened(rows, tmp_path, policy) as vault:
        found = vault.sql("SELECT COUNT(*) FROM orders", epsilon=100, method="capped").value
    ((wanted,),) = exact(
        rows,
        "SELECT SUM(LEAST(n, 4)) FROM "
        "(SELECT COUNT(*) AS n FROM orders WHERE person IS NOT NULL GROUP BY person)",
    )
    assert abs(found - wanted) < 4


def counts(policy: Policy) -> list[OwnerCounts]:
    engine = open_engine(policy)
    try:
        types = read_columns(engine, timeout=600)
        return list(count_owners(policy, engine, types=types, timeout=600))
    finally:
        engine.close()


EXPECTED = [
    OwnerCounts(table="patients", column="id", rows=3, without_owner=0, owner_missing=0),
    OwnerCounts(table="visits", column="patient", rows=6, without_owner=1, owner_missing=2),
    OwnerCounts(table="bills", column="visit", rows=5, without_owner=3, owner_missing=1),
    OwnerCounts(table="cards", column="card", rows=3, without_owner=2, owner_missing=0),
]


def test_the_curator_is_told_how_many_rows_have_no_owner(tmp_path: Path) -> None:
    assert counts(clinic(tmp_path)) == EXPECTED
    whole = counts(clinic(tmp_path, **WHOLE))
    assert [each.rows for each in whole] == [3, 2, 3, 1]
    assert all(each.is_complete for each in whole)
    assert counts(replace(clinic(tmp_path), unit=BY_ROW.unit)) == []


def refusing(policy: Policy, *names: str) -> Policy:
    tables = tuple(
        replace(each, ownerless="refuse") if each.name in names else each for each in policy.tables
    )
    return replace(policy, tables=tables)


@pytest.mark.parametrize("table", ["visits", "bills", "cards"])
def test_a_policy_may_refuse_rows_without_an_owner(table: str, tmp_path: Path) -> None:
    policy = clinic(tmp_path)
    for part in (refusing(policy, table), replace(policy, ownerless="refuse")):
        with pytest.raises(InputError) as refused:
            Vault.open(part, rng=Seeded(1))
        assert refused.value.key == "CEL-Q152.ownerless"
        assert not any(digit in str(refused.value) for digit in "0123456789")
    only = refusing(clinic(tmp_path, **{table: WHOLE[table]}), table)
    with Vault.open(only, rng=Seeded(1)) as vault:
        assert vault.explain(f"SELECT COUNT(*) AS n FROM {table}", epsilon=1).notes == ()


def test_a_missing_person_alone_is_refused_too(tmp_path: Path) -> None:
    dangling: dict[str, dict[str, list[Any]]] = {"visits": {"id": [1], "patient": [9]}}
    with pytest.raises(InputError) as refused:
        Vault.open(refusing(clinic(tmp_path, **dangling), "visits"), rng=Seeded(1))
    assert refused.value.key == "CEL-Q152.ownerless"


def test_a_table_may_leave_out_what_the_policy_refuses(tmp_path: Path) -> None:
    policy = replace(
        clinic(tmp_path, **{**WHOLE, "cards": {"card": ["a", None]}}), ownerless="refuse"
    )
    with pytest.raises(InputError):
        Vault.open(policy, rng=Seeded(1))
    mixed = tuple(
        replace(each, ownerless="leave-out") if each.name == "cards" else each
        for each in policy.tables
    )
    with Vault.open(replace(policy, tables=mixed), rng=Seeded(1)) as vault:
        assert vault.explain("SELECT COUNT(*) AS n FROM cards", epsilon=1).notes
        assert not vault.explain("SELECT COUNT(*) AS n FROM bills", epsilon=1).notes


def test_rows_that_lose_their_owner_later_are_not_answered(tmp_path: Path) -> None:
    policy = replace(clinic(tmp_path, **WHOLE), ownerless="refuse")
    with Vault.open(policy, rng=Seeded(1)) as vault:
        vault.sql("SELECT COUNT(*) FROM visits", epsilon=1)
        pl.DataFrame({"id": [1, 2], "patient": [1, None]}).write_parquet(
            tmp_path / "visits.parquet"
        )
        with pytest.raises(EngineError) as failed:
            vault.sql("SELECT COUNT(*) FROM visits", epsilon=2)
        vault.sql("SELECT COUNT(*) FROM patients", epsilon=1)  # without visits
    assert failed.value.code == "CEL-Q140"


MADE = """
DROP TABLE IF EXISTS bills, visits, cards, patients;
CREATE TABLE patients (id BIGINT PRIMARY KEY, card UUID UNIQUE);
CREATE TABLE visits (id BIGINT PRIMARY KEY, patient BIGINT {visits});
CREATE TABLE bills (visit BIGINT {bills});
CREATE TABLE cards (card UUID);
INSERT INTO patients VALUES (1, '7f2c1b1e-6d0a-4d7c-9f57-3d1f0f1f2b01'), (2, NULL);
INSERT INTO visits VALUES (1, 1), (2, 2);
INSERT INTO bills VALUES (1);
INSERT INTO cards VALUES ('7f2c1b1e-6d0a-4d7c-9f57-3d1f0f1f2b01')
"""


def made(server: str, connection: psycopg.Connection[Any], **constraints: str) -> Policy:
    plain = {"visits": "", "bills": ""} | constraints
    for statement in MADE.format(**plain).split(";"):
        connection.execute(statement)
    return replace(
        read_policy(TEXT), database=Database(kind="postgres", url=server), ownerless="refuse"
    )


def test_rows_that_come_later_on_a_server_are_not_answered(server: str) -> None:
    asked = "SELECT COUNT(*) FROM bills"
    with psycopg.connect(server, autocommit=True) as connection:
        policy = made(server, connection)
        with Vault.open(policy, rng=Seeded(1)) as vault:
            vault.sql(asked, epsilon=1)
            connection.execute("INSERT INTO bills VALUES (7)")
            with pytest.raises(EngineError) as failed:
                vault.sql(asked, epsilon=2)
        with pytest.raises(InputError) as refused:
            Vault.open(policy, rng=Seeded(1))
        connection.execute("DELETE FROM bills WHERE visit = 7")
        connection.execute("INSERT INTO cards VALUES ('7f2c1b1e-6d0a-4d7c-9f57-3d1f0f1f2bff')")
        with pytest.raises(InputError) as other:
            Vault.open(policy, rng=Seeded(1))
    assert (failed.value.code, refused.value.code) == ("CEL-Q140", "CEL-Q152")
    assert other.value.details["table"] == "cards"


def test_what_a_server_enforces_is_not_counted(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    enforced = {
        "visits": "NOT NULL REFERENCES patients (id)",
        "bills": "NOT NULL REFERENCES visits (id)",
    }
    counted: list[str] = []
    plain = declaration_checks._counts

    def counting(path: OwnerPath, execute: Executor) -> OwnerCounts:
        counted.append(path.table)
        return plain(path, execute)

    monkeypatch.setattr(declaration_checks, "_counts", counting)
    with psycopg.connect(server, autocommit=True) as connection:
        policy = made(server, connection, **enforced)
        with PostgresEngine(server) as engine:
            known = read_foreign_keys(lambda query: engine.run(query, timeout=600), "postgres")
            keys = read_keys(engine, timeout=600)
        assert known.references == {
            ("visits", "patient", "patients", "id"),
            ("bills", "visit", "visits", "id"),
        }
        assert set(keys.references) >= known.references
        assert ("visits", "id") in keys.unique
        assert known.filled == {
            ("patients", "id"),
            ("visits", "id"),
            ("visits", "patient"),
            ("bills", "visit"),
        }
        with Vault.open(policy, rng=Seeded(1)) as vault:
            assert counted == ["cards"]
            vault.sql("SELECT COUNT(*) FROM bills", epsilon=1)
        assert counted == ["cards"]
        connection.execute("ALTER TABLE visits ALTER COLUMN patient DROP NOT NULL")
        Vault.open(policy, rng=Seeded(1)).close()
        assert counted == ["cards", "visits", "bills", "cards"]


def test_the_setting_is_part_of_the_policy() -> None:
    policy = read_policy(TEXT)
    refused = read_policy(
        TEXT.replace("[tables.visits]\n", '[tables.visits]\nownerless = "refuse"\n')
    )
    everywhere = read_policy(f'ownerless = "refuse"\n{TEXT}')
    assert len({policy_hash(each) for each in (policy, refused, everywhere)}) == 3
    for each in (policy, refused, everywhere):
        assert read_policy(policy_text(each)) == each


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("[tables.visits]\n", '[tables.visits]\nownerless = "drop"\n', "CEL-Q005"),
        ('name = "clinic"\n', 'name = "clinic"\nownerless = true\n', "CEL-Q005"),
        ("[tables.cards]\n", '[tables.cards]\npublic = true\nownerless = "refuse"\n', "CEL-Q003"),
        (
            '{ name = "patient", table = "patients", key = "id" }',
            '{ name = "row" }\nownerless = "refuse"',
            "CEL-Q010",
        ),
    ],
)
def test_settings_that_say_nothing_are_refused(old: str, new: str, code: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError) as refused:
        read_policy(TEXT.replace(old, new))
    assert refused.value.code == code


def test_a_null_key_of_the_unit_is_refused_with_the_others(tmp_path: Path) -> None:
    tables: dict[str, dict[str, list[Any]]] = {
        **WHOLE,
        "patients": {"id": [1, 2, None], "card": ["a", "b", "c"]},
    }
    with pytest.raises(InputError) as refused:
        Vault.open(replace(clinic(tmp_path, **tables), ownerless="refuse"), rng=Seeded(1))
    assert refused.value.details["table"] == "patients"
