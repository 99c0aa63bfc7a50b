"""Reports counted on Spark and by processes: bit for bit what one server counts, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet
from tests.collect.small_protocol import PROTOCOL, batch, state_of
from tests.spark import on_spark, spark

from celosia.cli import main
from celosia.collect import registry
from celosia.collect.collector.collector import Collector
from celosia.collect.collector.ingestion import absorb_files
from celosia.collect.collector.tables import FINGERPRINT, write_table
from celosia.collect.distributed import parts as in_processes
from celosia.collect.distributed import spark as on_cluster
from celosia.collect.distributed.parts import (
    FileCounter,
    GatheredCounts,
    PartialCount,
    check_each,
    combine_parts,
    gather_in_processes,
    merge_parts,
)
from celosia.collect.distributed.spark import gather_on_spark
from celosia.collect.protocol import Protocol
from celosia.collect.registry import protocol_from, save_protocol
from celosia.collect.reports import Reports
from celosia.core.errors import EngineError, InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark"]
pytestmark = on_spark

SKETCH: dict[str, Any] = {"hashes": 8, "width": 16}
LISTED: dict[str, Any] = {"domain": ["a", "b", "c"]}
EXTRA: dict[str, dict[str, Any]] = {
    "cms": SKETCH,
    "hcms": SKETCH,
    "sfp": SKETCH | {"fragment_hashes": 8, "fragment_width": 16},
    "grr": LISTED,
    "oue": LISTED,
    "sue": LISTED,
    "hr": LISTED,
    "ss": LISTED,
    "pgr": LISTED,
    "pem": {"alphabet": "abc", "length": 3},
    "rappor": {},
    "rappor-words": {
        "words": {"method": "rappor", "bits": 32, "f": "1/3"},
        "grams": {"method": "rappor", "bits": 16, "key": "grams"},
    },
}
"""What each protocol needs beside its epsilon."""
NUMBERS = {"dbitflip", "one-bit-mean"}


def protocol_named(name: str) -> Protocol:
    own = EXTRA.get(name, {})
    epsilon = {} if name.startswith("rappor") else {"epsilon": 2}
    return protocol_from({"method": name, "key": "scale"} | epsilon | own)


def reports_of(protocol: Protocol, seed: int, number: int = 90) -> Reports:
    values: Any = ["a", "b", "c"] * (number // 3)
    if protocol.method_name in NUMBERS:
        values = np.arange(number) % 2
    return protocol.client(rng=Seeded(seed)).privatise(values)


def spread(protocol: Protocol, folder: Path, files: int) -> bytes:
    """Files of reports in folders, and the state of one server that counts them all."""
    server = protocol.server()
    for number in range(files):
        reports = reports_of(protocol, number)
        server.absorb(reports)
        place = folder / f"day={number % 2}"
        place.mkdir(parents=True, exist_ok=True)
        ending = ".arrow" if number % 5 == 4 else ".parquet"
        write_table(reports, place / f"part {number}{ending}")
    return server.to_bytes()


@pytest.mark.parametrize("files", [1, 5])
def test_all_protocols_add_up_to_the_state_of_one_server_however_they_are_cut(
    tmp_path: Path, files: int
) -> None:
    """What workers do, without workers: the parts of every cut are merged to the same bytes."""
    for name in registry.PROTOCOLS:
        protocol = protocol_named(name)
        folder = tmp_path / name
        expected = spread(protocol, folder, files)
        paths = sorted(str(each) for each in folder.rglob("*.*"))
        assert len(paths) == files
        for cuts in ([paths], [[each] for each in paths], [paths[1::2], [], paths[::2]]):
            parts = []
            for some in cuts:
                counter = FileCounter(protocol)
                for path in some:
                    counter.add_file(path)
                parts.append(PartialCount.from_row(counter.part().row()))
            pairs = [merge_parts(protocol, parts[at : at + 2]) for at in range(0, len(parts), 2)]
            for order in (pairs, pairs[::-1]):
                found = combine_parts(protocol, merge_parts(protocol, order))
                assert found.server.to_bytes() == expected, name
                assert found.counted == 90 * files


@pytest.mark.parametrize("name", ["hcms", "olh", "pem", "rappor-words"])
def test_spark_counts_what_one_server_counts(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """States that are sums, lists, and several of them; merged here and in several rounds."""
    protocol = protocol_named(name)
    expected = spread(protocol, tmp_path / "in", 5)
    if name == "hcms":  # as if there were very many files
        monkeypatch.setattr(on_cluster, "TOGETHER", 2)
        monkeypatch.setattr(on_cluster, "PACKED", 1)
        monkeypatch.setattr(on_cluster, "OPENING", 1)
    found = gather_on_spark(protocol, [tmp_path / "in"], session=spark)
    assert found.server.to_bytes() == expected
    assert str(found) == "450 reports from 5 files"
    assert found.as_dict() == {"files": 5, "counted": 450, "already_counted": 0}


def test_rounds_end_with_one_state() -> None:
    assert list(on_cluster._rounds(1)) == [1]
    assert list(on_cluster._rounds(16)) == [1]
    assert list(on_cluster._rounds(1000)) == [63, 4, 1]


def test_processes_count_what_one_server_counts(tmp_path: Path) -> None:
    expected = spread(PROTOCOL, tmp_path / "in", 5)
    steps: list[Step] = []
    found = gather_in_processes(PROTOCOL, [tmp_path / "in"], processes=2, progress=steps.append)
    assert found.server.to_bytes() == expected
    assert (steps[-1].done, steps[-1].total) == (5, 5)
    (tmp_path / "more.clr").write_bytes(batch(1))
    for places, number, code in (
        ([tmp_path / "more.clr"], 2, "CEL-R082"),
        ([tmp_path / "in"], 0, "CEL-E075"),
        ([tmp_path / "in", tmp_path / "in" / "day=0"], 2, "CEL-R082"),
    ):
        with pytest.raises(InputError) as caught:
            gather_in_processes(PROTOCOL, places, processes=number)
        assert caught.value.code == code


def test_shares_of_files_weigh_about_the_same(tmp_path: Path) -> None:
    paths = []
    for size in (100, 60, 50, 40, 30, 20):
        paths.append(str(tmp_path / f"{size}.parquet"))
        Path(paths[-1]).write_bytes(b"x" * size)
    shares = in_processes._shares(paths, 3)
    weights = [sum(Path(each).stat().st_size for each in share) for share in shares]
    assert sorted(path for share in shares for path in share) == sorted(paths)
    assert max(weights) <= 100 * 4 / 3  # Graham's bound for the largest first, 1969


def damaged(folder: Path) -> None:
    """One sound file, and every sort of file that must be refused."""
    folder.mkdir()
    write_table(Reports.from_bytes(batch(1, 1000)), folder / "sound.parquet")
    whole = (folder / "sound.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[:-20])
    (folder / "noise.parquet").write_bytes(b"PAR1" + b"\x93" * 50)
    told = {FINGERPRINT: PROTOCOL.fingerprint.hex()}
    fixed = pa.binary(1)
    for name, cells, facts in (
        ("bits", [b"\xff"], told),
        ("empty", [None], told),
        ("silent", [b"\x01"], {}),
        ("other", [b"\x01"], {FINGERPRINT: "00" * 8}),
    ):
        table = pa.table({"report": pa.array(cells, fixed)}).replace_schema_metadata(facts)
        parquet.write_table(table, folder / f"{name}.parquet")


def counted_here(folder: Path, counted_marks: Mapping[bytes, bytes] | None) -> GatheredCounts:
    files = sorted(map(str, folder.iterdir()))
    return combine_parts(PROTOCOL, in_processes.count_files(PROTOCOL, files, "", counted_marks))


def test_damaged_files_are_named_and_nothing_is_counted(
    spark: SparkSession, tmp_path: Path
) -> None:
    damaged(tmp_path / "in")
    ways: list[Callable[[], object]] = [
        lambda: gather_on_spark(PROTOCOL, [tmp_path / "in"], session=spark),
        lambda: counted_here(tmp_path / "in", None),  # what a process does
    ]
    for gather in ways:
        with pytest.raises(InputError) as caught:
            gather()
        assert caught.value.code == "CEL-R082"
        listed: Any = caught.value.details["refused"]
        refused = {Path(each["path"]).stem: each["code"] for each in listed}
        assert refused == {
            "cut": "CEL-R082",
            "noise": "CEL-R082",
            "bits": "CEL-R001",
            "empty": "CEL-R082",
            "silent": "CEL-R082",
            "other": "CEL-R004",
        }
        assert "6 of 7 files" in str(caught.value)


def test_places_that_are_not_there_are_not_left_out(spark: SparkSession, tmp_path: Path) -> None:
    spread(PROTOCOL, tmp_path / "in", 2)
    (tmp_path / "nothing").mkdir()
    for places in (
        [tmp_path / "in", tmp_path / "none"],
        [tmp_path / "in", tmp_path / "nothing"],
        [],
    ):
        with pytest.raises(InputError) as caught:
            gather_on_spark(PROTOCOL, places, session=spark)
        assert caught.value.code == "CEL-R082"
    with pytest.raises(InputError):
        check_each([], ["file:/a/b.parquet", "file:///a/b.parquet"])
    check_each(["file:///a", "hdfs://name/*/b.parquet"], ["file:/a/b.parquet"])


def test_a_collector_takes_each_file_once_whoever_has_counted_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    for number in range(3):
        write_table(Reports.from_bytes(batch(number)), inside / f"{number}.parquet")
    with Collector.open(tmp_path / "state", PROTOCOL) as collector:
        assert absorb_files(collector, [inside / "0.parquet"]).counted == 40
        found = gather_on_spark(PROTOCOL, [inside], session=spark, counted_marks=collector.marks())
        assert (found.counted, found.already_counted) == (80, 40)
        assert "40 counted before" in str(found)
        collector.take_in(found.server, found.marks, source="")
        assert collector.state() == state_of(range(3))
        with pytest.raises(InputError) as caught:
            collector.take_in(found.server, found.marks)
        assert caught.value.code == "CEL-R081"
        assert absorb_files(collector, [inside]).already_counted == 120
        write_table(Reports.from_bytes(batch(9)), inside / "2.parquet", overwrite=True)
        with pytest.raises(InputError, match="changed after") as caught:
            counted_here(inside, collector.marks())
        assert collector.state() == state_of(range(3))


def test_partitioned_files_are_counted_once_by_spark_processes_and_one_server(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Two levels of partitions, whose files have the same names, as Spark and Arrow write them."""
    places = [(region, day) for region in ("es", "fr") for day in (17, 18)]
    tables = []
    for number, (region, day) in enumerate(places):
        write_table(Reports.from_bytes(batch(number)), tmp_path / "one.parquet", overwrite=True)
        table = parquet.read_table(tmp_path / "one.parquet")
        table = table.append_column("region", pa.array([region] * table.num_rows))
        tables.append(table.append_column("day", pa.array([day] * table.num_rows)))
    inside = tmp_path / "in"
    dataset.write_dataset(
        pa.concat_tables(tables),
        inside,
        format="parquet",
        partitioning=["region", "day"],
        partitioning_flavor="hive",
    )
    paths = sorted(inside.rglob("*.parquet"))
    assert {each.name for each in paths} == {"part-0.parquet"}
    assert paths[0].parts[-3:] == ("region=es", "day=17", "part-0.parquet")
    unfinished = inside / "_temporary" / "0" / "day=19" / "part-0.parquet"
    unfinished.parent.mkdir(parents=True)
    unfinished.write_bytes(b"half of a file")
    (inside / "_SUCCESS").touch()
    expected = state_of(range(4))
    with Collector.open(tmp_path / "state", PROTOCOL) as collector:
        assert absorb_files(collector, [inside / "region=es"]).counted == 80
        found = gather_on_spark(PROTOCOL, [inside], session=spark, counted_marks=collector.marks())
        assert (found.files, found.counted, found.already_counted) == (4, 80, 80)
        collector.take_in(found.server, found.marks, source="")
        assert collector.state() == expected
        assert absorb_files(collector, [inside]).already_counted == 160
    some = gather_on_spark(PROTOCOL, [f"{inside}/region=*/day=18"], session=spark)
    assert some.server.to_bytes() == state_of([1, 3])
    found = gather_in_processes(PROTOCOL, [inside], processes=1)
    assert found.server.to_bytes() == expected


