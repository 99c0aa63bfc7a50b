"""A file holds the cells of its frame, and nothing else that memory still has."""

from __future__ import annotations

import functools
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia import frames

MARKER = "MARKER-that-is-too-long-to-be-kept-in-a-view"
SECRET = 0x4D41524B45525321
KEPT = [f"row {place:02d} with a text that is long enough" for place in range(20)]
TYPES: list[Any] = [pl.String, pl.Categorical, pl.Enum([MARKER, *KEPT])]


def write_whole(frame: pl.DataFrame, path: Path) -> None:
    frames.write(frame, path)


def write_chunks(frame: pl.DataFrame, path: Path) -> None:
    with frames.open_writer(path) as out:
        for part in frame.iter_slices(7):
            out.write(part)


WAYS = [
    *((write_whole, ending) for ending in ("csv", "tsv", "jsonl", "parquet", "arrow", "xlsx")),
    *((write_chunks, ending) for ending in ("csv", "tsv", "jsonl", "parquet", "arrow")),
]
every_way = pytest.mark.parametrize(
    ("write", "ending"), WAYS, ids=[f"{way.__name__}-{ending}" for way, ending in WAYS]
)


@pytest.fixture(autouse=True)
def plain_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet without compression, so that its bytes can be searched."""
    write = pl.DataFrame.write_parquet
    monkeypatch.setattr(
        pl.DataFrame,
        "write_parquet",
        functools.partialmethod(write, compression="uncompressed"),
    )
    writer = functools.partial(pq.ParquetWriter, compression="none")
    monkeypatch.setattr(pq, "ParquetWriter", writer)


def content(path: Path) -> bytes:
    if path.suffix != ".xlsx":
        return path.read_bytes()
    with zipfile.ZipFile(path) as book:
        return b"".join(book.read(name) for name in book.namelist())


@every_way
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_dropped_rows_leave_nothing_in_the_file(
    tmp_path: Path, write: Callable[..., None], ending: str, dtype: Any
) -> None:
    texts = [text for kept in KEPT for text in (kept, MARKER)]
    frame = pl.DataFrame({"a": pl.Series(texts, dtype=dtype), "n": range(40)})
    released = frame.filter(pl.col("n") % 2 == 0).sample(fraction=1, shuffle=True, seed=1)
    path = tmp_path / f"t.{ending}"
    write(released, path)
    found = content(path)
    assert KEPT[0].encode() in found
    assert MARKER.encode() not in found
    assert frames.read(path)["a"].to_list() == released["a"].to_list()


@every_way
def test_blanked_cells_leave_nothing_in_the_file(
    tmp_path: Path, write: Callable[..., None], ending: str
) -> None:
    numbers = [1, SECRET] * 20
    frame = pl.DataFrame({"a": ["x", MARKER] * 20, "n": numbers, "k": [1, 0] * 20})
    released = frame.with_columns(pl.when(pl.col("k") == 1).then(pl.col("a", "n")))
    path = tmp_path / f"t.{ending}"
    write(released, path)
    found = content(path)
    assert MARKER.encode() not in found
    assert SECRET.to_bytes(8, "little") not in found
    assert frames.read(path).rows() == released.rows()


@pytest.mark.parametrize("write", [write_whole, write_chunks])
def test_arrow_holds_texts_in_the_order_of_the_rows(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    released = pl.DataFrame({"a": KEPT}).sample(fraction=1, shuffle=True, seed=1)
    path = tmp_path / "t.arrow"
    write(released, path)
    column = pa.ipc.open_file(path).read_all()["a"]
    texts = b"".join(chunk.buffers()[2].to_pybytes() for chunk in column.chunks)
    assert texts == "".join(released["a"]).encode()


@pytest.mark.parametrize("write", [write_whole, write_chunks])
def test_arrow_holds_no_bit_of_the_rows_next_to_a_slice(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    path = tmp_path / "t.arrow"
    write(pl.DataFrame({"a": [False] * 3 + [True] * 61}).head(3), path)
    (chunk,) = pa.ipc.open_file(path).read_all()["a"].chunks
    assert not any(chunk.buffers()[1].to_pybytes())


def test_arrow_holds_no_trace_of_earlier_chunks(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    frames.write(pl.concat([pl.DataFrame({"a": [1]})] * 3, rechunk=False), path)
    assert pa.ipc.open_file(path).num_record_batches == 1
