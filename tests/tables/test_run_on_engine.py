"""Publishing on an engine gives what publishing in memory gives; here on DuckDB."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from tests.engines.tables import CELLS, as_rows, same_rows, table_of

from celosia import (
    EngineError,
    InputError,
    KAnonymity,
    PrivacyWarning,
    Role,
    Schema,
    Seeded,
    datasets,
    frames,
)
from celosia.core.progress import Step
from celosia.engines import DuckDBTables
from celosia.engines.tables import Output
from celosia.tables import (
    DistinctDiversity,
    FileRelease,
    KMap,
    TableRelease,
    TCloseness,
    publish,
    publish_on,
)

SCHEMA = datasets.census_schema()
ORDERED = pytest.warns(PrivacyWarning, match="original order")
pytestmark = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")


@pytest.fixture(scope="module")
def census() -> pl.DataFrame:
    return datasets.census(3000, seed=8)


@pytest.fixture(scope="module")
def raw(census: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("raw") / "census.parquet"
    census.write_parquet(path, row_group_size=700)
    return path


@pytest.mark.parametrize(
    ("models", "options"),
    [
        (KAnonymity(5), {}),
        (KAnonymity(5), {"drop_suppressed": True}),
        (KAnonymity(5), {"suppression": 0.0}),
        (KAnonymity(5), {"local": True}),
        (KAnonymity(5), {"metric": "discernibility", "time_limit": 60}),
        (KAnonymity(2), {"levels": {"age": 3, "education": 3}, "suppression": 1.0}),
        (KAnonymity(5), {"method": "mondrian"}),
        ([KAnonymity(5), DistinctDiversity(3, column="occupation")], {}),
        ([KAnonymity(5), TCloseness(0.4, column="occupation")], {"suppression": 0.3}),
        ([KAnonymity(5), DistinctDiversity(3, column="occupation")], {"method": "mondrian"}),
        ([KAnonymity(4), DistinctDiversity(2, column="occupation")], {"local": True}),
    ],
    ids=lambda value: " ".join(value) or "plain" if isinstance(value, dict) else None,
)
def test_an_engine_gives_the_rows_and_figures_that_memory_gives(
    census: pl.DataFrame, raw: Path, tmp_path: Path, models: Any, options: dict[str, Any]
) -> None:
    target = tmp_path / "safe.parquet"
    with DuckDBTables() as engine:
        release = publish_on(engine, raw, target, SCHEMA, models, keep_order=True, **options)
    whole = publish(census, SCHEMA, models, keep_order=True, **options)
    found = frames.read(target)
    assert found.schema == whole.data.schema
    assert found.equals(whole.data)
    assert release.measures() == whole.measures()
    assert release.guarantee == whole.guarantee
    assert release.rows_written == found.height


def test_rows_are_shuffled_by_default_and_are_the_same(
    census: pl.DataFrame, raw: Path, tmp_path: Path
) -> None:
    target = tmp_path / "safe.parquet"
    with DuckDBTables() as engine:
        publish_on(engine, raw, target, SCHEMA, KAnonymity(5))
    whole = publish(census, SCHEMA, KAnonymity(5), keep_order=True).data
    found = frames.read(target)
    assert not found.equals(whole)
    assert same_rows(found, whole)


@pytest.mark.parametrize("name", CELLS)
def test_every_type_comes_through_as_in_memory(name: str, tmp_path: Path) -> None:
    table = table_of(name)
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    table.write_parquet(source)
    schema = Schema.from_table(
        {
            "columns": {
                "row": {"role": "insensitive", "accept_raw": "a test"},
                "other": {"role": "insensitive", "accept_raw": "a test"},
                "cell": {"role": "quasi-identifier", "missing": "value"},
                "group": {"role": "quasi-identifier"},
            },
            "table": {"other_columns": "insensitive"},
        }
    )
    for k in (3, 6):  # as it is, and generalised
        whole = publish(table, schema, KAnonymity(k), keep_order=True, suppression=1.0)
        with DuckDBTables() as engine:
            publish_on(
                engine, source, target, schema, KAnonymity(k), keep_order=True, suppression=1.0
            )
        found = frames.read(target)
        assert found.schema == whole.data.schema
        assert as_rows(found) == as_rows(whole.data)


def test_columns_may_have_any_name_and_differ_in_case_alone(tmp_path: Path) -> None:
    names = ["a", "A", 'say "hi"', "it's", "a.b", "class", "c0", "p1", "k0", "row", "*", "año"]
    table = pl.DataFrame({name: [f"{n}", f"{n}", "x", "x"] for n, name in enumerate(names)})
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    table.write_parquet(source)
    schema = Schema.of(quasi_identifiers=["a", 'say "hi"', "c0"], other_columns=Role.INSENSITIVE)
    with DuckDBTables() as engine:
        publish_on(engine, source, target, schema, KAnonymity(2), keep_order=True)
    assert frames.read(target).equals(table)


def test_folders_and_patterns_of_files_are_one_table(census: pl.DataFrame, tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    for number in range(3):
        part = census.slice(number * 1000, 1000)
        part.write_parquet(folder / f"part-{number}.parquet")
    (folder / "_notes.parquet").write_bytes(b"no table")
    whole = publish(census, SCHEMA, KAnonymity(5), keep_order=True).data
    for source in (folder, f"{folder}/*.parquet"):
        with DuckDBTables() as engine:
            publish_on(engine, source, tmp_path / "safe.parquet", SCHEMA, KAnonymity(5))
        assert same_rows(frames.read(tmp_path / "safe.parquet"), whole)


def test_the_release_loads_as_a_file_or_as_a_table(raw: Path, tmp_path: Path) -> None:
    target = tmp_path / "safe.parquet"
    with DuckDBTables() as engine:
        release = publish_on(engine, raw, target, SCHEMA, KAnonymity(5))
    assert FileRelease.load(target).measures() == release.measures()
    assert TableRelease.load(target).data.height == 3000
    assert release.certificate_file == tmp_path / "safe.parquet.cert.json"


def test_empty_cells_that_suppress_their_records_are_as_in_memory(tmp_path: Path) -> None:
    table = pl.DataFrame({"zip": ["11", "12", None] * 20, "age": [30, None, 44] * 20})
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    table.write_parquet(source)
    columns = {name: {"role": "quasi-identifier", "missing": "suppress"} for name in ("zip", "age")}
    schema = Schema.from_table({"columns": columns})
    options: dict[str, Any] = {"suppression": 0.7, "keep_order": True}
    whole = publish(table, schema, KAnonymity(2), levels={"zip": 1, "age": 0}, **options)
    with DuckDBTables() as engine:
        publish_on(
            engine, source, target, schema, KAnonymity(2), levels={"zip": 1, "age": 0}, **options
        )
    assert frames.read(target).equals(whole.data)


def test_a_text_that_only_dropped_rows_have_is_not_in_the_file(tmp_path: Path) -> None:
    table = pl.DataFrame({"zip": ["11", "11", "92"], "job": ["a", "b", "PLANTED"]})
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    table.write_parquet(source)
    schema = Schema.of(quasi_identifiers=["zip"], sensitive=["job"])
    with DuckDBTables() as engine:
        publish_on(
            engine, source, target, schema, KAnonymity(2), suppression=0.4, drop_suppressed=True,
            levels={"zip": 0},
        )  # fmt: skip
    assert frames.read(target).height == 2
    assert b"PLANTED" not in target.read_bytes()
    assert b"92" not in target.read_bytes()


def test_tables_of_a_database_are_published_to_tables(census: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "owner.duckdb"
    with duckdb.connect(path) as owner:
        owner.execute("CREATE SCHEMA safe")
        owner.execute("CREATE TABLE people AS SELECT * FROM census")
    paper = tmp_path / "people.cert.json"
    whole = publish(census, SCHEMA, KAnonymity(5), keep_order=True).data
    for _ in range(2):  # the second takes the place of the first
        with DuckDBTables(path) as engine:
            publish_on(engine, "people", "safe.people", SCHEMA, KAnonymity(5), certificate=paper)
    with DuckDBTables(path) as engine, pytest.raises(InputError) as refused:
        publish_on(
            engine, "people", "safe.people", SCHEMA, KAnonymity(5), certificate=tmp_path / "new",
            overwrite=False,
        )  # fmt: skip
    assert refused.value.code == "CEL-P110"
    with duckdb.connect(path) as owner:
        found = pl.DataFrame(owner.execute("SELECT * FROM safe.people").to_arrow_table())
        tables = owner.execute("SELECT table_name FROM information_schema.tables").fetchall()
    assert same_rows(found, whole)
    assert sorted(tables) == [("people",), ("people",)]
    assert '"sha256": null' in paper.read_text()


def test_text_is_compared_byte_by_byte_whatever_the_collation(tmp_path: Path) -> None:
    path = tmp_path / "owner.duckdb"
    with duckdb.connect(path) as owner:
        owner.execute("CREATE TABLE people (name VARCHAR COLLATE NOCASE)")
        owner.execute("INSERT INTO people VALUES ('a'), ('A'), ('a'), ('A')")
    schema = Schema.of(quasi_identifiers=["name"])
    with DuckDBTables(path) as engine:
        publish_on(engine, "people", tmp_path / "safe.parquet", schema, KAnonymity(2))
    assert sorted(frames.read(tmp_path / "safe.parquet")["name"]) == ["A", "A", "a", "a"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"method": "mondrian-relaxed"}, "CEL-P111"),
        ({"models": KMap(5)}, "CEL-P111"),
        ({"target": "people"}, "CEL-P112"),
        ({"partition_by": ["sex"]}, "CEL-P115"),
        ({"source": "nowhere.parquet"}, "CEL-E021"),
        ({"source": "nobody"}, "CEL-E021"),
        ({"schema": Schema.of(quasi_identifiers=["age"])}, "CEL-S"),
        ({"schema": "age"}, "CEL-S012"),
        ({"target": "no/folder/safe.parquet"}, "CEL-I005"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_refused_before_any_work(
    raw: Path, tmp_path: Path, options: dict[str, Any], code: str
) -> None:
    steps: list[Step] = []
    arguments: dict[str, Any] = {
        "source": raw, "target": tmp_path / "safe.parquet", "schema": SCHEMA,
        "models": KAnonymity(5), "progress": steps.append,
    }  # fmt: skip
    with DuckDBTables() as engine, pytest.raises((InputError, EngineError)) as refused:
        publish_on(engine, **arguments | options)
    assert refused.value.code.startswith(code)
    assert steps == []
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "series",
    [
        pl.Series([[1], [2]]),
        pl.Series([b"a", b"b"]),
        pl.Series([1, 2], dtype=pl.Datetime("ns", "UTC")),
        pl.Series([1, 2], dtype=pl.Time),
    ],
    ids=lambda series: str(series.dtype),
)
def test_types_that_would_not_come_through_are_refused(series: pl.Series, tmp_path: Path) -> None:
    source = tmp_path / "raw.parquet"
    pl.DataFrame({"zip": ["1", "1"], "odd": series}).write_parquet(source)
    schema = Schema.of(quasi_identifiers=["zip"], insensitive=["odd"])
    with DuckDBTables() as engine, pytest.raises(EngineError, match="'odd'") as refused:
        publish_on(engine, source, tmp_path / "safe.parquet", schema, KAnonymity(2))
    assert refused.value.code == "CEL-E022"


def test_a_source_is_not_written_over(raw: Path) -> None:
    with DuckDBTables() as engine, pytest.raises(InputError, match="both source and target"):
        publish_on(engine, raw, raw, SCHEMA, KAnonymity(5), certificate=raw.with_name("c.json"))


def test_an_empty_cell_is_reported_without_a_row_number(tmp_path: Path) -> None:
    source = tmp_path / "raw.parquet"
    pl.DataFrame({"zip": ["11", None, None]}).write_parquet(source)
    schema = Schema.of(quasi_identifiers=["zip"])
    with DuckDBTables() as engine, pytest.raises(InputError, match=r"2 cells are empty\."):
        publish_on(engine, source, tmp_path / "safe.parquet", schema, KAnonymity(2))


def at_recoding(act: Callable[[], object]) -> Callable[[Step], None]:
    """A progress that does something when the search is over."""

    def progress(step: Step) -> None:
        if step.stage == "Recoding on the engine":
            act()

    return progress


def test_a_file_that_changes_meanwhile_is_not_published(
    census: pl.DataFrame, tmp_path: Path
) -> None:
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    census.write_parquet(source)
    changed = at_recoding(lambda: census.tail(10).write_parquet(source))
    with DuckDBTables() as engine, pytest.raises(EngineError) as refused:
        publish_on(engine, source, target, SCHEMA, KAnonymity(5), progress=changed)
    assert refused.value.code in ("CEL-E002", "CEL-E020")
    assert [*tmp_path.iterdir()] == [source]


def test_an_engine_that_goes_away_is_a_clear_error_and_leaves_nothing(
    raw: Path, tmp_path: Path
) -> None:
    target = tmp_path / "safe.parquet"
    engine = DuckDBTables()
    gone = at_recoding(engine._connection.close)
    with engine, pytest.raises(EngineError) as failed:
        publish_on(engine, raw, target, SCHEMA, KAnonymity(5), progress=gone)
    assert failed.value.code == "CEL-E020"
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
    assert [*tmp_path.iterdir()] == []
    with DuckDBTables() as engine:
        publish_on(engine, raw, target, SCHEMA, KAnonymity(5))
    assert frames.read(target).height == 3000


PROGRAM = """
import resource, sys, time
from celosia import KAnonymity, datasets
from celosia.engines import DuckDBTables, sinks
from celosia.tables import publish_on

