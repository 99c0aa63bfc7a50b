"""The knob of the suite does what its description says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import effort


@pytest.mark.parametrize(
    ("wanted", "share", "made"), [(100, 0.4, 40), (60, 10, 600), (12, 0.4, 6), (4, 0.4, 4)]
)
def test_examples_are_scaled_and_never_too_few(
    wanted: int, share: float, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "EFFORT", share)
    assert effort.examples(wanted) == made


def test_some_cases_are_spread_from_the_first_to_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "EFFORT", 0.4)
    assert effort.some(range(11), 3) == [0, 5, 10]
    assert effort.some("ab", 3) == ["a", "b"]
    monkeypatch.setattr(effort, "EFFORT", 1)
    assert effort.some(range(11), 3) == list(range(11))


def test_properties_are_tried_as_often_as_the_effort_says() -> None:
    tried: list[int] = []

    @settings(max_examples=50, database=None)
    @given(st.integers())
    def property_of_ours(number: int) -> None:
        tried.append(number)

    item: Any = SimpleNamespace(obj=property_of_ours)
    effort.scale_examples([item, item])
    property_of_ours()
    assert len(tried) == effort.examples(50)
