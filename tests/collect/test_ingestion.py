"""Reports from files: whatever the format, counted once, resumed, and refused when changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.collect.small_protocol import PROTOCOL, batch, state_of

from celosia.collect.collector import ingestion
from celosia.collect.collector.collector import Collector
from celosia.collect.collector.ingestion import IngestionSummary, absorb_files
from celosia.collect.collector.tables import write_table
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.reports import Reports
from celosia.core.errors import Cancelled, InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded


def into(folder: Path, *places: Path, source: str = "") -> tuple[IngestionSummary, bytes]:
    """What came of some files, and the state of the collector."""
    with Collector.open(folder / "state", PROTOCOL) as collector:
        return absorb_files(collector, places, source=source), collector.state()


def test_batches_one_after_the_other_are_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "day.clr"
    path.write_bytes(b"".join(batch(number) for number in range(5)))
    found, state = into(tmp_path, path)
    assert (found.counted, found.already_counted, state) == (200, 0, state_of(range(5)))
    found, state = into(tmp_path, path)
    assert (found.counted, found.already_counted, state) == (0, 200, state_of(range(5)))
    assert str(found) == "0 reports from 1 files, 200 counted before"


def test_equal_batches_in_one_file_are_all_counted(tmp_path: Path) -> None:
    (tmp_path / "day.clr").write_bytes(batch(1, 1) * 30)
    assert into(tmp_path, tmp_path / "day.clr")[0].counted == 30


def test_a_file_that_has_grown_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "day.clr"
    path.write_bytes(batch(0) + batch(1) + batch(2)[:-3])
    found, state = into(tmp_path, path)
    assert (found.counted, state) == (80, state_of([0, 1]))
    assert [each.code for each in found.refused] == ["CEL-R002"]
    path.write_bytes(batch(0) + batch(1) + batch(2) + batch(3))
    found, state = into(tmp_path, path)
    assert (found.counted, found.already_counted, state) == (80, 80, state_of(range(4)))
    assert not found.refused


def test_a_file_that_was_changed_is_refused_where_it_differs(tmp_path: Path) -> None:
    """A batch put before the others moves them all: none of them is counted again."""
    path = tmp_path / "day.clr"
    path.write_bytes(batch(0) + batch(1))
    into(tmp_path, path)
    path.write_bytes(batch(7) + batch(0) + batch(1))
    found, state = into(tmp_path, path)
    assert [each.code for each in found.refused] == ["CEL-R078"]
    assert state == state_of([0, 1])
    found, state = into(tmp_path, path, source="another relay")
    assert (found.counted, state) == (120, state_of([0, 0, 1, 1, 7]))


def test_a_large_batch_is_counted_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion, "PIECE", 64)
    monkeypatch.setattr(ingestion, "TOGETHER", 300)
    (tmp_path / "day.clr").write_bytes(batch(1, 1000) + batch(2, 10))
    steps: list[Step] = []

    def stopping(step: Step) -> None:
        steps.append(step)
        if len(steps) == 2:
            raise Cancelled

    with Collector.open(tmp_path / "state", PROTOCOL) as collector:
        with pytest.raises(Cancelled):
            absorb_files(collector, [tmp_path / "day.clr"], progress=stopping)
        assert 0 < collector.users < 1000
        before = collector.users
        found = absorb_files(collector, [tmp_path / "day.clr"])
        assert (found.already_counted, found.counted) == (before, 1010 - before)
        plain = PROTOCOL.server().absorb(batch(1, 1000)).absorb(batch(2, 10))
        assert collector.state() == plain.to_bytes()


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".feather"])
def test_tables_of_reports_are_counted_once(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion, "PIECE", 300)
    path = tmp_path / f"day{ending}"
    write_table(Reports.from_bytes(batch(3, 1000)), path)
    expected = state_of([3], 1000)
    for counted, known in ((1000, 0), (0, 1000)):
        found, state = into(tmp_path, path)
        assert (found.counted, found.already_counted, state) == (counted, known, expected)
    if ending == ".parquet":  # other row groups, the same pieces
        table = parquet.read_table(path)
        parquet.write_table(table, path, row_group_size=77)
        assert into(tmp_path, path)[0].already_counted == 1000


def test_a_stream_of_arrow_and_other_columns_are_read(tmp_path: Path) -> None:
    rows = [bytes(row) for row in Reports.from_bytes(batch(4)).packed]
    schema = pa.schema(
        [("day", pa.string()), ("report", pa.binary(1))],
        metadata={"celosia.fingerprint": PROTOCOL.fingerprint.hex()},
    )
    table = pa.table({"day": ["today"] * 40, "report": rows}, schema=schema)
    with pa.ipc.new_stream(tmp_path / "day.arrow", schema) as sink:
        sink.write_table(table.slice(0, 13))
        sink.write_table(table.slice(13))
    assert into(tmp_path, tmp_path / "day.arrow")[1] == state_of([4])


def test_tables_that_do_not_say_what_they_are_get_refused(tmp_path: Path) -> None:
    told = {"celosia.fingerprint": PROTOCOL.fingerprint.hex()}
    fixed, one = pa.binary(1), [b"\x01"]
    tables = {
        "no-column": pa.table({"value": pa.array(one, fixed)}).replace_schema_metadata(told),
        "no-width": pa.table({"report": pa.array(one)}).replace_schema_metadata(told),
        "no-fingerprint": pa.table({"report": pa.array(one, fixed)}),
        "other": pa.table({"report": pa.array(one, fixed)}).replace_schema_metadata(
            {"celosia.fingerprint": "00" * 8}
        ),
        "empty-cell": pa.table({"report": pa.array([b"\x01", None], fixed)}),
    }
    tables["empty-cell"] = tables["empty-cell"].replace_schema_metadata(told)
    for name, table in tables.items():
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "damaged.arrow").write_bytes(b"ARROW1 and no more")
    found, state = into(tmp_path, tmp_path)
    codes = {Path(each.path).stem: each.code for each in found.refused}
    assert codes.pop("other") == "CEL-R004"
    assert set(codes) == {*tables, "damaged"} - {"other"}
    assert set(codes.values()) == {"CEL-R082"}
    assert state == PROTOCOL.server().to_bytes()


def test_folders_are_read_by_name_and_other_files_left_alone(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    (inside / "b").mkdir(parents=True)
    (inside / "a.clr").write_bytes(batch(1))
    (inside / "b" / "a.clr").write_bytes(batch(2))
    (inside / "readme.txt").write_text("not reports")
    found, state = into(tmp_path, inside)
    assert (found.files, found.counted, state) == (2, 80, state_of([1, 2]))
    assert into(tmp_path, inside / "b" / "a.clr")[0].already_counted == 40  # known by its place
    for wrong in (inside / "readme.txt", tmp_path / "nothing.clr"):
        with pytest.raises(InputError) as caught:
            into(tmp_path, wrong)
        assert caught.value.code == "CEL-R082"


def test_foreign_and_hostile_files_are_refused_before_they_are_read(tmp_path: Path) -> None:
    other = HadamardCountMean(epsilon=2.0, hashes=4, width=16, key="other")
    cases = {
        "other": (other.client(rng=Seeded(1)).privatise("x").to_bytes(), "CEL-R004"),
        "huge": (Reports.head(2**32 - 1, PROTOCOL.fingerprint, 2**63) + b"x", "CEL-R004"),
        "many": (Reports.head(1, PROTOCOL.fingerprint, 2**63) + b"x", "CEL-R002"),
        "noise": (b"\x93" * 100, "CEL-R002"),
        "short": (b"CLR1", "CEL-R002"),
        "bits": (Reports.head(1, PROTOCOL.fingerprint, 1) + b"\xff", "CEL-R001"),
    }
    for name, (data, code) in cases.items():
        (tmp_path / f"{name}.clr").write_bytes(data)
        found, state = into(tmp_path, tmp_path / f"{name}.clr")
        assert [each.code for each in found.refused] == [code]
        assert state == PROTOCOL.server().to_bytes()


def test_reports_are_counted_by_the_million_a_second(tmp_path: Path) -> None:
    """Three million HCMS reports of 3 bytes; 1 s of CPU is a third of what is asked for."""
    protocol = HadamardCountMean(epsilon=4, hashes=1024, width=1024, key="speed")
    rows = np.frombuffer(os.urandom(9_000_000), dtype=np.uint8).reshape(-1, 3).copy()
    rows[:, 2] &= 0b11111
    (tmp_path / "day.clr").write_bytes(Reports(protocol.fingerprint, rows).to_bytes())
    with Collector.open(tmp_path / "state", protocol) as collector:
        collector.absorb(Reports(protocol.fingerprint, rows[:9]).to_bytes(), id="compiles")
        begun = time.process_time()
        assert absorb_files(collector, [tmp_path / "day.clr"]).counted == 3_000_000
        assert time.process_time() - begun < 1
