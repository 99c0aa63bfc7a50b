"""Private queries to a database: policies, SQL and SPARQL, bounds, and a durable ledger.

`Vault.open(policy)` opens a database; `vault.explain(query)` shows what an answer would cost, and
`vault.sql(query, epsilon=...)` gives it. Names load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celosia.queries.answer import QueryAnswer
    from celosia.queries.paths import ledger_path
    from celosia.queries.planning import METHODS, Part, Plan
    from celosia.queries.policy import Policy, load_policy, read_policy
    from celosia.queries.vault import Vault

_HOMES = {
    "METHODS": "celosia.queries.planning",
    "Part": "celosia.queries.planning",
    "Plan": "celosia.queries.planning",
    "Policy": "celosia.queries.policy",
    "QueryAnswer": "celosia.queries.answer",
    "Vault": "celosia.queries.vault",
    "ledger_path": "celosia.queries.paths",
    "load_policy": "celosia.queries.policy",
    "read_policy": "celosia.queries.policy",
}

__all__ = [
    "METHODS",
    "Part",
    "Plan",
    "Policy",
    "QueryAnswer",
    "Vault",
    "ledger_path",
    "load_policy",
    "read_policy",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
