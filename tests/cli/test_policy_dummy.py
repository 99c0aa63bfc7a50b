"""`celosia policy dummy`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from tests.cli.running import Run
from tests.queries.vaults import POLICY

from celosia.queries.policy import Spending, policy_text

SHOP = replace(POLICY, budget=Spending(epsilon=Fraction(5)))


def test_an_analyst_asks_dummy_data_without_the_database(
    run: Run,
) -> None:
    Path("shop.toml").write_text(policy_text(SHOP), "utf-8")  # whose database is not here
    done = run("policy", "dummy", "shop.toml", "-o", "dummy.duckdb", "--rows", "30")
    assert done.code == 0, done.err
    question = (
        "SELECT p.town, count(*) AS n FROM orders o JOIN person p ON o.person = p.id GROUP BY 1"
    )
    found = run("query", "dummy.toml", question, "-e", "1", "--seed", "1", "--json")
    assert found.code == 0, found.err
    assert len(found.data()["rows"]) == 3
    run("policy", "dummy", "shop.toml", "-o", "dummy.duckdb").complains("CEL-I004")
