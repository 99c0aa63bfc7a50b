"""The page of acceptance checks lists every check once and names only tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "acceptance-traces-logs-documents.md"
CHECKS = 49
STATES = ("met", "in part")


def rows() -> list[list[str]]:
    """The rows of a check: its number, what is shown, its state and its tests."""
    lines = PAGE.read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [each for each in cells if each[0].isdigit()]


def missing(named: str) -> bool:
    """Whether a file of tests, or a test in it, does not exist."""
    file, _, test = named.partition("::")
    path = ROOT / file
    return not path.exists() or bool(test and f"def {test}(" not in path.read_text("utf-8"))


def test_every_check_is_listed_once_with_tests_that_exist() -> None:
    assert [int(each[0]) for each in rows()] == list(range(1, CHECKS + 1))
    for _number, _what, state, tests in rows():
        named = re.findall(r"`([^`]+)`", tests)
        assert named
        assert state in STATES
        assert [each for each in named if missing(each)] == []


def test_what_is_met_in_part_says_what_is_missing() -> None:
    text = PAGE.read_text("utf-8").partition("## Met in part")[2]
    told = {int(each) for each in re.findall(r"^- \*\*(\d+)\*\*:", text, re.MULTILINE)}
    assert told == {int(each[0]) for each in rows() if each[2] == "in part"}


@pytest.mark.parametrize(
    "wrong",
    ["tests/none.py", "tests/docs/test_acceptance_page.py::test_nothing"],
)
def test_a_test_that_does_not_exist_is_noticed(wrong: str) -> None:
    assert missing(wrong)
