"""Delimited text: typed over all rows, nothing dropped or padded, every fault with its row."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from celosia import frames
from celosia.core.errors import DataWarning, InputError

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def save(content: str | bytes, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return save


def refused(path: Path, code: str, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        frames.read(path, **options)
    assert caught.value.code == code, str(caught.value)
    with pytest.raises(InputError) as again:
        list(frames.read_chunks(path, **options))
    assert str(again.value) == str(caught.value)
    return caught.value


def test_columns_get_the_narrowest_type_that_all_rows_have(save: Save) -> None:
    frame = frames.read(
        save(
            "i,zip,plus,d,day,mix,big,none\n1,05345,+1,1,2020-02-29,1,9223372036854775808,\n"
            "-2,28001,2,2.5,2021-01-01,*,1,\n,28002,3,1e3,,3,2,\n"
        )
    )
    assert [str(kind) for kind in frame.dtypes] == [
        "Int64",
        "String",
        "String",
        "Float64",
        "Date",
        "String",
        "String",
        "String",
    ]
    assert frame["i"].to_list() == [1, -2, None]
    assert frame["zip"].to_list() == ["05345", "28001", "28002"]


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (["0", "-1"], pl.Int64),
        (["-0", "1"], pl.Float64),
        (["9223372036854775807"], pl.Int64),
        (["12345678901234567", "0.5"], pl.String),
        ([".5", "5."], pl.Float64),
        (["00.5"], pl.String),
        (["1e999"], pl.String),
        (["NaN"], pl.String),
        (["inf"], pl.String),
        ([" 1"], pl.String),
        (["1 "], pl.String),
        (["1_000"], pl.String),
        (["2020-02-30"], pl.String),
        (["2020-2-3"], pl.String),
        (["true"], pl.String),
        (["1\n"], pl.String),
    ],
)
def test_a_number_or_date_is_only_what_is_written_as_one(
    save: Save, cells: list[str], dtype: Any
) -> None:
    text = "x,y\n" + "".join(f'"{cell}",a\n' for cell in cells)
    assert frames.read(save(text), header=True).schema["x"] == dtype


def test_a_late_exception_decides_the_type(save: Save) -> None:
    path = save("x,y\n" + "1,2\n" * 5000 + "*,2\n")
    assert frames.read(path).dtypes == [pl.String, pl.Int64]


def test_cells_keep_their_blanks(save: Save) -> None:
    assert frames.read(save("a,b\n x ,1\n"))["a"].to_list() == [" x "]


def test_quotes_delimiters_and_line_ends_inside_cells(save: Save) -> None:
    path = save('a,b\r\n"x, ""y""\r\nz",1\r\n"",2\r\n')
    assert frames.read(path).rows() == [('x, "y"\r\nz', 1), (None, 2)]


def test_a_quotation_mark_inside_a_bare_cell_is_just_a_letter(save: Save) -> None:
    assert frames.read(save('a,b\n5" pipe,1\n6" pipe,2\n7" pipe,3\n')).height == 3


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(save: Save, delimiter: str) -> None:
    path = save(delimiter.join(["name", "age", "note"]) + "\n" + delimiter.join(["x", "1", "u"]))
    assert frames.sniff(path).delimiter == delimiter
    assert frames.read(path).rows() == [("x", 1, "u")]


def test_a_decimal_comma_is_not_taken_for_a_delimiter(save: Save) -> None:
    assert frames.sniff(save("1,5;2,5\n3,5;4,5\n")).delimiter == ";"


def test_a_tsv_is_split_at_tabs_whatever_else_it_holds(save: Save) -> None:
    assert frames.read(save("a,b\tc\nx,y\t1\n", "t.tsv")).columns == ["a,b", "c"]


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("cp1252", "windows-1252"),
    ],
)
def test_the_encoding_is_found(save: Save, encoding: str, name: str) -> None:
    path = save('city,n\nCádiz,1\n"A ""Coruña""",2\n'.encode(encoding))
    assert frames.sniff(path) == frames.Dialect(delimiter=",", encoding=name, header=True)
    expected = [("Cádiz", 1), ('A "Coruña"', 2)]
    assert frames.read(path).rows() == expected
    assert pl.concat(frames.read_chunks(path)).rows() == expected
    assert frames.read(path, encoding=encoding).rows() == expected


