"""One form for every answer, whatever is sent."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.queries.service.conftest import House
from tests.queries.service.vaults import POLICY

from celosia.core.catalogue import explanations
from celosia.core.errors import InputError
from celosia.queries.service import Client, TokenStore, create_app, errors, serve

REFUSED = {"ok", "code", "error", "why", "hint", "status", "kind", "details"}
JSON = {"Content-Type": "application/json"}
HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}


def check(response: Any) -> dict[str, Any]:
    """The envelope of a response, checked."""
    values: dict[str, Any] = response.json()
    assert response.headers["content-type"] == "application/json"
    assert HEADERS.items() <= dict(response.headers).items()
    if values["ok"]:
        assert response.status_code == 200
        assert values.keys() == {"ok", "data"}
    else:
        assert values.keys() == REFUSED
        assert values["status"] == response.status_code
        assert values["code"] in explanations()
        assert values["kind"] in errors.KINDS
    return values


@pytest.mark.parametrize(
    ("method", "address", "status", "code"),
    [
        ("GET", "/v1/health", 200, None),
        ("GET", "/v1/nothing", 404, "CEL-Q173"),
        ("GET", "/", 404, "CEL-Q173"),
        ("GET", "/v1/schema/", 404, "CEL-Q173"),
        ("GET", "/v1/docs", 404, "CEL-Q173"),
        ("GET", "/docs", 404, "CEL-Q173"),
        ("GET", "/openapi.json", 404, "CEL-Q173"),
        ("GET", "/v1/query", 405, "CEL-Q174"),
        ("DELETE", "/v1/ledger", 405, "CEL-Q174"),
        ("OPTIONS", "/v1/query", 405, "CEL-Q174"),
        ("GET", "/v1/ledger?most=0", 422, "CEL-Q175"),
        ("GET", "/v1/ledger?most=many", 422, "CEL-Q175"),
        ("GET", "/v1/ledger/verify?anchor=x", 422, "CEL-Q105"),
        ("GET", "/v1/ledger/verify?anchor=9:" + "0" * 64, 500, "CEL-Q104"),
    ],
)
def test_every_address_answers_in_one_form(
    house: House, method: str, address: str, status: int, code: str | None
) -> None:
    response = house.send(method, address, as_="curator")
    values = check(response)
    assert (response.status_code, values.get("code")) == (status, code)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"3",
        b"{",
        b'"text"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 40_000,
        b'{"sql":"x","epsilon":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"sql":"x","epsilon":NaN}',
        b'{"sql":"x","epsilon":Infinity}',
        b'{"sql":"x","epsilon":-Infinity}',
        b'{"sql":"x","epsilon":1e999}',
        b'{"sql":"x","epsilon":' + b"9" * 5000 + b"}",
        b'{"sql":"x","epsilon":' + b"9" * 400 + b"}",
        b'{"sql":"x","epsilon":0}',
        b'{"sql":"x","epsilon":-1}',
        b'{"sql":"x","epsilon":true}',
        b'{"sql":"x","epsilon":"1"}',
        b'{"sql":"x","epsilon":null}',
        b'{"sql":"x","epsilon":[1]}',
        b'{"sql":"x"}',
        b'{"epsilon":1}',
        b'{"sql":"","epsilon":1}',
        b'{"sql":7,"epsilon":1}',
        b'{"sql":["x"],"epsilon":1}',
        b'{"sql":"\\ud800","epsilon":1}',
        b'{"sql":"x","epsilon":1,"method":"\\udfff"}',
        b'{"sql":"x","epsilon":1,"delta":1}',
        b'{"sql":"x","epsilon":1,"delta":-1e-9}',
        b'{"sql":"x","epsilon":1,"delta":NaN}',
        b'{"sql":"x","epsilon":1,"confidence":1}',
        b'{"sql":"x","epsilon":1,"method":7}',
        b'{"sql":"x","epsilon":1,"method":"' + b"m" * 41 + b'"}',
        b'{"sql":"x","epsilon":1,"analyst":"carla"}',
        b'{"sql":"x","epsilon":1,"__proto__":{}}',
    ],
    ids=lambda body: body[:40].decode("latin-1"),
)
def test_a_hostile_body_is_refused_in_words_of_ours(house: House, body: bytes) -> None:
    for address in ("/v1/query", "/v1/tokens"):
        response = house.send("POST", address, as_="curator", content=body, headers=JSON)
        values = check(response)
        assert (response.status_code, values["code"]) == (422, "CEL-Q175"), values
    assert house.vault.ledger.history() == ()


def test_nothing_of_a_bad_body_is_repeated(house: House) -> None:
    body = {"sql": 1, "epsilon": "mirrored", "mirrored": "mirrored", "method": ["mirrored"]}
    response = house.send("POST", "/v1/query", json=body)
    assert "mirrored" not in response.text
    assert "epsilon: input should be a valid number" in response.json()["error"]


def test_a_body_that_is_not_said_to_be_json_is_not_read(house: House) -> None:
    body = b'{"sql":"x","epsilon":1}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        headers = {"Content-Type": kind}
        response = house.send("POST", "/v1/query", content=body, headers=headers)
        assert check(response)["code"] == "CEL-Q175"


@pytest.mark.parametrize(
    "query",
    [
        "'; DROP TABLE orders; --",
        "\0",
        "\N{PILE OF POO}" * 1000,
        "\u202eevil",
        "a\r\nSet-Cookie: x",
    ],
)
def test_an_odd_query_reaches_the_vault_as_it_is(house: House, query: str) -> None:
    assert check(house.ask(query))["ok"]
    (record,) = house.vault.ledger.history()
    assert record.question == query


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
@given(
    body=st.binary(max_size=60)
    | JSONS.map(lambda values: json.dumps(values).encode())
    | st.fixed_dictionaries({"sql": JSONS, "epsilon": JSONS}, optional={"delta": JSONS}).map(
        lambda values: json.dumps(values).encode()
    ),
    address=st.sampled_from(["/v1/query", "/v1/explain", "/v1/tokens"]),
)
def test_no_body_at_all_breaks_the_form(house: House, body: bytes, address: str) -> None:
    response = house.send("POST", address, as_="curator", content=body, headers=JSON)
    check(response)
    assert response.status_code in {200, 402, 413, 422}


def test_a_refusal_keeps_its_words_and_details(house: House) -> None:
    response = house.ask("refuse this")
    values = check(response)
    assert response.status_code == 400
    assert values["error"] == "the policy has no graph to ask in SPARQL."
    assert values["why"] == "SPARQL asks about facts; the tables of a policy are asked in SQL."
    assert values["hint"] == "Ask in SQL, or use a policy with a [graph]."
    assert values["details"] == {"line": 3}


def test_a_budget_that_is_spent_has_a_status_of_its_own(house: House) -> None:
    assert house.ask(epsilon=0.7).status_code == 200
    response = house.ask("another", epsilon=0.7)
    values = check(response)
    assert (response.status_code, values["code"]) == (402, "CEL-Q110")
    assert values["details"]["remaining"] == {"epsilon": 0.3, "delta": 0.0}


def test_the_same_question_is_told_again_for_free(house: House) -> None:
    first, again = house.ask().json()["data"], house.ask().json()["data"]
    assert (first["stored"], again["stored"]) == (False, True)
    assert first["entry"] == again["entry"]


def test_no_other_origin_is_let_in(house: House) -> None:
    response = house.send("GET", "/v1/schema", headers={"Origin": "https://evil.example"})
    assert not [name for name in response.headers if name.startswith("access-control")]


def test_openapi_describes_every_answer_and_asks_for_a_token(house: House) -> None:
    document = house.send("GET", "/v1/openapi.json", as_=None).json()
    for path, verbs in document["paths"].items():
        for facts in verbs.values():
            wanted = {"200", "400", "401", "402", "403", "413", "422", "429", "500"}
            assert wanted <= facts["responses"].keys()
            assert ("security" in facts) is (path != "/v1/health")
            refused = facts["responses"]["422"]["content"]["application/json"]["schema"]
            assert refused["$ref"].endswith("ErrorResponse")
    assert POLICY.name not in json.dumps(document)


def test_the_page_of_the_documentation_is_there_only_on_request(house_of: Any) -> None:
    response = house_of(docs=True).send("GET", "/v1/docs", as_=None)
    assert response.status_code == 200
    assert "cdn.jsdelivr.net" in response.headers["content-security-policy"]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = TokenStore(tmp_path / "tokens.sqlite")
    calls: dict[str, Callable[[], object]] = {
        "fastapi": lambda: create_app("policy.toml", tokens=store),
        "uvicorn": lambda: serve("policy.toml"),
        "httpx": lambda: Client("https://vault.example", "x"),
    }
    for package, call in calls.items():
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(InputError, match=r"celosia\[service\]") as caught:
                call()
        assert caught.value.code == "CEL-Q170"


def test_importing_the_package_loads_no_part_of_the_extra() -> None:
    code = "import celosia.queries.service, sys; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"fastapi", "uvicorn", "httpx", "duckdb"} & set(found)
