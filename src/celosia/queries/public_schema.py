"""The public schema of a database: the declarations of its policy, without its location."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from celosia.queries.policy import ColumnPolicy, Policy, Spending
from celosia.queries.policy.market import market_facts
from celosia.queries.policy.values import Graph


def public_schema(policy: Policy) -> dict[str, Any]:
    """Tables, columns, types, bounds, keys, unit and budgets as plain values."""
    unit = policy.unit
    labels = {} if policy.graph is None else dict(policy.graph.labels)
    return {
        "name": policy.name,
        "unit": {
            "name": unit.name,
            "table": unit.table,
            "key": unit.key,
            **({"columns": [".".join(each) for each in unit.columns]} if unit.columns else {}),
        },
        "neighbours": str(policy.relation),
        "budget": _spending(policy.budget),
        "analysts": {name: _spending(limit) for name, limit in policy.analysts},
        "most_per_unit": policy.most_per_unit,
        "elastic": policy.elastic,
        "least_epsilon": float(policy.least_epsilon),
        "questions_per_day": policy.questions_per_day,
        "exceeded_per_day": policy.exceeded_per_day,
        "deadline": _number(policy.deadline),
        "ownerless": policy.ownerless,
        **({} if policy.graph is None else {"graph": _graph(policy.graph)}),
        **({} if policy.market is None else {"market": market_facts(policy.market)}),
        "tables": {
            table.name: {
                "public": table.public,
                "rows": table.rows,
                **({} if table.ownerless is None else {"ownerless": table.ownerless}),
                "references": {
                    column: f"{target}.{key}" for column, target, key in table.references
                },
                "columns": {each.name: _column(each, labels) for each in table.columns},
            }
            for table in policy.tables
        },
    }


def _graph(graph: Graph) -> dict[str, Any]:
    """The predicates of SPARQL queries and their addresses, without the path of the store."""
    return {
        "prefixes": dict(graph.prefixes),
        "predicates": {name: address for address, name in graph.predicates},
        "classes": {name: list(members) for name, members in graph.classes},
        **({"graphs": {name: address for address, name in graph.graphs}} if graph.graphs else {}),
    }


def _column(column: ColumnPolicy, labels: Mapping[int, str]) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "type": column.type,
        "lower": _number(column.lower),
        "upper": _number(column.upper),
        "grid": _number(column.grid),
        "keys": None if column.keys is None else [_shown(each, labels) for each in column.keys],
        "unique": column.unique or None,
        "most": column.most,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _shown(key: str | int | bool, labels: Mapping[int, str]) -> str | int | bool:
    return labels.get(key, key) if isinstance(key, int) else key


def _number(number: Fraction | None) -> float | int | None:
    if number is None:
        return None
    return int(number) if number.denominator == 1 else float(number)


def _spending(limit: Spending) -> dict[str, Any]:
    """Its epsilon and delta, and the currency that it is declared in where that is another."""
    facts: dict[str, Any] = {"epsilon": float(limit.epsilon), "delta": float(limit.delta)}
    if limit.rho is not None:
        facts["rho"] = float(limit.rho)
    if limit.curve:
        facts["renyi"] = [[float(order), float(bound)] for order, bound in limit.curve]
    return facts