def act(table):
    {act}

write = sinks.ParquetSink.write
def acting(self, table):
    write(self, table)
    act(table)
sinks.ParquetSink.write = acting
with DuckDBTables() as engine:
    publish_on(engine, {raw!r}, {target!r}, datasets.census_schema(), KAnonymity(5))
"""


def program(act: str, raw: Path, target: Path) -> subprocess.Popen[str]:
    text = textwrap.dedent(PROGRAM).format(act=act, raw=str(raw), target=str(target))
    return subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_run_that_was_killed_leaves_nothing_that_the_next_does_not_take_away(
    raw: Path, tmp_path: Path
) -> None:
    target = tmp_path / "safe.parquet"
    killed = program("print('written', flush=True); time.sleep(60)", raw, target)
    assert killed.stdout is not None
    assert killed.stdout.readline() == "written\n"
    other = [*tmp_path.iterdir()]
    assert len(other) == 1  # in the making, under a name of its own
    with DuckDBTables() as engine:
        publish_on(engine, raw, target, SCHEMA, KAnonymity(5))
    assert {*tmp_path.iterdir()} == {target, tmp_path / "safe.parquet.cert.json", *other}
    target.unlink()
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=600)
    assert not target.exists()
    with DuckDBTables() as engine:
        publish_on(engine, raw, target, SCHEMA, KAnonymity(5))
    assert {*tmp_path.iterdir()} == {target, tmp_path / "safe.parquet.cert.json"}


def test_a_full_disk_is_a_clear_error_and_leaves_nothing(raw: Path, tmp_path: Path) -> None:
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    ended = program(limit, raw, tmp_path / "safe.parquet")
    _, errors = ended.communicate(timeout=600)
    assert ended.returncode != 0
    assert "DuckDB stopped before the work was done" in errors
    assert "Errno" not in errors
    assert [*tmp_path.iterdir()] == []


def test_batches_are_mapped_in_any_order_or_in_their_own(raw: Path, tmp_path: Path) -> None:
    source, target = raw, tmp_path / "mapped.parquet"
    columns = {"age": pl.Int64(), "sex": pl.String()}

    def halved(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select((rows["age"] // 2).alias("age"), "sex")

    expected = halved(frames.read(source))
    for order in ("kept", "shuffled"):
        with (
            DuckDBTables() as engine,
            engine.map_batches(
                source,
                Output(place=target, order=order, rng=Seeded(3), overwrite=True),
                halved,
                columns,
            ) as draft,
        ):
            assert not target.exists() or order == "shuffled"
            assert (draft.rows, draft.columns) == (3000, columns)
            draft.commit()
        found = frames.read(target)
        assert found.equals(expected) == (order == "kept")
        assert same_rows(found, expected)


def test_what_a_function_raises_comes_out_as_it_is(raw: Path, tmp_path: Path) -> None:
    def broken(rows: pl.DataFrame) -> pl.DataFrame:
        raise KeyError("mine")

    with DuckDBTables() as engine, pytest.raises(KeyError, match="mine"):
        engine.map_batches(
            raw,
            Output(place=tmp_path / "a.parquet", order="kept", rng=Seeded(3), overwrite=True),
            broken,
            {},
        )
    assert [*tmp_path.iterdir()] == []
