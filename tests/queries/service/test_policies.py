"""Several policies on one server: nothing of one is seen through another."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.queries.service.test_oidc import AUDIENCE, ISSUER, jwk, private_key, signed
from tests.queries.service.vaults import FakeVault

from celosia.core.errors import InputError
from celosia.queries.service import Limits, TokenStore, create_app
from celosia.queries.service.app import _Parts, check_apart
from celosia.queries.service.oidc import OidcSettings, OidcTokens
from celosia.queries.service.policies import PolicyRouter, name_policies
from celosia.queries.service.refusals import Pace, Refusals

NAMES = ("shop", "clinic")


class Server:
    """Two policies with a curator and an analyst each, behind one address."""

    def __init__(self, folder: Path) -> None:
        self.folders = {name: folder / name for name in NAMES}
        self.texts: dict[tuple[str, str], str] = {}
        keys = folder / "jwks.json"
        keys.write_text(json.dumps({"keys": [jwk(private_key(), "k1")]}))
        apps = {}
        self.parts: dict[str, Any] = {}
        for name, place in self.folders.items():
            place.mkdir()
            store = TokenStore(place / "tokens.sqlite")
            vault = FakeVault(place)
            issuer = OidcTokens(
                OidcSettings(
                    issuer=ISSUER,
                    audience=AUDIENCE if name == "shop" else "celosia-clinic",
                    keys=str(keys),
                    analysts={"u1": "ada"},
                )
            )
            apps[name] = create_app(
                lambda vault=vault: vault,  # type: ignore[misc]
                tokens=store,
                audit_log=place / "audit.jsonl",
                limits=Limits(requests_per_minute=10_000),
                oidc=issuer,
                name=name,
            )
            apps[name].state.service.refusals = Refusals(Pace(least=0.0, most=0.0))
            self.parts[name] = {"vault": vault, "store": store, "oidc": issuer}
            for role, who in (("analyst", "ada"), ("curator", "carla")):
                self.texts[name, role] = store.create(role=role, name=who).text  # type: ignore[arg-type]
        self.router = PolicyRouter(apps)
        self.router.nowhere.refusals = Refusals(Pace(least=0.0, most=0.0))

    def send(self, method: str, path: str, text: str | None = None, **parts: Any) -> Any:
        headers = {} if text is None else {"Authorization": f"Bearer {text}"}
        return self.http.request(method, path, headers=headers, **parts)

    http: Any = None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    pytest.importorskip("fastapi", reason="the extra celosia[service] is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        testing = import_module("fastapi.testclient")
    made = Server(tmp_path_factory.mktemp("policies"))
    with testing.TestClient(made.router) as made.http:
        yield made


QUESTION = {"json": {"sql": "SELECT count(*) FROM orders", "epsilon": 0.01}}
ADDRESSES = [
    ("POST", "query", QUESTION),
    ("POST", "explain", QUESTION),
    ("GET", "schema", {}),
    ("GET", "ledger", {}),
    ("GET", "ledger/verify", {}),
    ("GET", "ledger/export", {}),
    ("GET", "invoice", {}),
    ("GET", "metrics", {}),
    ("GET", "tokens", {}),
    ("POST", "tokens", {"json": {"role": "analyst", "name": "eve"}}),
    ("GET", "nothing", {}),
]


@pytest.mark.parametrize("role", ["analyst", "curator"])
@pytest.mark.parametrize(("method", "address", "parts"), ADDRESSES)
def test_a_token_of_one_policy_is_none_at_another(
    server: Server, role: str, method: str, address: str, parts: Any
) -> None:
    for own, other in (NAMES, NAMES[::-1]):
        text = server.texts[own, role]
        strange = server.send(method, f"/{other}/v1/{address}", text, **parts)
        nobody = server.send(method, f"/{other}/v1/{address}", None, **parts)
        nowhere = server.send(method, f"/bank/v1/{address}", text, **parts)
        assert [each.status_code for each in (strange, nobody, nowhere)] == [401] * 3
        assert strange.json() == nobody.json() == nowhere.json()
        mine = server.send(method, f"/{own}/v1/{address}", text, **parts)
        assert mine.status_code != 401


def test_each_policy_has_its_own_ledger_log_and_metrics(server: Server) -> None:
    before = {name: len(server.parts[name]["vault"].ledger.history()) for name in NAMES}
    asked = {"json": {"sql": "SELECT count(*) FROM nation", "epsilon": 0.02}}
    reply = server.send("POST", "/shop/v1/query", server.texts["shop", "analyst"], **asked)
    assert reply.status_code == 200
    after = {name: len(server.parts[name]["vault"].ledger.history()) for name in NAMES}
    assert after == {"shop": before["shop"] + 1, "clinic": before["clinic"]}
    line = '"epsilon": 0.02'
    logs = {name: (server.folders[name] / "audit.jsonl").read_text() for name in NAMES}
    assert line.replace(" ", "") in logs["shop"].replace(" ", "")
    assert line.replace(" ", "") not in logs["clinic"].replace(" ", "")
    for name, other in (NAMES, NAMES[::-1]):
        text = server.send("GET", f"/{name}/v1/metrics", server.texts[name, "curator"]).text
        samples = [each for each in text.splitlines() if not each.startswith("#")]
        assert samples
        assert all(f'policy="{name}"' in each for each in samples)
        assert other not in text


def test_a_signed_token_is_not_replayed_at_another_policy(server: Server) -> None:
    text = signed()
    assert server.send("GET", "/shop/v1/schema", text).status_code == 200
    refused = server.send("GET", "/clinic/v1/schema", text)
    assert refused.status_code == 401
    assert server.send("GET", "/clinic/v1/schema", signed(aud="celosia-clinic")).status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/v1/schema", "/shop", "//shop/v1/schema", "/SHOP/v1/schema"]
)
def test_odd_paths_lead_nowhere(server: Server, path: str) -> None:
    for name in NAMES:
        reply = server.send("GET", path, server.texts[name, "curator"])
        assert reply.status_code in {401, 404}
        assert "orders" not in reply.text


@pytest.mark.parametrize("path", ["/clinic/../shop/v1/schema", "/shop%2Fv1/schema"])
def test_a_path_that_is_read_as_another_needs_its_token(server: Server, path: str) -> None:
    assert server.send("GET", path, server.texts["clinic", "curator"]).status_code == 401


def test_anybody_may_ask_whether_the_server_runs(server: Server) -> None:
    assert server.send("GET", "/v1/health").json()["data"] == {"status": "running"}
    assert server.send("GET", "/shop/v1/health").status_code == 200


def test_policies_with_one_audience_are_not_served_together(server: Server, tmp_path: Path) -> None:
    def parts(name: str) -> Any:
        made = server.parts[name]
        facts: dict[str, Any] = {"policy": name, "ledger": None, "audit": None}
        return _Parts(**facts, tokens=made["store"], oidc=made["oidc"])

    check_apart({name: parts(name) for name in NAMES})
    with pytest.raises(InputError) as refused:
        check_apart({"shop": parts("shop"), "bank": parts("shop")})
    assert refused.value.key == "CEL-Q193.same_audience"


@pytest.mark.parametrize(
    ("written", "key"),
    [
        (["shop.toml", "a/shop.toml"], "twice"),
        (["a=shop.toml", "b=shop.toml"], "same_file"),
        (["v1=shop.toml"], "name"),
        (["My Shop.toml"], "name"),
        (["../x=shop.toml"], "name"),
        (["=shop.toml"], "name"),
    ],
)
def test_names_that_are_no_paths_are_refused(written: list[str], key: str) -> None:
    with pytest.raises(InputError) as refused:
        name_policies(written)
    assert refused.value.key == f"CEL-Q193.{key}"
    assert refused.value.fix
