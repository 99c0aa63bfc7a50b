"""Publishing on Spark: the same rows as in memory, in an order that tells nothing, or nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal
from pyarrow import parquet
from tests.effort import EFFORT
from tests.engines.visits import SCHEMA as VISITS
from tests.engines.visits import check_series, visits
from tests.spark import on_spark, spark

from celosia import KAnonymity, datasets
from celosia.core.errors import EngineError, InputError, PrivacyWarning
from celosia.core.randomness import Seeded, Source, System
from celosia.engines.spark import tables
from celosia.engines.spark.paths import draft_name, forget
from celosia.engines.spark.tables import SparkTables, check_draws
from celosia.engines.tables import ColumnMap, Output, RecodingMap
from celosia.tables import publish
from celosia.tables.release import PublishedTable
from celosia.tables.run_on_engine import check_partitions, publish_on

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark"]
pytestmark = on_spark

ODD = pl.DataFrame(
    {
        "Zip Code": ["a'b", "", None, "ñ\u0001", "a`b", "*", "A'B", "a'b"],
        "zip code": pl.Series([1, None, -(2**63), 2**63 - 1, 1, 0, 1, 1], dtype=pl.Int64),
        "x.y": [0.0, -0.0, float("nan"), float("inf"), float("-inf"), None, 1e-300, 0.0],
        "`half`": pl.Series([0.5, -0.0, None, 1.5, float("nan"), 2, 3, 0.5], dtype=pl.Float32),
        "yes, no": [True, False, None, True, True, False, True, True],
        "day;": [
            date(1, 1, 1),
            None,
            date(9999, 12, 31),
            *[date(2026, 11, d) for d in range(1, 6)],
        ],
        "at (utc)": [datetime(2026, 1, 1, 12, 0, 0, micro, UTC) for micro in range(8)],
        "local=": [None, *[datetime(1900, 1, 1, hour) for hour in range(7)]],
        "price\t": pl.Series(
            [Decimal("1.10"), None, *map(Decimal, range(6))], dtype=pl.Decimal(12, 2)
        ),
        "a*b": pl.Series(["u", "v", None, "u", "u", "v", "u", "u"], dtype=pl.Categorical),
    }
)
"""Cells and names that engines like to change."""


PLAIN = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Java that is written for a query costs more than tiny tables; pages of the docs run with it."""


@pytest.fixture
def engine(spark: SparkSession) -> SparkTables:
    return SparkTables(settings=PLAIN)


