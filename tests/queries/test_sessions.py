"""What is checked when a vault is opened, what is checked again, and what explaining leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import psycopg
import pytest
from tests.engines.server import postgres_server
from tests.queries.vaults import POLICY, filled, shop

from celosia.accounting.ledger import Ledger
from celosia.core.errors import EngineError, InputError, PrivacyError, QueryRefused
from celosia.core.randomness import Seeded
from celosia.engines import PostgresEngine
from celosia.queries import Policy, Vault, ledger_path, read_policy
from celosia.queries.catalogue import read_columns, read_unique_columns
from celosia.queries.policy import Database, Spending

COUNT = "SELECT COUNT(*) AS n FROM orders JOIN person ON person.id = orders.person"
TEXT = """
name = "shop"
database = { path = "shop.duckdb" }
unit = { name = "person", table = "person", key = "id" }
budget = { epsilon = 1 }
[tables.person.columns]
id = { type = "integer", unique = true }
[tables.orders]
references = { person = "person.id" }
[tables.orders.columns]
id = { type = "integer", unique = true }
person = "integer"
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A policy file beside its database."""
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        filled(connection, shop(Random(1)))
    (tmp_path / "shop.toml").write_text(TEXT, "utf-8")
    return tmp_path / "shop.toml"


def test_explaining_begins_no_ledger(file: Path) -> None:
    with Vault.open(file) as vault:
        assert vault.explain(COUNT, epsilon=0.5).epsilon == Fraction(1, 2)
        before = sorted(each.name for each in file.parent.iterdir())
        assert not ledger_path(file).exists()
        vault.sql(COUNT, epsilon=0.5)
    assert before == ["shop.duckdb", "shop.toml"]
    assert ledger_path(file).exists()


def test_explaining_under_a_new_policy_records_nothing(file: Path) -> None:
    with Vault.open(file) as vault:
        vault.sql(COUNT, epsilon=0.5)
        head = vault.ledger.head
    file.write_text(TEXT.replace("epsilon = 1", "epsilon = 0.9"), "utf-8")
    with Vault.open(file) as vault:
        vault.explain(COUNT, epsilon=0.1)
    with Ledger.open_view(ledger_path(file)) or pytest.fail("the ledger stands") as view:
        assert view.head == head


def test_a_ledger_of_something_else_is_told_at_opening(file: Path) -> None:
    with Vault.open(file) as vault:
        vault.sql(COUNT, epsilon=0.5)
    file.write_text(TEXT.replace('name = "shop"', 'name = "other"'), "utf-8")
    with pytest.raises(PrivacyError) as other:
        Vault.open(file)
    file.write_text(TEXT.replace("epsilon = 1", "epsilon = 2"), "utf-8")
    with pytest.raises(PrivacyError) as larger:
        Vault.open(file)
    assert (other.value.code, larger.value.code) == ("CEL-Q102", "CEL-Q103")


def test_public_questions_begin_no_ledger_and_say_nothing_of_a_charge(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        filled(connection, shop(Random(1)))
    place = tmp_path / "a.ledger"
    small = replace(
        POLICY,
        budget=Spending(epsilon=Fraction(1)),
        database=Database(path=str(tmp_path / "shop.duckdb")),
    )
    with Vault.open(small, ledger=place) as vault:
        assert vault.sql("SELECT COUNT(*) FROM part", epsilon=1).value == 3
        vault._engine.close()
        with pytest.raises(EngineError) as failed:
            vault.sql("SELECT COUNT(*) FROM part", epsilon=1)
        assert not place.exists()
    assert failed.value.code == "CEL-Q140"
    assert "charge" not in str(failed.value)


def test_a_fresh_answer_is_charged_and_takes_the_place_of_the_stored_one(file: Path) -> None:
    with Vault.open(file) as vault:
        first = vault.sql(COUNT, epsilon=0.25)
        again = vault.sql(COUNT, epsilon=0.25)
        fresh = vault.sql(COUNT, epsilon=0.25, fresh=True)
        last = vault.sql(COUNT, epsilon=0.25)
        assert vault.ledger.spent["epsilon"] == Fraction(1, 2)
    with Vault.open(file) as vault:
        later = vault.sql(COUNT, epsilon=0.25)
    assert [each.stored for each in (first, again, fresh, last, later)] == [
        *(False, True, False, True, True)
    ]
    assert (again.entry, again.answered) == (first.entry, first.answered)
    assert last.entry == later.entry == fresh.entry != first.entry
    assert later.rows == fresh.rows


def of_files(folder: Path, tables: dict[str, dict[str, list[Any]]], policy: str) -> Policy:
    """A policy over Parquet files."""
    for name, columns in tables.items():
        pl.DataFrame(columns).write_parquet(folder / f"{name}.parquet")
    files = tuple((name, str(folder / f"{name}.parquet")) for name in tables)
    return replace(read_policy(policy), database=Database(files=files))


def test_a_file_in_which_keys_repeat_later_is_not_answered(tmp_path: Path) -> None:
    tables = {"person": {"id": [1, 2, 3]}, "orders": {"id": [1, 2], "person": [1, 2]}}
    policy = of_files(tmp_path, tables, TEXT)
    with Vault.open(policy, rng=Seeded(1)) as vault:
        vault.sql(COUNT, epsilon=0.1)
        pl.DataFrame({"id": [1, 2, 3, 4]}).write_parquet(tmp_path / "person.parquet")
        vault.sql(f"{COUNT} WHERE orders.id > 0", epsilon=0.1)  # changed, and still unique
        pl.DataFrame({"id": [1, 2, 2]}).write_parquet(tmp_path / "person.parquet")
        with pytest.raises(EngineError) as failed:
            vault.sql("SELECT COUNT(*) FROM orders WHERE id > 1", epsilon=0.1)
        assert [each.status for each in vault.ledger.history()] == ["sealed", "sealed", "failed"]
    assert failed.value.code == "CEL-Q140"


def test_rows_that_are_inserted_twice_on_a_server_are_not_answered(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS orders, person")
        connection.execute("CREATE TABLE person (id BIGINT PRIMARY KEY)")
        connection.execute("CREATE TABLE orders (id BIGINT, person BIGINT)")
        connection.execute("INSERT INTO person VALUES (1), (2)")
        connection.execute("INSERT INTO orders VALUES (1, 1), (2, 2)")
        policy = replace(read_policy(TEXT), database=Database(kind="postgres", url=server))
        with PostgresEngine(server) as engine:
            found = read_unique_columns(lambda query: engine.run(query, timeout=9), "postgres")
        with Vault.open(policy, rng=Seeded(1)) as vault:
            vault.sql(COUNT, epsilon=0.1)
            connection.execute("INSERT INTO orders VALUES (2, 2)")
            with pytest.raises(EngineError) as failed:
                vault.sql(COUNT, epsilon=0.2)
            vault.sql("SELECT COUNT(*) FROM person", epsilon=0.1)  # its key is enforced
        with pytest.raises(InputError) as refused:
            Vault.open(policy, rng=Seeded(1))
    assert found == {("person", "id")}
    assert failed.value.code == "CEL-Q140"
    assert refused.value.key == "CEL-Q152.not_unique"


def test_indices_that_do_not_cover_all_rows_enforce_nothing(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        for text in (
            "DROP TABLE IF EXISTS partial, parent, child, pair CASCADE",
            "CREATE TABLE partial (a INT, b INT UNIQUE)",
            "CREATE UNIQUE INDEX ON partial (a) WHERE a > 5",
            "CREATE UNIQUE INDEX ON partial ((a + 1))",
            "CREATE TABLE parent (a INT PRIMARY KEY)",
            "CREATE TABLE child () INHERITS (parent)",
            "CREATE TABLE pair (a INT, b INT, UNIQUE (a, b))",
        ):
            connection.execute(text)
    with PostgresEngine(server) as engine:
        found = read_unique_columns(lambda query: engine.run(query, timeout=9), "postgres")
    mine = {each for each in found if each[0] in {"partial", "parent", "child", "pair"}}
    assert mine == {("partial", "b")}


def test_all_parts_of_an_answer_come_from_one_snapshot(file: Path) -> None:
    with Vault.open(file) as vault:
        run, vault._engine.run = vault._engine.run, None  # type: ignore[method-assign, assignment]
        vault.sql(COUNT, epsilon=0.1)
        vault._engine.run = run  # type: ignore[method-assign]


KEYS = """
name = "keys"
database = { path = "keys.duckdb" }
unit = { name = "person", table = "person", key = "id" }
budget = { epsilon = 1 }
[tables.person.columns]
id = { type = "text", unique = true }
name = "text"
moment = "timestamp"
[tables.visit]
references = { person = "person.id" }
[tables.visit.columns]
person = "text"
place = "text"
moment = "timestamp"
"""


def with_keys(folder: Path, person: str, visit: str) -> Policy:
    with duckdb.connect(str(folder / "keys.duckdb")) as connection:
        connection.execute(f"CREATE TABLE person ({person})")
        connection.execute(f"CREATE TABLE visit ({visit})")
    return replace(read_policy(KEYS), database=Database(path=str(folder / "keys.duckdb")))


def test_foreign_keys_of_two_types_are_refused_at_opening(tmp_path: Path) -> None:
    policy = with_keys(
        tmp_path,
        "id UUID, name VARCHAR, moment TIMESTAMP",
        "person VARCHAR, place VARCHAR, moment TIMESTAMP",
    )
    with pytest.raises(InputError) as refused:
        Vault.open(policy, rng=Seeded(1))
    assert refused.value.key == "CEL-Q018.key_types"
    assert "UUID" in str(refused.value)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*) FROM person p JOIN visit v ON p.name = v.place",
        "SELECT COUNT(*) FROM person p, visit v WHERE p.id = v.person AND p.name <> v.place",
        "SELECT COUNT(*) FROM person WHERE name IN (SELECT place FROM visit)",
        "SELECT COUNT(*) FROM person p JOIN visit v ON p.id = v.person WHERE p.moment < v.moment",
        "SELECT COUNT(CASE WHEN p.name = 'a' THEN p.moment ELSE v.moment END) FROM person p "
        "JOIN visit v ON p.id = v.person",
    ],
)
def test_questions_that_compare_types_which_do_not_go_together_are_refused(
    query: str, tmp_path: Path
) -> None:
    policy = with_keys(
        tmp_path,
        "id VARCHAR, name VARCHAR, moment TIMESTAMP",
        "person VARCHAR, place UUID, moment TIMESTAMP_NS",
    )
    with Vault.open(policy, rng=Seeded(1)) as vault:
        with pytest.raises(QueryRefused) as refused:
            vault.explain(query)
        vault.explain("SELECT COUNT(*) FROM person p JOIN visit v ON p.id = v.person")
    assert refused.value.code == "CEL-Q161"


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT"])
@pytest.mark.parametrize("through", ["table", "view"])
def test_collations_that_merge_texts_are_refused(
    collation: str, through: str, tmp_path: Path
) -> None:
    policy = with_keys(
        tmp_path,
        f"id VARCHAR, name VARCHAR COLLATE {collation}, moment TIMESTAMP",
        "person VARCHAR, place VARCHAR, moment TIMESTAMP",
    )
    if through == "view":
        with duckdb.connect(str(tmp_path / "keys.duckdb")) as connection:
            connection.execute("ALTER TABLE person RENAME TO people")
            connection.execute("CREATE VIEW person AS SELECT * FROM people")
    with pytest.raises(InputError) as refused:
        Vault.open(policy, rng=Seeded(1))
    assert refused.value.key == "CEL-Q018.collation"
    assert "person.name" in str(refused.value)


def test_types_of_a_server_are_told_as_they_are(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        for text in (
            "DROP TABLE IF EXISTS kinds",
            "DROP TYPE IF EXISTS mood",
            "DROP DOMAIN IF EXISTS small",
            "DROP COLLATION IF EXISTS loose",
            "CREATE TYPE mood AS ENUM ('glad', 'sad')",
            "CREATE DOMAIN small AS INT CHECK (VALUE < 9)",
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false)",
            "CREATE TABLE kinds (e mood, w NUMERIC(15,0), h NUMERIC(30,0), f NUMERIC(15,2), "
            "n NUMERIC, d small, a INT[], t TEXT, c VARCHAR(9), l TEXT COLLATE loose)",
        ):
            connection.execute(text)
    with PostgresEngine(server) as engine:
        found = read_columns(engine, timeout=9)["kinds"]
    assert found["e"] == "enum(mood)"
    assert found["l"] == "text COLLATE"
    wanted = {
        **{"e": "text", "w": "integer", "h": "number", "f": "number", "n": "number"},
        **{"d": None, "a": None, "t": "text", "c": "text", "l": None},
    }
    from celosia.queries.policy import policy_type

    assert {name: policy_type(each) for name, each in found.items()} == wanted


def test_an_enumeration_of_a_server_is_asked_like_a_text(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        for text in (
            "DROP TABLE IF EXISTS visit, person",
            "DROP TYPE IF EXISTS colour CASCADE",
            "CREATE TYPE colour AS ENUM ('red', 'blue')",
            "CREATE TABLE person (id BIGINT PRIMARY KEY, likes colour)",
            "INSERT INTO person SELECT n, (CASE WHEN n % 2 = 0 THEN 'red' ELSE 'blue' END)::colour "
            "FROM generate_series(1, 200) AS g(n)",
        ):
            connection.execute(text)
    policy = replace(
        read_policy(
            """
name = "likes"
database = { path = "a.duckdb" }
unit = { name = "person", table = "person", key = "id" }
budget = { epsilon = 10, delta = 1e-6 }
[tables.person.columns]
id = { type = "integer", unique = true }
likes = { type = "text", keys = ["red", "blue"] }
"""
        ),
        database=Database(kind="postgres", url=server),
    )
    with Vault.open(policy, rng=Seeded(1)) as vault:
        groups = vault.sql("SELECT likes, COUNT(*) AS n FROM person GROUP BY likes", epsilon=5)
        some = vault.sql("SELECT COUNT(*) AS n FROM person WHERE likes = 'red'", epsilon=5)
    # Noise of scale 1 / 5: beyond 4 with a chance of exp(-20).
    assert [row["n"] for row in groups.rows] == pytest.approx([100, 100], abs=4)
    assert some.value == pytest.approx(100, abs=4)
