"""The vault of a policy file or of a service, with one interface for both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.cli.paths import read_variable, resolve_address
from celosia.cli.policy import show_warnings
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.queries import Plan, QueryAnswer, Vault
    from celosia.queries.service import Client, RemotePlan

TOKEN = "CELOSIA_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions:
    """The options of one query: its text, its price, and how to answer it."""

    sql: str
    epsilon: float | None
    delta: float
    method: str | None
    confidence: float
    analyst: str | None
    fresh: bool = False

    def answer(self, vault: Vault | Client) -> QueryAnswer:
        """Ask: what this costs is spent."""
        arguments: dict[str, Any] = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "method": self.method,
            "confidence": self.confidence,
            "fresh": self.fresh,
        }
        if hasattr(vault, "policy"):
            arguments["analyst"] = self.analyst
        found: Any = vault.ask(self.sql, **arguments)
        return found if hasattr(found, "save") else _parse_answer(found.as_dict())

    def plan(self, vault: Vault | Client) -> Plan | RemotePlan:
        """Plan the query; costs nothing."""
        epsilon = 1.0 if self.epsilon is None else self.epsilon
        return vault.explain(self.sql, epsilon=epsilon, delta=self.delta, method=self.method)


@contextmanager
def open_vault(
    policy: str | None,
    server: str | None,
    *,
    ledger: str | None,
    token_file: Path | None,
    seed: int | None,
) -> Iterator[Vault | Client]:
    """The vault of a policy, or one behind a service."""
    if server is not None:
        from celosia.queries.service import Client

        with Client(server, _token(token_file)) as client:
            yield client
        return
    from celosia.core.randomness import source
    from celosia.queries import Vault

    place = None if ledger is None else resolve_address(ledger)
    with show_warnings():
        vault = Vault.open(str(policy), ledger=place, rng=source(seed))
    with vault:
        yield vault


def _token(file: Path | None) -> str:
    if file is None:
        return read_variable(f"${TOKEN}")
    try:
        found = file.read_text("ascii").strip()
    except (OSError, ValueError):
        found = ""
    if not found or len(found) > 1000:
        raise InputError("CEL-Q216.token", file=file, token=TOKEN)
    return found


def _parse_answer(facts: dict[str, Any]) -> QueryAnswer:
    """Parse the answer of a service."""
    from celosia.core.guarantee import Guarantee
    from celosia.core.provenance import Provenance
    from celosia.queries import QueryAnswer

    common = {
        "guarantee": Guarantee.from_dict(facts["guarantee"]),
        "provenance": Provenance(**facts["provenance"]),
        "warnings": tuple(facts["warnings"]),
    }
    known = {field.name for field in fields(QueryAnswer)} - set(common)
    measures = {name: value for name, value in facts.items() if name in known}
    return QueryAnswer.from_parts(Path(), {"measures": measures}, **common)
