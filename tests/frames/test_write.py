"""Files written by us read back equal, whole or in chunks."""

from __future__ import annotations

import datetime as dt
import errno
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from celosia import frames
from celosia.core.errors import InputError

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
TRICKY = st.sampled_from(
    ["05345", "a,b", '"', '""', "\n", "\r\n", "\r", ";", "\t", "=1+1", " x ", "NA", "ñ"]
)
NAMES = ["a", "b c", 'd"e']


def tables(cells: st.SearchStrategy[Any], dtype: Any) -> st.SearchStrategy[pl.DataFrame]:
    def of_width(width: int) -> st.SearchStrategy[pl.DataFrame]:
        rows = st.lists(st.tuples(*[st.none() | cells] * width), max_size=8)
        schema = dict.fromkeys(NAMES[:width], dtype)
        return rows.map(lambda found: pl.DataFrame(found, schema=schema, orient="row"))

    return st.integers(1, 3).flatmap(of_width)


TABLES = st.one_of(
    tables(TEXT | TRICKY, pl.String),
    tables(st.integers(-(2**63), 2**63 - 1), pl.Int64),
    tables(st.floats(allow_nan=False, allow_infinity=False), pl.Float64),
    tables(st.dates(), pl.Date),
)
TYPES: dict[Any, Any] = {
    pl.String: "string",
    pl.Int64: "integer",
    pl.Float64: "decimal",
    pl.Date: "date",
}


@given(TABLES, st.sampled_from(["csv", "tsv", "csv.gz"]), st.integers(1, 4))
def test_delimited_text_reads_back_equal(frame: pl.DataFrame, ending: str, rows: int) -> None:
    # In delimited text an empty text and a missing value are the same thing.
    expected = frame.with_columns(pl.col(pl.String).replace("", None))
    types = {name: TYPES[kind] for name, kind in frame.schema.items()}
    options: Any = {"header": True, "types": types, "delimiter": "\t" if ending == "tsv" else ","}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t.{ending}"
        frames.write(frame, path)
        assert_frame_equal(frames.read(path, **options), expected)
        assert_frame_equal(pl.concat(frames.read_chunks(path, rows=rows, **options)), expected)
        with frames.open_writer(path) as out:
            for part in frame.iter_slices(rows) if frame.height else [frame]:
                out.write(part)
        assert_frame_equal(frames.read(path, **options), expected)


@given(
    tables(st.sampled_from(["1", "02", "2.5", "x", "2020-01-01", "-3", "1e3"]), pl.String),
    st.integers(1, 3),
)
def test_chunks_settle_the_same_types_as_the_whole(frame: pl.DataFrame, rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        frames.write(frame, path)
        whole = frames.read(path, header=True)
        assert_frame_equal(pl.concat(frames.read_chunks(path, rows=rows, header=True)), whole)


def test_types_are_settled_over_blocks_far_apart(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with path.open("w") as stream:
        stream.write("i,d,s\n")
        stream.write("1,2,12345678901234567\n" * 900_000)
        stream.write("2,2.5,0.5\n")
    parts = list(frames.read_chunks(path))
    assert [part.height for part in parts] == [250_000, 250_000, 250_000, 150_001]
    assert parts[0].dtypes == [pl.Int64, pl.Float64, pl.String]
    assert_frame_equal(pl.concat(parts), frames.read(path))


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "jsonl"])
def test_a_writer_appends_chunks(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    whole = pl.DataFrame({"n": range(10), "s": ["x", None] * 5, "c": ["u", "v"] * 5})
    whole = whole.with_columns(pl.col("c").cast(pl.Categorical))
    with frames.open_writer(path) as out:
        for part in whole.iter_slices(3):
            out.write(part)
    assert_frame_equal(frames.read(path), whole.with_columns(pl.col("c").cast(pl.String)))


def test_a_writer_refuses_a_chunk_with_other_columns(tmp_path: Path) -> None:
    first = pl.DataFrame({"a": [1], "b": [1]})
    others = [first.rename({"a": "z"}), first.select("b", "a"), first.cast(pl.Float64)]
    for other in others:
        with frames.open_writer(tmp_path / "t.parquet") as out:
            out.write(first)
            with pytest.raises(InputError) as caught:
                out.write(other)
            assert caught.value.code == "CEL-F027"


def test_a_writer_refuses_workbooks_and_silence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="chunks"):
        frames.open_writer(tmp_path / "t.xlsx")
    with (
        pytest.raises(InputError, match="nothing was written"),
        frames.open_writer(tmp_path / "t.csv"),
    ):
        pass


def test_an_error_inside_a_writer_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), frames.open_writer(tmp_path / "t.csv"):
        raise ZeroDivisionError


