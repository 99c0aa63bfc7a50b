"""Which tests run together when several workers share them.

All tests of a file go to one worker, so that what a module sets up is set up once. All tests on
Spark go to one worker, so that one Java machine serves them. Tests in a browser go to two: each
needs a studio and a Chromium, and they mostly wait, so that two of them leave the cores to tests
that compute. What takes longest begins first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

ROOT = Path(__file__).parent.parent
_SPARK = re.compile(r"on_spark|mark\.spark|needs: spark")
_BROWSER = re.compile(r"\b(visit|both_languages): Visit\b|\bbrowser: Browser\b")
_BROWSERS = 2
_WAITING = ("spark", "browser")
_FIRST = (
    *_WAITING,
    "tests/studio/",
    "tests/lab/",
    "tests/end_to_end/",
    "tests/cli/",
    "tests/",
)


def units(files: Iterable[T], name: Callable[[T], str]) -> list[list[T]]:
    """The files in units, in the order of the queue; `name` gives a file's path from the root."""
    found: dict[str, list[T]] = {}
    for file in files:
        found.setdefault(unit_of(name(file)), []).append(file)
    return [found[unit] for unit in sorted(found, key=_place)]


@cache
def unit_of(file: str) -> str:
    """The unit of a file's tests: Spark, a browser, a package of doctests, or the file alone."""
    path = ROOT / file
    texts = [each for each in (path, path.parent / "conftest.py") if each.is_file()]
    if not file.startswith("src/") and any(_SPARK.search(each.read_text()) for each in texts):
        return "spark"
    if file in _in_browsers():
        return f"browser {_in_browsers().index(file) % _BROWSERS + 1}"
    return "/".join(file.split("/")[:3]) if file.startswith("src/") else file


@cache
def _in_browsers() -> tuple[str, ...]:
    files = sorted((ROOT / "tests" / "studio").glob("test_*.py"))
    seen = [each for each in files if _BROWSER.search(each.read_text("utf-8"))]
    return tuple(each.relative_to(ROOT).as_posix() for each in seen)


def _place(unit: str) -> int:
    """The place of a unit in the queue: those that take long, or wait, come first."""
    file = ROOT / unit
    if file.is_file() and "mark.real_time" in file.read_text("utf-8"):
        return len(_WAITING)
    return next(
        (place for place, first in enumerate(_FIRST) if unit.startswith(first)), len(_FIRST)
    )
