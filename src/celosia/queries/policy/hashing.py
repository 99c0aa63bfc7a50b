"""The hash of a policy, the same for every way to write it; the ledger keeps it."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from functools import lru_cache
from typing import Any

from celosia.queries.policy.values import ColumnPolicy, Policy, Spending, TablePolicy

HASH_FORMAT = "celosia policy 1"
"""The hashed text begins with this, so that another format can never give the same hash."""
LATER_SETTINGS: dict[str, Any] = {
    "ownerless": "leave-out",
    "least_epsilon": "1/100",
    "questions_per_day": 1000,
    "exceeded_per_day": 3,
    "deadline": None,
}
"""Settings that came after the first form, with their defaults."""
LATER_TABLE_SETTINGS: dict[str, Any] = {"ownerless": None}


def policy_hash(policy: Policy) -> str:
    """The SHA-256 of what a policy says, as 64 hexadecimal digits.

    It does not depend on the order of tables, columns, keys, references, files and analysts, nor on
    comments, spaces, the way numbers are written, or the folder of the file.
    """
    return _hash(_IdentityKey(policy))


class _IdentityKey:
    """A policy that is equal to itself alone: 1 and True are equal, and not the same key."""

    def __init__(self, policy: Policy):
        self.policy = policy

    def __hash__(self) -> int:
        return id(self.policy)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _IdentityKey) and self.policy is other.policy


@lru_cache(maxsize=8)  # every answer tells it, and a policy never changes
def _hash(same: _IdentityKey) -> str:
    facts = _without_defaults(policy_facts(same.policy))
    said = json.dumps([HASH_FORMAT, facts], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(said.encode()).hexdigest()


def _without_defaults(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts without later settings at their defaults: older policies keep their hashes."""
    kept = {name: fact for name, fact in facts.items() if LATER_SETTINGS.get(name, ...) != fact}
    kept["tables"] = [
        [
            name,
            {
                word: fact
                for word, fact in table.items()
                if LATER_TABLE_SETTINGS.get(word, ...) != fact
            },
        ]
        for name, table in facts["tables"]
    ]
    return kept


def policy_facts(policy: Policy) -> dict[str, Any]:
    """Everything a policy says as plain JSON values, exact and in one order."""
    database, unit = policy.database, policy.unit
    facts: dict[str, Any] = {
        "name": policy.name,
        "neighbours": str(policy.relation),
        "most_per_unit": policy.most_per_unit,
        "elastic": policy.elastic,
        "least_epsilon": _fraction(policy.least_epsilon),
        "questions_per_day": policy.questions_per_day,
        "exceeded_per_day": policy.exceeded_per_day,
        "deadline": _fraction(policy.deadline),
        "ownerless": policy.ownerless,
        "database": {
            "kind": database.kind,
            "path": database.path,
            "url": database.url,  # as written: what $NAME stands for is no part of a policy
            "files": sorted(database.files),
        },
        "unit": {"name": unit.name, "table": unit.table, "key": unit.key},
        "budget": _spending(policy.budget),
        "analysts": sorted([name, _spending(amount)] for name, amount in policy.analysts),
        "tables": sorted(([each.name, _table(each)] for each in policy.tables), key=json.dumps),
    }
    if policy.graph is not None:
        facts["graph"] = {
            "store": policy.graph.store,
            "predicates": sorted(policy.graph.predicates),
            "classes": sorted([name, sorted(of)] for name, of in policy.graph.classes),
        }
    return facts


def _table(table: TablePolicy) -> dict[str, Any]:
    return {
        "public": table.public,
        "rows": table.rows,
        "ownerless": table.ownerless,
        "references": sorted(table.references),
        "columns": sorted(([each.name, _column(each)] for each in table.columns), key=json.dumps),
    }


def _column(column: ColumnPolicy) -> dict[str, Any]:
    return {
        "type": column.type,
        "lower": _fraction(column.lower),
        "upper": _fraction(column.upper),
        "grid": _fraction(column.grid),
        "keys": None if column.keys is None else sorted(map(json.dumps, column.keys)),
        "unique": column.unique,
        "most": column.most,
    }


def _spending(amount: Spending) -> list[str | None]:
    return [_fraction(amount.epsilon), _fraction(amount.delta)]


def _fraction(number: Fraction | None) -> str | None:
    return None if number is None else f"{number.numerator}/{number.denominator}"
