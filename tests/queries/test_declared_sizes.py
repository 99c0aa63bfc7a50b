"""The curator learns how long analysts wait where sizes are not declared."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.queries.vaults import POLICY

from celosia.queries.declared_sizes import undeclared_sizes
from celosia.queries.policy import Database, Policy
from celosia.queries.policy.writer import draft_policy

BARE = replace(POLICY, tables=tuple(replace(each, rows=None) for each in POLICY.tables))


def on(kind: str, policy: Policy = BARE) -> Policy:
    return replace(policy, database=Database(kind=kind, url="$SHOP"))  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "now", "then"), [("duckdb", 4, 1), ("postgres", 64, 4)])
def test_a_plain_count_of_a_table_without_a_size_comes_late(
    kind: str, now: float, then: float
) -> None:
    found = {each.table: each for each in undeclared_sizes(on(kind))}
    assert (found["orders"].seconds, found["orders"].seconds_if_small) == (now, then)
    assert f"answered after {now} s" in found["orders"].message
    assert f"after {now} s by" in draft_policy({}) or f"up to {now} s by" in draft_policy({})
    assert "part" not in found  # it is public


def test_nothing_is_told_where_sizes_or_a_deadline_are_declared() -> None:
    sized = replace(BARE, tables=tuple(replace(each, rows=100) for each in BARE.tables))
    assert undeclared_sizes(on("postgres", sized)) == ()
    assert undeclared_sizes(on("postgres", replace(BARE, deadline=Fraction(2)))) == ()
