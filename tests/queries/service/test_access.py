"""Who may do what: every route with no token, a wrong one, the wrong role and the right one."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.queries.service.conftest import House

from celosia.queries.service import TokenStore

ASKED = {"sql": "SELECT count(*) FROM orders", "epsilon": 0.01}
WISH = {"role": "analyst", "name": "ben"}
ROUTES: list[tuple[str, str, Any, str]] = [
    ("POST", "/v1/query", ASKED, "analyst"),
    ("POST", "/v1/explain", ASKED, "analyst"),
    ("GET", "/v1/schema", None, "analyst"),
    ("GET", "/v1/ledger", None, "analyst"),
    ("GET", "/v1/invoice", None, "analyst"),
    ("GET", "/v1/metrics", None, "curator"),
    ("GET", "/v1/ledger/verify", None, "curator"),
    ("GET", "/v1/ledger/export", None, "curator"),
    ("POST", "/v1/tokens", WISH, "curator"),
    ("GET", "/v1/tokens", None, "curator"),
    ("DELETE", "/v1/tokens/{own}", None, "curator"),
]
EVERY = pytest.mark.parametrize(("method", "address", "body", "role"), ROUTES)
EACH = pytest.mark.parametrize("route", ROUTES, ids=lambda route: " ".join(route[:2]))


def test_the_list_of_routes_is_complete(house: House) -> None:
    paths = house.http.app.openapi()["paths"]
    found = {(verb.upper(), path) for path, verbs in paths.items() for verb in verbs}
    listed = {(method, address.replace("{own}", "{name}")) for method, address, *_ in ROUTES}
    assert found == listed | {("GET", "/v1/health")}


@EVERY
def test_a_route_answers_its_role(
    house: House, method: str, address: str, body: Any, role: str
) -> None:
    own = house.tokens.create(role="analyst", name="cid").token.id
    response = house.send(method, address.format(own=own), as_="curator", json=body)
    assert response.status_code == 200
    if address != "/v1/metrics":  # which Prometheus reads
        assert response.json().keys() == {"ok", "data"}
    response = house.send(method, address.format(own=own), as_="analyst", json=body)
    assert response.status_code == (200 if role == "analyst" else 403)
    assert response.json()["ok"] is (role == "analyst")


@EACH
def test_nobody_is_admitted_without_a_good_token(
    house: House, route: tuple[str, str, Any, str]
) -> None:
    method, address, body, _ = route
    made = house.tokens.create(role="curator", name="eve")
    house.tokens.revoke(made.token.id)
    long_ago = TokenStore(house.tokens.path, clock=lambda: time.time() - 86_401)
    expired = long_ago.create(role="curator", name="eve", days=1)
    other = house.curator[:-64] + house.analyst[-64:]  # a known name with another secret
    sent = [
        None,
        "",
        "Bearer",
        "Bearer nonsense",
        f"Basic {house.curator}",
        house.curator,
        f"Bearer {house.curator}0",
        "Bearer celosia_0000000000000000_" + "0" * 64,
        f"Bearer {other}",
        f"Bearer {expired.text}",
        f"Bearer {made.text}",
        "Bearer \xe9\xff",
    ]
    for text in sent:
        headers = {} if text is None else {"Authorization": text.encode("latin-1")}
        response = house.send(method, address.format(own="x"), as_=None, json=body, headers=headers)
        assert response.status_code == 401, text
        assert response.json()["code"] == "CEL-Q171"
        assert response.headers["WWW-Authenticate"] == "Bearer"
    assert house.vault.ledger.history() == ()


def test_two_tokens_at_once_are_none(house: House) -> None:
    sent = [("Authorization", f"Bearer {house.curator}")] * 2
    response = house.http.request("GET", "/v1/schema", headers=sent)
    assert response.status_code == 401


def test_who_has_no_token_is_not_told_which_addresses_there_are(house: House) -> None:
    answers = {
        house.send("GET", path, as_=None).text for path in ("/v1/schema", "/v1/x", "/", "//")
    }
    assert len(answers) == 1


def test_a_token_ends_at_once_when_it_is_revoked(house: House) -> None:
    made = house.send("POST", "/v1/tokens", as_="curator", json=WISH).json()["data"]
    assert house.send("GET", "/v1/schema", as_=made["text"]).status_code == 200
    revoked = house.send("DELETE", f"/v1/tokens/{made['id']}", as_="curator").json()["data"]
    assert revoked["revoked"] is not None
    assert house.send("GET", "/v1/schema", as_=made["text"]).status_code == 401
    assert house.send("DELETE", f"/v1/tokens/{made['id']}", as_="curator").status_code == 200


def test_an_unknown_token_cannot_be_revoked(house: House) -> None:
    response = house.send("DELETE", "/v1/tokens/0123456789abcdef", as_="curator")
    assert (response.status_code, response.json()["code"]) == (404, "CEL-Q173")


def test_the_text_of_a_token_is_shown_once(house: House) -> None:
    made = house.send("POST", "/v1/tokens", as_="curator", json=WISH).json()["data"]
    listed = house.send("GET", "/v1/tokens", as_="curator")
    assert made["id"] in listed.text
    kept = (house.folder / "tokens.sqlite").read_bytes()
    for text in (made["text"], house.curator, house.analyst):
        secret = text.rpartition("_")[2]
        assert secret not in listed.text
        assert secret not in house.audit
        assert secret.encode() not in kept


def test_questions_are_charged_to_the_name_of_the_token(house: House) -> None:
    house.ask()
    assert [each.analyst for each in house.vault.ledger.history()] == ["ada"]


def test_an_analyst_sees_only_the_own_charges(house: House) -> None:
    house.ask("mine")
    ben = house.tokens.create(role="analyst", name="ben").text
    house.send("POST", "/v1/query", as_=ben, json={"sql": "his", "epsilon": 0.02})
    seen = house.send("GET", "/v1/ledger").json()["data"]
    assert [each["question"] for each in seen["charges"]] == ["mine"]
    assert "ben" not in str(seen)
    seen = house.send("GET", "/v1/ledger", as_="curator").json()["data"]
    assert [each["question"] for each in seen["charges"]] == ["mine", "his"]
    assert seen["spent"] == {"epsilon": "3/100", "delta": "0/1"}
    seen = house.send("GET", "/v1/ledger?most=1", as_="curator").json()["data"]
    assert ([each["question"] for each in seen["charges"]], seen["left_out"]) == (["his"], 1)


def test_an_invoice_is_the_holders_own_unless_a_curator_asks(house: House) -> None:
    mine = house.send("GET", "/v1/invoice?analyst=ben").json()["data"]
    theirs = house.send("GET", "/v1/invoice?analyst=ben", as_="curator").json()["data"]
    assert (mine["analyst"], theirs["analyst"]) == ("ada", "ben")
