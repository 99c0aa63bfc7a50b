"""Answers leave on a fixed grid of times, however long they took."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import log2
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.queries.service.conftest import House

from celosia.core.errors import InputError
from celosia.queries.service import TimeGrid


class Clock:
    """A clock on which only what says that it takes time does."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def take(self, seconds: float) -> None:
        self.now += seconds

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@given(st.floats(0.001, 10), st.floats(0, 1e6))
def test_the_grid_doubles(first: float, elapsed: float) -> None:
    due = TimeGrid(first=first).due(elapsed)
    assert due >= elapsed
    assert due == first or due / 2 < elapsed
    assert log2(due / first) == round(log2(due / first))


@pytest.mark.parametrize("first", [0, -1, float("nan"), float("inf"), "soon", None])
def test_a_grid_without_a_first_time_is_refused(first: object) -> None:
    with pytest.raises(InputError) as caught:
        TimeGrid(first=first)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-Q185"


def test_quick_and_slow_answers_refusals_and_failures_take_the_same_time(
    house_of: Callable[..., House], monkeypatch: pytest.MonkeyPatch
) -> None:
    house, clock = house_of(grid=TimeGrid(first=0.5)), Clock()
    house.vault.sleep = clock.take
    for module in ("service", "timing"):
        monkeypatch.setattr(f"celosia.queries.service.{module}.time", clock)
    monkeypatch.setattr(
        "celosia.queries.service.timing.asyncio", SimpleNamespace(sleep=clock.sleep)
    )

    def taken(query: str) -> float:
        begun = clock.now
        house.ask(query)
        return clock.now - begun

    within = ["a", "b sleep=0.25", "refuse", "engine", "leak value", "a"]
    beyond = ["c sleep=0.55", "engine sleep=0.8", "leak value sleep=0.55"]
    assert [taken(each) for each in within] == pytest.approx([0.5] * 6, abs=1e-9)
    assert [taken(each) for each in beyond] == pytest.approx([1] * 3, abs=1e-9)


@given(st.floats(0, 100), st.floats(0, 1e5))
def test_what_is_slept_is_what_is_left_to_the_next_time(run: float, arrived: float) -> None:
    now, slept = arrived + run, 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now, slept
        now, slept = now + seconds, slept + seconds

    grid = TimeGrid(first=0.25)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("celosia.queries.service.timing.time.monotonic", lambda: now)
        patch.setattr("celosia.queries.service.timing.asyncio.sleep", sleep)
        waiting = grid.wait(arrived)
        with pytest.raises(StopIteration):
            waiting.send(None)
    assert run + slept == pytest.approx(grid.due(run), abs=1e-9)


def test_the_time_limit_is_answered_on_the_grid_too(house_of: Callable[..., House]) -> None:
    house = house_of(grid=TimeGrid(first=0.75), seconds=0.8)
    begun = time.monotonic()
    assert house.ask("count held").status_code == 500  # or it would be held for a minute
    assert time.monotonic() - begun >= 1.5
    house.vault.freed.set()