def test_a_letter_at_the_end_of_a_long_file_settles_the_encoding(save: Save) -> None:
    path = save(("name,n\n" + "x,1\n" * 300_000 + "é,2\n").encode("cp1252"))
    assert frames.sniff(path).encoding == "windows-1252"
    assert frames.read(path)["name"][-1] == "é"


def test_a_compressed_file_reads_like_a_plain_one(save: Save) -> None:
    path = save(gzip.compress(b"a,b\n1,x\n"), "t.csv.gz")
    assert frames.read(path).rows() == [(1, "x")]
    refused(save(gzip.compress(b"a,b\n1,x\n" * 9999)[:-20], "cut.csv.gz"), "CEL-F014")


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("age,sex\n39,Male\n", True),
        ("39,Male\n50,Female\n", False),
        ("name,city\nx,y\n", True),
        ("country,2019\nSpain,x\n", False),
        ("id,2019-01-01\n1,x\n", True),
        ("39,Male\n", False),
    ],
)
def test_the_header_is_found(save: Save, text: str, header: bool) -> None:
    path = save(text)
    assert frames.sniff(path).header is header
    frame = frames.read(path)
    assert frame.columns[0] == (text.split(",", maxsplit=1)[0] if header else "column_1")
    assert frame.height == text.count("\n") - header


def test_a_single_line_needs_the_word_of_the_caller(save: Save) -> None:
    path = save("age,sex\n")
    refused(path, "CEL-F015")
    assert frames.read(path, header=True).shape == (0, 2)
    assert frames.read(path, header=False).shape == (1, 2)
    assert [part.shape for part in frames.read_chunks(path, header=True)] == [(0, 2)]


def test_blank_lines_hold_no_row_unless_there_is_one_column(save: Save) -> None:
    assert frames.read(save("\n\na,b\n1,x\n\n2,y\n\n\n")).rows() == [(1, "x"), (2, "y")]
    assert frames.read(save("\na\n1\n\n2\n")).rows() == [(1,), (None,), (2,)]


def test_declared_types_hold(save: Save) -> None:
    path = save("zip,age,score\n28001,39,1\n28002,NA,2\n")
    frame = frames.read(
        path, types={"zip": "string", "score": "decimal", "age": "integer"}, missing=("", "NA")
    )
    assert frame.rows() == [("28001", 39, 1.0), ("28002", None, 2.0)]


@pytest.mark.parametrize("wanted", ["integer", "decimal", "date"])
def test_a_value_against_its_declared_type_is_refused_with_its_row(save: Save, wanted: Any) -> None:
    good = "2020-01-01" if wanted == "date" else "7"
    path = save(f"x,y\n{good},1\n{good},2\nMARKER,3\nMARKER,4\n")
    error = refused(path, "CEL-F020", types={"x": wanted})
    assert (error.details["column"], error.details["row"]) == ("x", 3)
    assert "MARKER" not in str(error)


def test_the_columns_asked_for_come_in_that_order(save: Save) -> None:
    path = save("a,b,c\n1,x,2\n")
    assert frames.read(path, columns=["c", "a"]).rows() == [(2, 1)]
    assert next(frames.read_chunks(path, columns=["c", "a"])).rows() == [(2, 1)]
    assert "'c'" in str(refused(path, "CEL-F022", columns=["cc"]))
    refused(path, "CEL-F022", types={"nope": "string"})


@pytest.mark.parametrize("rows_before", [0, 3, 400_000])
@pytest.mark.parametrize(("bad", "found"), [("1", 1), ("1,2,3", 3), ("1,2,3,4", 4), ("  ", 1)])
def test_a_short_or_long_row_is_refused_with_its_number(
    save: Save, rows_before: int, bad: str, found: int
) -> None:
    path = save("a,b\n" + "1,2\n" * rows_before + bad + "\n" + "1,2\n" * 3)
    error = refused(path, "CEL-F016", delimiter=",")
    assert (
        error.details.items()
        >= {
            "row": rows_before + 1,
            "line": rows_before + 2,
            "expected": 2,
            "found": found,
        }.items()
    )


def test_one_short_and_one_long_row_do_not_make_up_for_each_other(save: Save) -> None:
    error = refused(save("a,b\n1,2\n3\n4,5,6\n"), "CEL-F016")
    assert error.details["row"] == 2


