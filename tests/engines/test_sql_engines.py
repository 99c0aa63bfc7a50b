from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import run
from threading import Thread

import duckdb
import polars as pl
import psycopg
import pytest
import sqlglot
from sqlglot import exp

from celosia.core.errors import EngineError
from celosia.engines import DuckDBEngine, PostgresEngine, SqlEngine
from celosia.engines.sql import FETCHED

SECRET = "4532-secret"


def query(text: str, dialect: str = "duckdb") -> exp.Expr:
    return sqlglot.parse_one(text, read=dialect)


@pytest.fixture
def owners_file(tmp_path: Path) -> Path:
    path = tmp_path / "owner.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS n, 'x%' AS s FROM range(1000)")
        connection.execute(f"INSERT INTO t VALUES (1, '{SECRET}')")
    return path


@pytest.fixture(params=["duckdb", "postgres"])
def engine(request: pytest.FixtureRequest, owners_file: Path) -> Iterator[SqlEngine]:
    if request.param == "duckdb":
        with DuckDBEngine(owners_file, threads=1, memory="500MB") as made:
            yield made
        return
    url = request.getfixturevalue("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute(
            "CREATE TABLE t AS SELECT n, 'x%' AS s FROM generate_series(0, 999) AS g(n)"
        )
        connection.execute(f"INSERT INTO t VALUES (1, '{SECRET}')")
    with PostgresEngine(url) as made_there:
        yield made_there


def test_a_query_returns_python_numbers(engine: SqlEngine) -> None:
    [(count, total, wide)] = engine.run(
        query("SELECT COUNT(*), SUM(n), SUM(CAST(9223372036854775807 AS BIGINT)) FROM t"),
        timeout=600,
    )
    assert (count, total, wide) == (1001, 499501, 1001 * (2**63 - 1))
    assert {type(each) for each in (count, total, wide)} == {int}


def test_arrow_returns_the_same(engine: SqlEngine) -> None:
    table = engine.arrow(query("SELECT n, COUNT(*) AS c FROM t GROUP BY n ORDER BY n"), timeout=600)
    assert table.column_names == ["n", "c"]
    assert table.column("c").to_pylist() == [1, 2, *[1] * 998]


def test_a_percent_sign_in_a_query_is_only_a_letter(engine: SqlEngine) -> None:
    assert engine.run(query("SELECT COUNT(*) FROM t WHERE s LIKE 'x%'"), timeout=600) == [(1000,)]


def test_a_failure_says_nothing_about_rows(engine: SqlEngine) -> None:
    with pytest.raises(EngineError) as caught:
        engine.run(query("SELECT SUM(CAST(s AS INT)) FROM t WHERE n = 1"), timeout=600)
    assert caught.value.code == "CEL-E010"
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    # The next query is not disturbed.
    assert engine.run(query("SELECT COUNT(*) FROM t"), timeout=600) == [(1001,)]


def test_all_failures_look_the_same(engine: SqlEngine) -> None:
    seen = set()
    for text in ("SELECT SUM(CAST(s AS INT)) FROM t", "SELECT nothing FROM nowhere"):
        with pytest.raises(EngineError) as caught:
            engine.run(query(text), timeout=600)
        seen.add(str(caught.value.as_dict()))
    assert len(seen) == 1


def test_a_query_that_takes_too_long_is_stopped(engine: SqlEngine) -> None:
    many = "SELECT COUNT(*) FROM t AS a, t AS b, t AS c, t AS d WHERE a.n * b.n + c.n * d.n = 7"
    with pytest.raises(EngineError) as caught:
        engine.run(query(many), timeout=0.2)
    assert caught.value.code == "CEL-E011"
    assert engine.run(query("SELECT COUNT(*) FROM t"), timeout=600) == [(1001,)]


@pytest.mark.parametrize(
    "text",
    ["DELETE FROM t", "DROP TABLE t", "CREATE TABLE u AS SELECT 1", "SELECT * INTO u FROM t"],
)
def test_only_a_select_is_run(engine: SqlEngine, text: str) -> None:
    with pytest.raises(EngineError) as caught:
        engine.run(query(text, "postgres"), timeout=600)
    assert caught.value.code == "CEL-E012"


