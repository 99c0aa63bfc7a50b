"""Hierarchies in files: ARX's format in, the same out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.tables.hierarchies import Hierarchy, read_hierarchy, write_hierarchy


def refusal(path: Path, content: bytes | str, **options: str) -> InputError:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        read_hierarchy(path, **options)
    return caught.value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hierarchy.csv"


def test_the_age_file_of_the_experiments_keeps_its_off_by_one_labels(path: Path) -> None:
    def label(age: int, width: int) -> str:
        low = (age - 1) // width * width
        return f"{low}-{low + width - 1}"

    rows = [[str(age), *(label(age, width) for width in (5, 10, 20)), "*"] for age in range(1, 101)]
    path.write_text("\n".join(";".join(row) for row in rows))
    age = read_hierarchy(path)
    assert (len(age.leaves), age.levels) == (100, 5)
    assert [age.label("17", level=level) for level in (1, 2, 3)] == ["15-19", "10-19", "0-19"]
    assert [age.label("40", level=level) for level in (1, 2, 3)] == ["35-39", "30-39", "20-39"]
    assert [age.label("41", level=level) for level in (1, 2, 3)] == ["40-44", "40-49", "40-59"]


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_the_delimiter_is_found(path: Path, delimiter: str) -> None:
    path.write_text(f"a{delimiter}x{delimiter}*\nb{delimiter}x{delimiter}*\n")
    assert read_hierarchy(path).paths() == [("a", "x", "*"), ("b", "x", "*")]


def test_commas_inside_labels_do_not_mislead_the_search_for_the_delimiter(path: Path) -> None:
    path.write_text("Outlying-US(Guam,USVI,etc);North America;*\nCanada;North America;*\n")
    assert read_hierarchy(path).levels == 3


def test_quotes_and_blank_lines_and_windows_line_ends_are_understood(path: Path) -> None:
    path.write_bytes(b'\r\n"a;1";"say ""x""";*\r\n\r\n  \r\n;;\r\nb;y;*\r\n')
    assert read_hierarchy(path).paths() == [("a;1", 'say "x"', "*"), ("b", "y", "*")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1252"])
def test_the_encoding_is_found(path: Path, encoding: str) -> None:
    path.write_bytes("atacameño;person\nrapanui;person\n".encode(encoding))
    assert read_hierarchy(path).leaves == ("atacameño", "rapanui")


def test_a_given_encoding_is_used(path: Path) -> None:
    path.write_bytes("ñ;*\n".encode("utf-16"))
    assert read_hierarchy(path, encoding="utf-16").leaves == ("ñ",)


def test_messages_name_the_row_of_the_file_and_the_file(path: Path) -> None:
    error = refusal(path, 'a;x;*\n\n"two\nlines";x;*\nb;x;*\na;y;*\n')
    assert error.code == "CEL-H003"
    assert error.what == f"{path}: row 6 repeats the leaf of row 1, with other labels."
    assert (error.details["row"], error.details["path"]) == (6, str(path))


def test_rows_that_repeat_an_earlier_one_are_read_once_and_noted(path: Path) -> None:
    path.write_text("a;x;*\nb;x;*\na;x;*\n")
    found = read_hierarchy(path)
    assert found.paths() == [("a", "x", "*"), ("b", "x", "*")]
    assert found.repeated == (3,)
    assert found.note == "row 3 repeats an earlier row and was left out."
    path.write_text("a;*\n\na;*\nb;*\nb;*\na;*\n")
    found = read_hierarchy(path)
    assert (found.leaves, found.repeated) == (("a", "b"), (3, 5, 6))
    assert found.note == "3 rows repeat earlier rows and were left out (first: row 3)."


def test_a_file_without_repeated_rows_has_nothing_to_say(path: Path) -> None:
    path.write_text("a;*\nb;*\n")
    assert read_hierarchy(path).note is None


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "CEL-H001"),
        ("\n\n", "CEL-H001"),
        ("a;x;*\nb;*\n", "CEL-H002"),
        ("a;x;*\na;y;*\n", "CEL-H003"),
        ("a;x;p;*\nb;x;q;*\n", "CEL-H004"),
        ("a;x\nb;y\n", "CEL-H005"),
        ("a\nb\n", "CEL-H005"),
        ('a;*\n"b;*\nc;*\n', "CEL-H013"),
        ('"a"b;*\n', "CEL-H013"),
        (b"\x81\x8d;*\n", "CEL-H012"),
    ],
)
def test_a_file_that_is_no_hierarchy_is_refused(path: Path, content: str, code: str) -> None:
    assert refusal(path, content).code == code


@pytest.mark.parametrize("encoding", ["no-such-encoding", "hex", "utf-8"])
def test_an_encoding_that_does_not_fit_is_refused(path: Path, encoding: str) -> None:
    assert refusal(path, b"\xff;*\n", encoding=encoding).code == "CEL-H012"


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n"])
def test_a_delimiter_that_is_not_one_plain_character_is_refused(path: Path, delimiter: str) -> None:
    assert refusal(path, "a;*\n", delimiter=delimiter).code == "CEL-H014"


@pytest.mark.parametrize("name", ["absent.csv", ".", "nul\0.csv"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read_hierarchy(tmp_path / name)
    assert caught.value.code == "CEL-H011"


def test_a_failed_write_leaves_the_old_file(path: Path) -> None:
    write_hierarchy(Hierarchy.from_paths([("a", "*")]), path)
    broken = Hierarchy.from_paths([("\ud800", "*")])  # half a character cannot be written
    with pytest.raises(UnicodeEncodeError):
        write_hierarchy(broken, path)
    assert read_hierarchy(path).leaves == ("a",)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


cells = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff"), min_size=1, max_size=6
).filter(str.strip)


@given(
    leaves=st.lists(cells, min_size=1, max_size=8, unique=True),
    group=cells,
    delimiter=st.sampled_from([";", ",", "\t"]),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_back(
    path: Path, leaves: list[str], group: str, delimiter: str
) -> None:
    paths = [(leaf, group, "*") for leaf in leaves]
    write_hierarchy(Hierarchy.from_paths(paths), path, delimiter=delimiter)
    assert read_hierarchy(path).paths() == paths
