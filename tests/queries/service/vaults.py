"""A vault that answers from nothing, slowly or badly as it is told, over a real ledger."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from threading import Event, Lock
from typing import Any

from celosia.accounting.amounts import Spending
from celosia.accounting.ledger import Ledger, Request, StoredAnswer
from celosia.core.errors import EngineError, InputError, PrivacyError, QueryRefused
from celosia.core.release import Guarantee, Provenance
from celosia.engines.sql import failed
from celosia.queries.answer import QueryAnswer
from celosia.queries.policy.market import Market
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy
from celosia.queries.request import QueryRequest

MARKER = "Zq7-the-only-row-of-Ada-Lovelace"
"""Stands for a cell of the data: nobody may ever see it."""

POLICY = Policy(
    name="shop",
    budget=Spending(epsilon=Fraction(1)),
    tables=(
        TablePolicy(name="orders", columns=(ColumnPolicy(name="orderkey", type="integer"),)),
        TablePolicy(name="nation", public=True, columns=(ColumnPolicy(name="id", type="integer"),)),
    ),
    market=Market(prices=((Fraction(1), Fraction(30)),)),
)

GUARANTEE = Guarantee(
    promise="0.1-differential privacy", unit="row", protects="no row can be told from its absence"
)


def answer_of(
    entry: int, head: object, epsilon: float, value: Any = 42, stored: bool = False
) -> QueryAnswer:
    """What a vault answers."""
    return QueryAnswer(
        question="how many orders",
        rows=[{"count": value}],
        intervals=[{"count": (40.0, float("inf"))}],
        confidence=0.95,
        epsilon=epsilon,
        method="global",
        entry=entry,
        head=str(head),
        stored=stored,
        guarantee=GUARANTEE,
        provenance=Provenance.now("Vault.sql", {}),
    )


@dataclass(frozen=True)
class FakePlan:
    """What a vault explains."""

    epsilon: float

    def as_dict(self) -> dict[str, Any]:
        part = {"name": "count", "mechanism": "discrete Laplace noise", "bound": "1 row"}
        return {
            "question": "how many orders",
            "tree": ["count rows", "  scan orders"],
            "parts": [part | {"epsilon": self.epsilon, "delta": 0.0, "error": 10.0}],
            "epsilon": self.epsilon,
            "delta": 0.0,
            "neighbours": "one row added or removed",
            "method": "global",
        }


@dataclass
class FakeVault:
    """The face of `Vault`. The words of a query say how it goes: see `_run`."""

    folder: Path
    policy: Policy = POLICY
    analysts: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    running: int = 0
    most_running: int = 0
    closed: bool = False
    sleep: Callable[[float], None] = time.sleep
    freed: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self._lock = Lock()
        self.ledger = Ledger.open(
            self.folder / "shop.ledger.sqlite",
            dataset="shop",
            total=(1, 0),
            policy_hash="p1",
            analysts=self.analysts,
        )

    def ask(
        self,
        request: QueryRequest,
        *,
        before_release: Callable[[QueryAnswer], object] = lambda _: None,
    ) -> QueryAnswer:
        answer = self._answer(request.query, request.epsilon, request.analyst, request.fresh)
        before_release(answer)
        return answer

    def _answer(self, query: str, epsilon: float, analyst: str | None, fresh: bool) -> QueryAnswer:
        if "refuse" in query:
            raise QueryRefused("CEL-Q271.no_graph", line=3)
        price: Any = epsilon
        request = Request(analyst=analyst or "nobody", question=query, epsilon=price)
        found = self.ledger.reserve(request, fresh=fresh)
        if isinstance(found, StoredAnswer):
            return answer_of(found.reservation, found.head, epsilon, found.answer, True)
        with self._lock:
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        try:
            value = self._run(query)
        finally:
            with self._lock:
                self.running -= 1
        stored = self.ledger.seal(found, 42)
        return answer_of(found.sequence, stored.head, epsilon, value)

    def _run(self, query: str) -> Any:
        self.sleep(self.seconds)
        for word in query.split():
            if word.startswith("sleep="):
                self.sleep(float(word.removeprefix("sleep=")))
        if "held" in query:  # until a test lets it go
            assert self.freed.wait(timeout=600)
        if "engine" in query:
            raise failed()
        if "leak" in query:  # errors of every kind that hold a cell
            raise _LEAKS[query.split()[1]]
        if "panic" in query:
            raise BaseException(MARKER)
        return {"unwritable": MARKER.encode(), "nan": float("nan")}.get(query, 42)

    def wait_for(self, running: int) -> None:
        """Return when so many questions run."""
        end = time.monotonic() + 600
        while self.running != running:
            assert time.monotonic() < end
            time.sleep(0.001)

    def plan(self, request: QueryRequest) -> FakePlan:
        if "refuse" in request.query:
            raise QueryRefused("CEL-Q271.no_graph")
        if "leak" in request.query:
            raise ValueError(MARKER)
        return FakePlan(request.epsilon)

    def answer_columns(self, request: QueryRequest) -> dict[str, Any]:
        self.plan(request)
        return {"count": "integer"}

    def public_schema(self) -> dict[str, Any]:
        return {"name": self.policy.name, "tables": [each.name for each in self.policy.tables]}

    def __exit__(self, *_: object) -> None:
        self.closed = True
        self.ledger.close()


_LEAKS: dict[str, BaseException] = {
    "value": ValueError(MARKER),
    "engine": EngineError("CEL-E010", cell=MARKER),
    "input": InputError("CEL-T011", cell=MARKER),
    "privacy": PrivacyError("CEL-A001", cell=MARKER),
    "mechanism": InputError("CEL-M050", cell=MARKER),
    "sealing": InputError("CEL-Q112.answer", cell=MARKER),
    "opening": InputError("CEL-Q152.not_unique", cell=MARKER),
    "vault": EngineError("CEL-Q140", cell=MARKER),
    "group": ExceptionGroup(MARKER, [KeyError(MARKER)]),
    "unicode": UnicodeDecodeError("utf-8", MARKER.encode(), 0, 1, MARKER),
    "memory": MemoryError(MARKER),
    "recursion": RecursionError(MARKER),
    "exit": SystemExit(MARKER),
    "json": json.JSONDecodeError(MARKER, MARKER, 0),
}
LEAKS = tuple(_LEAKS)
