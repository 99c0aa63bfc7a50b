"""Private queries to a database: policies, SQL and SPARQL, bounds, and a durable ledger.

`Vault.open(policy)` opens a database; `vault.explain(query)` shows what an answer would cost, and
`vault.sql(query, epsilon=...)` gives it. Names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.queries.answer import QueryAnswer
    from celosia.queries.paths import ledger_path
    from celosia.queries.planning import METHODS, Part, Plan
    from celosia.queries.policy import Policy, load_policy, read_policy
    from celosia.queries.request import QueryRequest
    from celosia.queries.vault import Vault

__all__ = [
    "METHODS",
    "Part",
    "Plan",
    "Policy",
    "QueryAnswer",
    "QueryRequest",
    "Vault",
    "ledger_path",
    "load_policy",
    "read_policy",
]

__getattr__, __dir__ = on_first_use(__name__)