def test_threads_may_share_an_engine(engine: SqlEngine) -> None:
    found: list[object] = []
    work = query("SELECT COUNT(*) FROM t")
    threads = [Thread(target=lambda: found.append(engine.run(work, timeout=600))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(1001,)]] * 8


def test_csv_and_parquet_files_are_tables(tmp_path: Path, owners_file: Path) -> None:
    frame = pl.DataFrame({"k": [1, 2, 2], "Name": ["a", "b", None]})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "b.parquet")
    files = {"First": tmp_path / "a.csv", "second": tmp_path / "b.parquet"}
    text = 'SELECT COUNT(*) FROM "First" JOIN second USING (k)'
    with DuckDBEngine(files=files) as engine:
        assert engine.run(query(text), timeout=600) == [(5,)]
    with DuckDBEngine(owners_file, files=files) as engine:
        assert engine.run(query(text), timeout=600) == [(5,)]
        assert engine.run(query("SELECT COUNT(*) FROM t"), timeout=600) == [(1001,)]


def test_nothing_else_can_be_reached_from_duckdb(tmp_path: Path, owners_file: Path) -> None:
    (tmp_path / "other.csv").write_text("secret\n1\n")
    frame = pl.DataFrame({"k": [1]})
    frame.write_parquet(tmp_path / "mine.parquet")
    with DuckDBEngine(owners_file, files={"mine": tmp_path / "mine.parquet"}) as engine:
        assert engine.run(query("SELECT k FROM mine"), timeout=600) == [(1,)]
        for text in (
            f"SELECT * FROM read_csv('{tmp_path}/other.csv')",
            f"SELECT * FROM '{tmp_path}/other.csv'",
            "SELECT * FROM read_text('/etc/hostname')",
            "SELECT * FROM glob('/*')",
        ):
            with pytest.raises(EngineError) as caught:
                engine.run(query(text), timeout=600)
            assert caught.value.code == "CEL-E010"


def test_a_csv_cell_of_another_type_does_not_fail_in_a_query(tmp_path: Path) -> None:
    # Far beyond the rows that types are usually guessed from.
    rows = ["n", *["1"] * 60_000, SECRET]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    with DuckDBEngine(files={"a": tmp_path / "a.csv"}) as engine:
        assert engine.run(query("SELECT COUNT(*) FROM a"), timeout=600) == [(60_001,)]


def test_a_database_that_is_not_there_is_named_as_such(tmp_path: Path) -> None:
    for arguments in ({"path": tmp_path / "no.duckdb"}, {"files": {"a": tmp_path / "no.csv"}}):
        with pytest.raises(EngineError) as caught:
            DuckDBEngine(**arguments)
        assert caught.value.code == "CEL-E013"
    for url in (f"postgresql://nobody@/x?host={tmp_path}", "$CELOSIA_NO_SUCH_VARIABLE"):
        with pytest.raises(EngineError) as caught:
            PostgresEngine(url)
        assert caught.value.code == "CEL-E014"