def test_cells_that_look_like_formulas_are_not_altered(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["=1+1", "+1", "-x", "@y"], "b": [1, 2, 3, 4]})
    for ending in ("csv", "xlsx", "parquet"):
        frames.write(frame, tmp_path / f"t.{ending}")
        assert_frame_equal(frames.read(tmp_path / f"t.{ending}"), frame)


def test_writing_leaves_the_frame_as_it_was(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x", "", None]})
    before = frame.clone()
    for ending in ("csv", "xlsx", "parquet", "arrow", "jsonl"):
        frames.write(frame, tmp_path / f"t.{ending}")
    assert_frame_equal(frame, before)


def column(values: list[Any], dtype: Any) -> pl.DataFrame:
    return pl.DataFrame({"a": pl.Series(values, dtype=dtype), "b": ["x"] * len(values)})


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow", "xlsx"])
@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32])
def test_integers_of_every_width_are_written(tmp_path: Path, ending: str, dtype: Any) -> None:
    path = tmp_path / f"t.{ending}"
    frames.write(column([1, None, 127], dtype), path)
    assert frames.read(path)["a"].to_list() == [1, None, 127]


@pytest.mark.parametrize(
    ("values", "dtype", "endings", "expected"),
    [
        ([2**100, None], pl.Int128, ["parquet", "arrow", "xlsx"], [str(2**100), None]),
        ([2**100, None], pl.UInt128, ["parquet", "arrow", "xlsx"], [str(2**100), None]),
        ([dt.timedelta(1, 2), None], pl.Duration, ["csv", "tsv", "xlsx"], ["P1DT2S", None]),
        ([dt.time(1, 2, 3), None], pl.Time, ["xlsx"], ["01:02:03", None]),
        (
            [dt.datetime(2020, 7, 1, tzinfo=dt.UTC), None],
            pl.Datetime("us", "UTC"),
            ["xlsx"],
            ["2020-07-01T00:00:00+00:00", None],
        ),
    ],
    ids=str,
)
def test_what_a_format_has_no_type_for_becomes_text(
    tmp_path: Path, values: list[Any], dtype: Any, endings: list[str], expected: list[Any]
) -> None:
    for ending in endings:
        path = tmp_path / f"t.{ending}"
        frames.write(column(values, dtype), path)
        assert frames.read(path)["a"].to_list() == expected
        if ending != "xlsx":
            with frames.open_writer(path) as out:
                out.write(column(values, dtype))
            assert frames.read(path)["a"].to_list() == expected


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (-(2**63), pl.Int64),
        (2**63, pl.UInt64),
        (Decimal("12345678901234567890.25"), pl.Decimal(38, 2)),
    ],
)
def test_numbers_that_excel_would_round_are_refused_without_a_path(
    tmp_path: Path, value: Any, dtype: Any
) -> None:
    with pytest.raises(InputError, match="'a'") as caught:
        frames.write(column([None, value], dtype), tmp_path / "draft.xlsx")
    assert caught.value.code == "CEL-F024"
    assert "draft" not in repr(caught.value.as_dict())


def test_decimals_that_fit_stay_numbers_in_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    frames.write(column([Decimal("1.10"), None], pl.Decimal(38, 2)), path)
    assert frames.read(path)["a"].to_list() == [1.1, None]


def test_a_workbook_that_the_system_refuses_is_an_error_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError):
        frames.write(column([1], pl.Int64), tmp_path / "nowhere" / "t.xlsx")

    def full(book: Any) -> None:
        book.worksheets()[0]._opt_close()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("xlsxwriter.workbook.Workbook._store_workbook", full)
    with pytest.raises(OSError, match="space") as caught:
        frames.write(column([1], pl.Int64), tmp_path / "t.xlsx")
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.__cause__ is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_workbook_on_a_full_disk_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="space"):
        frames.write(column([1], pl.Int64), "/dev/full", format="excel")


def test_a_workbook_leaves_no_temporary_file_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(OSError, match="nowhere"):
        frames.write(column([1], pl.Int64), tmp_path / "nowhere" / "t.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_writer_speaks_of_chunks_without_the_path(tmp_path: Path) -> None:
    with frames.open_writer(tmp_path / "draft.csv") as out:
        out.write(column([1], pl.Int64))
        with pytest.raises(InputError, match="'a'") as caught:
            out.write(column([1.5], pl.Float64))
    assert "draft" not in str(caught.value)


@given(TABLES, st.integers(1, 4))
def test_arrow_files_read_back_equal(frame: pl.DataFrame, rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.arrow"
        frames.write(frame, path)
        assert_frame_equal(frames.read(path), frame)
        with frames.open_writer(path) as out:
            for part in frame.iter_slices(rows) if frame.height else [frame]:
                out.write(part)
        assert_frame_equal(frames.read(path), frame)