def sorted_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows in one order, whatever order they had."""
    texts = frame.select(pl.all().cast(pl.String).fill_null("\0"))
    keys = texts.select(pl.concat_str(pl.all(), separator="\1").alias("key"))["key"]
    return frame[keys.arg_sort()]


def read(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "*.parquet", glob=True)


def people(rows: int = 600) -> pl.DataFrame:
    return datasets.census(rows, seed=5)


def written(frame: pl.DataFrame, folder: Path, files: int = 2) -> Path:
    """The frame as several Parquet files."""
    folder.mkdir()
    for number in range(files):
        frame[number::files].write_parquet(folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"drop_suppressed": True, "partition_by": ["sex"]},
        {"local": True, "drop_suppressed": True},
        {"method": "mondrian"},
    ],
    ids=["lattice", "dropped", "local", "mondrian"],
)
def test_a_release_on_spark_is_the_one_in_memory(
    engine: SparkTables, tmp_path: Path, options: dict[str, Any]
) -> None:
    table, schema = people(), datasets.census_schema()
    split = options.pop("partition_by", [])
    expected = publish(table, schema, KAnonymity(5), rng=Seeded(1), **options)
    source, target = written(table, tmp_path / "raw"), tmp_path / "safe.parquet"
    release = publish_on(
        engine, source, target, schema, KAnonymity(5), partition_by=split, **options
    )
    found = pl.read_parquet(target / "**/*.parquet", hive_partitioning=bool(split))
    found = found.select(expected.data.columns)
    assert_frame_equal(sorted_rows(found), sorted_rows(expected.data))
    assert release.rows_written == expected.data.height
    assert (target / "_SUCCESS").exists()
    if split:
        assert all(name.startswith("sex=") for name in os.listdir(target) if name[0] not in "._")
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "raw", "safe.parquet", "safe.parquet.cert.json",
    ]  # fmt: skip


def test_columns_that_cannot_split_the_target_are_refused() -> None:
    engine = SparkTables.__new__(SparkTables)
    for target, names, told in (
        (Path("safe"), ["none"], "no column"),
        (Path("safe"), ["age", "sex"], "every column"),
        ("census.safe", ["sex"], "folder"),
    ):
        with pytest.raises(InputError, match=told) as refused:
            check_partitions(engine, target, names, ["age", "sex"])
        assert refused.value.code == "CEL-P115"


def test_people_are_counted_and_a_history_is_kept_as_in_memory(
    engine: SparkTables, tmp_path: Path
) -> None:
    source = written(visits(), tmp_path / "raw")

    def run(**how: Any) -> PublishedTable:
        return publish_on(engine, source, tmp_path / "safe", VISITS, KAnonymity(5), **how)

    check_series(run, tmp_path, refusal=False)


def test_every_type_of_cell_and_name_comes_through(engine: SparkTables, tmp_path: Path) -> None:
    """Recoded by combination, and beside it: all cells as they were, but for the second zero."""
    source = written(ODD, tmp_path / "raw", files=2)
    plain = ODD.with_columns(pl.col("a*b").cast(pl.String), pl.col("x.y", "`half`") + 0.0)
    types = engine.columns(source)
    assert types == dict(plain.schema)
    groups = engine.count_groups(source, list(types))
    assert groups.sizes.sum() == 8
    counted = groups.values.with_columns(pl.col("x.y", "`half`") + 0.0)
    twice = counted[np.repeat(np.arange(counted.height), groups.sizes)]
    assert_frame_equal(sorted_rows(twice), sorted_rows(plain))
    for recoded in (["Zip Code"], list(types)):
        few = engine.count_groups(source, recoded)
        recoding = RecodingMap(
            few.values, few.values, np.zeros(few.sizes.size, dtype=bool),
            np.arange(few.sizes.size), 8,
        )  # fmt: skip
        target = tmp_path / f"safe-{len(recoded)}.parquet"
        with engine.recode(
            source, shuffled(target), recoding, keep=list(types), drop_suppressed=False
        ) as draft:
            assert draft.columns == types
            assert draft.sha256() is None
            draft.commit()
        found = read(target).with_columns(pl.col("x.y", "`half`") + 0.0)
        assert_frame_equal(sorted_rows(found), sorted_rows(plain))


def shuffled(target: Path | str, *, overwrite: bool = False) -> Output:
    return Output(place=target, order="shuffled", rng=System(), overwrite=overwrite)


def recoding_of_two(rows: int, hidden_rows: int = 0) -> RecodingMap:
    """Text to its first letter or as it is, numbers to text; the class (b, 2) is suppressed."""
    words, numbers = pl.Series(["ax", "ay", "bz", None]), pl.Series([1, 2, None])
    maps = (
        ColumnMap(
            words, pl.Series(["a", "a", "b", None]), pl.Series([0, 0, 1, 2], dtype=pl.UInt32)
        ),
        ColumnMap(numbers, pl.Series(["1", "2", "*"]), pl.Series([4, 5, 9], dtype=pl.UInt32)),
    )
    pairs = pl.DataFrame({"word": words}).join(pl.DataFrame({"number": numbers}), how="cross")
    shown = pl.DataFrame({"word": maps[0].released}).join(
        pl.DataFrame({"number": maps[1].released}), how="cross"
    )
    hidden = ((shown["word"] == "b") & (shown["number"] == "2")).fill_null(value=False)
    starred = shown.with_columns(pl.when(hidden).then(pl.lit("*")).otherwise(pl.all()).name.keep())
    nodes = pl.DataFrame(
        {"word": [1], "number": [5]}, schema_overrides={"word": pl.UInt32, "number": pl.UInt32}
    )
    return RecodingMap(
        pairs, starred, hidden.to_numpy(), np.arange(pairs.height), rows, maps, nodes, hidden_rows
    )  # fmt: skip


@pytest.mark.parametrize("drop", [False, True], ids=["starred", "dropped"])
def test_columns_one_by_one_say_what_combinations_say(
    engine: SparkTables, tmp_path: Path, drop: bool
) -> None:
    rows = 240
    draw = np.random.default_rng(3)
    table = pl.DataFrame(
        {
            "word": pl.Series(["ax", "ay", "bz", None])[draw.integers(0, 4, rows)],
            "number": pl.Series([1, 2, None])[draw.integers(0, 3, rows)],
            "other": draw.integers(0, 50, rows),
        }
    )
    source = written(table, tmp_path / "raw")
    gone = table.filter(word="bz", number=2).height
    whole = recoding_of_two(rows, gone)
    single = replace(whole, maps=None, hidden_nodes=None)
    keys = whole.combinations.with_columns(
        whole.released["word"].alias("w"), whole.released["number"].alias("n"),
        pl.Series("hidden", whole.hidden),
    )  # fmt: skip
    expected = table.join(keys, on=["word", "number"], how="left", nulls_equal=True)
    if drop:
        expected = expected.filter(~pl.col("hidden"))
    expected = expected.select(pl.col("w").alias("word"), "other", pl.col("n").alias("number"))
    engine.columns(source)
    for number, recoding in enumerate((whole, single)):
        target = tmp_path / f"safe{number}"
        with engine.recode(
            source,
            shuffled(target),
            recoding,
            keep=["word", "other", "number"],
            drop_suppressed=drop,
        ) as draft:
            assert draft.rows == expected.height
            draft.commit()
        assert_frame_equal(sorted_rows(read(target)), sorted_rows(expected))


def recoded(
    engine: SparkTables,
    source: Path | str,
    target: Path | str,
    recoding: RecodingMap,
    **options: Any,
) -> int:
    """Recode and commit; how many rows were written."""
    engine.columns(source)
    output = shuffled(target, overwrite=options.pop("overwrite", False))
    with engine.recode(source, output, recoding, **options) as draft:
        draft.commit()
        return draft.rows


def words_recoded(table: pl.DataFrame, hidden: str) -> RecodingMap:
    """Words to their first letter, and one letter suppressed; `same` stays as it is."""
    pairs = table.select("word", "same").unique()
    shown = pairs.with_columns(pl.col("word").str.head(1))
    gone = shown["word"] == hidden
    words, same = pairs["word"].unique().sort(), pairs["same"].unique().sort()
    node = pl.Series([ord(each) for each in words.str.head(1)], dtype=pl.UInt32)
    places = pl.Series(range(len(same)), dtype=pl.UInt32)
    maps = (ColumnMap(words, words.str.head(1), node), ColumnMap(same, same, places))
    pair = shown.filter(gone).select(
        pl.lit(ord(hidden), pl.UInt32).alias("word"),
        pl.col("same").replace_strict(same, places, return_dtype=pl.UInt32),
    )
    rows = table["word"].str.starts_with(hidden).sum()
    return RecodingMap(
        pairs, shown, gone.to_numpy(), np.arange(pairs.height), table.height, maps, pair.unique(),
        int(rows),
    )  # fmt: skip


def test_order_and_files_are_a_function_of_the_released_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the order and files of the source nor rows that are left out change any file."""
    monkeypatch.setattr(tables, "FEW", 40)
    several = {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "5"}
    engine = SparkTables(settings=PLAIN | several)
    draw = np.random.default_rng(7)
    rows = 120
    shown = pl.DataFrame(
        {
            "word": pl.Series(["by", "dz", "dy"])[draw.integers(0, 3, rows)],
            "same": draw.integers(0, 2, rows).astype(float),
            # In hashes of Spark (NULL, 1) is (1, NULL).
            "left": pl.Series([None, 1, 2])[draw.integers(0, 3, rows)],
            "right": pl.Series([None, 1, 2])[draw.integers(0, 3, rows)],
        }
    )
    found = []
    for number, gone in enumerate("ac"):
        extra = pl.DataFrame({"word": [gone] * 3, "same": [float(number)] * 3}).with_columns(
            left=pl.lit(9), right=pl.lit(9, pl.Int64)
        )
        table = pl.concat([shown, extra.cast(shown.schema)])
        source = written([table, table.reverse()][number], tmp_path / f"raw{number}", 1 + number)
        target = tmp_path / f"safe{number}"
        options = {"keep": table.columns, "drop_suppressed": True}
        assert recoded(engine, source, target, words_recoded(table, gone), **options) == rows
        found.append([pl.read_parquet(each) for each in sorted(target.glob("*.parquet"))])
    assert len(found[0]) == len(found[1]) == 3
    for one, other in zip(*found, strict=True):
        assert_frame_equal(one, other)
    expected = shown.with_columns(pl.col("word").str.head(1))
    assert_frame_equal(sorted_rows(pl.concat(found[0])), sorted_rows(expected))


