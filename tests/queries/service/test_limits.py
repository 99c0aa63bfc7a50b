"""Sizes, rates, places and times: what one request, one token and all of them may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from fractions import Fraction
from itertools import islice
from threading import Timer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.queries.service.conftest import House

from celosia.core.errors import InputError
from celosia.queries.service import Limits
from celosia.queries.service.limits import RateLimit

Build = Callable[..., House]


def test_a_body_beyond_the_limit_is_sent_away(house_of: Build) -> None:
    house = house_of(body_bytes=1000)
    response = house.ask("x" * 2000)
    assert (response.status_code, response.json()["code"]) == (413, "CEL-Q176")
    assert house.ask("x" * 900).status_code == 200


def test_a_body_without_a_length_is_counted_as_it_comes(house_of: Build) -> None:
    house = house_of(body_bytes=1000)
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 100
            yield b"x" * 100

    response = asyncio.run(_streamed(house, endless()))
    assert response == 413
    assert taken == 1100


async def _streamed(house: House, parts: Iterator[bytes]) -> int:
    """The status that the bare app answers to a body that comes in parts."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": next(parts), "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/query",
        "headers": [(b"authorization", f"Bearer {house.analyst}".encode())],
    }
    await house.http.app(scope, receive, send)
    return int(sent[0]["status"])


def test_a_body_that_does_not_arrive_is_not_waited_for(house_of: Build) -> None:
    house = house_of(body_seconds=0.05)

    async def never() -> int:
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(60)
            return {}

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"authorization", f"Bearer {house.analyst}".encode())]
        scope = {"type": "http", "method": "POST", "path": "/v1/query", "headers": headers}
        await house.http.app(scope, receive, send)
        return int(sent[0]["status"])

    assert asyncio.run(never()) == 408


@pytest.mark.parametrize("length", ["999999999999999999999999", "-5", "1e3", "0x10", ""])
def test_a_length_that_is_none_is_not_believed(house: House, length: str) -> None:
    headers = {"Content-Length": length}
    response = house.send("POST", "/v1/query", content=b"{}", headers=headers)
    assert response.status_code == 413


def test_a_long_query_is_refused(house_of: Build) -> None:
    house = house_of(query_letters=100)
    assert house.ask("x" * 100).status_code == 200
    response = house.ask("x" * 101)
    assert (response.status_code, response.json()["code"]) == (413, "CEL-Q176")


def test_one_request_may_not_ask_for_too_much(house_of: Build) -> None:
    house = house_of(epsilon=0.1)
    assert house.ask(epsilon=0.1).status_code == 200  # 0.1 means one tenth on both sides
    response = house.ask(epsilon=0.1000001)
    assert (response.status_code, response.json()["code"]) == (422, "CEL-Q177")
    assert len(house.vault.ledger.history()) == 1


def test_a_token_may_ask_so_often_in_a_minute(house_of: Build) -> None:
    house = house_of(requests_per_minute=3)
    statuses = [house.send("GET", "/v1/schema").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    response = house.ask()
    assert response.json()["code"] == "CEL-Q178"
    assert 1 <= int(response.headers["Retry-After"]) <= 61
    assert house.vault.ledger.history() == ()
    assert house.send("GET", "/v1/schema", as_="curator").status_code == 200


def test_who_has_no_token_cannot_fill_the_audit_log(house: House) -> None:
    for _ in range(100):
        house.send("GET", "/v1/schema", as_=None)
    assert len(house.audit.splitlines()) == 60


@given(st.lists(st.floats(0, 40), max_size=60), st.integers(1, 5))
def test_no_minute_ever_holds_more_than_the_limit(gaps: list[float], most: int) -> None:
    now = 0.0
    rate = RateLimit(most, clock=lambda: now)
    passed: list[float] = []
    for gap in gaps:
        now += gap
        wait = rate.admit("token")
        recent = [each for each in passed if each > now - 60]
        assert (wait == 0) == (len(recent) < most)
        if wait:
            assert 0 < wait <= 60
        else:
            passed.append(now)


def test_only_so_many_questions_run_at_once_and_only_so_many_wait(house_of: Build) -> None:
    house = house_of(concurrent=2, waiting=2)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(house.ask, f"held question {number}") for number in range(8)]
        sent_away = list(islice(as_completed(asked, timeout=600), 4))
        house.vault.wait_for(running=2)
        assert sum(each.done() for each in asked) == 4
        house.vault.freed.set()
        statuses = sorted(each.result().status_code for each in asked)
    assert [each.result().status_code for each in sent_away] == [429] * 4
    assert statuses == [200] * 4 + [429] * 4
    assert house.vault.most_running == 2
    assert len(house.vault.ledger.history()) == 4, "who was sent away was not charged"
    assert house.ask("later").status_code == 200


def test_looking_things_up_does_not_wait_behind_questions(house_of: Build) -> None:
    house = house_of(concurrent=1)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(house.ask, "held")
        house.vault.wait_for(running=1)
        assert house.send("GET", "/v1/schema").status_code == 200
        assert not slow.done()
        house.vault.freed.set()
        assert slow.result().status_code == 200


def test_an_answer_out_of_time_is_a_failure_like_any_other_and_is_kept(house_of: Build) -> None:
    house = house_of(seconds=1, concurrent=1)
    fixed = house.ask("engine").json()
    late = house.ask("count held")
    assert (late.status_code, late.json()) == (500, fixed)
    waiting = house.ask("another")
    assert waiting.status_code == 429, "its place is taken until the late one ends"
    house.vault.freed.set()
    again = house.ask("count held").json()["data"]  # in the only place, which the late one has left
    assert again["stored"] is True
    assert [each.question for each in house.vault.ledger.history()] == ["engine", "count held"]


def test_what_runs_is_waited_for_at_the_end(house_of: Build) -> None:
    house = house_of(seconds=1)
    assert house.ask("count held").status_code == 500
    assert house.vault.running == 1
    later = Timer(0.3, house.vault.freed.set)
    later.start()
    house.http.__exit__(None, None, None)
    later.join()
    assert house.vault.closed
    assert house.vault.running == 0


@pytest.mark.parametrize(
    "limits",
    [
        {"body_bytes": 0},
        {"seconds": -1},
        {"epsilon": float("nan")},
        {"concurrent": 1.5},
        {"requests_per_minute": "many"},
        {"waiting": -1},
    ],
)
def test_a_limit_that_is_none_is_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Limits(**limits)
    assert caught.value.code == "CEL-Q185"


def test_nobody_need_wait(house_of: Build) -> None:
    assert house_of(waiting=0).ask().status_code == 200


def test_concurrent_questions_never_spend_more_than_the_budget(house_of: Build) -> None:
    house = house_of(concurrent=8, waiting=100)
    house.vault.seconds = 0.01
    with ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(house.ask, f"question {n}", epsilon=0.03) for n in range(50)]
        statuses = [each.result().status_code for each in asked]
    assert statuses.count(200) == 33  # the most that 1 holds of 0.03
    assert statuses.count(402) == 17
    assert house.vault.ledger.spent["epsilon"] == Fraction(99, 100)
