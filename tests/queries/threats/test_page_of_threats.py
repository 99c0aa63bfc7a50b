"""The page that lists threats and tests names tests that are there, and at least one for each."""

from __future__ import annotations

import re

from tests.queries.named_tests import ROOT, is_there

PAGE = ROOT / "docs/explanation/threats.md"


def rows() -> list[str]:
    """The rows of both tables: threats, and channels of the other doors."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    return [line for line in lines if not line.startswith(("| threat |", "| channel |"))]


def test_each_threat_names_its_tests_and_all_of_them_are_there() -> None:
    assert len(rows()) == 26
    for row in rows():
        named = re.findall(r"`(tests/\S+?::\w+)`", row)
        assert named, row
        assert [name for name in named if not is_there(name)] == []


def test_a_test_that_is_gone_would_be_noticed() -> None:
    assert is_there(
        "tests/queries/threats/test_page_of_threats.py::test_a_test_that_is_gone_would_be_noticed"
    )
    assert not is_there("tests/queries/threats/test_page_of_threats.py::test_gone")
    assert not is_there("tests/queries/threats/test_gone.py::test_gone")


def test_every_test_of_the_folder_is_on_the_page() -> None:
    """So that an attack that was written is also told of."""
    page = PAGE.read_text("utf-8")
    folder = ROOT / "tests/queries/threats"
    for file in sorted(folder.glob("test_*.py")):
        if file.name != "test_page_of_threats.py":
            for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE):
                assert f"{file.name}::{name}" in page
