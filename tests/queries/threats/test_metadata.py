"""Threats: a scale that depends on the data leaks, and the budget as an oracle.

Under one policy any two databases, near or far, must give the same plan, the same answer but for
the released numbers, the same error and the same charge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.queries.threats.conftest import Place, Tables
from tests.queries.threats.seen import seen
from tests.queries.vaults import BY_ROW, POLICY, capped, shop, without

from celosia.core.errors import EngineError
from celosia.queries.policy import Policy

JOIN = "SELECT COUNT(*) AS n FROM orders o JOIN person p ON p.id = o.person"
ASKED: list[tuple[str, str, float, str | None]] = [
    ("people", "SELECT COUNT(*) AS n FROM person", 0, None),
    ("people", JOIN, 0, "chosen-cap"),
    ("people", JOIN, 0, "r2t"),
    ("people", JOIN, 0, "r2t-cap"),
    ("people", "SELECT COUNT(*) AS n FROM message m JOIN message w ON m.receiver = w.sender",
     0, None),
    ("people", "SELECT town, COUNT(*) AS n, AVG(age) AS a FROM person GROUP BY town", 0, None),
    ("people", "SELECT street, COUNT(*) AS n FROM person GROUP BY street", 1e-6, None),
    ("people", "SELECT MAX(age) AS m FROM person", 0, None),
    ("people", "SELECT COUNT(*) AS n FROM person WHERE 1 / (age - 31) > 0", 0, None),
    ("people", "SELECT age FROM person", 0, None),
    ("people", "SELECT kind, COUNT(*) AS n FROM part GROUP BY kind", 0, None),
    ("capped rows", "SELECT status, SUM(price) AS s FROM orders GROUP BY status", 0, None),
    ("capped rows", JOIN, 0, None),
    ("elastic rows", JOIN, 1e-6, "elastic"),
    ("elastic rows", "SELECT COUNT(*) AS n FROM orders o JOIN orders q ON q.person = o.person",
     1e-6, "elastic"),
    ("elastic rows", JOIN, 0, "elastic"),
]  # fmt: skip
POLICIES: dict[str, Policy] = {
    "people": POLICY,
    "capped rows": capped(BY_ROW, orders__person=2),
    "elastic rows": replace(BY_ROW, elastic=True),
}


def all_seen(place: Place, rows: Tables, policy: str) -> list[Any]:
    """What an analyst sees of every question of a policy."""
    vault = place.open(rows, POLICIES[policy])
    return [
        seen(vault, query, delta=delta, method=method)
        for name, query, delta, method in ASKED
        if name == policy
    ]


class Usual(dict[str, list[Any]]):
    """What there is to see of an ordinary shop, by policy."""

    def __repr__(self) -> str:  # Hypothesis would print it whole
        return "Usual(...)"


@pytest.fixture(scope="module")
def usual(place: Place) -> Usual:
    """Seen once for each engine."""
    return Usual((policy, all_seen(place, shop(Random(1)), policy)) for policy in POLICIES)


def odd_shop(seed: int) -> Tables:
    """Any database that fits the policy: empty, tiny, large, or one where keys repeat a lot."""
    random = Random(seed)
    people = random.choice([0, 1, 5, 40])
    rows = shop(random, people=people or 1, orders=random.choice([1, 10, 60]))
    if not people:
        return {name: each if name == "part" else [] for name, each in rows.items()}
    if random.random() < 0.5:  # one person has everything
        for each in rows["orders"]:
            each["person"] = 1
    return rows


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_what_is_seen_of_two_databases_differs_in_released_numbers_only(
    policy: str, seed: int, place: Place, usual: Usual
) -> None:
    found = all_seen(place, odd_shop(seed), policy)
    for one, other in zip(found, usual[policy], strict=True):
        assert one == other


def test_the_comparison_would_notice_a_plan_an_error_or_a_charge_that_differs(
    place: Place, usual: Usual
) -> None:
    for change in (
        replace(POLICY, most_per_unit=32),
        replace(POLICY, budget=replace(POLICY.budget, epsilon=Fraction(1))),
    ):
        vault = place.open(shop(Random(1)), change)
        found = [
            seen(vault, query, delta=delta, method=method)
            for name, query, delta, method in ASKED
            if name == "people"
        ]
        assert found != usual["people"]


@pytest.mark.parametrize("policy", POLICIES)
def test_neighbours_cost_the_same_also_where_the_engine_fails(
    policy: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("Eve's row")

    rows = shop(Random(4))
    spent = []
    for each in (rows, without(3, rows)):
        vault = place.open(each, POLICIES[policy])
        delta = 1e-6 if policy == "elastic rows" else 0
        vault.sql(JOIN, epsilon=0.25, delta=delta)
        monkeypatch.setattr("celosia.queries.execution.execute_plan", fails)
        with pytest.raises(EngineError) as failed:
            vault.sql("SELECT COUNT(*) AS n FROM person WHERE id > 3", epsilon=0.25)
        monkeypatch.undo()
        spent.append((vault.ledger.spent, failed.value.as_dict()))
    assert spent[0] == spent[1]
    assert spent[0][0]["epsilon"] == Fraction(1, 2)  # not given back


@pytest.fixture(autouse=True)
def closed(place: Place) -> Iterator[None]:
    """No vault outlives its test."""
    yield
    place.close()
