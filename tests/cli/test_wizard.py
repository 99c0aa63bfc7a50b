"""`celosia wizard`: answers from a pipe publish a table, and each is told as a command."""

from __future__ import annotations

import io
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.running import Result, Run

from celosia import TableRelease, datasets, frames

Wizard = Callable[..., Result]
RULE = "intervals:bounds=[[20,30,40,60]]"


@pytest.fixture
def wizard(run: Run, monkeypatch: pytest.MonkeyPatch) -> Wizard:
    """The command with its answers, in a folder with the nine patients."""
    frames.write(datasets.examples.patients(), Path("patients.csv"))

    def call(*answers: str, before: tuple[str, ...] = ()) -> Result:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{each}\n" for each in answers)))
        return run(*before, "wizard", "patients.csv")

    return call


def test_answers_publish_a_table_and_are_told_as_commands(wizard: Wizard, run: Run) -> None:
    told = wizard("", "", "", "", RULE, "3", "", "0%", "2", "", "safe.csv")
    assert told.code == 0
    release = TableRelease.load("safe.csv")
    assert release.solution.levels == (2, 1)
    assert release.provenance.parameters["models"] == [{"method": "k-anonymity", "k": 2}]
    last = told.out.strip().splitlines()[-1]
    assert last.startswith("celosia publish patients.csv --schema safe.schema.toml --k 2")
    assert f"celosia hierarchy build patients.csv --column age --method '{RULE}'" in told.out
    # The command that was told does the same.
    words = shlex.split(last)[1:]
    words[words.index("safe.csv")] = "again.csv"
    assert run(*words).code == 0
    assert TableRelease.load("again.csv").solution == release.solution


def test_going_back_asks_again_and_a_wrong_answer_is_not_taken(wizard: Wizard) -> None:
    told = wizard("insensitive", "<", "quasi-identifier", "nothing", "", "", "", RULE, "many", "3",
                  "", "0%", "", "safe.csv")  # fmt: skip
    assert told.code == 0
    assert "'k' must be a whole number" in told.err
    assert TableRelease.load("safe.csv").risk.smallest == 3


def test_an_end_before_the_last_answer_leaves_nothing(wizard: Wizard) -> None:
    told = wizard("", "", "", "", RULE, "3", "", "0%")
    assert told.code == 130
    assert [path.name for path in Path().iterdir()] == ["patients.csv"]


def test_a_file_that_exists_is_not_lost(wizard: Wizard) -> None:
    Path("mine.csv").write_text("mine")
    told = wizard("", "", "", "", RULE, "3", "", "0%", "", "mine.csv", "")
    assert told.code == 0
    assert Path("mine.csv").read_text() == "mine"
    assert not Path("mine.schema.toml").exists()


def test_the_wizard_speaks_spanish(wizard: Wizard) -> None:
    told = wizard(before=("--language", "es"))
    assert "¿Qué es zip?" in told.out
