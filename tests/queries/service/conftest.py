"""A service over a fake vault, and somebody of each role to ask it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.queries.service.vaults import FakeVault

from celosia.queries.service import Limits, TokenStore, create_app
from celosia.queries.service.refusals import Pace, Refusals

pytest.importorskip("fastapi", reason="the extra celosia[service] is not installed")


@dataclass
class House:
    """A running service with all its parts in reach."""

    folder: Path
    vault: FakeVault
    tokens: TokenStore
    http: Any
    curator: str
    analyst: str

    def send(self, method: str, address: str, *, as_: str | None = "analyst", **parts: Any) -> Any:
        """A response to somebody: "analyst", "curator", None, or whoever holds a text."""
        text = {"analyst": self.analyst, "curator": self.curator}.get(as_ or "", as_)
        headers = {} if text is None else {"Authorization": f"Bearer {text}"}
        headers |= parts.pop("headers", {})
        return self.http.request(method, address, headers=headers, **parts)

    def ask(self, query: str = "SELECT count(*) FROM orders", **changes: Any) -> Any:
        """The response to a question of the analyst."""
        return self.send("POST", "/v1/query", json={"sql": query, "epsilon": 0.01} | changes)

    @property
    def audit(self) -> str:
        return (self.folder / "audit.jsonl").read_text("ascii")


@pytest.fixture
def house_of(tmp_path: Path) -> Iterator[Callable[..., House]]:
    """Builds a service with other limits or another vault."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would rather have the successor of httpx
        testing = import_module("fastapi.testclient")
    with ExitStack() as stack:

        def build(*, docs: bool = False, vault: Any = None, **limits: Any) -> House:
            made = vault or FakeVault(tmp_path)
            tokens = TokenStore(tmp_path / "tokens.sqlite")
            app = create_app(
                lambda: made,
                tokens=tokens,
                audit_log=tmp_path / "audit.jsonl",
                limits=Limits(**({"requests_per_minute": 10_000} | limits)),
                docs=docs,
            )
            # A test may send many wrong tokens; `test_refusals` is about the delays.
            app.state.service.refusals = Refusals(Pace(least=0.0, most=0.0))
            http = stack.enter_context(testing.TestClient(app))
            return House(
                folder=tmp_path,
                vault=made,
                tokens=tokens,
                http=http,
                curator=tokens.create(role="curator", name="carla").text,
                analyst=tokens.create(role="analyst", name="ada").text,
            )

        yield build


@pytest.fixture
def house(house_of: Callable[..., House]) -> House:
    """The usual service."""
    return house_of()
