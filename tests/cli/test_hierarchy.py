"""`celosia hierarchy`: build with every method, check, and publish with what was built."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

from celosia import frames
from celosia.tables.hierarchies import read_hierarchy

CITIES = ["Leeds", "York", "Dover", "Hove"]


@pytest.fixture
def table(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    rows = [
        f"{20 + i % 20},{1000 + i % 9},2024-{1 + i % 12:02}-{1 + i % 28:02},{CITIES[i % 4]},{MARK}"
        for i in range(120)
    ]
    path.write_text("\n".join(["age,zip,born,city,note", *rows]) + "\n")
    (tmp_path / "cities.toml").write_text(
        '[groups]\nNorth = ["Leeds", "York"]\nSouth = ["Dover", "Hove"]\n'
    )
    return path


METHODS = {
    "widths": ("age", ("--method", "intervals:widths=[5,10]"), 20),
    "start": ("age", ("--method", "intervals:widths=[5],start=20"), 20),
    "bounds": ("age", ("--method", "intervals:bounds=[[20,30,40]]"), 20),
    "two bounds": ("age", ("--method", "intervals:bounds=[[20,25,30,40],[20,30,40]]"), 20),
    "open": (
        "age",
        ("--method", "intervals:bounds=[[25,35]],open_below=true,open_above=true"),
        20,
    ),
    "domain": ("age", ("--method", "intervals:widths=[10],domain=[1,100]"), 100),
    "ordered": ("city", ("--method", f"ordered:order=[{', '.join(CITIES)}],sizes=[2]"), 4),
    "mask": ("zip", ("--method", "mask"), 9),
    "mask levels": ("zip", ("--method", "mask:levels=[1,2],direction=left"), 9),
    "dates": ("born", ("--method", "dates:levels=[month,year]"), 84),
    "tree": ("city", ("--method", "tree", "--groups", "cities.toml"), 4),
    "groups": ("city", ("--groups", "cities.toml"), 4),
}


@pytest.mark.parametrize("case", METHODS)
def test_a_hierarchy_that_is_built_can_be_checked_and_published_with(
    case: str, table: Path, run: Run, tmp_path: Path
) -> None:
    column, options, leaves = METHODS[case]
    built = run("hierarchy", "build", table, "--column", column, *options, "-o", "h.csv", "--json")
    assert built.data()["leaves"] == leaves == len(read_hierarchy(tmp_path / "h.csv").leaves)
    checked = run("hierarchy", "check", "h.csv", "--table", table, "--column", column)
    assert checked.code == 0, checked.err
    assert f"Every value of column '{column}' has its place." in checked.err
    assert checked.out.splitlines()[-1].startswith(f"{leaves} leaves, ")
    (tmp_path / "schema.toml").write_text(
        f'[table]\nother_columns = "identifier"\nunit = "record"\n'
        f'[columns.{column}]\nrole = "quasi-identifier"\n'
        'hierarchy = { file = "h.csv" }\n'
    )
    published = run("publish", table, "-s", "schema.toml", "--k", 30, "-o", "safe.csv")
    assert published.code == 0, published.err
    assert MARK not in published.out + checked.out + built.out


def test_a_date_can_be_written_in_another_way(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("born\n31/12/1999\n01/02/2000\n")
    command = ("hierarchy", "build", "t.csv", "--column", "born", "--method")
    run(*command, "dates").complains("CEL-H040")
    built = run(*command, "dates:format='%d/%m/%Y',levels=[year]", "-o", "born.csv")
    assert built.code == 0
    assert (tmp_path / "born.csv").read_text().splitlines()[0] == "31/12/1999;1999;*"


def test_without_a_file_one_only_looks_at_what_would_be_chosen(table: Path, run: Run) -> None:
    told = run("hierarchy", "build", table, "--column", "age")
    assert "Rule: method = intervals, widths = " in told.err
    assert told.out.splitlines()[0] == "Levels, from the raw value to the root"


@pytest.mark.parametrize("case", ["tree", "ordered"])
def test_a_rule_that_lists_values_is_not_read_aloud(case: str, table: Path, run: Run) -> None:
    column, options, _ = METHODS[case]
    told = run("hierarchy", "build", table, "--column", column, *options)
    assert told.code == 0
    assert f"Rule: method = {case}" in told.err
    assert not any(city in told.out + told.err for city in CITIES)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--method", "rings"), "CEL-I061"),
        (("--method", "intervals"), "CEL-H022"),
        (("--method", "mask:widths=[5]"), "CEL-I062"),
        (("--method", "intervals", "--groups", "cities.toml"), "CEL-H062"),
        (("--method", "intervals:widths=[five,ten]"), "CEL-I060"),
        (("--method", "intervals:widths=[nan]"), "CEL-I060"),
        (("--method", "intervals:widths=[1e400]"), "CEL-I060"),
        (("--method", "intervals:widths=[5],start=nan"), "CEL-I060"),
        (("--method", "intervals:widths=[5],domain=[1]"), "CEL-I060"),
        (("--method", "intervals:bounds=[[20,25]]"), "CEL-H024"),
        (("--method", "ordered:order=[a,b],sizes=[2]"), "CEL-H030"),
        (("--method", "mask:levels=[month]"), "CEL-I060"),
        (("--method", "mask:up"), "CEL-I060"),
        (("--method", "dates:levels=[moonth]"), "CEL-I060"),
        (("--method", "dates"), "CEL-H040"),
        (("--method", "tree"), "CEL-I063"),
        (("--method", "tree", "--groups", "nothing.toml"), "CEL-I037"),
        (("--method", "tree", "--groups", "table.csv"), "CEL-I037"),
    ],
    ids=str,
)
def test_a_rule_that_makes_no_sense_is_refused(
    options: tuple[str, ...], code: str, table: Path, run: Run
) -> None:
    run("hierarchy", "build", table, "--column", "age", *options).complains(code)


def test_a_column_that_is_not_there_is_answered_with_the_nearest(table: Path, run: Run) -> None:
    refused = run("hierarchy", "build", table, "--column", "agee")
    refused.complains("CEL-I035")
    assert "did you mean 'age'?" in refused.err


def test_a_file_that_exists_is_kept(table: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("old")
    command = ("hierarchy", "build", table, "--column", "age", "-o", "age.csv")
    run(*command).complains("CEL-I004")
    assert (tmp_path / "age.csv").read_text() == "old"
    assert run(*command, "--overwrite").code == 0
    assert run("hierarchy", "check", "age.csv").code == 0


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "CEL-H001"),
        (b"1;a;*\n1;b;*\n", "CEL-H003"),
        (b"1;a;x;*\n2;a;y;*\n", "CEL-H004"),
        (b"1;a\n2;b\n", "CEL-H005"),
        (b"1;a;*\n2;*\n", "CEL-H002"),
        (bytes(range(256)), "CEL-H012"),
    ],
    ids=["empty", "leaf twice", "two parents", "two roots", "ragged", "binary"],
)
def test_a_broken_hierarchy_is_refused(content: bytes, code: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_bytes(content)
    run("hierarchy", "check", "h.csv").complains(code)


def test_a_value_without_a_place_is_counted_and_not_shown(
    table: Path, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "h.csv").write_text("20;*\n21;*\n")
    refused = run("hierarchy", "check", "h.csv", "--table", table, "--column", "note")
    refused.complains("CEL-T011")


def test_a_table_and_its_column_go_together(table: Path, run: Run) -> None:
    run("hierarchy", "check", "h.csv", "--table", table).complains("CEL-I034")
    run("hierarchy", "check", "h.csv", "--column", "age").complains("CEL-I034")


def test_a_table_is_read_as_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("1|2\n3|4\n")
    reading = ("--delimiter", "|", "--no-header")
    command = ("hierarchy", "build", "t.txt", "--column", "column_1", *reading, "-o", "h.csv")
    assert run(*command).code == 0
    check = ("hierarchy", "check", "h.csv", "--table", "t.txt", "--column", "column_1", *reading)
    assert run(*check).code == 0
    assert frames.read(tmp_path / "h.csv", header=False).height == 2


def test_repeated_rows_of_a_file_are_noted_and_harmless(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex\n" + "F\nM\n" * 5)
    (tmp_path / "h.csv").write_text("F;*\nM;*\nF;*\n")
    (tmp_path / "s.toml").write_text(
        '[columns.sex]\nrole = "quasi-identifier"\nhierarchy = { file = "h.csv" }\n'
    )
    checked = run("hierarchy", "check", "h.csv", "--table", "t.csv", "--column", "sex")
    assert checked.code == 0
    assert "h.csv: row 3 repeats an earlier row and was left out." in checked.err
    published = run("publish", "t.csv", "-s", "s.toml", "--k", 2, "--json")
    assert published.code == 0
    assert "Hierarchy of column 'sex': row 3 repeats an earlier row" in published.err


def test_towns_get_no_groups_by_themselves_and_the_way_to_them_is_told(
    table: Path, run: Run
) -> None:
    told = run("hierarchy", "build", table, "--column", "city", "--json")
    assert told.data()["rule"] == {"method": "ordered"}
    assert len(told.data()["levels"]) == 2
    assert "Groups of your own keep more detail" in told.err
    assert "Groups of your own" not in run("hierarchy", "build", table, "--column", "age").err
    asked = run("hierarchy", "build", table, "--column", "city", "--method", "ordered:sizes=[2]")
    assert "3 levels" in asked.out