def test_rows_that_are_to_stay_in_order_do(engine: SparkTables, tmp_path: Path) -> None:
    table, schema, kept = people(200), datasets.census_schema(), tmp_path / "kept.parquet"
    source = written(table, tmp_path / "raw", files=1)
    with pytest.warns(PrivacyWarning, match="original order"):
        publish_on(engine, source, kept, schema, KAnonymity(5), keep_order=True)
    with pytest.warns(PrivacyWarning, match="original order"):
        expected = publish(table, schema, KAnonymity(5), keep_order=True).data
    assert_frame_equal(read(kept), expected)


def test_files_hold_nothing_but_released_cells(engine: SparkTables, tmp_path: Path) -> None:
    """No metadata of columns, no second zero and no bits of a NaN that tell rows apart."""
    other = np.array([0x7FF8_0000_0000_0001], dtype=np.uint64).view(np.float64)[0]
    cells = [0.0, -0.0, float("nan"), other, 1.5, 1.5]
    table = pl.DataFrame({"word": ["SECRET"] * 2 + ["by"] * 6, "same": [9.5, 9.5, *cells]})
    metadata = {"label": ["SECRET"]}
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": metadata}
        for name, kind in (("word", "string"), ("same", "double"))
    ]
    known = json.dumps({"type": "struct", "fields": fields})
    rows = table.to_arrow().cast(pa.schema([("word", pa.string()), ("same", pa.float64())]))
    source = tmp_path / "raw.parquet"
    parquet.write_table(
        rows.replace_schema_metadata({"org.apache.spark.sql.parquet.row.metadata": known}), source
    )
    engine.columns(source)
    groups = engine.count_groups(source, ["word", "same"])
    assert sorted(groups.sizes) == [2, 2, 2, 2]
    counted = groups.values[np.repeat(np.arange(4), groups.sizes)]
    target = tmp_path / "safe"
    options = {"keep": ["word", "same"], "drop_suppressed": True}
    assert recoded(engine, source, target, words_recoded(counted, "S"), **options) == 6
    found = read(target)["same"].to_numpy().view(np.uint64)
    assert sorted(np.unique(found, return_counts=True)[1]) == [2, 2, 2]
    for file in target.iterdir():
        assert b"SECRET" not in file.read_bytes()
        assert file.name.startswith((".part-0000", "part-0000", "_SUCCESS", "._SUCCESS"))


