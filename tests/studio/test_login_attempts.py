"""Wrong passwords slow down who types them, and hardly anybody else behind the same address."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from celosia.studio import login_attempts
from celosia.studio.login_attempts import (
    ADDRESS,
    BROWSER,
    AttemptQueue,
    BrowserIds,
    LoginAttempts,
    RateLimit,
)

CLASS = "192.0.2.7"
"""The one address of a school."""


class Clock:
    """Time that passes when somebody waits, and only then."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Wait as long as everybody else who waits."""
        until = self.now + seconds
        while self.now < until - 1e-9:
            await asyncio.sleep(0)  # all who are due go first
            self.now = max(self.now, min(self.now + seconds, until))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def counted(clock: Clock) -> LoginAttempts:
    return LoginAttempts(clock=clock, sleep=clock.sleep)


def right() -> bool:
    return True


def wrong() -> bool:
    return False


def played(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    # In a thread of its own: a browser of other tests keeps a loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(story())).result()


def test_few_wrong_ones_cost_nothing(counted: LoginAttempts, clock: Clock) -> None:
    async def story() -> None:
        for _ in range(BROWSER.free):
            assert await counted.check(CLASS, "ana", wrong) == "wrong"
        assert await counted.check(CLASS, "ana", right) == "right"

    played(story)
    assert clock.now == 1000


def test_delays_of_one_browser_grow_to_a_limit_and_are_forgotten(clock: Clock) -> None:
    line = AttemptQueue(BROWSER, clock)
    delays = []
    for _ in range(12):
        delays.append(line.delay())
        line.wrong()
    assert delays[: BROWSER.free + 1] == [0.0] * (BROWSER.free + 1)
    assert delays[BROWSER.free + 1 :] == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
    clock.now += BROWSER.memory + 1
    assert line.delay() == 0


def test_one_who_guesses_hardly_delays_another_browser_at_the_same_address(
    counted: LoginAttempts, clock: Clock
) -> None:
    async def story() -> None:
        eve = [asyncio.create_task(_guess(counted, "eve", 60)) for _ in range(BROWSER.room)]
        lone = [asyncio.create_task(_guess(counted, None, 60)) for _ in range(10)]
        for _ in range(200):
            await asyncio.sleep(0)
        begun = clock.now
        assert await counted.check(CLASS, "ana", right) == "right"
        assert clock.now - begun <= 2 * ADDRESS.most
        begun = clock.now
        assert await counted.check("198.51.100.9", None, right) == "right"  # elsewhere: at once
        assert clock.now == begun
        for task in (*eve, *lone):
            task.cancel()

    played(story)


def test_who_was_let_in_before_waits_for_nobody(counted: LoginAttempts, clock: Clock) -> None:
    async def story() -> None:
        assert await counted.check(CLASS, "ana", right) == "right"
        for _ in range(ADDRESS.free + 5):
            await counted.check(CLASS, None, wrong)
        begun = clock.now
        assert await counted.check(CLASS, "ana", right) == "right"
        assert clock.now == begun
        # But who was let in and then guesses what others have is slowed down as a browser.
        for _ in range(BROWSER.free + 1):
            assert await counted.check(CLASS, "ana", wrong) == "wrong"
        begun = clock.now
        assert await counted.check(CLASS, "ana", wrong) == "wrong"
        assert clock.now - begun >= BROWSER.first

    played(story)


def test_guessing_in_parallel_gains_nothing(counted: LoginAttempts, clock: Clock) -> None:
    checked: list[float] = []

    def guess() -> bool:
        checked.append(clock.now)
        return False

    async def story() -> None:
        for number in range(ADDRESS.free + 10):  # each from a new browser
            await counted.check(CLASS, f"new {number}", guess)
        checked.clear()
        begun = clock.now
        found = await asyncio.gather(
            *(counted.check(CLASS, f"more {number}", guess) for number in range(200))
        )
        assert found.count("late") == 200 - len(checked)
        assert len(checked) <= ADDRESS.room + 1
        assert clock.now - begun >= (len(checked) - 2) * ADDRESS.most
        same = await asyncio.gather(*(counted.check(CLASS, "more 1", guess) for _ in range(50)))
        assert same.count("late") >= 50 - BROWSER.room - 1

    played(story)


def test_a_full_line_turns_away_whoever_has_failed_most(clock: Clock) -> None:
    async def story() -> None:
        line = AttemptQueue(
            RateLimit(free=0, first=5.0, most=5.0, memory=600.0, room=2), clock, clock.sleep
        )
        line.wrong()
        assert await taken(line, 0)
        waiting = [asyncio.create_task(taken(line, rank)) for rank in (9, 1, 0)]
        assert await asyncio.gather(*waiting) == [False, True, True]
        assert not line.waiting

    played(story)


def test_who_goes_away_while_waiting_leaves_the_line(clock: Clock) -> None:
    async def never(seconds: float) -> None:
        await asyncio.Event().wait()

    async def story() -> None:
        line = AttemptQueue(
            RateLimit(free=0, first=5.0, most=5.0, memory=600.0, room=2), clock, never
        )
        line.wrong()
        assert await taken(line, 0)
        task = asyncio.create_task(taken(line, 0))
        await asyncio.sleep(0)
        assert len(line.waiting) == 1
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert not line.waiting

    played(story)


def test_what_is_remembered_does_not_grow_without_end(
    counted: LoginAttempts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_attempts, "MOST_LINES", 10)

    async def story() -> None:
        for number in range(100):
            await counted.check(f"192.0.2.{number}", f"browser {number}", wrong)
            await counted.check(f"198.51.100.{number}", f"known {number}", right)

    played(story)
    assert max(counted.sizes()) <= 10


def test_a_mark_is_known_by_its_maker_only() -> None:
    marks, others = BrowserIds(), BrowserIds()
    made = marks.new()
    assert marks.known(made) == made
    assert len({marks.new() for _ in range(100)}) == 100
    for other in (others.new(), made[:-1], f"{made}a", made.replace(".", ""), "", None, "é.é"):
        assert marks.known(other) is None


async def _guess(counted: LoginAttempts, browser: str | None, times: int) -> None:
    for _ in range(times):
        await counted.check(CLASS, browser, wrong)


async def taken(line: AttemptQueue, rank: int) -> bool:
    """Take a turn in a line, and end it."""
    async with line.turn(rank) as mine:
        return mine