def test_postgres_is_asked_in_a_read_only_repeatable_read_transaction(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELOSIA_TEST_URL", postgres)
    with PostgresEngine("$CELOSIA_TEST_URL") as engine:
        text = """SELECT current_setting('transaction_read_only'),
                         current_setting('transaction_isolation'), current_setting('timezone')"""
        assert engine.run(query(text, "postgres"), timeout=600) == [
            ("on", "repeatable read", "UTC")
        ]
        # Even a function that writes cannot.
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("CREATE SEQUENCE IF NOT EXISTS counter")
        with pytest.raises(EngineError):
            engine.run(query("SELECT nextval('counter')", "postgres"), timeout=600)


def test_a_snapshot_sees_one_state_of_the_data(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS growing")
        connection.execute("CREATE TABLE growing AS SELECT 1 AS n")
        work = query("SELECT COUNT(*) FROM growing", "postgres")
        with PostgresEngine(postgres) as engine:
            with engine.snapshot(timeout=600) as read:
                seen = [read(work)]
                connection.execute("INSERT INTO growing VALUES (2)")
                seen.append(read(work))
                mode = "SELECT current_setting('transaction_read_only')"
                assert read(query(mode, "postgres")) == [("on",)]
            assert seen == [[(1,)], [(1,)]]
            assert engine.run(work, timeout=600) == [(2,)]
            assert engine.version is None


def test_a_snapshot_reads_only_and_ends_with_its_first_failure(engine: SqlEngine) -> None:
    with engine.snapshot(timeout=600) as read:
        assert read(query("SELECT COUNT(*) FROM t")) == [(1001,)]
        for text, code in (("DROP TABLE t", "CEL-E012"), ("SELECT x FROM nowhere", "CEL-E010")):
            with pytest.raises(EngineError) as caught:
                read(query(text))
            assert caught.value.code == code
    assert engine.run(query("SELECT COUNT(*) FROM t"), timeout=600) == [(1001,)]


def test_a_snapshot_stops_what_takes_too_long(engine: SqlEngine) -> None:
    many = "SELECT COUNT(*) FROM t AS a, t AS b, t AS c, t AS d WHERE a.n * b.n + c.n * d.n = 7"
    with engine.snapshot(timeout=0.2) as read, pytest.raises(EngineError) as caught:
        read(query(many))
    assert caught.value.code == "CEL-E011"


def test_the_time_of_a_snapshot_may_be_told_when_a_query_begins(engine: SqlEngine) -> None:
    left = [600.0, 0.0]
    many = "SELECT COUNT(*) FROM t AS a, t AS b, t AS c, t AS d WHERE a.n * b.n + c.n * d.n = 7"
    with engine.snapshot(timeout=lambda: left.pop(0)) as read:
        assert read(query("SELECT COUNT(*) FROM t")) == [(1001,)]
        with pytest.raises(EngineError) as caught:
            read(query(many))
    assert caught.value.code == "CEL-E011"


def test_a_result_of_many_rows_comes_whole(engine: SqlEngine) -> None:
    found = engine.run(query("SELECT a.n, b.n FROM t AS a, t AS b WHERE b.n < 30"), timeout=600)
    ((wanted,),) = engine.run(
        query("SELECT COUNT(*) FROM t AS a, t AS b WHERE b.n < 30"), timeout=600
    )
    assert len(found) == wanted > FETCHED


def test_a_file_that_is_written_meanwhile_is_no_snapshot(tmp_path: Path) -> None:
    pl.DataFrame({"k": [1]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"k": [1]}).write_csv(tmp_path / "b.csv")
    files = {"a": tmp_path / "a.parquet", "b": tmp_path / "b.csv"}
    with DuckDBEngine(files=files) as engine:
        before = engine.version
        with pytest.raises(EngineError) as caught, engine.snapshot(timeout=600):
            pl.DataFrame({"k": [1, 2]}).write_parquet(tmp_path / "a.parquet")
        assert caught.value.code == "CEL-E016"
        assert engine.version != before
        before = engine.version
        pl.DataFrame({"k": [1, 2]}).write_csv(tmp_path / "b.csv")  # was read when it was opened
        assert engine.version == before
        assert engine.run(query("SELECT COUNT(*) FROM b"), timeout=600) == [(1,)]


def test_the_owners_file_cannot_be_written_while_it_is_asked(owners_file: Path) -> None:
    work = "import sys, duckdb; duckdb.connect(sys.argv[1])"
    with DuckDBEngine(owners_file) as engine:
        other = run([sys.executable, "-c", work, owners_file], capture_output=True, check=False)
        assert engine.run(query("SELECT COUNT(*) FROM t"), timeout=600) == [(1001,)]
    assert b"Could not set lock" in other.stderr
    assert run([sys.executable, "-c", work, owners_file], check=False).returncode == 0


def test_a_closed_engine_fails_like_any_other() -> None:
    engine = DuckDBEngine()
    engine.close()
    with pytest.raises(EngineError) as caught:
        engine.run(query("SELECT 1"), timeout=1)
    with pytest.raises(EngineError) as again, engine.snapshot(timeout=1):
        pass
    assert caught.value.code == again.value.code == "CEL-E010"