def test_tables_of_the_catalogue_are_published_and_replaced(
    engine: SparkTables, spark: SparkSession, tmp_path: Path
) -> None:
    table, schema = people(400), datasets.census_schema()
    source = written(table, tmp_path / "raw")
    spark.sql("CREATE DATABASE IF NOT EXISTS census")
    spark.read.parquet(str(source)).write.mode("overwrite").saveAsTable("census.people")
    paper = tmp_path / "safe.cert.json"
    publish_on(engine, "census.people", "census.safe", schema, KAnonymity(5), certificate=paper)
    expected = publish(table, schema, KAnonymity(5)).data
    found = pl.DataFrame(pl.from_arrow(spark.table("census.safe").toArrow()))
    assert_frame_equal(sorted_rows(found), sorted_rows(expected))
    with pytest.raises(InputError) as caught:
        engine.check_target("census.people", "census.safe", overwrite=False)
    assert caught.value.code == "CEL-P110"
    with pytest.raises(InputError) as caught:
        engine.check_target("census.people", "census.people", overwrite=True)
    assert caught.value.code == "CEL-I007"
    left = draft_name("safe")
    spark.sql(f"CREATE TABLE census.`{left}` (a INT)")
    forget(left)
    publish_on(engine, "census.people", "census.safe", schema, KAnonymity(9), certificate=paper)
    spark.catalog.refreshTable("census.safe")  # what this session knew of is gone
    assert spark.table("census.safe").count() == 400
    names = [row["tableName"] for row in spark.sql("SHOW TABLES IN census").collect()]
    assert sorted(names) == ["people", "safe"]
    spark.sql("DROP DATABASE census CASCADE")


