"""Whether a test that a page or a table names is there."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def _tests_of(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(each.name for each in tree.body if isinstance(each, ast.FunctionDef))


def is_there(name: str) -> bool:
    """Whether `tests/folder/test_file.py::test_name` is a test."""
    path, _, test = name.partition("::")
    file = ROOT / path
    return test.startswith("test_") and file.is_file() and test in _tests_of(file)
