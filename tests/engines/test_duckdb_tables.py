"""DuckDB publishes what was judged and nothing else, whatever happens meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from celosia import EngineError, KAnonymity, Schema, Seeded, frames
from celosia.core.errors import Cancelled
from celosia.core.progress import Step
from celosia.engines import DuckDBTables, sinks
from celosia.engines.drafts import FileDraft
from celosia.engines.duckdb_relations import Relation
from celosia.engines.recoded_classes import CLASS, DROPPED, number_rows
from celosia.engines.tables import RecodingMap
from celosia.tables import publish_on

SCHEMA = Schema.of(quasi_identifiers=["zip"], sensitive=["job"])
PEOPLE = pl.DataFrame(
    {"zip": ["11"] * 5 + ["12"] * 5 + ["99"], "job": ["a", "b", "c", None] * 2 + ["d"] * 3}
)
pytestmark = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")


def at_recoding(act: Callable[[], object]) -> Callable[[Step], None]:
    """A progress that does something when the search is over."""

    def progress(step: Step) -> None:
        if step.stage == "Recoding on the engine":
            act()

    return progress


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(path) as owner:
        for statement in statements:
            owner.execute(statement)
    return path


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    return sorted(frames.read(path).rows(), key=repr)


CHANGES = {
    "a combination that nobody counted": pl.concat(
        [PEOPLE.head(10), pl.DataFrame({"zip": ["50"], "job": ["d"]})]
    ),
    "one row more": pl.concat([PEOPLE, PEOPLE.head(1)]),
    "one row less": PEOPLE.head(10),
    "a text that was not listed": PEOPLE.with_columns(job=pl.col("job").replace("d", "e")),
}


@pytest.mark.parametrize("stamped", [True, False], ids=["by its stamp", "by its rows alone"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_after_it_was_grouped_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, stamped: bool
) -> None:
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    PEOPLE.write_parquet(source)
    drop = change != "a text that was not listed"  # with dropped rows no texts are listed
    if not stamped:
        monkeypatch.setattr(Relation, "check_unchanged", lambda _: None)
    listing = DuckDBTables._listed

    def listed(*given: Any) -> Any:
        found = listing(*given)
        if not drop:
            CHANGES[change].write_parquet(source)
        return found

    monkeypatch.setattr(DuckDBTables, "_listed", listed)
    changed = at_recoding(lambda: CHANGES[change].write_parquet(source) if drop else None)
    with DuckDBTables() as engine, pytest.raises(EngineError) as refused:
        publish_on(
            engine, source, target, SCHEMA, KAnonymity(5), progress=changed, suppression=0.1,
            drop_suppressed=drop, levels={"zip": 0},
        )  # fmt: skip
    assert refused.value.code == "CEL-E002"
    assert refused.value.__context__ is None
    assert [*tmp_path.iterdir()] == [source]


def test_a_file_that_becomes_unreadable_is_one_that_changed(tmp_path: Path) -> None:
    source = tmp_path / "raw.parquet"
    PEOPLE.write_parquet(source)
    broken = at_recoding(lambda: source.write_bytes(b"nothing"))
    with DuckDBTables() as engine, pytest.raises(EngineError) as refused:
        publish_on(
            engine, source, tmp_path / "safe.parquet", SCHEMA, KAnonymity(5), progress=broken,
            suppression=0.1,
        )  # fmt: skip
    assert refused.value.code == "CEL-E002"
    assert refused.value.__context__ is None


def test_a_change_while_a_table_is_written_leaves_none_and_lets_the_database_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, path = tmp_path / "raw.parquet", tmp_path / "owner.duckdb"
    PEOPLE.write_parquet(source)
    making = frames.bare

    def changing(frame: pl.DataFrame) -> pl.DataFrame:
        PEOPLE.write_parquet(source)
        return making(frame)

    monkeypatch.setattr("celosia.engines.sinks.bare", changing)
    with pytest.raises(EngineError) as refused, DuckDBTables(path) as engine:
        publish_on(
            engine, source, "safe", SCHEMA, KAnonymity(5), suppression=0.1,
            certificate=tmp_path / "c.json",
        )  # fmt: skip
    assert refused.value.code == "CEL-E002"
    with duckdb.connect(path) as owner:  # though the error, with all its frames, is still held
        assert owner.execute("SHOW TABLES").fetchall() == []
    assert {*tmp_path.iterdir()} == {source, path}


@pytest.mark.parametrize("drop", [True, False])
def test_rows_that_others_insert_into_a_table_are_not_seen(tmp_path: Path, drop: bool) -> None:
    PEOPLE.write_parquet(tmp_path / "raw.parquet")
    path = database(
        tmp_path / "a.duckdb", f"CREATE TABLE people AS FROM '{tmp_path / 'raw.parquet'}'"
    )
    target = tmp_path / "safe.parquet"
    with DuckDBTables(path) as engine:
        other = engine._connection.cursor()
        insert = at_recoding(
            lambda: other.execute("INSERT INTO people VALUES ('50', 'x'), ('11', 'y')")
        )
        publish_on(
            engine, "people", target, SCHEMA, KAnonymity(5), suppression=0.1, progress=insert,
            drop_suppressed=drop, levels={"zip": 0},
        )  # fmt: skip
        other.close()
    shown = PEOPLE.with_columns(zip=pl.col("zip").replace("99", "*")).rows()
    assert rows_of(target) == sorted(shown[:10] if drop else shown, key=repr)


def test_a_view_is_read_once(tmp_path: Path) -> None:
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    PEOPLE.write_parquet(source)
    path = database(
        tmp_path / "a.duckdb",
        f"CREATE VIEW people AS FROM '{source}'",
        "CREATE VIEW Drawn AS SELECT (random() * 1e6)::INT AS zip FROM range(100)",
    )
    changed = at_recoding(
        lambda: pl.DataFrame({"zip": ["50"] * 11, "job": ["x"] * 11}).write_parquet(source)
    )
    with DuckDBTables(path) as engine:
        publish_on(
            engine, "main.people", target, SCHEMA, KAnonymity(5), suppression=0.1, progress=changed
        )
    assert {zip_code for zip_code, _ in rows_of(target)} <= {"11", "12", "*"}
    with DuckDBTables(path) as engine:
        release = publish_on(
            engine,
            "drawn",
            target,
            Schema.of(quasi_identifiers=["zip"]),
            KAnonymity(2),
            suppression=1.0,
        )
    assert release.rows_written == 100


def test_rows_that_should_have_been_kept_are_missed() -> None:
    recoding = RecodingMap(
        pl.DataFrame({"zip": ["11", "12"]}), pl.DataFrame({"zip": ["11", "*"]}),
        np.array([False, True]), np.array([0, 1]), rows=3, hidden_rows=1,
    )  # fmt: skip
    for classes, passes in (([0, 0, DROPPED], True), ([0, DROPPED, DROPPED], False)):
        chunk = pl.DataFrame({CLASS: pl.Series(classes, dtype=pl.UInt32)})
        if passes:
            assert sum(each.height for each in number_rows(iter([chunk]), recoding, drop=True)) == 2
        else:
            with pytest.raises(EngineError, match="not the same as when"):
                [*number_rows(iter([chunk]), recoding, drop=True)]


def test_rows_that_are_lost_on_their_way_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    PEOPLE.write_parquet(source)

    def losing(made: Any, chunks: Iterator[pl.DataFrame], *_: object) -> Iterator[Any]:
        return (made(chunk.head(3)) for chunk in chunks)

    monkeypatch.setattr("celosia.engines.duckdb_tables.shuffle_as", losing)
    with DuckDBTables() as engine, pytest.raises(EngineError) as refused:
        publish_on(engine, source, target, SCHEMA, KAnonymity(5), suppression=0.1)
    assert refused.value.code == "CEL-E002"
    assert [*tmp_path.iterdir()] == [source]


@pytest.mark.parametrize("names", [["one", "zip"], ["zip", "one"], ["one"]], ids=str)
def test_a_column_with_one_value_may_come_first(tmp_path: Path, names: list[str]) -> None:
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    long = "a text " * 20
    table = PEOPLE.head(10).select("zip", pl.lit(long).alias("one"))
    for each in (table, table.with_columns(one=pl.lit(2.5))):
        each.write_parquet(source)
        with DuckDBTables() as engine:
            publish_on(engine, source, target, Schema.of(quasi_identifiers=names, insensitive=[
                name for name in ("zip", "one") if name not in names]), KAnonymity(5))  # fmt: skip
        assert rows_of(target) == sorted(each.rows(), key=repr)


@pytest.mark.parametrize(
    ("kind", "cell", "message"),
    [
        ("DATE", "'infinity'", "infinite"),
        ("TIMESTAMP", "'-infinity'", "infinite"),
        ("TIMESTAMPTZ", "'infinity'", "infinite"),
        ("TIME", "'24:00:00'", "24:00"),
        ("TIMETZ", "'01:00:00+01'", "TIME ZONE"),
        ("INTERVAL", "INTERVAL 1 MONTH", "interval"),
    ],
)
def test_values_that_have_no_counterpart_are_a_clear_error(
    tmp_path: Path, kind: str, cell: str, message: str
) -> None:
    path = database(
        tmp_path / "a.duckdb",
        f"CREATE TABLE people (odd {kind})",
        f"INSERT INTO people VALUES ({cell}), ({cell})",
    )
    with DuckDBTables(path) as engine, pytest.raises(EngineError, match=message) as refused:
        publish_on(
            engine, "people", tmp_path / "safe.parquet", Schema.of(quasi_identifiers=["odd"]),
            KAnonymity(2),
        )  # fmt: skip
    assert refused.value.code == "CEL-E022"
    assert [*tmp_path.iterdir()] == [path]


def test_identifiers_of_the_database_are_text(tmp_path: Path) -> None:
    ids = [f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2)]
    path = database(
        tmp_path / "a.duckdb",
        "CREATE TABLE people (id UUID)",
        f"INSERT INTO people VALUES ('{ids[0]}'), ('{ids[1]}'), ('{ids[0]}'), ('{ids[1]}')",
    )
    with DuckDBTables(path) as engine:
        publish_on(
            engine, "people", tmp_path / "safe.parquet", Schema.of(quasi_identifiers=["id"]),
            KAnonymity(2),
        )  # fmt: skip
    assert rows_of(tmp_path / "safe.parquet") == [(each,) for each in ids for _ in range(2)]


table = PEOPLE  # what DuckDB would take for a table of this name


def test_a_variable_of_python_is_no_table(tmp_path: Path) -> None:
    with DuckDBTables() as engine:
        for name in ("table", "PEOPLE", "found"):
            with pytest.raises(EngineError) as refused:
                engine.columns(name)
            assert refused.value.code == "CEL-E021"
        with pytest.raises(Exception, match="does not exist"):
            engine._connection.execute("SELECT * FROM PEOPLE")


INTERRUPTED = """
import os, signal, sys, time
from pathlib import Path
from threading import Thread
from celosia import KAnonymity, Schema
from celosia.engines import DuckDBTables
from celosia.tables import publish_on

