"""Arithmetic in PostgreSQL's doubles decides as decimal numbers do, and fails for no row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import psycopg
import pytest
from tests.queries.emission.shop import tree

from celosia.accounting.amounts import Spending
from celosia.queries.algebra import Scan
from celosia.queries.emission import FixedPoint, Target, sum_query
from celosia.queries.emission.postgres import _Writer, rewrite_for_postgres
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy

FACTS = Scan("facts", "f")
POLICY = Policy(
    name="facts",
    budget=Spending(epsilon=Fraction(1)),
    tables=(
        TablePolicy(
            name="facts",
            columns=(
                *(ColumnPolicy(name=name, type="number") for name in ("d", "m", "r")),
                ColumnPolicy(name="k", type="integer"),
            ),
        ),
    ),
)
TARGET = Target(policy=POLICY, dialect="postgres")
ODD = (0.1, 0.3, 1.15, -2.5, 0.0, 1e-15, 9e-16, 1e15, 2e15, 1e308, -1e308, 5e-324, 3e-200, 7.0)
CONDITIONS = (
    "f.d * 3 > 0.3",
    "f.m * 3 > 0.3",
    "f.r * 3 >= 0.3",
    "f.d * f.d * f.d * f.d * f.d > 0",
    "f.d * f.m < f.r",
    "f.d - f.m = 0",
    "f.m <> f.d",
    "f.d > f.r",
    "NOT (f.d / 3 > 0.05 AND f.k * 2 <= 4) OR -f.m >= 2.5",
    "f.k + f.d < 1e15",
    "(f.d - 0.3) * (f.m - 0.3) = 0",
    *(
        f"f.{name} * 2 {sign} {bound} OR (f.{name} + 1) * 4 {sign} 32"
        for name in "dmr"
        for sign, bound in ((">", "14"), ("<=", "-5"), ("=", "14"), (">=", "0.25"))
    ),
)


@pytest.fixture(scope="module")
def facts(postgres: str) -> Iterator[psycopg.Connection]:
    values = [*map(repr, ODD), "NaN", "Infinity", "-Infinity", None]
    rows = []
    for place, value in enumerate(values):
        other = values[(5 * place + 3) % len(values)]
        small = value if value is None or not 1e30 < abs(float(value)) < math.inf else "1"
        small = small if small is None or abs(float(small)) > 1e-30 else "0"
        for exact in (value, other, "1e-400"):
            rows.append((value, exact, small, [None, 0, 1, 2**62][place % 4]))
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "DROP TABLE IF EXISTS facts; "
            "CREATE TABLE facts (d DOUBLE PRECISION, m NUMERIC, r REAL, k BIGINT)"
        )
        connection.cursor().executemany("INSERT INTO facts VALUES (%s, %s, %s, %s)", rows)
        yield connection


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_decides_as_it_does_in_decimal_numbers(
    facts: psycopg.Connection, text: str
) -> None:
    condition = tree(text)
    fast = rewrite_for_postgres(condition, FACTS, target=TARGET)
    exact = _Writer(FACTS, TARGET).write(condition)
    assert fast != exact
    found = facts.execute(
        f"SELECT {TARGET.text(fast)}, {TARGET.text(exact)} FROM facts AS f"
    ).fetchall()
    assert [one for one, _ in found] == [other for _, other in found]


@pytest.mark.parametrize(
    "text",
    ["f.d - 0.25", "f.m - 0.25", "(f.m * f.d) / 8", "f.d * f.d * f.d * f.d * f.d", "f.k * 2 - f.d"],
)
def test_steps_are_those_of_decimal_numbers_next_to_halves(
    facts: psycopg.Connection, text: str
) -> None:
    fixed = FixedPoint(lower=Fraction(-1000), upper=Fraction(1000), step=Fraction(1, 8))
    query = sum_query(FACTS, tree(text), fixed=fixed, target=TARGET)
    argument = _Writer(FACTS, TARGET).write(tree(text))
    exact = TARGET.text(fixed.tree(argument, is_whole=False, target=TARGET))
    (total,) = facts.execute(TARGET.text(query)).fetchone() or ()
    (wanted,) = facts.execute(f"SELECT SUM({exact}) FROM facts AS f").fetchone() or ()
    assert total == wanted


@pytest.mark.parametrize("text", ["f.d", "f.m", "f.r", "f.d - 4", "f.m - 4", "f.r - 4"])
@pytest.mark.parametrize("lower", [0, 1])
def test_columns_above_0_are_rounded_as_decimal_numbers_are(
    facts: psycopg.Connection, text: str, lower: int
) -> None:
    shift = 4 if "-" in text else 0
    fixed = FixedPoint(
        lower=Fraction(lower - shift), upper=Fraction(9 - shift), step=Fraction(1, 8)
    )
    query = sum_query(FACTS, tree(text), fixed=fixed, target=TARGET)
    assert "1e-300" in TARGET.text(query) or lower
    assert "-1e-300" not in TARGET.text(query)
    argument = _Writer(FACTS, TARGET).write(tree(text))
    exact = TARGET.text(fixed.tree(argument, is_whole=False, target=TARGET))
    (total,) = facts.execute(TARGET.text(query)).fetchone() or ()
    (wanted,) = facts.execute(f"SELECT SUM({exact}) FROM facts AS f").fetchone() or ()
    assert total == wanted
