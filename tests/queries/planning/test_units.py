"""A plan tells every amount in the unit of the answer, never in steps of a grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from tests.queries.vaults import BY_ROW, POLICY, capped, opened, shop

from celosia.queries import Vault
from celosia.queries.policy import Policy

SUM = "SELECT SUM(price) AS n FROM orders"  # prices from 0 to 10, in steps of 0.01
JOINED = "SELECT SUM(o.price) AS n FROM message m JOIN orders o ON m.sender = o.person"
ROWS = replace(BY_ROW, elastic=True)


@pytest.fixture
def vaults(tmp_path: Path) -> Iterator[dict[str, Vault]]:
    rows = shop(Random(1))
    policies: dict[str, Policy] = {"rows": ROWS, "people": POLICY}
    made = {name: opened(rows, tmp_path, policy) for name, policy in policies.items()}
    yield made
    for each in made.values():
        each.close()


def _bounds(vault: Vault, query: str, method: str | None = None) -> list[str]:
    return [part.bound for part in vault.explain(query, epsilon=1, delta=1e-6, method=method).parts]


CAPS = "caps 0.01, 0.02, 0.04, ... up to 640"  # most_per_unit = 64 rows of 10 at most
SHARED = "rows that count as long as their owners have room, "


@pytest.mark.parametrize(
    ("whose", "query", "method", "bound"),
    [
        ("rows", SUM, None, "one row moves it by at most 10, by declared caps"),
        ("rows", SUM, "elastic", "elastic sensitivity 10"),
        ("rows", SUM, "r2t", CAPS),
        ("people", SUM, None, CAPS),
        ("people", SUM, "r2t", CAPS),
        ("people", SUM, "r2t-cap", CAPS),
        ("people", JOINED, None, SHARED + CAPS),
        (
            "rows",
            JOINED,
            "elastic",
            "elastic sensitivity max(10 * mf(orders.person), 10 * mf(message.sender))",
        ),
    ],
)
def test_the_bound_of_a_sum_is_in_the_unit_of_the_sum(
    vaults: dict[str, Vault], whose: str, query: str, method: str | None, bound: str
) -> None:
    assert _bounds(vaults[whose], query, method) == [bound]


def test_each_total_of_a_variance_has_its_own_bound(vaults: dict[str, Vault]) -> None:
    query = "SELECT VARIANCE(price) AS n FROM orders"
    by = [f"one row moves it by at most {each}, by declared caps" for each in (5, 25, 1)]
    assert _bounds(vaults["rows"], query) == by
    assert _bounds(vaults["people"], query)[1].startswith("caps 0.00001, 0.00002, ")


def test_counts_keep_their_caps(vaults: dict[str, Vault]) -> None:
    query = "SELECT COUNT(*) AS n FROM orders"
    assert _bounds(vaults["people"], query) == ["caps 1, 2, 4, ... up to 64"]


def test_an_answer_of_another_grid_is_not_taken_for_this_one(tmp_path: Path) -> None:
    coarse = replace(
        BY_ROW,
        tables=tuple(
            replace(
                table,
                columns=tuple(
                    replace(each, grid=Fraction(1, 10)) if each.name == "price" else each
                    for each in table.columns
                ),
            )
            for table in BY_ROW.tables
        ),
    )
    rows = shop(Random(1))
    with opened(rows, tmp_path, BY_ROW) as fine, opened(rows, tmp_path, coarse) as other:
        one, two = (vault.explain(SUM, epsilon=1) for vault in (fine, other))
    assert one.parts[0].bound == two.parts[0].bound
    assert one.parameters != two.parameters


def test_caps_declared_in_rows_stay_in_rows(tmp_path: Path) -> None:
    policy = capped(POLICY, orders__person=4)
    with opened(shop(Random(1)), tmp_path, policy) as vault:
        assert _bounds(vault, SUM) == ["each person has at most 4 rows, by declared caps"]
