"""Spark as an engine: nothing but SELECT, no word of a row, one state of the files, in time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
import sqlglot
from sqlglot import exp
from tests.spark import spark

from celosia.core.errors import EngineError
from celosia.engines.spark import SparkEngine, java, session, spark_session

__all__ = ["spark"]
pytestmark = pytest.mark.spark

SECRET = "4532-secret"


def query(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, read="duckdb")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("spark")
    rows = pl.DataFrame({"n": [*range(1000), 1], "s": ["x%"] * 1000 + [SECRET]})
    (made / "parts").mkdir()
    rows[:400].write_parquet(made / "parts" / "a.parquet")
    rows[400:].write_parquet(made / "parts" / "b.parquet")
    rows.head(10).write_csv(made / "few.csv")
    return made


@pytest.fixture(scope="module")
def engine(spark: object, folder: Path) -> Iterator[SparkEngine]:
    files = {"t": folder / "parts", "Few `Rows": folder / "few.csv"}
    with SparkEngine(files=files) as made:
        yield made


def test_a_query_returns_python_numbers(engine: SparkEngine) -> None:
    [(count, total, wide)] = engine.run(
        query("SELECT COUNT(*), SUM(n), SUM(CAST(9223372036854775807 AS BIGINT)) FROM t"),
        timeout=600,
    )
    assert (count, total, wide) == (1001, 499501, 1001 * (2**63 - 1))
    assert {type(each) for each in (count, total, wide)} == {int}
    table = engine.arrow(query('SELECT n FROM "few `rows" WHERE n < 3 ORDER BY n'), timeout=600)
    assert table.column("n").to_pylist() == [0, 1, 2]


def test_places_have_64_bits(engine: SparkEngine) -> None:
    placed = "SELECT MAX(p * 2147483647) FROM (SELECT ROW_NUMBER() OVER (ORDER BY n) AS p FROM t)"
    assert engine.run(query(placed), timeout=600) == [(1001 * 2147483647,)]


def test_what_spark_puts_aside_is_for_nobody_else(spark: Any) -> None:
    for name in ("spark.local.dir", "spark.sql.warehouse.dir"):
        folder = Path(spark.sparkContext.getConf().get(name).removeprefix("file:"))
        assert folder.parent.stat().st_mode & 0o077 == 0


def test_a_view_fails_on_no_row_whatever_it_was_made_with(spark: Any, folder: Path) -> None:
    owner = spark_session()
    owner.conf.set("spark.sql.ansi.enabled", "true")
    name = f"celosia_view_{uuid4().hex}"
    place = (folder / "parts").as_uri()
    owner.sql(f"CREATE TABLE {name}_rows USING parquet LOCATION '{place}'")
    owner.sql(f"CREATE VIEW {name} AS SELECT n, CAST(s AS INT) AS s FROM {name}_rows")
    try:
        with SparkEngine() as engine:
            text = f"SELECT COUNT(*), COUNT(s) FROM {name} WHERE n < 2"
            assert engine.run(query(text), timeout=600) == [(3, 0)]
    finally:
        owner.sql(f"DROP VIEW {name}")
        owner.sql(f"DROP TABLE {name}_rows")


def test_types_are_told_without_reading_rows(engine: SparkEngine) -> None:
    assert engine.columns() == {
        "t": {"n": "bigint", "s": "string"},
        "Few `Rows": {"n": "int", "s": "string"},
    }
    assert engine.understands(query("SELECT COUNT(s) FROM t"), timeout=600)
    assert not engine.understands(query("SELECT COUNT(x) FROM t"), timeout=600)
    with pytest.raises(EngineError) as caught:
        engine.understands(query("SELECT COUNT(x) FROM nowhere"), timeout=600)
    assert caught.value.code == "CEL-E010"


def test_a_failure_says_nothing_of_rows_anywhere(
    engine: SparkEngine, capfd: pytest.CaptureFixture[str]
) -> None:
    # RAISE_ERROR is let through by no question; here it stands for whatever may fail in Spark.
    failing = exp.Anonymous(this="RAISE_ERROR", expressions=[exp.column("s")])
    broken = exp.select(failing).from_("t").where("n = 1")
    seen = set()
    for tree in (broken, query("SELECT nothing FROM nowhere")):
        with pytest.raises(EngineError) as caught:
            engine.run(tree, timeout=600)
        assert caught.value.code == "CEL-E010"
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        seen.add(str(caught.value.as_dict()))
    assert len(seen) == 1
    assert SECRET not in seen.pop()
    assert capfd.readouterr() == ("", "")
    # A cast that fails is none: it has no value.
    assert engine.run(query("SELECT SUM(CAST(s AS INT)) FROM t"), timeout=600) == [(None,)]


@pytest.mark.parametrize(
    "text",
    ["DELETE FROM t", "DROP TABLE t", "CREATE TABLE u AS SELECT 1", "SELECT * INTO u FROM t"],
)
def test_only_a_select_is_run(engine: SparkEngine, text: str) -> None:
    with pytest.raises(EngineError) as caught:
        engine.run(sqlglot.parse_one(text, read="postgres"), timeout=600)
    assert caught.value.code == "CEL-E012"


def test_a_query_that_takes_too_long_is_stopped(engine: SparkEngine) -> None:
    # Tasks notice between batches of rows that they are not wanted any more, so what is left of
    # this one must be short: it keeps a core from the next query.
    many = "SELECT COUNT(*) FROM t AS a, t AS b, t AS c WHERE a.n * b.n + c.n = 7"
    with pytest.raises(EngineError) as caught:
        engine.run(query(many), timeout=0.3)
    assert caught.value.code == "CEL-E011"
    assert engine.run(query("SELECT COUNT(*) FROM t"), timeout=600) == [(1001,)]


def test_threads_may_share_an_engine(engine: SparkEngine) -> None:
    found: list[object] = []
    work = query("SELECT COUNT(*) FROM t")
    threads = [Thread(target=lambda: found.append(engine.run(work, timeout=600))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(1001,)]] * 3


def test_files_that_are_written_meanwhile_are_no_snapshot(spark: object, tmp_path: Path) -> None:
    pl.DataFrame({"k": [1]}).write_parquet(tmp_path / "a.parquet")
    work = query("SELECT COUNT(*) FROM t")
    with SparkEngine(files={"t": tmp_path}) as engine:
        before = engine.version
        with engine.snapshot(timeout=600) as read:
            assert read(work) == [(1,)]
        changing = engine.snapshot(timeout=600)
        changing.__enter__()(work)
        pl.DataFrame({"k": [1, 2]}).write_parquet(tmp_path / "b.parquet")
        with pytest.raises(EngineError) as caught:
            changing.__exit__(None, None, None)
        assert caught.value.code == "CEL-E016"
        assert engine.version != before
        assert engine.run(work, timeout=600) == [(3,)]
    with pytest.raises(EngineError) as caught:
        engine.run(work, timeout=600)
    assert caught.value.code == "CEL-E010"


def test_of_files_elsewhere_no_version_is_known(spark: object, folder: Path) -> None:
    # A file of the same name may hold other rows by now, so what is unique is looked at again.
    with SparkEngine(files={"t": (folder / "parts").as_uri()}) as engine:
        assert engine.version is None


def test_other_files_and_settings_cannot_be_reached(engine: SparkEngine, folder: Path) -> None:
    file = exp.to_identifier(str(folder / "parts" / "a.parquet"), quoted=True)
    there = exp.Table(this=file, db=exp.to_identifier("parquet", quoted=True))
    with pytest.raises(EngineError):
        engine.run(exp.select("*").from_(there), timeout=600)
    text = "SELECT '${env:PATH}', '${spark.app.name}'"
    assert engine.run(query(text), timeout=600) == [("${env:PATH}", "${spark.app.name}")]


def test_what_is_missing_is_named_with_its_fix(
    spark: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EngineError) as caught:
        SparkEngine(files={"t": tmp_path / "none.parquet"})
    assert caught.value.code == "CEL-E013"
    with pytest.raises(EngineError) as caught:
        spark_session("local[7]")
    assert caught.value.code == "CEL-E053"
    with pytest.raises(EngineError) as caught:
        spark_session("$CELOSIA_NO_SUCH_VARIABLE")
    assert caught.value.code == "CEL-E052"
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(EngineError) as caught:
        spark_session()
    assert caught.value.code == "CEL-E050"
    assert "pip install" in caught.value.fix


def test_java_is_looked_for_and_too_old_ones_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version in (("old", "1.8.0_412"), ("new", "21.0.3")):
        program = tmp_path / name / "bin" / "java"
        program.parent.mkdir(parents=True)
        (tmp_path / name / "lib").mkdir()
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(java, "PLACES", (str(tmp_path),))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert java.java_home() == tmp_path / "new"
    monkeypatch.setattr(java, "PLACES", ())
    assert java.java_home() is None


def test_without_java_the_error_says_what_to_install() -> None:
    # In a process of its own: this one may have a Spark already.
    program = (
        "from celosia.engines.spark import java, session\n"
        "session.java_home = lambda: None\n"
        "try:\n    session.spark_session()\n"
        "except session.EngineError as error:\n    print(error.code, error.fix)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stdout.startswith("CEL-E051 Install one")
    assert session.LOGGERS
