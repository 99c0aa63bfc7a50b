"""The service neither hurries nor delays what the vault answers at its deadline."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest
from tests.queries.service.conftest import House
from tests.queries.vaults import POLICY, opened, shop

from celosia.core.errors import PrivacyWarning
from celosia.core.randomness import System
from celosia.queries import Vault, deadlines
from celosia.queries.execution import Execution
from celosia.queries.policy import Database, Spending
from celosia.queries.service import Limits, limits
from celosia.queries.service.audit_log import AuditLog

COUNT = "SELECT COUNT(*) AS n FROM orders"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A vault whose answers are no simulations."""
    opened(shop(Random(1)), tmp_path).close()
    (path,) = tmp_path.glob("*.duckdb")
    here = replace(POLICY, database=Database(path=str(path)), budget=Spending(epsilon=Fraction(10)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return Vault.open(here, ledger=tmp_path / "a.ledger", rng=System())


def test_a_failure_is_answered_like_an_answer(
    house_of: Callable[..., House], vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = house_of(vault=vault)
    good = house.ask(COUNT, epsilon=1)
    monkeypatch.setattr(Execution, "_measured", lambda *_: 1 / 0)
    bad = house.ask(COUNT, epsilon=1, fresh=True)
    assert good.status_code == bad.status_code == 200
    assert good.json().keys() == bad.json().keys()
    assert good.json()["data"].keys() == bad.json()["data"].keys()
    assert good.headers.keys() == bad.headers.keys()
    assert [each.kind for each in vault.ledger.incidents()] == ["failed-query"]
    lines = [line for line in house.audit.splitlines() if '"query"' in line]
    assert ['"ok"' in line for line in lines] == [True, True]


def test_a_place_is_kept_until_the_deadline(
    house_of: Callable[..., House], vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else whoever waits in the queue would learn when the database was done."""
    waiting, over = Event(), Event()
    moments: list[float] = []

    def wait(moment: float) -> None:
        moments.append(moment)
        waiting.set()
        assert over.wait(600)

    monkeypatch.setattr(deadlines, "wait_until", wait)
    house = house_of(vault=vault, concurrent=1, waiting=0)
    with ThreadPoolExecutor(1) as pool:
        first: Any = pool.submit(house.ask, COUNT, epsilon=1)
        assert waiting.wait(600)
        second = house.ask(COUNT, epsilon=2)
        over.set()
        assert first.result().status_code == 200
    assert second.status_code == 429
    assert len(moments) == 2  # the moment of the record, and the deadline


def test_everything_is_written_before_the_deadline(
    house_of: Callable[..., House], vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After it, bytes that stand are sent."""
    lines: list[str] = []
    house = house_of(vault=vault)

    def wait(_: Execution) -> None:
        lines.extend(house.audit.splitlines())

    monkeypatch.setattr(Execution, "wait", wait)
    assert house.ask(COUNT, epsilon=1).status_code == 200
    assert '"ok"' in lines[-1]
    assert house.audit.splitlines() == lines


def test_what_cannot_be_noted_is_not_answered_and_waits_all_the_same(
    house_of: Callable[..., House], vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[bool] = []
    house = house_of(vault=vault)
    monkeypatch.setattr(Execution, "wait", lambda _: waited.append(True))
    monkeypatch.setattr(AuditLog, "write", lambda *_: 1 / 0)
    reply = house.ask(COUNT, epsilon=1)
    assert (reply.status_code, reply.json()["code"]) == (500, "CEL-Q180")
    assert waited == [True]


def test_a_small_machine_answers_few_questions_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for number in (1, 2, 4, 64):
        monkeypatch.setattr(limits, "cores", lambda number=number: number)
        found.append(Limits().concurrent)
    assert found == [2, 4, 8, 8]
    assert Limits(concurrent=3).concurrent == 3


def test_a_service_shortens_deadlines_to_its_own_limit(
    house_of: Callable[..., House], vault: Vault
) -> None:
    vault.timeout = 1.5
    house = house_of(vault=vault)
    told = house.send("POST", "/v1/explain", json={"sql": COUNT, "epsilon": 1}).json()
    assert told["data"]["deadline"] == 1.5
