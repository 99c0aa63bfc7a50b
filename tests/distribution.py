"""Which tests run together when several workers share them.

All tests of a file go to one worker, so that what a module sets up is set up once. All tests on
Spark go to one worker, so that one Java machine serves them. Tests in a browser go to two: each
needs a studio and a Chromium, and they mostly wait, so that two of them leave the cores to tests
that compute. What takes longest begins first.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parent.parent
_SPARK = re.compile(r'on_spark|xdist_group\("spark"\)|needs: spark')
_BROWSER = re.compile(r"\b(visit|both_languages): Visit\b|\bbrowser: Browser\b")
_BROWSERS = 2
_FIRST = (
    "spark",
    "browser",
    "tests/studio/",
    "tests/lab/",
    "tests/end_to_end/",
    "tests/cli/",
    "tests/",
)


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


def order_of(item: pytest.Item) -> int:
    """The place of a test in the queue: units that take long come first."""
    unit = unit_of(item.nodeid.split("::")[0])
    return next(
        (place for place, first in enumerate(_FIRST) if unit.startswith(first)), len(_FIRST)
    )


class ByUnit(LoadScopeScheduling):  # type: ignore[misc]
    """Sends units to workers, in the order of the collection."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)
        self._places: dict[str, int] = {}

    def _assign_work_unit(self, node: Any) -> None:
        # As the original does, which looks for each test in the list of all: quadratic in tests.
        scope, unit = self.workqueue.popitem(last=False)
        self.assigned_work.setdefault(node, {})[scope] = unit
        if not self._places:
            self._places = {name: place for place, name in enumerate(self.collection or ())}
        node.send_runtest_some([self._places[each] for each, done in unit.items() if not done])

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        super().mark_test_complete(node, item_index, duration)
        # The original counts after each test what is left of all units that a worker ever had.
        units = self.assigned_work.get(node, {})
        for scope in [each for each, unit in units.items() if all(unit.values())]:
            del units[scope]

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid.split("::", maxsplit=1)[0])
