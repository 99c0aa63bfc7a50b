"""Bounds of expressions from declared ones, against values that rows can have."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pytest
from tests.queries.vaults import POLICY

from celosia.queries.algebra import Scan
from celosia.queries.emission import Target
from celosia.queries.planning.ranges import MOST_STEPS, choose_fixed_point, infer_range, is_whole
from celosia.queries.sql import compile

TARGET = Target(policy=POLICY)
ORDERS = Scan("orders", "orders")


def argument(text: str):  # type: ignore[no-untyped-def]
    (aggregate,) = compile(f"SELECT SUM({text}) AS s FROM orders", POLICY).aggregates
    return aggregate.argument


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("price", 0, 10),
        ("price * balance", -50, 50),
        ("price - balance", -5, 15),
        ("-balance", -5, 5),
        ("ABS(balance)", 0, 5),
        ("balance * 2 + 1", -9, 11),
        ("price / 4", 0, Fraction(5, 2)),
        ("CASE WHEN status = 'open' THEN price ELSE 20 END", 0, 20),
        ("CASE WHEN status = 'open' THEN balance END", -5, 5),
        ("COALESCE(balance, 7)", -5, 7),
        ("ROUND(price)", 0, 10),
        ("CAST(price AS INTEGER)", 0, 10),
        ("CAST(price > 1 AS INTEGER)", 0, 1),
        ("GREATEST(balance, 0)", 0, 5),
        ("LEAST(balance, price)", -5, 10),  # either may be NULL, and is passed over then
    ],
)
def test_bounds_follow_from_declared_ones(text: str, low: Fraction, high: Fraction) -> None:
    found = infer_range(argument(text), ORDERS, TARGET)
    assert found == (low, high)
    # No pair of legal values leaves them.
    with duckdb.connect() as connection:
        ((least, most),) = connection.execute(
            f"SELECT MIN({text}), MAX({text}) FROM (SELECT p AS price, b AS balance, s AS status "
            "FROM range(0, 11) x(p), range(-5, 6) y(b), (VALUES ('open'), ('done')) z(s))"
        ).fetchall()
    assert low <= least
    assert most <= high


@pytest.mark.parametrize("text", ["id", "price + id", "price / balance", "LENGTH(status)"])
def test_what_nothing_bounds_has_no_range(text: str) -> None:
    assert infer_range(argument(text), ORDERS, TARGET) is None


def test_whole_numbers_stay_whole() -> None:
    whole = [is_whole(argument(text), ORDERS, TARGET) for text in ("balance", "balance * 2 - 1")]
    other = [is_whole(argument(text), ORDERS, TARGET) for text in ("price", "balance / 2")]
    assert (whole, other) == ([True, True], [False, False])


def test_grids_are_the_declared_ones_unless_they_are_too_fine() -> None:
    cent = Fraction(1, 100)
    assert choose_fixed_point((Fraction(0), Fraction(10)), grid=cent, is_whole=False).step == cent
    assert choose_fixed_point((Fraction(0), Fraction(7)), grid=None, is_whole=True).step == 1
    fine = choose_fixed_point((Fraction(0), Fraction(1)), grid=Fraction(1, 10**15), is_whole=False)
    assert fine.reach <= MOST_STEPS < fine.reach * 10
    free = choose_fixed_point((Fraction(0), Fraction(1)), grid=None, is_whole=False)
    assert 10**5 <= free.reach <= 10**7
    # Between 0.2 and 0.8 there is no whole number: the bounds go out to 0 and 1.
    wide = choose_fixed_point((Fraction(1, 5), Fraction(4, 5)), grid=Fraction(1), is_whole=False)
    assert (wide.low, wide.high) == (0, 1)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("GREATEST(LEAST(id, 60), 0)", 0, 60),
        ("LEAST(GREATEST(DATE_DIFF('day', placed, DATE '2020-01-01'), -5), 5)", -5, 5),
        ("GREATEST(LEAST(id, 60), balance)", None, None),  # NULL balance: id may be anything
        ("LEAST(id, 60)", None, None),
        ("GREATEST(id, 0)", None, None),
    ],
)
def test_a_question_may_clip_what_has_no_bounds(
    text: str, low: int | None, high: int | None
) -> None:
    found = infer_range(argument(text), ORDERS, TARGET)
    assert found == (None if low is None or high is None else (Fraction(low), Fraction(high)))
