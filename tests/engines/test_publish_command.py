"""`celosia publish --engine`: from the command line to real engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import tests.cli.conftest as commands
from tests.cli.running import MARK, Run
from tests.engines.tables import same_rows

from celosia import KAnonymity, Schema, frames
from celosia.tables import TableRelease, publish

run, people, schema = commands.run, commands.people, commands.schema
"""Fixtures of the command line."""


@pytest.fixture
def table(people: Path, tmp_path: Path) -> pl.DataFrame:
    """The people, as a file of Parquet beside that of text."""
    found = pl.read_csv(people, schema_overrides={"zip": pl.String})
    found.write_parquet(tmp_path / "people.parquet")
    return found


def whole(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """What publishing in memory gives."""
    return publish(table, Schema.load(path), KAnonymity(5)).data


def arguments(source: str, engine: str, *others: object) -> tuple[object, ...]:
    return ("publish", source, "--engine", engine, "-s", "people.toml", "--k", 5, *others)


def test_parquet_is_published_to_parquet_by_duckdb(
    run: Run, table: pl.DataFrame, schema: Path, tmp_path: Path
) -> None:
    result = run(*arguments("people.parquet", "duckdb", "-o", "safe.parquet"))
    assert result.code == 0, result.err
    assert MARK not in result.out + result.err
    release = TableRelease.load(tmp_path / "safe.parquet")
    assert same_rows(release.data, whole(table, schema))
    run(*arguments("people.parquet", "duckdb", "-o", "safe.parquet")).complains("CEL-I004")
    again = run(
        *arguments("people.parquet", "duckdb", "-o", "safe.parquet", "--overwrite", "--json"),
        "--report", "report.html",
    )  # fmt: skip
    assert again.data()["guarantee"] == json.loads(json.dumps(release.certificate()))["guarantee"]
    assert (tmp_path / "report.html").exists()


def test_a_table_of_a_duckdb_file_is_published_to_parquet_or_to_a_table(
    run: Run, table: pl.DataFrame, schema: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with duckdb.connect(tmp_path / "owner.duckdb") as owner:
        owner.execute("CREATE TABLE people AS FROM 'people.parquet'")
    monkeypatch.setenv("OWNER", str(tmp_path / "owner.duckdb"))
    for url in ("owner.duckdb", "$OWNER"):
        result = run(
            *arguments("people", "duckdb", "--url", url, "-o", "safe.parquet", "--overwrite")
        )
        assert result.code == 0, result.err
        assert same_rows(frames.read(tmp_path / "safe.parquet"), whole(table, schema))
    kept = arguments("people", "duckdb", "--url", "owner.duckdb", "-o", "safe")
    run(*kept).complains("CEL-P112")
    result = run(*kept, "--certificate", "safe.cert.json")
    assert result.code == 0, result.err
    with duckdb.connect(tmp_path / "owner.duckdb") as owner:
        found = pl.DataFrame(owner.execute("FROM safe").to_arrow_table())
    assert same_rows(found, whole(table, schema))
    paper = json.loads((tmp_path / "safe.cert.json").read_text())
    assert paper["data"]["engine"] == "duckdb"


def test_a_table_of_a_server_is_published_to_a_table_or_to_parquet(  # noqa: PLR0917 - fixtures
    run: Run,
    table: pl.DataFrame,
    schema: Path,
    tmp_path: Path,
    postgres: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    monkeypatch.setenv("CENSUS", postgres)
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute("CREATE SCHEMA shop")
        owner.execute("CREATE TABLE shop.people (name text, age bigint, zip text, disease text)")
        with owner.cursor() as cursor, cursor.copy("COPY shop.people FROM STDIN") as copy:
            for row in table.iter_rows():
                copy.write_row(row)
        goal = arguments("shop.people", "postgres", "--url", "$CENSUS", "-o")
        for output in (("shop.safe", "--certificate", "safe.cert.json"), ("safe.parquet",)):
            result = run(*goal, *output)
            assert result.code == 0, result.err
            assert MARK not in result.out + result.err
        expected = whole(table, schema)
        rows = owner.execute("SELECT * FROM shop.safe").fetchall()
    found = pl.DataFrame(rows, schema=expected.schema, orient="row")
    assert same_rows(found, expected)
    assert same_rows(frames.read(tmp_path / "safe.parquet"), expected)
    run(*goal, "shop.safe", "--certificate", "new.json").complains("CEL-P110")
    run(*goal, "shop.people", "--certificate", "new.json").complains("CEL-I007")
    run(*arguments("shop.nobody", "postgres", "--url", "$CENSUS", "-o", "a.parquet")).complains(
        "CEL-E021"
    )


@pytest.mark.usefixtures("table", "schema")
@pytest.mark.parametrize(
    ("engine", "others", "code"),
    [
        ("duckdb", ("--method", "mondrian-relaxed"), "CEL-P111"),
        ("duckdb", ("--population", "people.csv"), "CEL-P113"),
        ("duckdb", ("--model", "k-map:5"), "CEL-P062"),
        ("duckdb", ("--stream",), "CEL-P113"),
        ("duckdb", ("--url", "$NOT_SET_ANYWHERE"), "CEL-Q204"),
        ("duckdbb", (), "CEL-P113"),
        ("postgres", (), "CEL-P113"),
        ("postgres", ("--url", "$NOT_SET_ANYWHERE"), "CEL-Q204"),
        ("postgres", ("--url", f"postgresql://me:{MARK}@127.0.0.1:1/none"), "CEL-Q200"),
        ("postgres", ("--url", f"postgresql://127.0.0.1:1/none?password={MARK}"), "CEL-Q200"),
        ("postgres", ("--url", "postgresql://127.0.0.1:1/none"), "CEL-E014"),
        ("postgres", ("--url", "not a url"), "CEL-E014"),
    ],
    ids=range(12),
)
def test_what_an_engine_cannot_do_is_refused(
    run: Run, tmp_path: Path, engine: str, others: tuple[str, ...], code: str
) -> None:
    before = {*tmp_path.iterdir()}
    run(*arguments("people.parquet", engine, "-o", "safe.parquet", *others)).complains(code)
    assert {*tmp_path.iterdir()} == before


@pytest.mark.usefixtures("table", "schema")
def test_an_engine_needs_a_place_to_write_to(run: Run) -> None:
    run(*arguments("people.parquet", "duckdb")).complains("CEL-P113")
    plain: tuple[Any, ...] = ("publish", "people.csv", "-s", "people.toml", "--k", 5)
    run(*plain, "--url", "a.duckdb", "-o", "safe.csv").complains("CEL-P113")
