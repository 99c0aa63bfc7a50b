"""A release holds what it shows and nothing else: no order, no dropped rows, no leftover values."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia import InputError, KAnonymity, PrivacyWarning, Role, Schema, Seeded, frames
from celosia.core.errors import CelosiaError
from celosia.core.progress import Step
from celosia.engines import DuckDB
from celosia.tables import Column, Hierarchy, Mask, publish, publish_file
from celosia.tables.coded_table import code_column
from celosia.tables.recoding import Lattice

SECRET = "SECRET-VALUE-OF-A-DROPPED-PERSON"
SUFFIXES = ["csv", "csv.gz", "tsv", "jsonl", "parquet", "arrow", "xlsx"]


def lone_person(dtype: Any = pl.String) -> pl.DataFrame:
    """Four people alike and one apart, in a column of texts or categories."""
    groups = ["a-common-value-of-many-people"] * 4 + [SECRET]
    kind = pl.Enum(sorted(set(groups))) if dtype is pl.Enum else dtype
    return pl.DataFrame(
        {
            "group": pl.Series(groups, dtype=kind),
            "told": pl.Series([f"told-by-person-number-{n}" for n in range(4)] + [SECRET]),
        }
    )


def content(path: Path) -> bytes:
    """Every byte that a reader could find, unpacked."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            return b"".join(book.read(name) for name in book.namelist())
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return repr((table.to_pydict(), table.schema)).encode() + path.read_bytes()
    return path.read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum])
def test_nothing_of_a_dropped_person_is_in_the_file(
    tmp_path: Path, suffix: str, dtype: Any
) -> None:
    schema = Schema.of(quasi_identifiers={"group": Mask(levels=(30,))}, sensitive="told")
    raw = lone_person(dtype)
    release = publish(raw, schema, KAnonymity(2), suppression=0.2, drop_suppressed=True)
    assert release.solution.levels == (0,)
    saved = release.save(tmp_path / f"safe.{suffix}")
    assert SECRET.encode() not in content(saved)
    assert SECRET not in str(release.data.schema)
    if suffix == "xlsx":
        return
    frames.write(raw, tmp_path / "raw.parquet")
    target = tmp_path / f"streamed.{suffix}"
    publish_file(
        tmp_path / "raw.parquet",
        target,
        schema,
        KAnonymity(2),
        suppression=0.2,
        drop_suppressed=True,
    )
    assert SECRET.encode() not in content(target)


def test_the_order_of_texts_in_memory_is_the_order_of_the_release(tmp_path: Path) -> None:
    texts = [f"a-text-too-long-to-be-inlined-{number:04}" for number in range(500)]
    table = pl.DataFrame({"zip": ["1"] * 500, "told": texts})
    schema = Schema.of(quasi_identifiers="zip", sensitive="told", accept_raw={"told": "a test"})
    release = publish(table, schema, KAnonymity(2), rng=Seeded(1))
    path = release.save(tmp_path / "safe.arrow")
    column = pa.ipc.open_file(path).read_all()["told"].combine_chunks()
    held = b"".join(bytes(buffer) for buffer in column.buffers() if buffer is not None)
    places = [held.index(text.encode()) for text in release.data["told"]]
    assert places == sorted(places)


def test_zeros_of_both_signs_are_one_value(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [0.0] * 4 + [-0.0] + [1.0] * 3})
    schema = Schema.of(quasi_identifiers="x")
    release = publish(table, schema, KAnonymity(2))
    release.save(tmp_path / "safe.csv")
    assert "-0.0" not in (tmp_path / "safe.csv").read_text()
    frames.write(table, tmp_path / "raw.parquet")
    publish_file(tmp_path / "raw.parquet", tmp_path / "streamed.csv", schema, KAnonymity(2))
    assert "-0.0" not in (tmp_path / "streamed.csv").read_text()