def test_what_cannot_be_read_or_written_is_refused_before_work(
    engine: SparkTables, tmp_path: Path
) -> None:
    (tmp_path / "no.parquet").write_bytes(b"PAR1 and no more")
    for place in (tmp_path / "none.parquet", "no_such_table", "no.such", tmp_path / "no.parquet"):
        with pytest.raises(EngineError) as caught:
            engine.columns(place)
        assert caught.value.code == "CEL-E021"
    clock = pl.DataFrame({"a": [1], "fine": [datetime(2026, 1, 1)]})
    kinds = {
        "nanoseconds": clock.with_columns(pl.col("fine").cast(pl.Datetime("ns"))),
        "time": clock.with_columns(pl.col("fine").dt.time()),
        "list": clock.with_columns(pl.lit([1]).alias("fine")),
        "binary": clock.with_columns(pl.lit(b"x").alias("fine")),
        "duration": clock.with_columns(fine=pl.duration(days=1)),
    }
    for name, frame in kinds.items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
        with pytest.raises(EngineError) as caught:
            engine.columns(tmp_path / f"{name}.parquet")
        assert caught.value.code == "CEL-E022"
        assert "fine" in str(caught.value)
    source = written(people(50), tmp_path / "raw")
    (tmp_path / "taken").mkdir()
    for target, overwrite, code in (
        (tmp_path / "taken", False, "CEL-I004"),
        (tmp_path / "none" / "safe", True, "CEL-I005"),
        (source, True, "CEL-I007"),
    ):
        with pytest.raises(InputError) as refused:
            engine.check_target(source, target, overwrite=overwrite)
        assert refused.value.code == code
    engine.check_target(source, tmp_path / "taken", overwrite=True)


