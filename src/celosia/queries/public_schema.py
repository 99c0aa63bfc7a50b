"""What anybody may know of a database: what its policy declares, and nothing of where it is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from celosia.queries.policy import ColumnPolicy, Policy, Spending


def public_schema(policy: Policy) -> dict[str, Any]:
    """Tables, columns, types, bounds, keys, unit and budgets as plain values."""
    unit = policy.unit
    return {
        "name": policy.name,
        "unit": {"name": unit.name, "table": unit.table, "key": unit.key},
        "neighbours": str(policy.relation),
        "budget": _spending(policy.budget),
        "analysts": {name: _spending(limit) for name, limit in policy.analysts},
        "most_per_unit": policy.most_per_unit,
        "elastic": policy.elastic,
        "tables": {
            table.name: {
                "public": table.public,
                "rows": table.rows,
                "references": {
                    column: f"{target}.{key}" for column, target, key in table.references
                },
                "columns": {each.name: _column(each) for each in table.columns},
            }
            for table in policy.tables
        },
    }


def _column(column: ColumnPolicy) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "type": column.type,
        "lower": _number(column.lower),
        "upper": _number(column.upper),
        "grid": _number(column.grid),
        "keys": None if column.keys is None else list(column.keys),
        "unique": column.unique or None,
        "most": column.most,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _number(number: Fraction | None) -> float | int | None:
    if number is None:
        return None
    return int(number) if number.denominator == 1 else float(number)


def _spending(limit: Spending) -> dict[str, float]:
    return {"epsilon": float(limit.epsilon), "delta": float(limit.delta)}
