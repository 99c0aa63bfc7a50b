"""The page of coverage names only what exists: Python names, commands, pages, tests."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from celosia.cli.app import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "coverage.md"
COLUMNS = 5
STUDIO = ROOT / "src" / "celosia" / "studio"


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [each for each in cells if each[0] not in ("item", "---")]


def _codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@cache
def _addresses() -> frozenset[str]:
    texts = [path.read_text("utf-8") for path in STUDIO.rglob("*.py")]
    found = {each for text in texts for each in re.findall(r'@page\(\s*"([^"]+)"', text)}
    return frozenset(found)


def _exists(name: str) -> bool:
    """Whether a dotted name can be imported."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            fields = getattr(found, "__dataclass_fields__", {})
            if part in fields:
                return True
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def _is_command(line: str) -> bool:
    """Whether a command exists, with all options that are named."""
    words = line.split()[1:]
    command: Any = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    known = {each for option in command.params for each in option.opts}
    return not [each for each in words if not each.startswith("--") or each not in known]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_row_names_only_what_exists(row: list[str]) -> None:
    assert len(row) == COLUMNS, row
    _item, python, command, studio, tests = row
    assert [each for each in _codes(python) if not _exists(each)] == []
    assert [each for each in _codes(command) if not _is_command(each)] == []
    assert [each for each in _codes(studio) if each not in _addresses()] == []
    named = _codes(tests)
    assert named
    for each in named:
        file, _, test = each.partition("::")
        assert (ROOT / file).exists(), each
        assert not test or f"def {test}(" in (ROOT / file).read_text("utf-8"), each


def test_the_page_has_many_rows() -> None:
    assert len(rows()) >= 28


@pytest.mark.parametrize("wrong", ["celosia.nothing", "celosia.collect.nothing"])
def test_a_name_that_does_not_exist_is_noticed(wrong: str) -> None:
    assert not _exists(wrong)
    assert not _is_command("celosia collect sweep --nothing")
    assert not _is_command("celosia nothing")
