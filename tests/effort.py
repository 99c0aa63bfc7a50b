"""How much the suite tries: `make test` a part of what tests ask for, `make test-deep` much more.

A test says how many examples it would like (`max_examples`) and lists all its cases. The effort, a
number in the environment, scales the examples and decides how many of a long list of cases are run.
`docs/reference/planted-faults.md` shows that the quick form still notices faults.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")

SETTING = "CELOSIA_TEST_EFFORT"
QUICK = 0.25
"""The effort of `make test`."""
EFFORT = float(os.environ.get(SETTING, QUICK))
"""The share of the examples that tests ask for; below 1 long lists of cases are cut, too."""
LEAST = 6
"""Examples that every property is tried with, unless it asks for fewer itself."""
_scaled: set[int] = set()
_SETTINGS = "_hypothesis_internal_use_settings"  # where Hypothesis keeps what a test asked for


def examples(wanted: int) -> int:
    """How many examples to try where a test asks for so many."""
    return max(min(LEAST, wanted), round(wanted * EFFORT))


def some(cases: Iterable[T], few: int) -> list[T]:
    """A few of the cases, evenly spread from the first to the last; all of them in a deep run."""
    every = list(cases)
    if EFFORT >= 1 or len(every) <= few:
        return every
    if few == 1:
        return every[:1]
    return [every[round(place * (len(every) - 1) / (few - 1))] for place in range(few)]


def scale_examples(items: Iterable[pytest.Item]) -> None:
    """Give every property that says how many examples it wants as many as the effort allows."""
    for item in items:
        test: Any = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        wanted = getattr(test, _SETTINGS, None)
        if wanted is not None and id(test) not in _scaled:
            _scaled.add(id(test))
            setattr(test, _SETTINGS, settings(wanted, max_examples=examples(wanted.max_examples)))
