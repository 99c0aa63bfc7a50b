"""`celosia assess utility`: what a release is still good for, and whose eyes may see which part."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

ASKED = ("-s", "people.toml", "--seed", 7, "--queries", 50)


@pytest.mark.usefixtures("people", "schema")
@pytest.mark.parametrize("method", [(), ("--method", "mondrian"), ("--local",)], ids=str)
def test_every_sort_of_label_is_understood(method: tuple[str, ...], run: Run) -> None:
    assert (
        run("publish", "people.csv", "-s", "people.toml", "--k", 5, *method, "-o", "s.csv").code
        == 0
    )
    told = run("assess", "utility", "people.csv", "s.csv", *ASKED)
    assert told.code == 0, told.err
    assert told.out.splitlines()[-1].startswith("median relative error of 50 random counts:")


@pytest.mark.usefixtures("people", "schema")
def test_a_table_is_as_good_as_itself(run: Run) -> None:
    found = run("assess", "utility", "people.csv", "people.csv", *ASKED, "--json").data()
    assert found["queries"]["largest"] == 0
    assert found["associations"]["mean_change"] == 0
    assert [each["total_variation"] for each in found["distances"]] == [0, 0]
    assert found["learning"] is None


@pytest.mark.usefixtures("people", "schema")
def test_values_are_told_only_if_asked_for(run: Run) -> None:
    command = ("assess", "utility", "people.csv", "people.csv", *ASKED, "--json")
    few, all_ = run(*command).data(), run(*command, "--values").data()
    assert "distributions" not in few
    assert {"minimum", "mode"}.isdisjoint(few["aggregates"][0]["before"])
    assert all_["distributions"][1]["values"] == ["0100", "0101", "0102"]
    assert all_["aggregates"][0]["before"]["minimum"] == 20


@pytest.mark.usefixtures("people", "schema")
def test_the_report_says_whose_eyes_it_is_for(run: Run, tmp_path: Path) -> None:
    told = run("assess", "utility", "people.csv", "people.csv", *ASKED, "--report", "u.html")
    assert "Do not publish this report beside the release" in " ".join(told.err.split())
    page = (tmp_path / "u.html").read_text("utf-8")
    assert page.index("only for people who may see the original") < page.index("<figure>")
    assert "zip: original and released" in page
    assert MARK not in page  # no column but quasi-identifiers is shown


def test_a_column_can_be_predicted(run: Run, tmp_path: Path) -> None:
    rows = [f"{20 + i % 5},{'yes' if i % 5 > 2 else 'no'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["age,ill", *rows]) + "\n")
    command = ("assess", "utility", "t.csv", "t.csv", "-q", "age", "--target", "ill", "--seed", 1)
    lessons = run(*command, "--json").data()["learning"]["lessons"]
    assert max(lesson["accuracy"] for lesson in lessons) == 1
    told = run(*command, "--report", "u.html")
    assert "Predicting ill" in told.out
    assert "Predicting ill" in (tmp_path / "u.html").read_text("utf-8")
    run(*command[:-4], "--target", "il").complains("CEL-A071")


@pytest.mark.usefixtures("people", "schema")
def test_what_is_read_is_never_overwritten(run: Run) -> None:
    command = ("assess", "utility", "people.csv", "people.csv", *ASKED, "--overwrite", "--report")
    run(*command, "people.csv").complains("CEL-I007")
    run(*command, "people.toml").complains("CEL-I007")


@pytest.mark.usefixtures("schema")
def test_labels_that_mean_nothing_are_refused(people: Path, run: Run, tmp_path: Path) -> None:
    text = people.read_text().replace(",0100,", ",9***,")
    (tmp_path / "other.csv").write_text(text)
    run("assess", "utility", "people.csv", "other.csv", *ASKED).complains("CEL-A073")
