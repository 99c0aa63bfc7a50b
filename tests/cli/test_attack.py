"""`celosia assess attack`: who is exposed, by which attack; nothing learnt unless asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

RELEASE = f"""age,zip,disease,salary
2*,4767*,flu {MARK},3
2*,4767*,flu {MARK},4
3*,4790*,ulcer,9
3*,4790*,gastritis,1
*,*,flu {MARK},5
"""
SCHEMA = """
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
hierarchy = { method = "mask" }
[columns.zip]
role = "quasi-identifier"
type = "string"
hierarchy = { method = "mask" }
[columns.disease]
role = "sensitive"
hierarchy = { method = "tree", tree = { stomach = ["ulcer", "gastritis"], lungs = ["flu %s"] } }
[columns.salary]
role = "sensitive"
"""
VOTERS = "name,age,zip\nAna,29,47677\nBea,22,47671\nEva,35,47905\n"


@pytest.fixture
def attack(run: Run, tmp_path: Path) -> Run:
    """Attacks on a small release."""
    (tmp_path / "safe.csv").write_text(RELEASE)
    (tmp_path / "s.toml").write_text(SCHEMA % MARK)
    (tmp_path / "voters.csv").write_text(VOTERS)

    def call(*arguments: object) -> object:
        return run("assess", "attack", "safe.csv", "-s", "s.toml", *arguments)

    return call  # type: ignore[return-value]


def test_a_class_of_one_value_is_exposed_and_nothing_is_learnt_aloud(attack: Run) -> None:
    found = attack("--json").data()
    exposed = {(each["name"], each["column"]): each["exposed_people"] for each in found}
    assert exposed["homogeneity", "disease"] == 2
    assert exposed["homogeneity", "salary"] == 0
    told = attack()
    assert told.code == 0
    assert MARK not in told.out + told.err + attack("--json").out
    assert MARK in attack("--json", "--values").out


def test_values_of_one_category_and_near_numbers_are_alike(attack: Run) -> None:
    found = attack("--similar", "disease=1", "--near", "salary=1", "--json").data()
    alike = {
        each["column"]: each["exposed_people"] for each in found if each["name"] == "similarity"
    }
    assert alike == {"disease": 4, "salary": 2}


def test_people_of_another_table_are_found_by_what_labels_stand_for(attack: Run) -> None:
    found = {each["name"]: each for each in attack("--external", "voters.csv", "--json").data()}
    assert found["linkage"]["people"] == 3
    assert found["linkage"]["exposed_people"] == 0
    assert found["linkage"]["facts"]["unmatched_people"] == 0
    both = attack("--external", "voters.csv", "--on", "zip", "--json").data()
    ill = [
        each for each in both if (each["name"], each["column"]) == ("attribute linkage", "disease")
    ]
    assert ill[0]["exposed_people"] == 2  # Ana and Bea: both who live there have the flu


def test_a_label_that_nobody_known_has_is_no_obstacle(attack: Run, tmp_path: Path) -> None:
    (tmp_path / "voters.csv").write_text("name,age,zip\nAna,29,47677\n")
    found = {each["name"]: each for each in attack("--external", "voters.csv", "--json").data()}
    assert found["linkage"]["greatest_confidence"] == 0.5


def test_labels_of_another_rule_are_refused_unless_the_original_explains_them(
    attack: Run, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text((SCHEMA % MARK).replace('"mask"', '"intervals", widths = [7]'))
    attack("--external", "voters.csv").complains("CEL-A052")


def test_two_releases_are_joined(attack: Run, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text(RELEASE)
    names = [each["name"] for each in attack("--earlier", "old.csv", "--json").data()]
    assert names[-2:] == ["tuple order", "complementary release"]


def test_labels_that_cannot_be_read_are_told(attack: Run, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text(RELEASE)
    (tmp_path / "raw.csv").write_text(VOTERS.replace("name", "id"))
    told = attack("--earlier", "old.csv")
    assert "labels of age, zip can only be compared as text" in told.err
    assert "Warning" not in attack("--earlier", "old.csv", "--original", "raw.csv").err
    assert "Warning" not in attack().err


def test_the_report_counts_people_and_names_no_value(attack: Run, tmp_path: Path) -> None:
    told = attack("--external", "voters.csv", "--report", "a.html")
    assert "report: a.html" in told.out
    page = (tmp_path / "a.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Attribute linkage, disease" in page
    assert not [cell for cell in (MARK, "gastritis", "47677", "4790*", "Ana") if cell in page]
    attack("--report", "safe.csv", "--overwrite").complains("CEL-I007")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("--similar", "age=1"), "CEL-I055"),
        (("--similar", "salary=1"), "CEL-I057"),
        (("--similar", "disease=9"), "CEL-I057"),
        (("--similar", "disease=x"), "CEL-I051"),
        (("--near", "disease=2"), "CEL-A056"),
        (("--external", "voters.csv", "--on", "name"), "CEL-I056"),
        (("--external", "safe.toml"), "CEL-F010"),
        (("--on", "age"), "CEL-I056"),
    ],
    ids=str,
)
def test_wrong_options_are_refused(command: tuple[object, ...], code: str, attack: Run) -> None:
    attack(*command).complains(code)
