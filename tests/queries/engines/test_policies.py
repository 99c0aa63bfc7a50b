"""Policies on Spark and PostgreSQL: what is declared, the command line, a role that only reads."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest
import sqlglot
from tests.queries.engines.places import Place

from celosia.cli.main import main
from celosia.core.errors import EngineError, InputError
from celosia.queries import Vault
from celosia.queries.policy import Database, policy_hash, policy_text, read_policy
from celosia.queries.policy.values import Policy
from celosia.queries.sessions import open_engine

POLICY = """
name = "people"
unit = { name = "person", table = "person", key = "id" }
budget = { epsilon = 10 }
DATABASE
[tables.person.columns]
id = { type = "integer", unique = true }
Town = { type = "text", keys = ["A", "B"] }
"""
ON_SPARK = 'database = { kind = "spark", files = { person = "person.parquet" } }'
Call = Callable[..., dict[str, Any]]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """The command line in an empty folder; what it prints as JSON."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)

    def called(*words: object) -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", ["celosia", *map(str, words), "--json"])
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main()
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return called


def on(database: str) -> Policy:
    return read_policy(POLICY.replace("DATABASE", database))


@pytest.mark.spark
def test_a_policy_on_spark_is_checked_and_asked_from_the_command_line(
    spark: object, tmp_path: Path, call: Call
) -> None:
    people = pl.DataFrame({"id": range(100), "town": ["A"] * 60 + ["B"] * 40})
    people.write_parquet(tmp_path / "person.parquet")
    (tmp_path / "policy.toml").write_text(POLICY.replace("DATABASE", ON_SPARK))
    assert call("policy", "check", "policy.toml", "--connect")["ok"] is True
    question = "SELECT Town, COUNT(*) AS n FROM Person GROUP BY town"
    # Noise of scale 1/5 is beyond 10 once in e^50.
    answer = call("query", "policy.toml", question, "--epsilon", 5)["data"]
    assert [row["Town"] for row in answer["rows"]] == ["A", "B"]
    assert all(
        abs(row["n"] - truth) < 10 for row, truth in zip(answer["rows"], (60, 40), strict=True)
    )
    again = call("query", "policy.toml", question, "--epsilon", 5)["data"]
    assert again["stored"] is True
    assert again["rows"] == answer["rows"]
    refused = call("query", "policy.toml", question.replace("COUNT", "SUM"), "--epsilon", 5)
    assert refused["ok"] is False
    spent = call("query", "policy.toml", "SELECT COUNT(*) FROM person", "--epsilon", 6)
    assert spent["ok"] is False  # ten is the whole budget
    people.with_columns(id=pl.lit(1)).write_parquet(tmp_path / "person.parquet")
    repeated = call("policy", "check", "policy.toml", "--connect")
    assert repeated["ok"] is False


def test_a_policy_on_spark_is_written_as_it_is_read() -> None:
    policy = on(ON_SPARK)
    assert policy.database.kind == "spark"
    assert read_policy(policy_text(policy)) == policy
    elsewhere = on(ON_SPARK.removesuffix("}") + ', url = "yarn" }')
    others = (replace(policy, database=Database(path="a.duckdb")), elsewhere)
    assert len({policy_hash(each) for each in (policy, *others)}) == 3


@pytest.mark.parametrize(
    "database",
    [
        'database = { kind = "spark" }',
        'database = { kind = "spark", path = "a.duckdb", files = { person = "p.parquet" } }',
        'database = { kind = "spark", url = "sc://host/;token=hush" }',
        'database = { kind = "spark", files = { person = "" } }',
        'database = { kind = "duckdb", files = { person = "s3a://bucket/person" } }',
    ],
)
def test_a_place_that_cannot_be_is_refused(database: str) -> None:
    with pytest.raises(InputError) as caught:
        on(database)
    assert caught.value.code in ("CEL-Q003", "CEL-Q017")
    assert "hush" not in str(caught.value)


def test_a_spark_elsewhere_may_have_tables_and_files_of_its_own() -> None:
    on('database = { kind = "spark", url = "sc://host/;token=$TOKEN" }')
    there = on('database = { kind = "spark", files = { person = "s3a://bucket/person" } }').database
    assert (
        replace(there, folder="/here").resolve_path("s3a://bucket/person") == "s3a://bucket/person"
    )
    assert replace(there, folder="/here").resolve_path("person") == "/here/person"


def test_postgres_is_asked_with_a_role_that_only_reads(postgres: str, tmp_path: Path) -> None:
    place = Place("postgres", tmp_path, postgres)
    rows = {"person": [{"id": number, "Town": "AB"[number % 2]} for number in range(40)]}
    place.fill(rows, on('database = { kind = "postgres", url = "$NOWHERE" }'))
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS only_reader")
        owner.execute("CREATE ROLE only_reader LOGIN")
        owner.execute("GRANT SELECT ON person TO only_reader")
        place.url = postgres.replace("celosia@", "only_reader@")
        with psycopg.connect(place.url) as reader, pytest.raises(psycopg.Error):
            reader.execute("DELETE FROM person")
        policy = replace(
            on('database = { kind = "postgres", url = "$NOWHERE" }'),
            database=Database(kind="postgres", url=place.url),
        )
        with Vault.open(policy, ledger=tmp_path / "ledger.sqlite") as vault:
            answer = vault.sql("SELECT COUNT(*) FROM person", epsilon=5)
            assert abs(answer.rows[0]["count"] - 40) < 10  # noise beyond is one case in e^50
            assert vault.ledger.spent["epsilon"] == Fraction(5)
        engine = open_engine(policy)
        count = sqlglot.parse_one("SELECT COUNT(*) FROM person", read="postgres")
        with engine.snapshot(timeout=600) as read:
            assert read(count) == [(40,)]
            owner.execute("DELETE FROM person WHERE id < 10")
            assert read(count) == [(40,)]
        assert engine.run(count, timeout=600) == [(30,)]
        owner.execute("REVOKE SELECT ON person FROM only_reader")
        with pytest.raises(EngineError) as caught:
            engine.run(count, timeout=600)
        assert caught.value.code == "CEL-E010"
        engine.close()
        owner.execute("DROP ROLE only_reader")
