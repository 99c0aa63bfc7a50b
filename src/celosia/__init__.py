"""Celosía: data privacy under one roof.

Those inside see out, nobody sees in. The public names:

- `publish`, `Schema`, `Role` and the models from `KAnonymity` to `TCloseness`: publish a table;
- `graphs`: publish a network, attack it, measure it;
- `traces`: publish locations and traces, attack them, release private aggregates;
- `logs`: publish search logs, access logs and baskets;
- `mechanisms` and `Budget`: noisy answers with exact noise, and what they cost (`accounting`);
- `Vault` and `queries`: private answers to SQL and SPARQL under a budget;
- `collect` and `sketches`: usage data collected from devices that need not trust the collector;
- `advise`: which door, model and parameters, from four answers;
- `tables`, `frames`, `assess`, `datasets`: the doors and the data to start with;
- `CelosiaError` and its family.

Names load on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celosia import (
        accounting,
        assess,
        collect,
        datasets,
        frames,
        graphs,
        logs,
        mechanisms,
        queries,
        sketches,
        tables,
        traces,
    )
    from celosia.accounting.budget import Budget
    from celosia.assess.advice import Advice, AdviceOptions, advise
    from celosia.core.errors import (
        BudgetExceeded,
        CelosiaError,
        EngineError,
        InputError,
        PrivacyError,
        PrivacyWarning,
        QueryRefused,
    )
    from celosia.core.randomness import Seeded, System
    from celosia.queries import Vault
    from celosia.tables import (
        DistinctDiversity,
        EntropyDiversity,
        KAnonymity,
        RecursiveDiversity,
        Role,
        Schema,
        TableRelease,
        TCloseness,
        publish,
    )

__all__ = [
    "Advice",
    "AdviceOptions",
    "Budget",
    "BudgetExceeded",
    "CelosiaError",
    "DistinctDiversity",
    "EngineError",
    "EntropyDiversity",
    "InputError",
    "KAnonymity",
    "PrivacyError",
    "PrivacyWarning",
    "QueryRefused",
    "RecursiveDiversity",
    "Role",
    "Schema",
    "Seeded",
    "System",
    "TCloseness",
    "TableRelease",
    "Vault",
    "accounting",
    "advise",
    "assess",
    "collect",
    "datasets",
    "frames",
    "graphs",
    "logs",
    "mechanisms",
    "publish",
    "queries",
    "sketches",
    "tables",
    "traces",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # takes longer than all the rest

        globals()[name] = found = version("celosia")  # not asked for again
        return found
    from celosia.core.lazy_imports import on_first_use  # `celosia --version` does without

    load, _ = on_first_use(__name__)
    return load(name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
