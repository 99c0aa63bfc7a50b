"""The client has the face of the vault, and raises what the vault raises."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from tests.queries.service.conftest import House
from tests.queries.service.vaults import GUARANTEE, FakeVault

from celosia.accounting.ledger import verify_export
from celosia.core.errors import BudgetExceeded, CelosiaError, EngineError, InputError, QueryRefused
from celosia.queries.answer import QueryAnswer
from celosia.queries.request import QueryRequest
from celosia.queries.service import AccessDenied, Client, TooBusy

URL = "http://127.0.0.1"


def client_of(house: House, text: str | None = None) -> Client:
    return Client(URL, text or house.analyst, http=house.http)


def test_an_answer_comes_back_as_it_was_made(house: House, tmp_path: Path) -> None:
    answer = client_of(house).sql("SELECT count(*) FROM orders", epsilon=0.1)
    assert isinstance(answer, QueryAnswer)
    assert (answer.value, answer.epsilon, answer.delta, answer.stored) == (42, 0.1, 0, False)
    assert answer.interval(0.95) == (40.0, float("inf"))
    assert answer.guarantee == GUARANTEE
    assert answer.head == str(house.vault.ledger.head)
    assert answer.to_polars()["count"].to_list() == [42]
    answer.save(tmp_path / "answer.json")
    assert QueryAnswer.load(tmp_path / "answer.json").value == 42
    again = client_of(house).sql("SELECT count(*) FROM orders", epsilon=0.1)
    assert (again.stored, again.entry) == (True, answer.entry)


def test_a_fresh_answer_is_paid_again(house: House) -> None:
    client = client_of(house)
    first = client.sql("SELECT count(*) FROM orders", epsilon=0.1)
    fresh = client.sql("SELECT count(*) FROM orders", epsilon=0.1, fresh=True)
    assert (fresh.stored, fresh.entry == first.entry) == (False, False)
    assert house.vault.ledger.spent["epsilon"] == Fraction(2, 10)


def test_a_plan_tells_what_the_vault_would_do(house: House) -> None:
    plan = client_of(house).explain("SELECT count(*) FROM orders", epsilon=0.1)
    assert (plan.method, plan.epsilon, plan.delta) == ("global", Fraction(1, 10), Fraction(0))
    assert plan.parts[0].mechanism == "discrete Laplace noise"
    assert plan.tree == ("count rows", "  scan orders")
    assert "count: discrete Laplace noise" in str(plan)
    assert plan.as_dict()["question"] == plan.question_text
    assert house.vault.ledger.history() == ()


def test_the_schema_is_that_of_the_vault(house: House) -> None:
    assert client_of(house).public_schema() == house.vault.public_schema()


def test_the_ledger_reads_like_the_real_one(house: House, tmp_path: Path) -> None:
    client_of(house).sql("one", epsilon=0.1)
    ledger, real = client_of(house, house.curator).ledger, house.vault.ledger
    assert (ledger.head, ledger.spent, ledger.remaining) == (real.head, real.spent, real.remaining)
    assert ledger.history() == real.history()
    assert ledger.history("nobody") == ()
    assert ledger.verify() == ledger.verify(anchor=real.head) == real.head
    assert ledger.export(tmp_path / "ledger.jsonl") == verify_export(tmp_path / "ledger.jsonl")
    with pytest.raises(InputError, match="not the head"):
        ledger.verify(anchor="nonsense")


def test_an_analyst_may_not_export_the_ledger(house: House, tmp_path: Path) -> None:
    with pytest.raises(AccessDenied) as caught:
        client_of(house).ledger.export(tmp_path / "ledger.jsonl")
    assert caught.value.code == "CEL-Q172"
    assert not (tmp_path / "ledger.jsonl").exists()


def test_tokens_are_made_listed_and_ended_from_afar(house: House) -> None:
    curator = client_of(house, house.curator)
    made = curator.create_token(role="analyst", name="ben", days=1)
    assert client_of(house, made["text"]).public_schema()
    assert made["id"] in [each["id"] for each in curator.tokens()]
    assert curator.revoke_token(made["id"])["revoked"]
    with pytest.raises(AccessDenied):
        client_of(house, made["text"]).public_schema()
    with pytest.raises(InputError):
        curator.revoke_token("../ledger")


@pytest.mark.parametrize(
    ("query", "epsilon", "kind", "code"),
    [
        ("refuse", 0.1, QueryRefused, "CEL-Q271"),
        ("count", 2, BudgetExceeded, "CEL-Q110"),
        ("count", 20, InputError, "CEL-Q177"),
        ("count", -1, InputError, "CEL-Q175"),
        ("count", float("nan"), InputError, "CEL-Q175"),
        ("\ud800", 0.1, InputError, "CEL-Q175"),
        ("engine", 0.1, EngineError, "CEL-Q180"),
        ("leak value", 0.1, EngineError, "CEL-Q180"),
    ],
)
def test_errors_are_raised_again_as_what_they_were(
    house: House, query: str, epsilon: float, kind: type[CelosiaError], code: str
) -> None:
    with pytest.raises(kind) as caught:
        client_of(house).sql(query, epsilon=epsilon)
    assert type(caught.value) is kind
    assert caught.value.code == code
    assert caught.value.what


def test_the_fields_of_an_error_come_along(house: House) -> None:
    with pytest.raises(BudgetExceeded) as caught:
        client_of(house).sql("count", epsilon=2)
    assert caught.value.details["remaining"] == {"epsilon": 1.0, "delta": 0.0}
    with pytest.raises(QueryRefused) as refused:
        client_of(house).sql("refuse", epsilon=0.1)
    assert refused.value.details == {"line": 3}
    assert str(refused.value) == str(QueryRefused("CEL-Q271.no_graph"))


def test_too_many_requests_are_an_error_of_their_own(house_of: Any) -> None:
    house = house_of(requests_per_minute=1)
    client_of(house).public_schema()
    with pytest.raises(TooBusy) as caught:
        client_of(house).public_schema()
    assert caught.value.details["seconds"] in range(1, 62)


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"ok": True}),
        httpx.Response(200, json={"ok": "yes", "data": {}}),
        httpx.Response(200, json={"ok": True, "data": {"rows": []}}),
        httpx.Response(200, json={"ok": True, "data": None}),
        httpx.Response(302, headers={"Location": "http://evil.example"}),
        httpx.Response(502, json={"ok": False, "details": None}),
        httpx.Response(200, content=b"[" * 100_000),
    ],
)
def test_what_is_not_the_service_is_not_believed(response: httpx.Response) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.host)
        return response

    http = httpx.Client(transport=httpx.MockTransport(answer))
    with pytest.raises(EngineError) as caught:
        Client(URL, "token", http=http).sql("count", epsilon=1)
    assert caught.value.key == "CEL-Q186.other_service"
    assert seen == ["127.0.0.1"]


def test_a_service_that_is_away_is_an_error_of_ours() -> None:
    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("token in here?", request=request)

    http = httpx.Client(transport=httpx.MockTransport(away))
    with pytest.raises(EngineError) as caught:
        Client(URL, "secret", http=http).public_schema()
    assert caught.value.key == "CEL-Q186.unreachable"


@pytest.mark.parametrize(
    "url", ["http://db.example", "ftp://x", "vault", "", "http://", "file:///x"]
)
def test_a_token_does_not_travel_in_the_open(url: str) -> None:
    with pytest.raises(InputError) as caught:
        Client(url, "secret")
    assert caught.value.code == "CEL-Q188"


def test_a_client_does_not_print_its_token() -> None:
    for url in ("https://db.example", "http://localhost:8440", "http://[::1]:8440"):
        with Client(url, "secret") as client:
            assert "secret" not in repr(client)
    Client("http://db.example", "secret", plain=True).close()


class PreciseVault(FakeVault):
    """A vault with a budget above what one request may ask for, whose error falls with epsilon."""

    def plan(self, request: QueryRequest) -> Any:
        part = {"name": "n", "mechanism": "noise", "bound": "1 row", "delta": 0.0}
        made = part | {"epsilon": request.epsilon, "error": 10 / request.epsilon}
        return SimpleNamespace(as_dict=lambda: {"parts": [made]})

    def public_schema(self) -> dict[str, Any]:
        return {"least_epsilon": 0.01, "budget": {"epsilon": 20.0}}


def test_the_least_epsilon_is_sought_within_what_one_request_may_ask(
    house_of: Callable[..., House], tmp_path: Path
) -> None:
    client = client_of(house_of(vault=PreciseVault(tmp_path)))
    found = client.least_epsilon("SELECT count(*) FROM orders", error=4)
    assert 10 / found <= 4 < 10 / (0.98 * found)
    with pytest.raises(QueryRefused) as refused:
        client.least_epsilon("SELECT count(*) FROM orders", error=0.9)
    assert refused.value.details["most"] == 10
    with pytest.raises(QueryRefused) as unknown:
        client.least_epsilon("SELECT count(*) FROM orders", error="5%")
    assert unknown.value.key == "CEL-Q332.no_size_of_service"
