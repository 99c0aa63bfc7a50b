"""`celosia assess linkage` and `celosia assess synthetic`: masked tables against their original."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

AGES = [29, 48, 21, 36, 45, 58, 72, 22, 25, 43]
T6 = [32, 46, 28, 38, 48, 61, 59, 20, 24, 55]


@pytest.fixture
def tables(run: Run, tmp_path: Path) -> Path:
    """The worked example with noise on ages, in the same order and in another."""
    rows = [f"{MARK}-{i},{age},{'MF'[i % 2]}" for i, age in enumerate(AGES)]
    masked = [f"{MARK}-{i},{age},{'MF'[i % 2]}" for i, age in enumerate(T6)]
    header = "person,age,gender"
    (tmp_path / "o.csv").write_text("\n".join([header, *rows]) + "\n")
    (tmp_path / "m.csv").write_text("\n".join([header, *masked]) + "\n")
    (tmp_path / "mixed.csv").write_text("\n".join([header, *masked[::-1]]) + "\n")
    return tmp_path


@pytest.mark.usefixtures("tables")
def test_the_worked_example_is_linked_in_four_of_ten_records(run: Run) -> None:
    found = run("assess", "linkage", "o.csv", "m.csv", "--column", "age", "--json").data()
    assert found["risk"]["distance"]["share"] == pytest.approx(0.4)
    assert found["columns"] == ["age"]
    told = run("assess", "linkage", "o.csv", "m.csv", "-c", "age")
    assert told.code == 0, told.err
    assert told.out.splitlines()[-1].startswith("40.00% of 10 records linked correctly")


@pytest.mark.usefixtures("tables")
def test_an_identifier_aligns_files_of_another_order_and_is_not_linked_by(run: Run) -> None:
    plain = run("assess", "linkage", "o.csv", "m.csv", "-c", "age", "-c", "gender", "--json").data()
    mixed = run(
        "assess", "linkage", "o.csv", "mixed.csv", "--identifier", "person", "--json"
    ).data()
    assert mixed["columns"] == ["age", "gender"]
    assert mixed["risk"]["distance"]["share"] == pytest.approx(plain["risk"]["distance"]["share"])


def test_the_report_names_rows_and_no_cell(tables: Path, run: Run) -> None:
    words = ("assess", "linkage", "o.csv", "m.csv", "--identifier", "person", "--report", "r.html")
    told = run(*words)
    assert told.code == 0, told.err
    assert "Confidential: only for people who may see the original" in told.err
    page = (tables / "r.html").read_text("utf-8")
    # Among their own gender all but 28 (nearer to 29) and 55 (nearer to 58) are linked rightly.
    assert "masked rows 1, 2, 4, 5, 6, 7, 8, 9." in page
    assert MARK not in page + told.out + told.err
    run(*words).complains("CEL-I004")
    run(*words[:-1], "o.csv", "--overwrite").complains("CEL-I007")


@pytest.mark.usefixtures("tables")
def test_wrong_wishes_are_refused_without_naming_a_cell(run: Run, tmp_path: Path) -> None:
    run("assess", "linkage", "o.csv", "m.csv", "-c", "agee").complains("CEL-A201")
    run("assess", "linkage", "o.csv", "m.csv", "-c", "age", "--width", 0).complains("CEL-A210")
    run("assess", "linkage", "o.csv", "m.csv", "--identifier", "gender").complains("CEL-A208")
    (tmp_path / "short.csv").write_text("age\n3\n4\n")
    run("assess", "linkage", "o.csv", "short.csv").complains("CEL-A203")


def test_synthetic_tables_are_assessed_with_and_without_a_holdout(run: Run, tmp_path: Path) -> None:
    for name, start in (("o", 0), ("h", 1), ("s", 0)):
        rows = [f"{1000 + 7 * i + 3 * start},{'fm'[i % 2]},{MARK}" for i in range(60)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["pay,sex,note", *rows]) + "\n")
    words = ("assess", "synthetic", "o.csv", "s.csv")
    alone = run(*words, "--json").data()
    assert alone["risk"]["membership"] is None
    assert alone["risk"]["replicas"]["repeated"] == 60
    found = run(*words, "--holdout", "h.csv", "--seed", 1, "--json").data()
    assert found["risk"]["membership"]["auc"] == 1
    assert found["risk"]["holdout_replicas"]["repeated"] == 0
    told = run(*words, "--holdout", "h.csv", "--sensitive", "sex", "--report", "s.html")
    assert told.code == 0, told.err
    assert "has no formal guarantee" in told.err
    page = (tmp_path / "s.html").read_text("utf-8")
    assert MARK not in page + told.out + told.err
    assert told.out.splitlines()[-1].startswith("60 of 60 unique records repeated")


@pytest.mark.parametrize("command", ["linkage", "synthetic"])
def test_regressions_are_compared_where_they_are_asked_for(
    command: str, run: Run, tmp_path: Path
) -> None:
    lines = [f"{20 + i},{1000 + 31 * i + i * i % 17},{'fm'[i % 2]}" for i in range(40)]
    for name in ("one.csv", "other.csv"):
        (tmp_path / name).write_text("\n".join(["age,pay,sex", *lines]) + "\n")
    asked = ("assess", command, "one.csv", "other.csv")
    told = run(*asked, "--regression", "pay ~ age + sex")
    assert told.code == 0, told.err
    assert "pay ~ age + sex: confidence intervals overlap by 100.0%" in told.out
    for bad in ("pay", "~ age", "pay ~", "pay ~ age +"):
        run(*asked, "--regression", bad).complains("CEL-A233")