def test_files_that_a_collector_could_not_tell_apart_are_refused(tmp_path: Path) -> None:
    paths = []
    for parent in ("a", "b"):
        (tmp_path / parent / "day").mkdir(parents=True)
        paths.append(str(tmp_path / parent / "day" / "x.parquet"))
        write_table(Reports.from_bytes(batch(1)), paths[-1])
    for cuts in ([paths], [[each] for each in paths]):
        parts = []
        for some in cuts:
            counter = FileCounter(PROTOCOL, counted_marks={})
            for path in some:
                counter.add_file(path)
            parts.append(counter.part())
        with pytest.raises(InputError, match="last two names"):
            combine_parts(PROTOCOL, merge_parts(PROTOCOL, parts))


def test_the_command_counts_on_spark_and_with_processes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_protocol(PROTOCOL, "emoji.toml")
    expected = spread(PROTOCOL, tmp_path / "in", 2)
    absorb = ["celosia", "collect", "absorb", "emoji.toml", "in"]

    def said(*words: str) -> int:
        monkeypatch.setattr("sys.argv", [*absorb, *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    assert said("--folder", "one", "--engine", "spark", "--url", "local[2]") == 0
    assert said("--folder", "one", "--engine", "spark") == 0  # known by now
    assert said("--folder", "two", "--processes", "1") == 0
    for folder in ("one", "two"):
        with Collector.open(tmp_path / folder, PROTOCOL) as collector:
            assert collector.state() == expected
    for words in (
        ["--engine", "duck"],
        ["--url", "yarn"],
        ["--engine", "spark", "--processes", "1"],
    ):
        assert said("--folder", "three", *words) == 2
    (tmp_path / "in" / "bad.parquet").write_bytes(b"PAR1")
    assert said("--folder", "four", "--engine", "spark") == 2
    with Collector.open(tmp_path / "four", PROTOCOL) as collector:
        assert collector.users == 0


def test_a_spark_that_fails_says_nothing_of_the_reports(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spread(PROTOCOL, tmp_path / "in", 1)
    for schema, code in (("state int, marks binary, about string", "CEL-E070"),):
        monkeypatch.setattr(on_cluster, "ROW", schema)
        with pytest.raises(EngineError) as caught:
            gather_on_spark(PROTOCOL, [tmp_path / "in"], session=spark)
        assert caught.value.code == code
        assert caught.value.__context__ is None
