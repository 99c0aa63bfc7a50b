"""Decimal commas: read as the same file with points, and never guessed where they may be others."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celosia import frames
from celosia.core.errors import InputError
from celosia.frames import csv
from celosia.frames.dialect import lay_out
from celosia.frames.formats import ReadOptions

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def save(content: str, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_text(content, "utf-8", newline="")
        return path

    return save


def column(*cells: str, other: str = "a", delimiter: str = ";") -> str:
    """A file with a column x of these cells, beside one that tells nothing."""
    lines = [f"x{delimiter}y", *(f"{cell}{delimiter}{other}" for cell in cells)]
    return "\n".join(lines) + "\n"


def read_both(path: Path, **options: Any) -> pl.DataFrame:
    """The frame that `read` gives, once chunks are known to give the same."""
    frame = frames.read(path, **options)
    parts = pl.concat(list(frames.read_chunks(path, **options)))
    assert parts.schema == frame.schema
    assert parts.equals(frame)
    return frame


def refused(path: Path, code: str, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        frames.read(path, **options)
    with pytest.raises(InputError) as again:
        list(frames.read_chunks(path, **options))
    assert str(again.value) == str(caught.value)
    assert caught.value.code == code, str(caught.value)
    return caught.value


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_spanish_file_is_read_as_numbers(save: Save, delimiter: str) -> None:
    text = "producto;precio;total;uds\nCafé;3,14;1.234,56;7\nTé;2;-12.345.678,90;8\nAgua;;0,5;9\n"
    path = save(text.replace(";", delimiter))
    frame = read_both(path)
    assert frame.rows() == [
        ("Café", 3.14, 1234.56, 7),
        ("Té", 2.0, -12345678.9, 8),
        ("Agua", None, 0.5, 9),
    ]
    assert frames.sniff(path).decimal == ","


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**14), 10**14).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda x: f"{x:f}"),
)


@given(cells=st.lists(st.one_of(NUMBERS, st.just("")), min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_a_file_with_commas_is_read_as_the_same_file_with_points(
    save: Save, cells: list[str]
) -> None:
    pointed = column("0.5", *cells)
    frame = read_both(save(pointed))
    with_commas = read_both(save(pointed.replace(".", ",")))
    assert with_commas.schema == frame.schema
    assert with_commas.equals(frame)


@given(
    numbers=st.lists(st.decimals(-(10**12), 10**12, places=2, allow_nan=False), min_size=1),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_points_between_thousands_change_nothing(save: Save, numbers: list[Decimal]) -> None:
    swapped = str.maketrans(",.", ".,")
    grouped = column(*(f"{number:,}".translate(swapped) for number in numbers))
    plain = column(*(f"{number:f}" for number in numbers))
    assert read_both(save(grouped)).equals(read_both(save(plain)))


@pytest.mark.parametrize(
    "cell",
    [
        "5,",
        ",",
        "1,2,3",
        "1,234,567",
        "1.23,4",
        "1.2345,6",
        "12.34.567,8",
        "1234.567,8",
        "0.123,4",
        "01,5",
        "+1,5",
        "1.234",
        "1.234.567",
        "1.234,5E3",
        " 1,5",
        "1,5 €",
        "1,5.6",
        "1,",
        "1e999",
    ],
)
def test_what_is_not_a_number_with_a_decimal_comma_leaves_the_column_as_text(
    save: Save, cell: str
) -> None:
    path = save(column("3,14", cell, "2,5"))
    assert read_both(path)["x"].to_list() == ["3,14", cell, "2,5"]
    refused(path, "CEL-F020", types={"x": "decimal"})
    assert read_both(path, decimal=",").schema["x"] == pl.String


@pytest.mark.parametrize("cell", [",5", "-,5", "1,5E3", "1,5e-3", "2E3", "-0", "0,0", "1234567,8"])
def test_the_ways_of_writing_that_points_allow_are_allowed_with_commas(
    save: Save, cell: str
) -> None:
    found = read_both(save(column("0,5", cell)))["x"].to_list()
    assert found == [0.5, float(cell.replace(",", "."))]


@pytest.mark.parametrize("cells", [["3,14"], ["1,234", "0,5"], ["1.234,5"]])
@pytest.mark.parametrize("delimiter", [",", "|"])
def test_with_another_delimiter_a_comma_in_a_cell_is_text(
    save: Save, delimiter: str, cells: list[str]
) -> None:
    path = save(column(*(f'"{cell}"' for cell in cells), delimiter=delimiter))
    assert read_both(path)["x"].to_list() == cells
    assert frames.sniff(path).decimal == "."


def test_a_late_cell_decides(save: Save) -> None:
    assert read_both(save(column(*["3,14"] * 3000, "x"))).schema["x"] == pl.String
    assert read_both(save(column(*[""] * 3000, "3,14"))).schema["x"] == pl.Float64
    assert read_both(save(column(*["1,234"] * 3000, "3,14"))).schema["x"] == pl.Float64


@pytest.mark.parametrize("cells", [["1,234"], ["1,234", "-56,789", "999"], ["123,000", ""]])
def test_commas_that_may_stand_between_thousands_are_not_guessed(
    save: Save, cells: list[str]
) -> None:
    path = save(column(*cells))
    assert read_both(path)["x"].to_list() == [cell or None for cell in cells]
    assert frames.sniff(path).decimal is None
    error = refused(path, "CEL-F060", types={"x": "decimal"})
    assert error.details["column"] == "x"
    assert "1,234" not in str(error)
    numbers = [float(cell.replace(",", ".")) if cell else None for cell in cells]
    for types in ({}, {"x": "decimal"}):
        assert read_both(path, decimal=",", types=types)["x"].to_list() == numbers
    assert read_both(path, decimal=".").schema["x"] == pl.String
    refused(path, "CEL-F020", decimal=".", types={"x": "decimal"})


@pytest.mark.parametrize("sign", ["0,5", "3,14", "1.234,567", "1234,567", "1,2345", ",500"])
def test_one_comma_that_can_only_be_decimal_settles_the_whole_file(save: Save, sign: str) -> None:
    path = save(column("1,234", "2,345", other=sign))
    for types in ({}, {"x": "decimal"}, {"y": "decimal"}):
        assert read_both(path, types=types)["x"].to_list() == [1.234, 2.345]
    # Whatever columns are asked for, a column holds the same.
    assert read_both(path, columns=["x"])["x"].to_list() == [1.234, 2.345]
    assert read_both(save(column("1,234", sign)))["x"][0] == 1.234


def test_a_column_declared_as_text_settles_nothing(save: Save) -> None:
    path = save(column("1,234", "2,345", other="3,14"))
    assert read_both(path, types={"y": "string"})["x"].to_list() == ["1,234", "2,345"]
    refused(path, "CEL-F060", types={"x": "decimal", "y": "string"})


def test_a_comma_in_a_column_of_words_settles_nothing(save: Save) -> None:
    path = save("x;y\n1,234;Calle Mayor 3,14\n2,345;3,14\n")
    assert read_both(path)["x"].to_list() == ["1,234", "2,345"]
    assert frames.sniff(path).decimal is None


def test_points_that_may_stand_between_thousands_are_not_decimal_beside_decimal_commas(
    save: Save,
) -> None:
    path = save(column("1.234", "999", other="3,14"))
    assert read_both(path)["x"].to_list() == ["1.234", "999"]
    assert read_both(path, columns="x")["x"].to_list() == ["1.234", "999"]
    refused(path, "CEL-F060", types={"x": "decimal"})
    assert read_both(path, decimal=".")["x"].to_list() == [1.234, 999.0]
    # Without decimal commas, and where they can only be decimal, points are what they always were.
    assert read_both(save(column("1.234", "999")))["x"].to_list() == [1.234, 999.0]
    assert read_both(save(column("1.234", other="1,234")))["x"].to_list() == [1.234]
    mixed = read_both(save(column("40.4168", "1.234", other="3,14")))
    assert mixed.rows() == [(40.4168, 3.14), (1.234, 3.14)]


def test_columns_have_one_mark_each(save: Save) -> None:
    assert read_both(save(column("3,14", "3.14"))).schema["x"] == pl.String


@pytest.mark.parametrize(
    ("cells", "row", "rule"),
    [
        (["3,14", "2,5", "MARKER", "1,5"], 3, "comma"),
        (["3.14", "2.5", "MARKER", "1.5"], 3, "point"),
        (["3.14", "2,5"], 2, "point"),
        (["3,14", "2,5", "1.5"], 3, "comma"),
    ],
)
def test_a_cell_against_the_declared_type_is_named_by_the_way_the_others_are_written(
    save: Save, cells: list[str], row: int, rule: str
) -> None:
    error = refused(save(column(*cells)), "CEL-F020", types={"x": "decimal"})
    assert (error.details["row"], error.details["count"]) == (row, 1)
    assert f"decimal {rule}" in str(error)
    assert "declared type decimal (" in str(error)
    assert "MARKER" not in str(error)


def test_whole_numbers_and_dates_are_what_they_were(save: Save) -> None:
    path = save("a;b;c;d\n1;2020-02-29;05345;3,5\n2;2021-01-01;28001;4,5\n")
    for options in ({}, {"decimal": ","}):
        kinds = [str(kind) for kind in read_both(path, **options).dtypes]
        assert kinds == ["Int64", "Date", "String", "Float64"]
    refused(path, "CEL-F020", types={"d": "integer"})


def test_the_mark_that_is_given_holds_for_every_column(save: Save) -> None:
    path = save("a;b\n1.5;2,5\n")
    assert read_both(path).rows() == [(1.5, 2.5)]
    assert read_both(path, decimal=",").rows() == [("1.5", 2.5)]
    assert read_both(path, decimal=".").rows() == [(1.5, "2,5")]
    assert [frames.sniff(path, decimal=mark).decimal for mark in (".", ",")] == [".", ","]


def test_with_a_decimal_comma_no_comma_is_taken_for_a_delimiter(save: Save) -> None:
    assert read_both(save("x\n3,14\n2,5\n"), decimal=",")["x"].to_list() == [3.14, 2.5]
    path = save("x|y\n3,14|a\n")
    assert read_both(path, decimal=",").rows() == [(3.14, "a")]
    refused(path, "CEL-F021", decimal=",", delimiter=",")


@pytest.mark.parametrize("mark", ["", ";", "..", "comma"])
def test_another_mark_is_refused(save: Save, mark: Any) -> None:
    refused(save(column("1")), "CEL-F021", decimal=mark)


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "xlsx"])
def test_a_mark_means_nothing_for_files_with_types(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    frames.write(pl.DataFrame({"x": [1.5]}), path)
    refused(path, "CEL-F021", decimal=",")


def test_a_file_without_a_header_is_known_by_its_numbers(save: Save) -> None:
    assert read_both(save("1.234,56;2,5\n7.890,12;3,5\n")).rows() == [
        (1234.56, 2.5),
        (7890.12, 3.5),
    ]


def test_missing_marks_are_no_numbers_and_do_not_hinder(save: Save) -> None:
    path = save("x;y\n1,234;3,14\nNA;NA\n")
    assert read_both(path).schema["x"] == pl.String
    assert read_both(path, missing=("", "NA")).rows() == [(1.234, 3.14), (None, None)]


def test_the_parts_of_a_file_are_judged_together(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "_CHUNK_BLOCK", 1 << 12)
    lines = [f"{n % 9 + 1},{n % 1000:03};{n}.125;1,5;7,125" for n in range(3000)]
    head = "doubtful;pointed;broken;settled\n"
    path = save(head + "\n".join([*lines, "1,111;1.125;x;0,125"]) + "\n")
    assert (
        len(list(csv.text_chunks(lay_out(path, ReadOptions(), delimiter=None), ReadOptions()))) > 10
    )
    frame = read_both(path)
    assert [str(kind) for kind in frame.dtypes] == ["Float64", "Float64", "String", "Float64"]
    assert read_both(path, columns=["doubtful"]).dtypes == [pl.Float64]
    declared: Any = {"doubtful": "decimal", "pointed": "decimal"}
    assert read_both(path, types=declared).equals(frame)
    alone = save("x;y\n" + "\n".join(f"{n % 9 + 1},{n % 1000:03};a" for n in range(3000)))
    assert read_both(alone).schema["x"] == pl.String
    assert frames.sniff(alone).decimal is None


def test_a_broken_file_still_shows_how_it_is_written(save: Save) -> None:
    path = save("x;y\n3,14;a\n2,5\n")
    assert frames.sniff(path).delimiter == ";"
    refused(path, "CEL-F016")


def test_what_is_written_has_points(save: Save, tmp_path: Path) -> None:
    frame = frames.read(save(column("3,14", "2,5")))
    frames.write(frame, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text("utf-8") == "x,y\n3.14,a\n2.5,a\n"


def test_cells_that_may_not_decide_about_one_another_are_read_one_by_one(save: Save) -> None:
    cells = pl.Series(["3,14", "1,234", "1.234,5", "2.5", "x", None, "1,2,3"])
    both = frames.possible_marks(save(column("MARKER")))
    assert both == (".", ",")
    together = frames.with_points(cells, both).to_list()
    assert together == ["3.14", "1.234", "1234.5", "2.5", "x", None, "1,2,3"]
    assert together == [
        frames.with_points(pl.Series([cell], dtype=pl.String), both).item() for cell in cells
    ]
    assert frames.with_points(cells, (".",)).to_list() == cells.to_list()
    assert frames.with_points(cells, (",",)).to_list()[3] is None
    assert frames.possible_marks(save("a,b\n1,2\n")) == (".",)
    assert frames.possible_marks(save("a\tb\n1\t2\n", "t.tsv"), decimal=",") == (",",)