def test_zeros_of_columns_that_stay_as_they_are_have_one_sign(tmp_path: Path) -> None:
    table = pl.DataFrame({"zip": ["1"] * 4, "x": [0.0, -0.0, -0.0, 2.0], "y": [None, -0.0] * 2})
    schema = Schema.of(quasi_identifiers="zip", sensitive="x", insensitive="y")
    frames.write(table, tmp_path / "raw.parquet")
    publish_file(tmp_path / "raw.parquet", tmp_path / "streamed.csv", schema, KAnonymity(2))
    assert "-0.0" not in (tmp_path / "streamed.csv").read_text()
    found = frames.read(tmp_path / "streamed.csv")
    assert found["x"].sort().to_list() == [0.0, 0.0, 0.0, 2.0]
    assert found["y"].null_count() == 2


@pytest.mark.parametrize(
    "dtype",
    [pl.Datetime("ns", "UTC"), pl.Datetime("ns"), pl.Datetime("us", "UTC"), pl.Duration("ns")],
    ids=str,
)
def test_moments_a_nanosecond_apart_stay_apart_in_a_stream(tmp_path: Path, dtype: Any) -> None:
    table = pl.DataFrame({"at": pl.Series([1, 2, 3]).cast(dtype), "n": [1, 2, 3]})
    schema = Schema.of(quasi_identifiers="at", insensitive="n")
    frames.write(table, tmp_path / "raw.parquet")
    target = tmp_path / "safe.parquet"
    with pytest.warns(PrivacyWarning):
        release = publish_file(
            tmp_path / "raw.parquet", target, schema, KAnonymity(3), suppression=0, keep_order=True
        )
    assert release.solution.levels != (0,)
    with pytest.warns(PrivacyWarning):
        whole = publish(table, schema, KAnonymity(3), suppression=0, keep_order=True)
    assert frames.read(target)["at"].to_list() == whole.data["at"].to_list()


@pytest.mark.parametrize("change", ["another value", "a row more", "a row less"])
def test_a_file_that_changes_on_the_way_is_not_published(tmp_path: Path, change: str) -> None:
    source = tmp_path / "raw.csv"
    rows = ["a"] * 6
    source.write_text("\n".join(["zip", *rows]))
    changed = {
        "another value": [*rows[1:], "z"],
        "a row more": [*rows, "a"],
        "a row less": rows[1:],
    }[change]

    def edit(step: Step) -> None:
        if step.stage == "Searching the lattice":
            source.write_text("\n".join(["zip", *changed]))

    with pytest.raises(CelosiaError, match="not the same as when it was first read"):
        publish_file(
            source,
            tmp_path / "safe.csv",
            Schema.of(quasi_identifiers="zip"),
            KAnonymity(2),
            progress=edit,
        )
    assert [*tmp_path.iterdir()] == [source]


def test_a_shuffle_in_tiny_chunks_needs_few_files(tmp_path: Path) -> None:
    table = pl.DataFrame({"zip": ["1"] * 300, "n": range(300)})
    frames.write(table, tmp_path / "raw.csv")
    schema = Schema.of(quasi_identifiers="zip", insensitive="n", accept_raw={"n": "a test"})
    publish_file(tmp_path / "raw.csv", tmp_path / "safe.csv", schema, KAnonymity(2), chunk_rows=1)
    assert sorted(frames.read(tmp_path / "safe.csv")["n"]) == [*range(300)]


def test_what_a_traceback_would_print_shows_no_cell() -> None:
    table = pl.DataFrame({"group": [SECRET, SECRET, "other"]})
    with DuckDB() as engine:
        groups = engine.count_groups(table, ["group"])
    coded = code_column(table["group"], Column("group", Role.QUASI_IDENTIFIER))
    lattice = Lattice([coded])
    for value in (groups, coded, lattice, lattice.class_table((0,))):
        assert SECRET not in repr(value)


@pytest.mark.parametrize("hierarchy", ["mask", {"method": "mask"}, Mask, 5])
def test_what_is_no_hierarchy_is_refused_at_once(hierarchy: Any) -> None:
    with pytest.raises(InputError) as refused:
        Schema.of(quasi_identifiers={"age": hierarchy})
    assert refused.value.code == "CEL-S013"


def test_names_are_no_columns_and_labels_are_texts() -> None:
    with pytest.raises(InputError, match="made of columns"):
        Schema(["age"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not texts"):
        Hierarchy.from_paths([("1", 5), ("2", 5)])  # type: ignore[list-item]
