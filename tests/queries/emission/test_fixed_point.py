"""Numbers as whole steps, inside the engines, against plain arithmetic on the same numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.queries.emission.conftest import Bench
from tests.queries.emission.shop import POLICY, tree

from celosia.queries.algebra import Aggregate, Key, Question, Scan
from celosia.queries.emission import FixedPoint, Target, grouped_query, sum_query
from celosia.queries.emission.aggregates import EXACT

ORDERS = Scan("orders", "o")
PRICE = tree("o.Price")
ODD = [None, math.nan, math.inf, -math.inf, -0.0, 0.0, 0.005, 0.015, 0.025, 0.125, 2.5, -2.5]
ODD += [0.49999999999999994, 0.0049999999999999994, 1e308, -1e308, 5e-324, 99.995, 100.0, 100.005]
STEPS = [Fraction(1), Fraction(1, 100), Fraction(1, 8), Fraction(1, 3), Fraction(5), Fraction(3, 7)]

prices = st.one_of(st.none(), st.sampled_from(ODD), st.floats(), st.floats(-200, 200))
bounds = st.tuples(st.integers(-300, 300), st.integers(0, 400))


@st.composite
def fixed_points(draw: st.DrawFn) -> FixedPoint:
    step = draw(st.sampled_from(STEPS))
    low, width = draw(bounds)
    scale = draw(st.sampled_from([1, 1, 2**40, 2**46]))
    lower = Fraction(low) * step * scale
    return FixedPoint(lower=lower, upper=lower + width * step * scale, step=step)


def steps_of(value: float | None, fixed: FixedPoint) -> int | None:
    """What the documentation says, in doubles: left out, cut off, or rounded half away from 0."""
    if value is None or math.isnan(value):
        return None
    if value <= float(fixed.low * fixed.step):
        return fixed.low
    if value >= float(fixed.high * fixed.step):
        return fixed.high
    product = value * float(fixed.step.denominator)
    steps = Fraction(product / fixed.step.numerator if fixed.step.numerator != 1 else product)
    nearest = math.floor(abs(steps) + Fraction(1, 2)) * (1 if steps > 0 else -1)
    return max(fixed.low, min(fixed.high, nearest))


def answers(values: list[float | None], query: Any) -> list[tuple[Any, ...]]:
    rows = [(place, place % 2, value) for place, value in enumerate(values)]
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute('CREATE TABLE orders (id BIGINT, person BIGINT, "Price" DOUBLE)')
        if rows:
            places = ", ".join(["(?, ?, ?)"] * len(rows))
            flat = [each for row in rows for each in row]
            connection.execute(f"INSERT INTO orders VALUES {places}", flat)
        return connection.execute(query.sql("duckdb")).fetchall()


@settings(max_examples=100, deadline=None)
@given(st.lists(prices, max_size=12), fixed_points())
def test_a_sum_is_that_of_steps_rounded_one_by_one(
    values: list[float | None], fixed: FixedPoint
) -> None:
    query = sum_query(ORDERS, PRICE, fixed=fixed, target=Target(policy=POLICY))
    exact = sum(steps_of(value, fixed) or 0 for value in values)
    if fixed.is_exact_in_doubles:
        exact = min(exact, EXACT)
    assert answers(values, query) == [(exact,)]


@settings(max_examples=50, deadline=None)
@given(st.lists(prices, max_size=12), fixed_points())
def test_so_is_each_group(values: list[float | None], fixed: FixedPoint) -> None:
    by_person = Question(
        ORDERS,
        (Aggregate("rows", "n"), Aggregate("sum", "s", PRICE)),
        (Key("person", tree("o.person")),),
    )
    query = grouped_query(
        by_person, target=Target(policy=POLICY), fixed={"s": fixed}, group_keys=[[0, 1, 2]]
    )
    found = answers(values, query)
    for key in (0, 1, 2):
        mine = [value for place, value in enumerate(values) if place % 2 == key]
        exact = sum(steps_of(value, fixed) or 0 for value in mine)
        if fixed.is_exact_in_doubles:
            exact = min(exact, EXACT)
        assert found[key] == (key, len(mine), exact)


def test_whole_numbers_are_cut_off_at_both_bounds() -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        for step in (Fraction(1), Fraction(1, 4)):
            fixed = FixedPoint(lower=Fraction(-1), upper=Fraction(7, 2), step=step)
            asked = sum_query(ORDERS, tree("o.amount"), fixed=fixed, target=Target(policy=POLICY))
            query = asked.sql("duckdb")
            for value in (-(2**62), -2, -1, 0, 3, 4, 9, 2**62):
                rows = f"SELECT {value}::BIGINT AS amount"
                connection.execute(f"CREATE OR REPLACE TABLE orders AS {rows}")
                exact = max(fixed.low, min(fixed.high, int(value / step)))
                assert connection.execute(query).fetchall() == [(exact,)]


def test_sums_in_doubles_are_exact_up_to_their_end_and_stay_there() -> None:
    step = Fraction(1)
    fixed = FixedPoint(lower=Fraction(0), upper=Fraction(2**48), step=step)
    query = sum_query(ORDERS, PRICE, fixed=fixed, target=Target(policy=POLICY))
    below: list[float | None] = [*[float(2**48)] * 31, float(2**48 - 1), 0.0]
    assert answers(below, query) == [(2**53 - 1,)]
    further: list[list[float | None]] = [[1.0], [1.0, 1.0], [float(2**48), 1.0, 3.0]]
    for more in further:
        beyond = [*below, *more]
        assert answers(beyond, query) == [(2**53,)]


def test_odd_numbers_take_the_same_steps_in_both_engines(bench: Bench) -> None:
    rows = [{"id": place, "person": 1, "Price": value} for place, value in enumerate(ODD)]
    bench.load({"orders": rows})
    for fixed in (
        FixedPoint(lower=Fraction(0), upper=Fraction(100), step=Fraction(1, 8)),
        FixedPoint(lower=Fraction(-3), upper=Fraction(3)),
        FixedPoint(lower=Fraction(1), upper=Fraction(2), step=Fraction(1, 4)),
        FixedPoint(lower=Fraction(-10), upper=Fraction(100), step=Fraction(5)),
    ):
        query = sum_query(ORDERS, PRICE, fixed=fixed, target=bench.target())
        exact = sum(steps_of(value, fixed) or 0 for value in ODD)
        assert bench.ask(query) == [(exact,)]
