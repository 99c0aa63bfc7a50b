"""The other formats, and what is the same for all of them."""

from __future__ import annotations

import datetime as dt
import json
import traceback
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter

from celosia import frames
from celosia.core.errors import DataWarning, InputError

FRAME = pl.DataFrame(
    {
        "age": [39, None, 50],
        "weight": [1.5, 2.0, None],
        "name": ["05345", None, "=1+1"],
        "day": [dt.date(2020, 2, 29), None, dt.date(2021, 1, 1)],
    }
)
ENDINGS = [
    "csv",
    "tsv",
    "txt",
    "csv.gz",
    "parquet",
    "arrow",
    "feather",
    "ipc",
    "jsonl",
    "ndjson",
    "jsonl.gz",
    "xlsx",
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    frames.write(FRAME, path)
    types: Any = {"day": "date"} if ending.startswith(("jsonl", "ndjson")) else None
    assert frames.read(path, types=types).equals(FRAME)
    parts = list(frames.read_chunks(path, types=types, rows=2))
    assert [part.height for part in parts] == [2, 1]
    assert pl.concat(parts).equals(FRAME)


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_and_types_work_for_every_format(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    frames.write(FRAME, path)
    frame = frames.read(path, columns=["name", "age"], types={"age": "string", "weight": "string"})
    assert frame.rows() == [("05345", "39"), (None, None), ("=1+1", "50")]
    for action in (frames.read, lambda *a, **k: list(frames.read_chunks(*a, **k))):
        with pytest.raises(InputError, match="nope") as caught:
            action(path, columns=["nope"])
        assert caught.value.code == "CEL-F022"


@pytest.mark.parametrize("ending", ["parquet", "arrow", "xlsx", "jsonl"])
def test_a_value_against_its_declared_type_is_refused_with_its_row(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"t.{ending}"
    frames.write(FRAME, path)
    for action in (frames.read, lambda *a, **k: list(frames.read_chunks(*a, rows=1, **k))):
        with pytest.raises(InputError) as caught:
            action(path, types={"name": "integer"})
        assert (caught.value.code, caught.value.details["row"]) == ("CEL-F020", 1)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "xlsx"])
def test_a_table_without_rows_keeps_its_columns(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    frames.write(FRAME.clear(), path)
    header: Any = {"header": True} if ending == "csv" else {}
    assert frames.read(path, **header).columns == FRAME.columns
    assert [part.shape for part in frames.read_chunks(path, **header)] == [(0, 4)]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "jsonl", "xlsx", "csv.gz"])
def test_missing_empty_and_broken_files_are_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    for content, codes in (
        (None, {"CEL-F010"}),
        (b"", {"CEL-F013"}),
        (b"\x1f\x8b\x00\x01\xff\xfe nonsense MARKER", {"CEL-F014", "CEL-F019", "CEL-F023"}),
    ):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            frames.read(path)
        assert caught.value.code in codes
        assert "MARKER" not in str(caught.value)


def test_a_folder_and_an_unknown_ending_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder"):
        frames.read(tmp_path)
    odd = tmp_path / "t.odd"
    odd.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"\.parquet"):
        frames.read(odd)
    assert frames.read(odd, format="csv").shape == (1, 2)
    with pytest.raises(InputError, match="jsonl"):
        frames.read(odd, format="sas")  # type: ignore[arg-type]


def test_an_option_that_the_format_has_no_use_for_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frames.write(FRAME, path)
    with pytest.raises(InputError, match="delimiter"):
        frames.read(path, delimiter=";")


def test_nested_columns_of_files_are_refused(tmp_path: Path) -> None:
    nested = pl.DataFrame({"ok": [1], "bad": [[1, 2]]})
    nested.write_parquet(tmp_path / "t.parquet")
    nested.write_ndjson(tmp_path / "t.jsonl")
    for path in tmp_path.iterdir():
        with pytest.raises(InputError, match="'bad'") as caught:
            frames.read(path)
        assert caught.value.code == "CEL-F006"