def test_rows_are_counted_by_records_not_by_lines(save: Save) -> None:
    error = refused(save('a,b\n"x\ny\nz",2\n3\n'), "CEL-F016")
    assert (error.details["row"], error.details["line"]) == (2, 5)


@pytest.mark.parametrize("tail", ['3,"MARKER\n4,5\n', '3,"MARKER'])
def test_a_quotation_mark_left_open_is_refused_with_its_row(save: Save, tail: str) -> None:
    error = refused(save("a,b\n1,2\n" + tail), "CEL-F017")
    assert error.details["row"] == 2


def test_two_marks_left_open_do_not_swallow_the_rows_between(save: Save) -> None:
    error = refused(save('a,b\n1,2\n"MARKER,3\n4,5\n"MARKER,6\n'), "CEL-F017")
    assert error.details["row"] == 2


def test_a_wrong_encoding_is_refused_with_its_row(save: Save) -> None:
    path = save("city,n\nx,1\nCádiz,2\n".encode("cp1252"))
    assert refused(path, "CEL-F018", encoding="utf-8").details["row"] == 2
    assert refused(path, "CEL-F018", encoding="ascii").details["row"] == 2
    refused(save(b"\xff\xfea\x00,\x00b"), "CEL-F019")
    refused(save(b"a,b\n\x00,\x01\n"), "CEL-F019")


def test_names_that_come_again_get_a_number_and_are_told(save: Save) -> None:
    path = save("a,b,a,c,b,a,a (2)\n1,2,3,4,5,6,7\n")
    names = ["a", "b", "a (3)", "c", "b (2)", "a (4)", "a (2)"]
    with pytest.warns(DataWarning, match=r"'a \(3\)', 'b \(2\)'|a \(3\), b \(2\)"):
        assert frames.read(path).rows(named=True) == [dict(zip(names, range(1, 8), strict=True))]
    with pytest.warns(DataWarning):
        assert next(frames.read_chunks(path)).columns == names
    refused(save(",b\n1,x\n"), "CEL-F003")
    refused(save(",,b\n1,2,x\n"), "CEL-F003")


@pytest.mark.parametrize("content", ["", "\n", " \r\n\n ", "\ufeff"])
def test_an_empty_file_is_refused(save: Save, content: str) -> None:
    refused(save(content), "CEL-F013")


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": ",,"},
        {"delimiter": '"'},
        {"delimiter": "§"},
        {"encoding": "klingon"},
        {"encoding": "hex"},
        {"types": {"a": "number"}},
        {"columns": ["a", "a"]},
    ],
)
def test_senseless_options_are_refused(save: Save, options: Any) -> None:
    with pytest.raises(InputError) as caught:
        frames.read(save("a,b\n1,2\n"), **options)
    assert caught.value.code == "CEL-F021"


def test_a_very_long_row_is_read_whole_but_not_in_chunks(save: Save) -> None:
    cell = '"' + "x" * (20 << 20) + '",1\n'
    path = save("a,b\n" + "y,2\n" * 9 + cell + "z,3\n" * 9)
    assert frames.read(path)["a"].str.len_chars().max() == 20 << 20
    with pytest.raises(InputError, match="longer than"):
        list(frames.read_chunks(path))


def test_a_file_with_very_many_columns_is_read(save: Save) -> None:
    names = [f"column-{place}" for place in range(6_000)]
    frame = frames.read(save(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n"))
    assert frame.columns == names


def test_odd_line_ends_inside_cells_do_not_split_rows(save: Save) -> None:
    path = save("a,b\nx\u2028y\x0bz,1\n")
    assert frames.read(path).rows() == [("x\u2028y\x0bz", 1)]


def test_one_name_is_a_name_and_not_a_list_of_letters(save: Save) -> None:
    path = save("ab,c\nNA,1\n")
    assert frames.read(path, columns="ab", missing="NA").rows() == [(None,)]


def test_every_unknown_column_gets_its_near_name(save: Save) -> None:
    error = refused(save("age,zip\n1,2\n"), "CEL-F022", columns=["agee"], types={"zipp": "string"})
    assert "'agee' (did you mean 'age'?), 'zipp' (did you mean 'zip'?)" in str(error)
