"""Numbers that are computed from released ones: their intervals, windows, and pairs of values."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.queries.vaults import POLICY, Rows, capped, exact, opened

from celosia.queries.computed_intervals import propagate

CAPPED = capped(POLICY, orders__person=4)


def tidy_shop(people: int = 60) -> Rows:
    """Rows within all bounds, four orders for each person, and values that go together."""
    random = Random(3)
    orders: list[dict[str, Any]] = [
        {
            "id": 4 * person + each,
            "person": person,
            "price": round(random.uniform(0, 10), 2),
            "balance": random.randint(-5, 5),
            "status": random.choice(["open", "done"]),
            "placed": "2026-01-05",
        }
        for person in range(people)
        for each in range(4)
    ]
    for each in orders:
        each["price"] = round(min(10.0, max(0.0, 5 + 0.8 * each["balance"] + each["price"] / 5)), 2)
    own = [{"id": each, "town": "A", "street": None, "age": 30} for each in range(people)]
    return {"person": own, "orders": orders, "item": [], "message": [], "part": []}


TREES = (
    "a / n",
    "ROUND(100 * a / (a + n), 1)",
    "a - n * 2",
    "ABS(a - n) / 3",
    "CASE WHEN a > n THEN a ELSE n END",
    "-(a * n)",
    "GREATEST(a, n, 5)",
    "COALESCE(a, 0) + FLOOR(n)",
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    tree=st.sampled_from(TREES),
    values=st.tuples(st.floats(-50, 50), st.floats(1, 50)),
    errors=st.tuples(st.floats(0, 5), st.floats(0, 0.9)),
    shifts=st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
)
def test_an_interval_holds_what_follows_from_numbers_inside_theirs(
    tree: str, values: tuple[float, float], errors: tuple[float, float], shifts: tuple[float, float]
) -> None:
    import duckdb

    ends = [(value - error, value + error) for value, error in zip(values, errors, strict=True)]
    true = [
        value + error * shift for value, error, shift in zip(values, errors, shifts, strict=True)
    ]
    bounds = propagate(sqlglot.parse_one(tree, read="duckdb"), dict(zip("an", ends, strict=True)))
    source = f"(SELECT {true[0]!r}::DOUBLE AS a, {true[1]!r}::DOUBLE AS n)"
    ((found,),) = duckdb.sql(f"SELECT {tree} FROM {source}").fetchall()
    if bounds is not None and found is not None:
        slack = 1e-6 * (1 + abs(found))
        assert bounds[0] - slack <= found <= bounds[1] + slack


def test_a_divisor_that_may_be_zero_leaves_no_interval() -> None:
    tree = sqlglot.parse_one("a / n")
    assert propagate(tree, {"a": (1.0, 2.0), "n": (-1.0, 1.0)}) is None
    assert propagate(tree, {"a": (1.0, 2.0), "n": None}) is None


COMPUTED = (
    "SELECT status, ROUND(100.0 * SUM(price) / COUNT(*), 1) AS share, ROUND(AVG(price), 2) AS mean "
    "FROM orders GROUP BY status"
)


def test_computed_columns_have_intervals_that_hold_the_exact_answer(tmp_path: Path) -> None:
    rows = tidy_shop()
    wanted = {row[0]: row[1:] for row in exact(rows, COMPUTED)}
    with opened(rows, tmp_path, CAPPED) as vault:
        answer = vault.sql(COMPUTED, epsilon=20, confidence=0.999)
    for row, bounds in zip(answer.rows, answer.intervals, strict=True):
        for name, number in zip(("share", "mean"), wanted[row["status"]], strict=True):
            found = bounds[name]
            assert found is not None
            assert found[0] <= number <= found[1]
            assert found[0] <= row[name] <= found[1]


def test_shares_and_ranks_are_those_of_the_released_rows(tmp_path: Path) -> None:
    query = (
        "SELECT status, COUNT(*) AS n, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS share, "
        "RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM orders GROUP BY status ORDER BY place"
    )
    with opened(tidy_shop(), tmp_path, CAPPED) as vault:
        rows = vault.sql(query, epsilon=1).rows
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert [row["n"] for row in rows] == sorted((row["n"] for row in rows), reverse=True)
    assert rows[0]["share"] == pytest.approx(rows[0]["n"] / sum(row["n"] for row in rows))


PAIRS = (
    "COVAR_POP(price, balance)",
    "COVAR_SAMP(price, balance)",
    "CORR(price, balance)",
    "REGR_SLOPE(price, balance)",
    "REGR_INTERCEPT(price, balance)",
    "REGR_R2(price, balance)",
)


def test_pairs_of_values_are_near_the_exact_ones_and_inside_their_intervals(tmp_path: Path) -> None:
    """All share six sums of 800 rows; noise has a scale of 4 * 25 / (100 / 6) or less in each."""
    rows = tidy_shop(200)
    query = f"SELECT {', '.join(f'{each} AS v{at}' for at, each in enumerate(PAIRS))} FROM orders"
    ((*wanted,),) = exact(rows, query)
    with opened(rows, tmp_path, CAPPED) as vault:
        answer = vault.sql(query, epsilon=100)
    found: list[Any] = list(answer.rows[0].values())
    for number, value, bounds in zip(wanted, found, answer.intervals[0].values(), strict=True):
        assert value == pytest.approx(number, rel=0.03)
        assert bounds is not None
        assert bounds[0] <= number <= bounds[1]
