"""No expression fails on any row, so that no error can tell of the data."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp
from tests.queries.sql.plain_sql import written
from tests.queries.sql.shop import POLICY, in_duckdb

from celosia.queries.sql import compile, make_total

ATTACKS = [
    "1 / (price - 5) > 2",
    "1 // (quantity - 5) > 2",
    "1 % (quantity - 5) > 2",
    "quantity * 2000000000 * 2000000000 * 2000000000 > 0",
    "9223372036854775807 + quantity > 0",
    "-(quantity - 2147483647 - 5) > 0",
    "abs(-2147483648 + quantity - 1) > 0",
    "CAST(status AS INTEGER) = 1",
    "CAST(status AS DATE) = '2020-01-01'",
    "CAST(status AS BOOLEAN)",
    "CAST(price * 1e300 AS BIGINT) > 0",
    "CAST(price AS SMALLINT) * 30000 > 0",
    "placed + INTERVAL '10000' YEAR > placed",
    "round(price * 1e308, 3) > 0",
    "EXTRACT(year FROM CAST(status AS TIMESTAMP)) = 1",
    "CASE WHEN price = 5 THEN CAST('x' AS BIGINT) ELSE 1 END > 0",
    "CASE WHEN price = 5 THEN 9223372036854775807 * 9223372036854775807 ELSE 1 END > 0",
    "CASE WHEN price = 5 THEN CAST(1e300 AS SMALLINT) ELSE 1 END > 0",
    "CASE WHEN price = 5 THEN 1 // (quantity - 1) ELSE 1 END > 0",
    f"quantity > 0.{'0' * 30}1",
    f"quantity IN (0.{'0' * 30}1)",
    f"quantity BETWEEN 0.{'0' * 30}1 AND 3",
    f"coalesce(quantity, 0.{'0' * 30}1) > 0",
    f"greatest(quantity, 0.{'0' * 30}1) > 0",
    f"nullif(quantity, 0.{'0' * 30}1) > 0",
    f"CASE WHEN quantity > 1 THEN quantity ELSE 0.{'0' * 30}1 END > 0",
    "placed < TIMESTAMP '2020-01-01 10:00:00'",
    "placed IN (TIMESTAMP '2020-01-01 10:00:00')",
    "coalesce(shipped, placed) < shipped",
    "power(price, 4) > 0",
    "power(quantity * 2000000000, 4) > 0",
    "date_diff('day', placed, shipped) > 0",
    "date_diff('month', placed, DATE '2020-01-01') > 0",
    "date_add(placed, INTERVAL '10000' YEAR) > placed",
    "monthname(placed) = dayname(shipped)",
    "replace(status, '9', '') = ''",
    "strpos(status, '9') + 9223372036854775807 > 0",
    "CAST(price > 1 AS INTEGER) * 9223372036854775807 * 3 > 0",
]


@pytest.fixture
def shop() -> duckdb.DuckDBPyConnection:
    connection = in_duckdb()
    extremes = "INSERT INTO orders VALUES "
    extremes += "(2147483647, -2147483648, 1.7e308, 2147483647, '290000-12-31', NULL, 'nan'), "
    extremes += "(0, 0, 'nan', -2147483648, 'infinity', 'infinity', '99999999999999999999'), "
    extremes += "(0, 0, '-inf', 0, '-infinity', '-infinity', '2020-99-99')"
    connection.execute(extremes)
    return connection


@pytest.mark.parametrize("condition", ATTACKS)
def test_an_attack_by_errors_gets_a_number(condition: str, shop: duckdb.DuckDBPyConnection) -> None:
    question = compile(f"SELECT COUNT(*) FROM orders WHERE {condition}", POLICY)
    assert shop.execute(written(question)).fetchall()


@pytest.mark.parametrize("condition", ATTACKS)
def test_an_attack_inside_filter_gets_a_number(
    condition: str, shop: duckdb.DuckDBPyConnection
) -> None:
    query = f"SELECT SUM(quantity) FILTER (WHERE {condition}) / COUNT_IF({condition}) FROM orders"
    assert shop.execute(written(compile(query, POLICY))).fetchall()


@pytest.mark.parametrize("kind", ["HUGEINT", "DECIMAL(38, 0)", "DECIMAL(38, 18)"])
def test_a_decimal_number_beside_a_wide_column_gets_a_number(kind: str) -> None:
    with duckdb.connect() as wide:
        wide.execute(f"CREATE TABLE orders (price {kind}, quantity {kind})")
        wide.execute("INSERT INTO orders VALUES (99999999999999999999, 1), (1, 2)")
        for condition in (
            "price > .000000000000000001",
            f"price > 0.{'0' * 30}1",
            "price IN (0.5)",
        ):
            question = compile(f"SELECT COUNT(*) FROM orders WHERE {condition}", POLICY)
            assert wide.execute(written(question)).fetchall()


def test_some_of_the_attacks_do_fail_without_the_rewrite(shop: duckdb.DuckDBPyConnection) -> None:
    failed = 0
    for condition in ATTACKS:
        try:
            shop.execute(f"SELECT COUNT(*) FROM orders WHERE {condition}").fetchall()
        except duckdb.Error:
            failed += 1
    assert failed >= 8


NUMBERS = st.recursive(
    st.sampled_from(["price", "quantity", "custkey", "9223372036854775807", "0", "1e308", "-1"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        ),
        inner.map(lambda part: f"abs({part})"),
        inner.map(lambda part: f"round({part}, 2)"),
        inner.map(lambda part: f"CAST({part} AS BIGINT)"),
        inner.map(lambda part: f"CAST(CAST({part} AS TEXT) AS DOUBLE)"),
        inner.map(lambda part: f"nullif({part}, 1)"),
        inner.map(lambda part: f"CASE WHEN {part} > 1 THEN {part} END"),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(one=NUMBERS, other=NUMBERS)
def test_no_arithmetic_fails_on_any_row(one: str, other: str) -> None:
    question = compile(f"SELECT COUNT(*) FROM orders WHERE {one} < {other}", POLICY)
    assert SHARED.execute(written(question)).fetchall()


SHARED = in_duckdb()
SHARED.execute(
    "INSERT INTO orders VALUES (0, -2147483648, 1.7e308, 2147483647, NULL, NULL, NULL), "
    "(0, 2147483647, 'nan', -2147483648, NULL, NULL, NULL), "
    "(0, 0, '-inf', 0, NULL, NULL, NULL)"
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(text=NUMBERS)
def test_the_rewrite_changes_nothing_the_second_time(text: str) -> None:
    tree = sqlglot.parse_one(text, read="duckdb")
    assert isinstance(tree, exp.Expression)
    assert make_total(make_total(tree)) == make_total(tree)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(text=NUMBERS)
def test_the_rewrite_leaves_its_argument_alone(text: str) -> None:
    tree = sqlglot.parse_one(text, read="duckdb")
    assert isinstance(tree, exp.Expression)
    before = tree.sql()
    make_total(tree)
    assert tree.sql() == before