def test_a_source_that_changes_in_between_is_refused(
    engine: SparkTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where only Spark sees the files, and where every value and the total are the same."""
    table = pl.DataFrame({"word": ["ax", "ay", "bz"] * 4, "number": [1, 2, 1] * 4})
    swapped = table.with_columns(pl.Series("word", ["ax", "ay", "ay"] * 3 + ["ax", "ay", "bz"]))

    def check(source: Path | str, rows: int) -> None:
        place = f"{tmp_path}/safe" if isinstance(source, Path) else f"file://{tmp_path}/safe"
        with pytest.raises(EngineError) as caught:
            recoded(
                engine, source, place, recoding_of_two(rows), keep=["word", "number"],
                drop_suppressed=True,
            )  # fmt: skip
        assert caught.value.code == "CEL-E002"
        assert caught.value.__context__ is None
        assert [each.name for each in tmp_path.iterdir()] == ["raw"]
        engine.close()

    source = written(table, tmp_path / "raw", files=1)
    check(source, 11)
    engine.columns(source)
    table.write_parquet(source / "1.parquet")
    check(source, 24)
    (source / "1.parquet").unlink()
    unseen = table.with_columns(pl.Series("word", ["new"] * 12))
    unseen.write_parquet(source / "0.parquet")
    check(source, 12)
    monkeypatch.setattr(tables, "local_path", lambda *_: None)
    table.write_parquet(source / "0.parquet")
    engine.columns(f"file://{source}")
    swapped.write_parquet(source / "0.parquet")
    check(f"file://{source}", 12)
    with pytest.raises(EngineError) as caught:
        engine.columns(f"file://{tmp_path}/none/x.parquet")
    assert caught.value.code == "CEL-E021"


def doubled(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.col("number") * 2, pl.col("word").str.to_uppercase())


def refusing(frame: pl.DataFrame) -> pl.DataFrame:
    raise InputError("CEL-E022", column="word", kind="text")


def quoting(frame: pl.DataFrame) -> pl.DataFrame:
    """Polars names the cell that is no number."""
    return frame.select(pl.col("word").cast(pl.Int64), "number")


def drawing(rng: Source, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.Series("number", rng.integers(9, frame.height)))


def test_rows_are_mapped_by_functions_on_workers(engine: SparkTables, tmp_path: Path) -> None:
    table = pl.DataFrame({"word": ["ax", None, "bz"] * 50, "number": list(range(150))})
    source = written(table, tmp_path / "raw")
    columns = {"number": pl.Int64(), "word": pl.String()}

    def mapped(function: Callable[[pl.DataFrame], pl.DataFrame]) -> Any:
        return engine.map_batches(source, shuffled(tmp_path / "safe"), function, columns)

    with mapped(doubled):
        pass
    assert not (tmp_path / "safe").exists()
    with mapped(doubled) as draft:
        draft.commit()
    assert_frame_equal(sorted_rows(read(tmp_path / "safe")), sorted_rows(doubled(table)))
    with pytest.raises(InputError) as caught:
        mapped(refusing)
    assert (caught.value.code, caught.value.details) == (
        "CEL-E022",
        {"column": "word", "kind": "text"},
    )
    with pytest.raises(EngineError) as failed:
        mapped(quoting)
    assert failed.value.code == "CEL-E020"
    assert failed.value.__context__ is None
    # A copy of a seeded source in every worker would draw the same for other rows.
    with pytest.raises(InputError) as caught:
        mapped(partial(drawing, Seeded(1)))
    assert caught.value.code == "CEL-E078"
    check_draws(partial(drawing, System()))


def test_a_spark_that_is_killed_or_stopped_leaves_nothing_and_is_started_anew(
    tmp_path: Path,
) -> None:
    """In a process of its own, for the Spark of this one has other users."""
    program = [sys.executable, "-W", "ignore", "-m", "tests.engines.ending_spark", str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr
    killed, after_kill, rows, *stopping = json.loads(done.stdout)
    for code, words, unchained in (killed, *stopping[:1]):
        assert code == "CEL-E020"
        assert "Spark stopped before the work was done" in words
        assert unchained
    assert after_kill == ["raw"]
    assert rows == 300
    files = ["people.parquet", "raw", "safe.parquet", "safe.parquet.cert.json"]
    assert stopping[1:] == ([files] if EFFORT >= 1 else [])
    assert "SECRET" not in done.stdout + done.stderr
