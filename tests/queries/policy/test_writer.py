"""A policy that is written reads back as itself, and its hash knows only what it says."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.queries.policy.policies import SHOP, policies

from celosia.core.errors import InputError
from celosia.core.neighbours import Relation
from celosia.queries.policy import (
    Database,
    Policy,
    Spending,
    Unit,
    check_policy,
    policy_hash,
    policy_text,
    read_policy,
)
from celosia.queries.policy.writer import format_number


@pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")  # of large deltas
@given(policies())
def test_every_policy_that_is_right_reads_back_as_itself(policy: Policy) -> None:
    check_policy(policy)
    text = policy_text(policy)
    assert read_policy(text) == policy
    assert policy_text(read_policy(text)) == text
    assert policy_hash(read_policy(text)) == policy_hash(policy)


@given(policies(), st.randoms())
def test_the_hash_does_not_depend_on_any_order(policy: Policy, random: Any) -> None:
    def mixed(parts: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(random.sample(parts, len(parts)))

    tables = tuple(
        replace(
            table,
            references=mixed(table.references),
            columns=mixed(
                tuple(
                    replace(each, keys=None if each.keys is None else mixed(each.keys))
                    for each in table.columns
                )
            ),
        )
        for table in policy.tables
    )
    database = replace(policy.database, files=mixed(policy.database.files), folder="/elsewhere")
    other = replace(
        policy, tables=mixed(tables), analysts=mixed(policy.analysts), database=database
    )
    assert policy_hash(other) == policy_hash(policy)


@given(st.fractions() | st.decimals(allow_nan=False, allow_infinity=False).map(Fraction))
def test_a_number_reads_back_as_itself(number: Fraction) -> None:
    if abs(number.numerator) < 10**60 and number.denominator < 10**18:
        value = tomllib.loads(f"x = {format_number(number)}", parse_float=str)["x"]
        assert Fraction(value) == number


def test_the_hash_of_a_policy_never_changes() -> None:
    known = "277d58183a55b145de22fb74933e2e78f2f69cded92abadd2a8923a9adf6d9e9"
    assert policy_hash(read_policy(SHOP)) == known
    program = (
        "import sys; from celosia.queries.policy import *; "
        "print(policy_hash(read_policy(sys.stdin.read())))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], input=SHOP, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == known


def test_comments_spaces_and_ways_to_write_a_number_do_not_change_the_hash() -> None:
    same = "# A comment.\n" + SHOP.replace("epsilon = 2\n", "epsilon   = 2.00 # two\n")
    same = same.replace("epsilon = 0.1", 'epsilon = "1/10"').replace("1e-6", "0.000001")
    same = same.replace('nationkey = "integer"', 'nationkey = { type = "integer", unique = false }')
    assert policy_hash(read_policy(same)) == policy_hash(read_policy(SHOP))


def test_everything_that_a_policy_says_changes_its_hash() -> None:
    policy = read_policy(SHOP)
    orders = policy.tables[-1]
    others = [
        replace(policy, name="other"),
        replace(policy, relation=Relation.CHANGE_ONE),
        replace(policy, elastic=True),
        replace(policy, ownerless="refuse"),
        replace(policy, deadline=Fraction(2)),
        replace(policy, most_per_unit=5),
        replace(policy, unit=Unit()),
        replace(policy, unit=replace(policy.unit, name="person")),
        replace(policy, budget=Spending(epsilon=Fraction(3), delta=policy.budget.delta)),
        replace(policy, budget=Spending(epsilon=Fraction(2))),
        replace(policy, analysts=policy.analysts[:1]),
        replace(policy, database=Database(path="x.duckdb")),
        replace(policy, database=Database(kind="postgres", url="$X")),
        replace(policy, tables=policy.tables[:-1]),
    ]
    tables = [
        replace(orders, public=True),
        replace(orders, rows=None),
        replace(orders, references=()),
        replace(orders, columns=orders.columns[:-1]),
    ]
    changes: list[dict[str, Any]] = [
        {"type": "text"},
        {"lower": Fraction(0)},
        {"upper": Fraction(1)},
        {"grid": None},
        {"keys": (1,)},
        {"keys": ("1",)},
        {"keys": (True,)},
        {"unique": True},
        {"most": 7},
    ]
    for change in changes:
        price = replace(orders.columns[3], **change)
        tables.append(replace(orders, columns=(*orders.columns[:3], price, *orders.columns[4:])))
    others += [replace(policy, tables=(*policy.tables[:-1], table)) for table in tables]
    hashes = {policy_hash(each) for each in (policy, *others)}
    assert len(hashes) == 1 + len(others)


def test_a_policy_with_problems_is_not_written() -> None:
    policy = replace(read_policy(SHOP), budget=Spending(epsilon=Fraction(0)))
    with pytest.raises(InputError, match="epsilon"):
        policy_text(policy)
