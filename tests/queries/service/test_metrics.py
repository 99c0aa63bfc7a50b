"""Metrics for the owner, and the client that is awaited."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from tests.queries.service.conftest import House
from tests.queries.service.vaults import LEAKS, MARKER

from celosia.core.errors import BudgetExceeded, InputError
from celosia.queries.service import AsyncClient


def samples(house: House) -> dict[str, float]:
    reply = house.send("GET", "/v1/metrics", as_="curator")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in reply.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_replies_charges_and_budgets_are_counted(house: House) -> None:
    assert house.ask().status_code == 200
    assert house.ask("refuse").status_code == 400
    found = samples(house)
    assert found['celosia_replies_total{action="query",outcome="ok"}'] == 1
    assert found['celosia_replies_total{action="query",outcome="CEL-Q271"}'] == 1
    assert found["celosia_charges_total"] == 1
    assert found['celosia_spent{kind="epsilon"}'] == 0.01
    assert found['celosia_remaining{kind="epsilon"}'] == 0.99
    assert found["celosia_questions"] == 0
    assert found["celosia_places"] >= 2


def test_metrics_are_for_curators(house: House) -> None:
    assert house.send("GET", "/v1/metrics").status_code == 403
    assert house.send("GET", "/v1/metrics", as_=None).status_code == 401


def test_no_metric_tells_failures_of_the_database_apart(house: House) -> None:
    for kind in LEAKS:
        house.ask(f"leak {kind}", epsilon=0.001)
    house.ask("engine", epsilon=0.001)
    text = house.send("GET", "/v1/metrics", as_="curator").text
    assert MARKER not in text
    outcomes = {
        line.split('outcome="')[1].split('"')[0] for line in text.splitlines() if "outcome" in line
    }
    assert outcomes == {"CEL-Q180"}


def awaited(house: House, work: Any) -> Any:
    """What a coroutine over the service returns, with the client of the same app."""

    async def run() -> Any:
        transport = httpx.ASGITransport(app=house.http.app)
        async with (
            httpx.AsyncClient(transport=transport) as http,
            AsyncClient("http://127.0.0.1", house.analyst, http=http) as client,
        ):
            return await work(client)

    return asyncio.run(run())


def test_an_async_client_asks_many_at_once(house: House) -> None:
    async def work(client: AsyncClient) -> Any:
        plan = await client.explain("SELECT count(*) FROM orders", epsilon=0.1)
        schema = await client.public_schema()
        queries = [f"SELECT count(*) FROM orders -- {number}" for number in range(4)]
        answers = await asyncio.gather(*(client.sql(each, epsilon=0.01) for each in queries))
        return plan, schema, answers

    plan, schema, answers = awaited(house, work)
    assert float(plan.epsilon) == 0.1
    assert schema["name"] == "shop"
    assert [answer.value for answer in answers] == [42] * 4
    assert len({answer.entry for answer in answers}) == 4
    assert answers[0].to_polars()["count"].to_list() == [42]
    assert answers[0].to_arrow()["count"].to_pylist() == [42]
    assert answers[0].to_pandas()["count"].to_list() == [42]


def test_an_async_client_raises_what_the_vault_raises(house: House) -> None:
    with pytest.raises(BudgetExceeded):
        awaited(house, lambda client: client.sparql("SELECT count(*) FROM orders", epsilon=5))
    with pytest.raises(InputError, match="https"):
        AsyncClient("http://vault.example.org", "token")
