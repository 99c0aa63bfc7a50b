"""Who sends no good token is told so at a fixed time, and later and later; nobody else waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.queries.service.conftest import House
from tests.queries.service.vaults import FakeVault

from celosia.core.errors import CelosiaError
from celosia.queries.service import AccessDenied, Limits, TokenStore
from celosia.queries.service.errors import TooBusy
from celosia.queries.service.refusals import Pace, Refusals
from celosia.queries.service.service import Service

HERE, THERE = "192.0.2.7", "198.51.100.9"


class Clock:
    """Time that passes when all wait, and only then."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._sleeping: list[tuple[float, asyncio.Event]] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was moved that far."""
        over = asyncio.Event()
        self._sleeping.append((self.now + seconds, over))
        await over.wait()

    async def settle(self) -> None:
        """Let all go on who need not wait, threads included."""
        for _ in range(20):
            await asyncio.sleep(0.001)

    async def run(self, *work: Coroutine[Any, Any, Any]) -> list[Any]:
        """Do all of it at once, and move the clock whenever everybody waits."""
        tasks = [asyncio.ensure_future(each) for each in work]
        while not all(each.done() for each in tasks):
            await self.settle()
            if not self._sleeping or all(each.done() for each in tasks):
                continue
            self.now = max(self.now, min(until for until, _ in self._sleeping))
            due = [each for each in self._sleeping if each[0] <= self.now]
            self._sleeping = [each for each in self._sleeping if each[0] > self.now]
            for _, over in due:
                over.set()
        return await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def played(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


def test_refusals_of_an_address_take_ever_longer_and_are_forgotten(clock: Clock) -> None:
    refusals, taken = Refusals(clock=clock, sleep=clock.sleep), []

    async def story() -> None:
        for _ in range(15):
            before = clock.now
            await clock.run(refusals.wait(HERE, clock.now))
            taken.append(round(clock.now - before, 6))
        before = clock.now
        await clock.run(refusals.wait(THERE, clock.now))
        assert clock.now - before == pytest.approx(0.2), "others pay nothing for it"

    played(story)
    assert taken == [0.2] * 5 + [0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 30]
    clock.now += refusals.pace.memory + 1
    assert refusals.delay(HERE) == 0.2


def test_time_that_was_spent_on_looking_counts(clock: Clock) -> None:
    refusals = Refusals(clock=clock, sleep=clock.sleep)

    async def story() -> None:
        arrived = clock.now
        clock.now += 0.15
        await clock.run(refusals.wait(HERE, arrived))
        assert clock.now == pytest.approx(arrived + 0.2)

    played(story)


def test_only_so_many_wait_at_once(clock: Clock) -> None:
    pace = Pace(waiting=3, waiting_in_all=5)
    refusals = Refusals(pace, clock=clock, sleep=clock.sleep)

    async def story() -> None:
        here = await clock.run(*(refusals.wait(HERE, clock.now) for _ in range(8)))
        assert [each for each in here if each is None] == [None] * 3
        busy = [each for each in here if isinstance(each, TooBusy)]
        assert len(busy) == 5
        assert {each.code for each in busy} == {"CEL-Q178"}
        many = await clock.run(*(refusals.wait(f"192.0.2.{each}", clock.now) for each in range(8)))
        assert sum(each is None for each in many) == 5, "in all"
        assert await clock.run(refusals.wait(THERE, clock.now)) == [None], "places are given back"

    played(story)


def test_memory_is_bounded(clock: Clock) -> None:
    refusals = Refusals(Pace(addresses=50, least=0.0, most=0.0), clock=clock, sleep=clock.sleep)

    async def story() -> None:
        for number in range(1000):
            await refusals.wait(f"10.0.{number // 250}.{number % 250}", clock.now)
            await refusals.wait(f"2001:db8:0:{number:x}::1", clock.now)
            await refusals.wait(f"2001:db8::{number:x}", clock.now)  # all of one network

    played(story)
    assert refusals.size == 50


@pytest.fixture
def service(tmp_path: Path, clock: Clock) -> Service:
    return Service(
        factory=lambda: FakeVault(tmp_path),
        tokens=TokenStore(tmp_path / "tokens.sqlite"),
        audit=None,
        limits=Limits(),
        refusals=Refusals(clock=clock, sleep=clock.sleep),
    )


def bad_tokens(tokens: TokenStore) -> dict[str, list[str]]:
    """One of each kind, as headers."""
    good = tokens.create(role="analyst", name="ada").text
    old = TokenStore(tokens.path, clock=lambda: time.time() - 99 * 86_400)
    expired = old.create(role="analyst", name="ada", days=1).text
    revoked = tokens.create(role="analyst", name="ada")
    tokens.revoke(revoked.token.id)
    wrong = good[:-1] + ("0" if good[-1] != "0" else "1")
    texts = {
        "malformed": "celosia",
        "long": "celosia_" + "0" * 100_000,
        "unknown": f"celosia_{'0' * 16}_{'0' * 64}",
        "wrong": wrong,
        "expired": expired,
        "revoked": revoked.text,
    }
    headers = {name: [f"Bearer {text}"] for name, text in texts.items()}
    return headers | {"absent": [], "two": [f"Bearer {good}"] * 2, "basic": [f"Basic {good}"]}


def test_every_kind_of_bad_token_takes_the_same_time(service: Service, clock: Clock) -> None:
    found: dict[str, tuple[str, float]] = {}

    async def story() -> None:
        for place, (name, headers) in enumerate(bad_tokens(service.tokens).items()):
            before = clock.now
            address = f"192.0.2.{place}"
            (error,) = await clock.run(service.admit(headers, address=address))
            assert isinstance(error, AccessDenied)
            found[name] = str(error), round(clock.now - before, 9)

    played(story)
    assert len(found) == 9
    assert set(found.values()) == {(next(iter(found.values()))[0], 0.2)}


def test_good_tokens_never_wait_for_bad_ones(service: Service, clock: Clock) -> None:
    good = service.tokens.create(role="analyst", name="ada").text

    async def story() -> None:
        for _ in range(10):  # the address is slow by now
            await clock.run(service.admit(["Bearer no"], address=HERE))
        before = clock.now
        waiting = [asyncio.ensure_future(service.admit([], address=HERE)) for _ in range(40)]
        for _ in range(1000):  # a busy machine may take its time to note them
            if sum(each.done() for each in waiting) == 20:
                break
            await clock.settle()
        holder = await service.admit([f"Bearer {good}"], address=HERE)
        assert holder.name == "ada"
        assert clock.now == before, "it was admitted while the others wait"
        done = [each for each in waiting if each.done()]
        assert len(done) == 20, "and those beyond the room were sent away"
        assert all(isinstance(each.exception(), TooBusy) for each in done)
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    played(story)


def test_faults_of_the_service_are_not_counted_as_refusals(service: Service, clock: Clock) -> None:
    service.tokens.path.write_bytes(b"no database, " * 99)

    async def story() -> None:
        before = clock.now
        (error,) = await clock.run(
            service.admit([f"Bearer celosia_{'0' * 16}_{'0' * 64}"], address=HERE)
        )
        assert isinstance(error, CelosiaError)
        assert error.code == "CEL-Q181"
        assert clock.now == before

    played(story)
    assert service.refusals.size == 0


def test_a_client_is_known_by_its_connection_alone(house: House) -> None:
    refusals = house.http.app.state.service.refusals
    for number in range(3):
        headers = {"X-Forwarded-For": f"192.0.2.{number}", "Forwarded": f"for=192.0.2.{number}"}
        assert house.send("GET", "/v1/schema", as_="wrong", headers=headers).status_code == 401
        assert house.send("GET", "/v1/schema", as_=None, headers=headers).status_code == 401
    assert refusals.size == 1
    assert house.send("GET", "/v1/schema").status_code == 200
    assert house.send("GET", "/v1/health", as_=None).status_code == 200
    assert refusals.size == 1
