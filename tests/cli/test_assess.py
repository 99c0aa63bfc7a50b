"""`celosia assess`: figures with names, and an exit code for pipelines."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pyreadstat
import pytest
from tests.cli.running import MARK, Run

from celosia import Role, Schema

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
        "pairs of records that differ": "94.915%",
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
    command = ("publish", people, "-s", schema, "--k", 5, "--suppression", "100%", "-o", "safe.csv")
    made = run(*command, "--json").data()["measures"]["risk"]
    found = run("assess", "risk", "safe.csv", "-s", schema, "--k", 5, "--json").data()
    assert found.pop("separation") > 0
    assert found == made
    assert found["suppressed"] == 12


@pytest.mark.parametrize("threshold", ["0", "1.5", "-1", "nan"])
def test_a_threshold_out_of_range_is_refused(threshold: str, people: Path, run: Run) -> None:
    command = ("assess", "risk", people, *QUASI, f"--threshold={threshold}")
    run(*command).complains("CEL-A001")


def test_the_threshold_decides_who_is_at_risk(people: Path, run: Run) -> None:
    command = ("assess", "risk", people, *QUASI, "--json", "--threshold")
    assert run(*command, "0.2").data()["at_risk"] == 1
    assert run(*command, "0.25").data()["at_risk"] == 0


def test_a_table_without_rows_keeps_no_promise(run: Run, tmp_path: Path) -> None:
    (tmp_path / "nobody.csv").write_text("age,zip\n")
    run("assess", "risk", "nobody.csv", "--header", *QUASI, "--k", 5).complains("CEL-P015")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), "CEL-I032"),
        (("-q", "agee"), "CEL-A003"),
        (("-q", "age", "-s", "people.toml"), "CEL-I031"),
        (("-q", "age", "--k", "1"), "CEL-I060"),
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


def test_the_journalist_and_the_marketer_need_a_population(
    people: Path, run: Run, tmp_path: Path
) -> None:
    header, *rows = people.read_text().splitlines()
    (tmp_path / "all.csv").write_text("\n".join([header, *rows * 2]) + "\n")
    command = ("assess", "risk", people, *QUASI, "--json")
    assert "attackers" not in run(*command).data()
    counted = run(*command, "--population", "all.csv").data()["attackers"]
    assert counted["basis"] == "population"
    assert counted["prosecutor"]["maximum"] == 1 / 4
    assert counted["journalist"]["maximum"] == counted["marketer"]["average"] == 1 / 8
    guessed = run(*command, "--sampling-fraction", 0.5).data()["attackers"]
    assert guessed["basis"] == "estimate"
    assert guessed["population"] == 120
    told = run("assess", "risk", people, *QUASI, "--sampling-fraction", 0.5)
    assert "journalist" in told.out
    both = ("--population", "all.csv", "--sampling-fraction", 0.5)
    run(*command[:-1], *both).complains("CEL-A020")


def test_a_whole_population_has_its_own_uniques(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age\n" + "\n".join(map(str, [1, 1, 2, 3])) + "\n")
    command = ("assess", "uniqueness", "t.csv", "-q", "age")
    found = run(*command, "--sampling-fraction", 1, "--json").data()
    assert (found["uniques"], found["share"]) == (2, 0.5)
    assert run(*command, "--sampling-fraction", 0.1).code == 0
    run(*command, "--sampling-fraction", 2).complains("CEL-A021")


def test_columns_that_single_people_out_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,age\nF,30\nF,40\nM,30\nM,30\n")
    found = run("assess", "columns", "t.csv", "--json").data()
    assert [(each["columns"], each["unique"]) for each in found["subsets"]] == [
        (["sex"], 0.0),
        (["age"], 0.25),
        (["sex", "age"], 0.5),
    ]
    assert found["suda"] == {"special_records": 2, "highest": 1.0, "average": 0.5}
    told = run("assess", "columns", "t.csv")
    assert "2 of 4 records are unique on at most 2 columns" in told.out
    assert "age" in told.out
    run("assess", "columns", "t.csv", "--at-most", 0).complains("CEL-A024")


def test_a_draft_of_a_schema_can_be_read_and_used(run: Run, tmp_path: Path) -> None:
    names = ["e-mail", "zip", "age", 'say "hi"\x7f', "1 = [x]", "diagnosis"]
    rows = [f"a{i}@x.org,{10000 + i % 7},{20 + i % 30},{i % 3},{i % 2},d{i % 4}" for i in range(60)]
    head = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    (tmp_path / "p.csv").write_text("\n".join([head, *rows]) + "\n")
    told = run("assess", "identifiers", "p.csv", "-o", "p.toml")
    assert told.code == 0
    assert "schema: p.toml" in told.out
    schema = Schema.load(tmp_path / "p.toml")
    assert [column.name for column in schema.columns] == names
    assert schema.named(Role.IDENTIFIER) == ("e-mail",)
    assert schema.named(Role.QUASI_IDENTIFIER) == tuple(names[1:5])  # two of them in doubt
    assert schema.named(Role.SENSITIVE) == ("diagnosis",)
    assert run("publish", "p.csv", "-s", "p.toml", "--k", 3).code == 0
    run("assess", "identifiers", "p.csv", "-o", "p.toml").complains("CEL-I004")
    run("assess", "identifiers", "p.csv", "-o", "p.csv", "--overwrite").complains("CEL-I007")


def test_a_draft_publishes_the_same_file_with_its_empty_cells(run: Run, tmp_path: Path) -> None:
    towns = ("Lugo", "Vigo", "", "Ferrol", "NA")
    rows = [f"{('', 'NA', '31', '47')[i % 4]},{towns[i % 5]},d{i % 2}" for i in range(60)]
    (tmp_path / "p.csv").write_text("\n".join(["age,town,diagnosis", *rows]) + "\n")
    told = run("assess", "identifiers", "p.csv", "-o", "p.toml")
    assert told.code == 0
    assert "'town': nothing in the values says which belong together" in " ".join(told.err.split())
    assert run("publish", "p.csv", "-s", "p.toml", "--k", 3, "-o", "safe.csv").code == 0


def test_a_column_that_became_nothing_for_want_of_groups_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("town\n" + "".join(f"Town {chr(65 + i)}\n" for i in range(9)))
    told = run("publish", "p.csv", "-q", "town", "--k", 3)
    assert "so each became *: 'town'." in " ".join(told.err.split())
    assert "FILE.csv" in told.err


def test_a_release_keeps_the_promise_that_it_was_made_for(
    people: Path, schema: Path, run: Run
) -> None:
    command = ("--k", 5, "--l", "entropy:3", "--model", "average-risk:0.2")
    run("publish", people, "-s", schema, *command, "-o", "safe.csv")
    held = run("assess", "check", "safe.csv", "-s", schema, *command, "--json").data()
    assert [each["holds"] for each in held["models"]] == [True] * 3
    told = run("assess", "check", "safe.csv", "-s", schema, *command)
    assert told.out.splitlines()[-1].startswith("holds: 5-anonymity, entropy")


def test_a_broken_promise_names_its_models_and_ends_with_one(people: Path, run: Run) -> None:
    command = ("assess", "check", people, *QUASI, "--sensitive", "disease", "--k", 5, "--l", 4)
    broken = run(*command)
    broken.complains("CEL-A010", 1)
    assert "5-anonymity (15 classes, 60 records)" in broken.err
    assert "diversity" not in broken.err.splitlines()[0]
    details = run(*command, "--json").envelope()["details"]
    assert [each["holds"] for each in details["models"]] == [False, True]


def test_a_model_that_needs_a_population_is_not_checked_alone(people: Path, run: Run) -> None:
    run("assess", "check", people, *QUASI, "--model", "k-map:5").complains("CEL-P006")


def test_survey_files_and_databases_are_sources_of_commands(
    people: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.read_csv(people, infer_schema=False).with_columns(
        weight=pl.int_range(pl.len()) % 7 + 5.0
    )
    with closing(sqlite3.connect("people.db")) as connection, connection:
        names = ", ".join(frame.columns)
        connection.execute(f"CREATE TABLE people ({names})")
        marks = ", ".join("?" * frame.width)
        connection.executemany(f"INSERT INTO people VALUES ({marks})", frame.iter_rows())
    pyreadstat.write_sav(frame, "people.sav")
    risk = ("assess", "risk", *QUASI, "--weights", "weight", "--json")
    found = [
        run(*risk, "people.db").data(),
        run(*risk, "sqlite:///people.db", "--query", "SELECT * FROM people").data(),
        run(*risk, "people.sav", "--codes", "*").data(),
    ]
    assert found[0]["attackers"]["basis"] == "weights"
    assert found[0] == found[1] == found[2]
    monkeypatch.setenv("PEOPLE", "adbc+sqlite:people.db")
    others = ("--other-columns", "insensitive")
    accepted = ("--identifier", "name", "--accept-raw", "weight", "--reason", "of a survey")
    roles = (*QUASI, *others, *accepted)
    publish = ("publish", "$PEOPLE", "--query", "people", *roles, "--k", 5, "--json")
    assert run(*publish).data()["guarantee"]
    mask = (
        "mask",
        "people.db",
        "-q",
        "weight",
        *others,
        "--method",
        "mdav:k=5",
        "-c",
        "weight",
    )
    masked = run(*mask)
    assert masked.code == 0, masked.err + masked.out
    run(*risk[:-1], "postgresql://me:secret@host/base").complains("CEL-Q200")
