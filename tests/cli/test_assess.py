"""`celosia assess risk`: figures with names, and an exit code for pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

QUASI = ("-q", "age", "-q", "zip")


def test_every_figure_has_a_name(people: Path, run: Run) -> None:
    told = run("assess", "risk", people, *QUASI)
    assert told.code == 0
    figures = dict(
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in told.out.splitlines()
        if line.startswith("│")
    )
    assert figures == {
        "average risk": "25.000%",
        "highest risk": "25.000%",
        "records above 10%": "100.00%",
        "records alone in their class": "0",
        "classes": "15",
        "smallest class (records)": "4",
        "average class (records)": "4.00",
        "largest class (records)": "4",
        "records": "60",
        "suppressed records": "0",
    }
    assert told.out.splitlines()[-1] == "smallest class 4: average risk 25.000%, highest 25.000%"


def test_a_promise_that_holds_ends_well_and_one_that_does_not_ends_with_one(
    people: Path, run: Run
) -> None:
    assert run("assess", "risk", people, *QUASI, "--k", 4).code == 0
    broken = run("assess", "risk", people, *QUASI, "--k", 5)
    broken.complains("CEL-A010", 1)
    assert "--k 5" in broken.err


def test_a_release_is_judged_by_its_kept_records(people: Path, schema: Path, run: Run) -> None:
    wish = ("publish", people, "-s", schema, "--k", 5, "--suppress", "100%", "-o", "safe.csv")
    made = run(*wish, "--json").data()["measures"]["risk"]
    found = run("assess", "risk", "safe.csv", "-s", schema, "--k", 5, "--json").data()
    assert found == made
    assert found["suppressed"] == 12


@pytest.mark.parametrize("threshold", ["0", "1.5", "-1", "nan"])
def test_a_threshold_out_of_range_is_refused(threshold: str, people: Path, run: Run) -> None:
    wish = ("assess", "risk", people, *QUASI, f"--threshold={threshold}")
    run(*wish).complains("CEL-A001")


def test_the_threshold_decides_who_is_at_risk(people: Path, run: Run) -> None:
    wish = ("assess", "risk", people, *QUASI, "--json", "--threshold")
    assert run(*wish, "0.2").data()["at_risk"] == 1
    assert run(*wish, "0.25").data()["at_risk"] == 0


def test_a_table_without_rows_keeps_no_promise(run: Run, tmp_path: Path) -> None:
    (tmp_path / "nobody.csv").write_text("age,zip\n")
    run("assess", "risk", "nobody.csv", "--header", *QUASI, "--k", 5).complains("CEL-P015")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), "CEL-I032"),
        (("-q", "agee"), "CEL-A003"),
        (("-q", "age", "-s", "people.toml"), "CEL-I031"),
        (("-q", "age", "--k", "1"), "CEL-P010"),
        (("-s", "nothing.toml"), "CEL-S003"),
    ],
    ids=str,
)
def test_wrong_options_are_refused(
    options: tuple[str, ...], code: str, people: Path, schema: Path, run: Run
) -> None:
    run("assess", "risk", people, *options).complains(code)


def test_a_broken_row_late_in_a_file_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n" + "1\n" * 300_000 + f"2,{MARK}\n")
    broken = run("assess", "risk", "people.csv", "-q", "age")
    broken.complains("CEL-F016")
    assert "row 300001" in broken.err
