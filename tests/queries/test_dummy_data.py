"""Dummy data fits the public schema, and is made of nothing else."""

from __future__ import annotations

import pytest
from tests.queries.vaults import POLICY

from celosia.core.errors import InputError
from celosia.queries.dummy_data import make_dummy_tables
from celosia.queries.public_schema import public_schema

SCHEMA = public_schema(POLICY)


def test_tables_keep_to_what_is_declared() -> None:
    tables = make_dummy_tables(SCHEMA, rows=50, seed=3)
    assert list(tables) == list(SCHEMA["tables"])
    assert all(len(frame) == 50 for frame in tables.values())
    orders, person = tables["orders"], tables["person"]
    assert orders["id"].is_unique().all()
    assert set(orders["person"]) <= set(person["id"])
    assert set(tables["item"]["order"]) <= set(orders["id"])
    assert set(person["town"]) <= {"A", "B", "C"}
    assert orders["price"].is_between(0, 10).all()
    assert set(orders["balance"]) <= set(range(-5, 6))


def test_the_same_seed_makes_the_same_tables_and_another_one_others() -> None:
    one, again, other = (make_dummy_tables(SCHEMA, rows=20, seed=seed) for seed in (1, 1, 2))
    assert one["orders"].equals(again["orders"])
    assert not one["orders"].equals(other["orders"])


def test_a_graph_has_none() -> None:
    with pytest.raises(InputError) as caught:
        make_dummy_tables(SCHEMA | {"graph": {}})
    assert caught.value.code == "CEL-Q345"
