"""Which tests run together when several workers share them.

All tests of a file go to one worker, so that what a module sets up is set up once. All tests on
Spark go to one worker, so that one Java machine serves them. What takes longest begins first.
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
_FIRST = ("spark", "tests/studio/", "tests/lab/", "tests/end_to_end/", "tests/cli/", "tests/")


@cache
def unit_of(file: str) -> str:
    """The unit that the tests of a file belong to: Spark, a package of doctests, or the file."""
    path = ROOT / file
    texts = [each for each in (path, path.parent / "conftest.py") if each.is_file()]
    if not file.startswith("src/") and any(_SPARK.search(each.read_text()) for each in texts):
        return "spark"
    return "/".join(file.split("/")[:3]) if file.startswith("src/") else file


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

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid.split("::", maxsplit=1)[0])
