"""Every kind of question that is audited or bounded: the same exact numbers whatever the engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import exp
from tests.effort import some
from tests.queries.engines.places import Place, Tables
from tests.queries.engines.test_same_answers import rows
from tests.queries.test_sub_queries import SHAPES as SHOP_SHAPES
from tests.queries.vaults import POLICY, capped

from celosia.core.randomness import Seeded
from celosia.queries.neighbour_audit import (
    DELTA,
    SHAPES,
    hospital_policy,
    hospital_statements,
)
from celosia.queries.neighbour_graphs import GRAPH_SHAPES
from celosia.queries.planning import make_plan
from celosia.queries.policy import Database, Policy
from celosia.queries.request import QueryRequest
from celosia.queries.results import execute_plan

# No cap cuts a row: which of them stay is decided by a hash, and each engine has its own.
SHOP = capped(replace(POLICY, most_per_unit=500), orders__person=50, item__order=20)
HOSPITAL = capped(hospital_policy(), visits__patient=8)
HASHED = 'LEFT JOIN item i ON i."order"'  # the cap of this one is chosen
MORE = [
    "SELECT FLOOR(age / 50) * 50 AS band, COUNT(*) FROM person GROUP BY band",
    "SELECT ROUND(price, -1) AS tens, COUNT(*) FROM orders WHERE person IN "
    "(SELECT id FROM person AS id) GROUP BY tens",
]


def hospital_rows() -> Tables:
    with duckdb.connect() as connection:
        for statement in hospital_statements(with_patient=True):
            connection.execute(statement)
        return {
            table.name: connection.execute(f'SELECT * FROM "{table.name}"').pl().to_dicts()
            for table in HOSPITAL.tables
        }


def exact_numbers(place: Place, policy: Policy, queries: list[str]) -> dict[str, list[Any]]:
    """What the engine returns for each question, before noise."""
    kind: Any = place.kind
    there = replace(policy, database=Database(kind=kind, url=place.url, files=place.files))
    found: dict[str, list[Any]] = {}
    for query in queries:
        request = QueryRequest(query, epsilon=1, delta=DELTA if "BY drug" in query else 0)
        seen = found.setdefault(query, [])

        def ask(tree: exp.Expr, seen: list[Any] = seen) -> Any:
            rows = place.ask(tree)
            seen.append(sorted(map(tuple, rows)))
            return rows

        execute_plan(make_plan(request, there), ask, rng=Seeded(3))
    return found


@pytest.mark.parametrize(
    "place",
    ["postgres", pytest.param("spark", marks=pytest.mark.spark)],
    indirect=True,
)
@pytest.mark.parametrize("name", ["shop", "hospital"])
def test_every_engine_returns_the_same_exact_numbers(
    name: str, place: Place, tmp_path: Path
) -> None:
    data, policy = (rows(), SHOP) if name == "shop" else (hospital_rows(), HOSPITAL)
    asked = (
        [*SHOP_SHAPES, *MORE]
        if name == "shop"
        else [query for kind, query in SHAPES.items() if kind not in GRAPH_SHAPES]
    )
    queries = [each for each in asked if HASHED not in each]
    if place.kind == "spark":  # half a second each
        queries = some(queries, 2)
    reference = Place("duckdb", tmp_path)
    try:
        reference.open(data, policy)
        wanted = exact_numbers(reference, policy, queries)
    finally:
        reference.close()
    place.open(data, policy)
    assert exact_numbers(place, policy, queries) == wanted
