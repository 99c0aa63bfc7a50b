"""Threat: the keys of groups tell who is there."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from tests.queries.threats.conftest import Place
from tests.queries.vaults import POLICY, Rows, shop

KNOWN = "SELECT town, COUNT(*) AS n FROM person GROUP BY town"
FOUND = "SELECT street, COUNT(*) AS n FROM person GROUP BY street"


def with_one_more(rows: Rows, **person: Any) -> Rows:
    """The neighbour with one person more."""
    added = {"id": 10**6, "town": "A", "street": "short", "age": 30} | person
    return rows | {"person": [*rows["person"], added]}


def test_one_extra_key_is_never_shown_among_declared_ones(place: Place) -> None:
    rows = shop(Random(1))
    shown = []
    for each in (rows, with_one_more(rows, town="Eve's own town"), with_one_more(rows, town=None)):
        vault = place.open(each)
        shown.append([row["town"] for row in vault.sql(KNOWN, epsilon=1).rows])
    assert shown == [["A", "B", "C"]] * 3


def test_declared_keys_are_shown_in_their_order_whatever_the_data(place: Place) -> None:
    rows = shop(Random(2))
    for people in (rows["person"][::-1], [], rows["person"][:1]):
        vault = place.open(rows | {"person": people, "message": [], "orders": [], "item": []})
        assert [row["town"] for row in vault.sql(KNOWN, epsilon=1).rows] == ["A", "B", "C"]


def test_a_key_that_one_person_alone_has_is_not_found(place: Place) -> None:
    """It may be shown with a chance of 1e-6: twenty questions miss it all but surely."""
    crowd = [{"id": n, "town": "A", "street": "long", "age": 30} for n in range(1, 200)]
    rows: Rows = shop(Random(1)) | {"person": crowd}
    vault = place.open(with_one_more(rows, street="Eve's own street"))
    for number in range(20):
        query = FOUND.replace("GROUP", f"WHERE id > -{number + 1} GROUP")
        found = [row["street"] for row in vault.sql(query, epsilon=1, delta=1e-6).rows]
        assert found == ["long"]  # 199 people are shown: the threshold is near 15


def test_the_order_of_found_keys_does_not_follow_that_of_rows(place: Place) -> None:
    crowd = [{"id": n, "town": "A", "street": "abc"[n % 3], "age": 30} for n in range(1, 600)]
    orders = []
    for people in (crowd, crowd[::-1], sorted(crowd, key=lambda each: str(each["street"]))):
        vault = place.open(shop(Random(1)) | {"person": people})
        orders.append([row["street"] for row in vault.sql(FOUND, epsilon=1, delta=1e-6).rows])
    assert sorted(orders[0]) == ["a", "b", "c"]
    assert orders[0] == orders[1] == orders[2]


def test_without_a_delta_keys_that_are_not_declared_are_refused_before_the_data(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = place.open(shop(Random(1)), POLICY)
    monkeypatch.setattr(vault._engine, "run", None)
    monkeypatch.setattr("celosia.queries.execution.execute_plan", None)
    with pytest.raises(Exception, match="delta") as refused:
        vault.sql(FOUND, epsilon=1)
    assert type(refused.value).__name__ == "QueryRefused"
    assert vault.ledger.history() == ()


@pytest.fixture(autouse=True)
def closed(place: Place) -> Iterator[None]:
    """No vault outlives its test."""
    yield
    place.close()
