"""A policy against the names and types of a database, its drafts, and where the database is."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.queries.policy.policies import SHOP

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.engines import DuckDBEngine
from celosia.queries import Vault
from celosia.queries.catalogue import read_columns, read_keys
from celosia.queries.policy import (
    Database,
    check_against_database,
    database_url,
    draft_policy,
    policy_type,
    read_policy,
)
from celosia.queries.policy.database import DatabaseKeys, fits

IN_DATABASE = {
    "NATION": {"NATIONKEY": "INTEGER"},
    "customer": {
        "custkey": "BIGINT",
        "nationkey": "int4",
        "segment": "character varying(10)",
        "vip": "BOOLEAN",
        "photo": "BLOB",
    },
    "orders": {
        "orderkey": "BIGINT",
        "custkey": "DECIMAL(18,0)",
        "orderdate": "DATE",
        "price": "DECIMAL(15,2)",
        "shipped": "TIMESTAMP WITH TIME ZONE",
    },
    "secret": {"x": "INTEGER"},
}


def refusal(columns: dict[str, dict[str, str]]) -> InputError:
    with pytest.raises(InputError) as caught:
        check_against_database(read_policy(SHOP), columns)
    return caught.value


def test_a_database_that_has_all_that_is_declared_and_more_is_accepted() -> None:
    check_against_database(read_policy(SHOP), IN_DATABASE)


def test_what_is_missing_or_of_another_type_is_told_at_once() -> None:
    columns = {name: dict(each) for name, each in IN_DATABASE.items()}
    columns["nations"] = columns.pop("NATION")
    columns["orders"]["price"] = "VARCHAR"
    columns["customer"]["segmnt"] = columns["customer"].pop("segment")
    error = refusal(columns)
    problems = error.details["problems"]
    assert isinstance(problems, list)
    assert [problem["code"] for problem in problems] == ["CEL-Q018"] * 3
    for words in ("'nations'?", "'segmnt'?", 'type = "text"'):
        assert words in str(error)


def test_a_long_type_does_not_fill_the_message() -> None:
    columns = {name: dict(each) for name, each in IN_DATABASE.items()}
    columns["orders"]["price"] = f"ENUM({', '.join(repr(str(n)) for n in range(1000))})"
    assert refusal(columns).code == "CEL-Q018"
    assert len(str(refusal(columns))) < 400


DUCKDB_TYPES = {
    "integer": "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT UBIGINT DECIMAL(9,0)",
    "number": "DOUBLE FLOAT REAL DECIMAL(15,2) NUMERIC",
    "text": "VARCHAR TEXT CHAR(3) UUID",
    "boolean": "BOOLEAN BOOL",
    "date": "DATE",
    "timestamp": "TIMESTAMP TIMESTAMPTZ TIMESTAMP_NS TIMESTAMP_S DATETIME",
}


def test_types_are_recognised_as_duckdb_itself_writes_them() -> None:
    for type_, written in DUCKDB_TYPES.items():
        for each in written.split():
            described = duckdb.sql(f"SELECT CAST(NULL AS {each}) AS x").types[0]
            assert policy_type(str(described)) == type_, (each, described)
            assert policy_type(each) == type_
    assert policy_type(str(duckdb.sql("SELECT 'a'::ENUM('a', 'b)') AS x").types[0])) == "text"
    for each in ("BLOB", "INTEGER[]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "INTERVAL"):
        assert policy_type(str(duckdb.sql(f"SELECT CAST(NULL AS {each}) x").types[0])) is None


def test_whole_numbers_are_numbers_but_not_the_other_way_round() -> None:
    assert fits("number", "BIGINT")
    assert not fits("integer", "DECIMAL(15,2)")
    assert not fits("date", "TIMESTAMP")


def test_a_draft_holds_every_name_and_no_value_and_must_be_filled_in() -> None:
    text = draft_policy(IN_DATABASE, name="shop")
    table = tomllib.loads(text)
    assert set(table["tables"]) == set(IN_DATABASE)
    assert not any(each["public"] for each in table["tables"].values())
    assert table["tables"]["orders"]["columns"]["shipped"] == "timestamp"
    assert "photo" not in table["tables"]["customer"]["columns"]
    with pytest.raises(InputError) as caught:
        read_policy(text)
    problems = caught.value.details["problems"]
    assert isinstance(problems, list)
    codes = [problem["code"] for problem in problems]
    assert codes[:2] == ["CEL-Q013", "CEL-Q010"]
    assert set(codes[2:]) == {"CEL-Q017"}  # where the tables are


def test_a_draft_that_is_filled_in_is_a_policy(tmp_path: Path) -> None:
    text = draft_policy({"visits": {"day": "DATE"}})
    text = text.replace('# name = "customer"', 'name = "row"').replace(
        "# epsilon = 1", "epsilon = 1"
    )
    text = text.replace("[database]", '[database]\npath = "x.duckdb"')
    assert read_policy(text).unit.is_row


def test_a_draft_takes_keys_from_the_catalogue_of_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            'CREATE TABLE "a person" (id INTEGER PRIMARY KEY, card VARCHAR UNIQUE, one INT, '
            "two INT, UNIQUE (one, two), raw BLOB UNIQUE);"
            "CREATE TABLE pair (a INTEGER, b INTEGER, PRIMARY KEY (a, b));"
            'CREATE TABLE visit (id INTEGER PRIMARY KEY, who INTEGER REFERENCES "a person"(id), '
            "card VARCHAR, a INTEGER, b INTEGER, FOREIGN KEY (a, b) REFERENCES pair (a, b))"
        )
    with DuckDBEngine(path) as engine:
        keys = read_keys(engine, timeout=60)
        text = draft_policy(read_columns(engine, timeout=60), keys=keys)
    tables = tomllib.loads(text)["tables"]
    assert tables["visit"]["references"] == {"who": "a person.id"}
    assert "references" not in tables["a person"]
    unique = {
        (table, column)
        for table, facts in tables.items()
        for column, each in facts["columns"].items()
        if isinstance(each, dict) and each["unique"]
    }
    assert unique == {("a person", "id"), ("a person", "card"), ("visit", "id")}
    assert '# Tables that others refer to, of which one may be the unit: "a person".id' in text
    filled = text.replace('# name = "customer"', 'name = "person"\ntable = "a person"\nkey = "id"')
    filled = filled.replace("# epsilon = 1", "epsilon = 1")
    filled = filled.replace("[tables.pair]\npublic = false", "[tables.pair]\npublic = true")
    filled = filled.replace("[database]", f"[database]\npath = {json.dumps(str(path))}")
    with Vault.open(read_policy(filled), rng=Seeded(1)) as vault:
        assert vault.explain("SELECT COUNT(*) FROM visit").parts


def test_a_draft_notes_two_ways_to_one_table() -> None:
    columns = {
        "person": {"id": "INTEGER"},
        "visit": {"id": "INTEGER", "who": "INTEGER"},
        "lab": {"visit": "INTEGER", "who": "INTEGER"},
    }
    keys = DatabaseKeys(
        unique=frozenset({("person", "id"), ("visit", "id")}),
        references=(
            ("visit", "who", "person", "id"),
            ("lab", "visit", "visit", "id"),
            ("lab", "who", "person", "id"),
        ),
    )
    text = draft_policy(columns, keys=keys)
    assert text.count("both lead to") == 1
    assert "# visit and who both lead to person: where it is the unit" in text


def test_keys_on_columns_that_cannot_be_asked_are_left_out() -> None:
    keys = DatabaseKeys(
        unique=frozenset({("a", "raw"), ("a", "id"), ("gone", "id")}),
        references=(("b", "raw", "a", "raw"), ("b", "x", "a", "day"), ("b", "x", "gone", "id")),
    )
    columns = {"a": {"id": "INTEGER", "raw": "BLOB", "day": "DATE"}, "b": {"x": "INTEGER"}}
    tables = tomllib.loads(draft_policy(columns, keys=keys))["tables"]
    assert tables["a"]["columns"]["id"]["unique"] is True
    assert "references" not in tables["b"]


@given(
    st.dictionaries(
        st.text(min_size=1), st.dictionaries(st.text(min_size=1), st.sampled_from(["DATE", "BLOB"]))
    )
)
def test_any_names_make_a_draft_that_is_toml(columns: dict[str, dict[str, str]]) -> None:
    try:
        repr(columns).encode()
        "".join(name + "".join(each) for name, each in columns.items()).encode()
    except UnicodeEncodeError:
        return
    every = [(table, column) for table, listed in columns.items() for column in listed]
    keys = DatabaseKeys(
        unique=frozenset(every),
        references=tuple((*one, *two) for one in every for two in every[:2]),
    )
    assert set(tomllib.loads(draft_policy(columns, keys=keys)).get("tables", {})) == set(columns)
    table = tomllib.loads(draft_policy(columns))
    for name, each in columns.items():
        wanted = {column for column, type_ in each.items() if type_ == "DATE"}
        assert set(table["tables"][name].get("columns", {})) == wanted


POSTGRES = SHOP[: SHOP.index("[database.files]")] + "[database]\nkind = 'postgres'\nurl = '{}'\n"
POSTGRES += SHOP[SHOP.index("\n[unit]") :]


@pytest.mark.parametrize(
    "url",
    [
        "$SHOP",
        "postgresql://reader@host/shop",
        "postgresql://reader:$SECRET@host:5432/shop",
        "postgresql://reader:${SECRET}@host:5432/shop",
        "host=db password=$SECRET",
    ],
)
def test_an_address_without_a_password_is_accepted(url: str) -> None:
    assert read_policy(POSTGRES.replace("{}", url)).database.url == url


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader:hunter2@host/shop",
        "postgresql://reader:hu/nt@er2@host/shop",
        "postgresql://reader:hunter2$X@host/shop",
        "postgresql://host/shop?user=x&password=hunter2",
        "host=db PASSWORD = hunter2",
    ],
)
def test_an_address_with_a_password_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(InputError, match="password") as caught:
        read_policy(POSTGRES.replace("{}", url))
    assert caught.value.code == "CEL-Q017"
    assert "hunter2" not in str(caught.value)


def test_an_address_is_read_from_the_environment_when_it_is_needed() -> None:
    database = Database(kind="postgres", url="postgresql://reader:${SECRET}@$HOST:5432/shop")
    address = database_url(database, environment={"SECRET": "s$HOST", "HOST": "db"})
    assert address == "postgresql://reader:s$HOST@db:5432/shop"
    with pytest.raises(InputError, match="does not set HOST, SECRET") as caught:
        database_url(database, environment={})
    assert caught.value.code == "CEL-Q017"
    with pytest.raises(InputError, match="no url"):
        database_url(Database(), environment={})


def test_whole_numbers_that_fail_beside_others_have_no_type() -> None:
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE t AS SELECT CAST('3' || repeat('0', 38) AS UHUGEINT) AS n")
        with pytest.raises(duckdb.ConversionException):
            engine.execute("SELECT n <= -5 FROM t").fetchall()
    assert policy_type("UHUGEINT") is None