def press():
    while True:  # one alone may be lost while modules are loaded
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

database, target = map(Path, sys.argv[1:])
with DuckDBTables(database) as engine:
    Thread(target=press, daemon=True).start()
    try:
        publish_on(engine, "people", target, Schema.of(quasi_identifiers=["zip"]), KAnonymity(2))
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("interrupted", flush=True)
        os._exit(0)  # with the threads of DuckDB that have not seen it yet
"""


def test_ctrl_c_in_a_query_comes_out_as_such_and_leaves_nothing(tmp_path: Path) -> None:
    """In a process of its own, so that no thread of DuckDB works on under all later tests."""
    endless = "SELECT range % 7 AS zip FROM range(1000000000000000) WHERE hash(range) = 0"
    path = database(tmp_path / "a.duckdb", f"CREATE VIEW people AS {endless}")
    program = [sys.executable, "-c", INTERRUPTED, str(path), str(tmp_path / "safe.parquet")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout == "interrupted\n", done.stderr
    assert [*tmp_path.iterdir()] == [path]


def test_ctrl_c_while_rows_are_streamed_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    PEOPLE.write_parquet(source)
    write = sinks.ParquetSink.write

    def interrupted(sink: sinks.ParquetSink, rows: Any) -> None:
        write(sink, rows)
        signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patched, DuckDBTables() as engine:
        patched.setattr(sinks.ParquetSink, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            publish_on(engine, source, target, SCHEMA, KAnonymity(5), suppression=0.1)
    assert [*tmp_path.iterdir()] == [source]
    with DuckDBTables() as engine:
        publish_on(engine, source, target, SCHEMA, KAnonymity(5), suppression=0.1)
    assert target.exists()


def test_a_run_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "raw.parquet"
    PEOPLE.write_parquet(source)

    def cancel() -> None:
        raise Cancelled

    for stage in ("Grouping on the engine", "Recoding on the engine"):

        def progress(step: Step, stage: str = stage) -> None:
            if step.stage == stage:
                cancel()

        with DuckDBTables() as engine, pytest.raises(Cancelled):
            publish_on(
                engine, source, tmp_path / "safe.parquet", SCHEMA, KAnonymity(5), suppression=0.1,
                progress=progress,
            )  # fmt: skip
        assert [*tmp_path.iterdir()] == [source]


def test_an_older_release_stays_whole_if_the_new_one_cannot_get_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    PEOPLE.write_parquet(source)
    with DuckDBTables() as engine:
        publish_on(engine, source, target, SCHEMA, KAnonymity(5), suppression=0.1)
    older = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(older) == 3

    def failing(_: FileDraft) -> None:
        raise OSError("no room")

    monkeypatch.setattr(FileDraft, "commit", failing)
    with DuckDBTables() as engine, pytest.raises(OSError, match="no room"):
        publish_on(engine, source, target, SCHEMA, KAnonymity(2), suppression=0.1, rng=Seeded(1))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == older
