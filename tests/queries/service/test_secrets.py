"""A planted cell never appears in an answer, a header, a log or the audit log."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.queries.service.conftest import House
from tests.queries.service.vaults import LEAKS, MARKER

from celosia.core.errors import InputError
from celosia.queries.service import TokenStore, create_app

FAILING = [*(f"leak {name}" for name in LEAKS), "panic", "unwritable", "nan", "engine"]


@pytest.mark.parametrize("query", FAILING)
def test_every_failure_gives_one_fixed_text(
    house: House, query: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    fixed = house.ask("engine failure").json()
    response = house.ask(query)
    assert response.status_code == 500
    assert response.json() == fixed
    assert fixed["code"] == "CEL-Q180"
    shown = (
        response.text + str(response.headers) + caplog.text + house.audit + str(capfd.readouterr())
    )
    assert MARKER not in shown
    assert "Traceback" not in shown


def test_what_an_explanation_trips_over_is_not_told_either(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"sql": "leak value", "epsilon": 1}
    response = house.send("POST", "/v1/explain", json=body)
    assert (response.status_code, response.json()["code"]) == (500, "CEL-Q180")
    assert MARKER not in response.text + caplog.text + house.audit


def test_a_fault_outside_of_the_vault_is_not_told(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError(MARKER)

    for part, name in ((house.tokens, "holder"), (house.vault, "public_schema")):
        with monkeypatch.context() as patch:
            patch.setattr(part, name, broken)
            response = house.send("GET", "/v1/schema")
        assert (response.status_code, response.json()["code"]) == (500, "CEL-Q180")
    with monkeypatch.context() as patch:
        patch.setattr("celosia.queries.service.routes.success_reply", broken)
        response = house.send("GET", "/v1/health")
    assert (response.status_code, response.json()["code"]) == (500, "CEL-Q180")
    assert MARKER not in caplog.text + response.text


def test_a_failed_question_stays_charged(house: House) -> None:
    house.ask("engine", epsilon=0.9)
    assert house.ask("another", epsilon=0.2).status_code == 402


def test_the_audit_log_tells_who_asked_and_how_it_ended_but_no_value(house: House) -> None:
    house.ask("SELECT count(*) FROM orders")
    house.ask("select COUNT(*)  from Orders", epsilon=0.02)
    house.ask("refuse this secret-text", epsilon=0.5)
    house.ask("engine", epsilon=0.9)
    house.ask("other", epsilon=0.9)
    house.send("GET", "/v1/schema", as_=None)
    house.send("GET", "/v1/tokens")
    lines = [json.loads(line) for line in house.audit.splitlines()]
    assert [(each["action"], each["outcome"], each["status"]) for each in lines] == [
        ("query", "ok", 200),
        ("query", "ok", 200),
        ("query", "CEL-Q271", 400),
        ("query", "CEL-Q180", 500),
        ("query", "CEL-Q110", 402),
        ("admit", "CEL-Q171", 401),
        ("tokens.list", "CEL-Q172", 403),
    ]
    asked = lines[:5]
    assert {each["who"] for each in asked} == {"ada"}
    assert [each["epsilon"] for each in asked] == [0.01, 0.02, 0.5, 0.9, 0.9]
    assert asked[0]["question"] == asked[1]["question"] != asked[2]["question"]
    assert lines[0]["entry"] == 1
    assert lines[5]["who"] is None
    assert "secret-text" not in house.audit
    assert "42" not in {str(value) for each in lines for value in each.values()}


def test_nothing_is_answered_that_cannot_be_noted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError

    monkeypatch.setattr("celosia.queries.service.audit_log.os.write", full)
    response = house.ask()
    assert (response.status_code, response.json()["code"]) == (500, "CEL-Q180")
    assert "42" not in response.json().values()
    assert house.send("GET", "/v1/schema").status_code == 500


def test_why_the_vault_cannot_be_opened_is_for_the_curator_only(tmp_path: Path) -> None:
    def broken() -> Any:
        raise InputError("CEL-Q152.not_unique", table=MARKER, column=MARKER)

    tokens = TokenStore(tmp_path / "tokens.sqlite")
    app = create_app(broken, tokens=tokens)
    text = tokens.create(role="analyst", name="ada").text

    async def asked() -> httpx.Response:  # without the start of the app, which would fail
        transport = httpx.ASGITransport(app=app)
        headers = {"Authorization": f"Bearer {text}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            return await http.get("/v1/schema", headers=headers)

    response = asyncio.run(asked())
    assert (response.status_code, response.json()["code"]) == (500, "CEL-Q180")
    assert MARKER not in response.text
    with pytest.raises(InputError):
        app.state.service.open()