@pytest.mark.parametrize(
    ("lines", "code", "row"),
    [
        (['{"a":1}', "", '{"a":"MARKER"}'], "CEL-F005", 2),
        (['{"a":"MARKER"}', '{"a":null}', '{"a":7}'], "CEL-F005", 3),
        (['{"a":1}', '{"a":true}'], "CEL-F005", 2),
        (['{"a":1}', '{"a":"MARKER'], "CEL-F023", 2),
        (['{"a":1}', '["MARKER"]'], "CEL-F023", 2),
        (['{"a":1}', '{"a":1,"a":2}'], "CEL-F023", 2),
    ],
)
def test_a_bad_json_line_is_refused_with_its_row(
    tmp_path: Path, lines: list[str], code: str, row: int
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(InputError) as caught:
        frames.read(path)
    assert (caught.value.code, caught.value.details["row"]) == (code, row)
    assert "MARKER" not in str(caught.value)


def test_json_lines_may_leave_names_out_and_add_them_later(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows: list[dict[str, Any]] = [{"a": 1}, {"b": "2020-01-01", "a": 2.5}, {"c": True, "a": None}]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert frames.read(path).rows() == [
        (1.0, None, None),
        (2.5, "2020-01-01", None),
        (None, None, True),
    ]


def test_types_of_json_lines_agree_between_far_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    filler = '{"a":1,"b":null}\n' * 300_000
    path.write_text(filler + '{"a":2.5,"b":"x","c":1}\n')
    frame = frames.read(path)
    assert frame.dtypes == [pl.Float64, pl.String, pl.Int64]
    assert frame.row(-1) == (2.5, "x", 1)
    path.write_text(filler + '{"a":"MARKER"}\n')
    with pytest.raises(InputError, match="row 300001"):
        frames.read(path)


def workbook(path: Path, rows: list[list[Any]]) -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)
    return path


def test_a_mixed_column_of_a_workbook_is_refused_with_its_row(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["id", "age"], *([place, place] for place in range(1500))]
    rows[1201][1] = "MARKER"
    with pytest.raises(InputError, match="'age'") as caught:
        frames.read(workbook(tmp_path / "t.xlsx", rows))
    assert (caught.value.code, caught.value.details["row"]) == ("CEL-F005", 1201)
    assert "MARKER" not in str(caught.value)


def test_names_of_a_workbook_are_checked(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [["a", "b", "a"], [1, 2, 3]])
    with pytest.warns(DataWarning, match="more than once"):
        assert frames.read(path).columns == ["a", "b", "a (2)"]
    path = workbook(tmp_path / "u.xlsx", [[1, "x"], [2, "y"]])
    assert frames.read(path, header=False).rows() == [(1, "x"), (2, "y")]


def test_what_excel_would_cut_is_refused(tmp_path: Path) -> None:
    for frame in (pl.DataFrame({"a": ["x" * 40_000]}), pl.DataFrame({"a": [2**60]})):
        with pytest.raises(InputError, match="'a'") as caught:
            frames.write(frame, tmp_path / "t.xlsx")
        assert caught.value.code == "CEL-F024"


def test_no_traceback_shows_a_cell(tmp_path: Path) -> None:
    """A marker stands in every cell of files broken in every way; no error may repeat it."""
    marker = "MARKER77"
    texts = {
        "short.csv": f"a,b\n{marker},{marker}\n{marker}\n",
        "long.csv": f"a,b\n{marker},{marker}\n{marker},{marker},{marker}\n",
        "open.csv": f'a,b\n{marker},"{marker}\n',
        "stray.csv": f'a,b\n"{marker}"{marker},{marker}\n',
        "kind.jsonl": f'{{"a":"{marker}"}}\n{{"a":1}}\n',
        "cut.jsonl": f'{{"a":"{marker}"}}\n{{"a":"{marker}\n',
        "fake.parquet": f"PAR1{marker}PAR1",
        "fake.arrow": f"ARROW1{marker}",
        "fake.xlsx": f"PK{marker}",
        "typed.csv": f"a,b\n1,2\n{marker},{marker}\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.write_text(text)
        for action in (frames.read, lambda *a, **k: list(frames.read_chunks(*a, **k))):
            options: Any = {"types": {"a": "integer"}} if name == "typed.csv" else {}
            with pytest.raises(InputError) as caught:
                action(path, **options)
            error = caught.value
            assert marker not in "".join(traceback.format_exception(error))
            assert marker not in repr(error.as_dict())
            assert error.__cause__ is None
            assert marker not in str(error.__context__)
