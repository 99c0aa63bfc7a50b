"""A compiled question means what the query says: both give the same table on the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from fractions import Fraction
from random import Random
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from sqlglot import exp
from tests.queries.bounds import evaluator
from tests.queries.sql.grammar import queries
from tests.queries.sql.plain_sql import written
from tests.queries.sql.shop import DATABASE, POLICY, in_duckdb, random_rows

from celosia.queries.algebra import Question
from celosia.queries.sql import compile

QUIET = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

BY_HAND = [
    "SELECT COUNT(*), COUNT(price), SUM(price), AVG(quantity), COUNT(DISTINCT custkey) FROM orders",
    "SELECT COUNT(*) FROM customer c JOIN orders o "
    "ON c.custkey = o.custkey AND o.price > c.balance",
    "SELECT COUNT(*), SUM(price) FROM customer JOIN orders USING (custkey) WHERE custkey > 1",
    "SELECT COUNT(*) FROM customer c, nation n, orders o "
    "WHERE o.custkey = c.custkey AND n.region = c.region",
    "SELECT COUNT(*) FROM orders a JOIN orders b "
    "ON a.custkey = b.custkey AND a.orderkey < b.orderkey",
    "SELECT COUNT(*) FROM customer c WHERE NOT EXISTS "
    "(SELECT * FROM orders o WHERE o.custkey = c.custkey AND o.quantity > 1)",
    "SELECT COUNT(*) FROM customer WHERE custkey IN (SELECT custkey FROM orders WHERE price > 1)",
    "SELECT COUNT(*) FROM customer WHERE custkey IS NOT NULL AND custkey NOT IN "
    "(SELECT custkey FROM orders WHERE custkey IS NOT NULL)",
    "SELECT SUM(w) FROM (SELECT price * 2 AS w, custkey AS k FROM orders UNION ALL "
    "SELECT balance, custkey FROM customer) AS u JOIN customer c ON c.custkey = u.k",
    "SELECT region, COUNT(*) AS n FROM customer WHERE region IS NOT NULL GROUP BY region "
    "HAVING COUNT(*) > 0 ORDER BY n DESC, region LIMIT 2",
    "WITH a AS (SELECT custkey AS k FROM orders WHERE price > 0), b AS (SELECT k FROM a) "
    "SELECT COUNT(*) FROM b x JOIN b y ON x.k = y.k",
]


@pytest.fixture(scope="module")
def shop() -> duckdb.DuckDBPyConnection:
    return in_duckdb()


def close(one: Any, other: Any) -> bool:
    if isinstance(one, int | float | Fraction) and isinstance(other, int | float | Fraction):
        return float(one) == pytest.approx(float(other), rel=1e-9, abs=1e-9)
    return bool(one == other)


def same(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> bool:
    return len(one) == len(other) and all(
        len(a) == len(b) and all(map(close, a, b)) for a, b in zip(one, other, strict=True)
    )


@pytest.fixture(scope="module")
def asked() -> duckdb.DuckDBPyConnection:
    """The shop in which a division by zero is NULL, as it is said of questions."""
    return in_duckdb().execute("SET ieee_floating_point_ops = false")


@QUIET
@given(query=queries())
def test_a_question_written_back_as_sql_gives_the_answer_of_the_query(
    query: str, shop: duckdb.DuckDBPyConnection, asked: duckdb.DuckDBPyConnection
) -> None:
    expected = asked.execute(query).fetchall()
    found = shop.execute(written(compile(query, POLICY))).fetchall()
    assert same(found, expected), query


ANALYSTS = [
    "SELECT COUNT(*), SUM(price) FROM (SELECT * FROM orders) AS o WHERE price > 0",
    "WITH x AS (SELECT * FROM customer c JOIN orders o ON c.custkey = o.custkey) "
    "SELECT region, COUNT(*), SUM(price), COUNT(custkey) FROM x GROUP BY ALL ORDER BY region",
    "SELECT COUNT(region), SUM(custkey) "
    "FROM (SELECT * FROM customer JOIN orders USING (custkey)) AS x",
    "SELECT COUNT(*), COUNT(x.region) FROM (SELECT * EXCLUDE (born) FROM customer) AS x",
    "SELECT SUM(price) FROM (SELECT * FROM orders UNION ALL SELECT * FROM orders) AS u",
    "SELECT COUNT(*) FILTER (WHERE price > 1), COUNT(price) FILTER (WHERE quantity > 1), "
    "SUM(price) FILTER (WHERE status = 'open'), AVG(price) FILTER (WHERE status IS NULL), "
    "COUNT(DISTINCT custkey) FILTER (WHERE price < 5), MEDIAN(price) FILTER (WHERE price > 1), "
    "COUNT(DISTINCT (custkey, status)) FILTER (WHERE price < 5), "
    "COUNT_IF(price > 1) FILTER (WHERE quantity > 1) FROM orders",
    "SELECT COUNT(DISTINCT (custkey, status)), COUNT(DISTINCT (quantity, custkey)), "
    "COUNT(DISTINCT (placed, shipped, status)), COUNT(DISTINCT (custkey)) FROM orders",
    "SELECT VAR_SAMP(price), VAR_POP(price), VARIANCE(price), STDDEV(price), STDDEV_SAMP(price), "
    "STDDEV_POP(price) FROM orders",
    "SELECT VAR_SAMP(price), STDDEV_POP(price) FROM orders WHERE orderkey = 1",
    "SELECT status, 100.0 * COUNT(*) FILTER (WHERE price > 1) / COUNT(*) AS share FROM orders "
    "GROUP BY status ORDER BY share DESC, status LIMIT 2 OFFSET 1",
    "SELECT SUM(price) AS s, COUNT(*) AS n, s / n AS mean, mean * 2 AS twice FROM orders",
    "SELECT status AS k, COUNT(*) AS n, n * SUM(quantity) AS m FROM orders GROUP BY k "
    "HAVING m > 2 ORDER BY m, k",
    "SELECT year(placed) AS y, month(placed), SUM(price) / COUNT(DISTINCT custkey) FROM orders "
    "WHERE placed IS NOT NULL GROUP BY ALL HAVING y >= 2020 ORDER BY 1, 2",
    "SELECT COUNT(*) FROM orders OFFSET 1",
    "SELECT date_trunc('month', placed) AS m, COUNT(*) FROM orders WHERE placed IS NOT NULL "
    "GROUP BY m HAVING year(m) = 2020 ORDER BY COUNT(*) + year(m), m DESC",
    "SELECT dayname(placed) AS d, monthname(placed) AS m, COUNT(*) FROM orders GROUP BY ALL "
    "ORDER BY d, m",
    "SELECT SUM(date_diff('day', placed, shipped)), SUM(date_diff('month', placed, shipped)), "
    "SUM(date_diff('quarter', placed, shipped)), SUM(date_diff('year', placed, shipped)) "
    "FROM orders",
    "SELECT CAST(COUNT(*) AS TEXT) || ' of ' || status AS told FROM orders GROUP BY status "
    "ORDER BY status",
    "SELECT CASE WHEN COUNT(*) > 2 THEN 'many' ELSE 'few' END AS told, COUNT(*) > 2 FROM orders "
    "GROUP BY status ORDER BY status",
    "SELECT AVG(n), SUM(t), MAX(d) FROM (SELECT custkey, COUNT(*) AS n, SUM(price) AS t, "
    "COUNT(DISTINCT status) AS d FROM orders GROUP BY custkey) AS o",
    "WITH p AS (SELECT custkey AS k, AVG(price) AS m FROM orders WHERE quantity > 0 GROUP BY 1 "
    "HAVING COUNT(*) > 1 AND m < 50) SELECT k > 2 AS big, COUNT(*), SUM(m) FROM p GROUP BY big "
    "ORDER BY big",
    "SELECT COUNT(*), SUM(last - k) FROM (SELECT custkey AS k, MAX(quantity) AS last, "
    "MIN(placed) AS first FROM orders GROUP BY ALL) AS o WHERE first > DATE '2020-01-01'",
    "SELECT COUNT(*) FROM customer WHERE custkey IN (SELECT custkey FROM orders "
    "GROUP BY custkey HAVING SUM(price) > 2)",
    "SELECT COUNT(*) FROM customer WHERE custkey IN (SELECT DISTINCT custkey FROM orders)",
    "SELECT COUNT(*), SUM(k) FROM (SELECT DISTINCT custkey AS k, status FROM orders) AS o",
    "SELECT COUNT(*), SUM(k) FROM (SELECT custkey AS k FROM orders UNION "
    "SELECT custkey FROM customer UNION SELECT quantity FROM orders) AS u",
    "SELECT COUNT(*), COUNT(o.price), SUM(o.price) FROM customer c LEFT JOIN orders o "
    "ON o.custkey = c.custkey AND o.price > 1 WHERE c.custkey > 1 OR o.status IS NULL",
    "SELECT COUNT(*), COUNT(n.region), SUM(x.n) FROM orders o JOIN customer c USING (custkey) "
    "LEFT JOIN nation n ON n.region = c.region LEFT JOIN (SELECT custkey, COUNT(*) AS n "
    "FROM orders GROUP BY custkey) AS x ON x.custkey = c.custkey",
    "SELECT COUNT(*), SUM(price) FROM (SELECT price, ROW_NUMBER() OVER (PARTITION BY custkey "
    "ORDER BY orderkey DESC) AS place FROM orders) AS o WHERE place <= 2",
    "SELECT SUM(q), COUNT(q) FROM (SELECT quantity - LAG(quantity) OVER (PARTITION BY custkey "
    "ORDER BY orderkey) AS q FROM orders WHERE price > 0) AS o",
    "SELECT SUM(price) FROM (SELECT DISTINCT ON (custkey) custkey, price FROM orders "
    "ORDER BY custkey, orderkey) AS o",
    "SELECT SUM(price), COUNT(*) FROM (SELECT price FROM orders WHERE price IS NOT NULL "
    "QUALIFY RANK() OVER (PARTITION BY custkey ORDER BY price) = 1 OR "
    "COUNT(*) OVER (PARTITION BY custkey) > 3) AS o",
    "SELECT status, COUNT(*) AS n, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS share, "
    "SUM(n) OVER (ORDER BY status) AS running, RANK() OVER (ORDER BY COUNT(*) DESC, status) AS r "
    "FROM orders WHERE status IS NOT NULL GROUP BY status HAVING COUNT(*) > 1 ORDER BY r",
    "SELECT status, AVG(COUNT(*)) OVER (ORDER BY status ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), "
    "COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY status) FROM orders GROUP BY status ORDER BY status",
    "SELECT COVAR_SAMP(price, quantity), COVAR_POP(price, quantity), "
    "REGR_COUNT(price, quantity), REGR_AVGX(price, quantity), REGR_AVGY(price, quantity) "
    "FROM orders",
    "SELECT SUM(power(price, 2)), SUM(quantity ^ 3), COUNT_IF(contains(status, 'o')) FROM orders",
]


@pytest.fixture(scope="module")
def random_shops() -> Iterator[list[duckdb.DuckDBPyConnection]]:
    with ExitStack() as stack:
        yield [stack.enter_context(in_duckdb(random_rows(Random(seed)))) for seed in range(5)]


@pytest.mark.parametrize("query", ANALYSTS)
def test_what_analysts_write_means_the_same_on_random_rows(
    query: str, random_shops: list[duckdb.DuckDBPyConnection]
) -> None:
    compiled = written(compile(query, POLICY))
    for rows in random_shops:
        assert same(rows.execute(compiled).fetchall(), rows.execute(query).fetchall()), query


def without_try(question: Question) -> Question:
    """The same question for the evaluator, whose arithmetic cannot fail."""

    def plain(node: Any) -> Any:
        if isinstance(node, exp.Try):
            return plain_tree(node.this)
        if isinstance(node, exp.Nullif) and node.expression == exp.Literal.number(0):
            return plain_tree(node.this)
        return node

    def plain_tree(tree: Any) -> Any:
        return tree.transform(plain)

    made = _mapped(question, plain_tree)
    assert isinstance(made, Question)
    return made


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, exp.Expression):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_mapped(each, change) for each in value)
    if hasattr(value, "__dataclass_fields__"):
        fields = {name: getattr(value, name) for name in value.__dataclass_fields__}
        return type(value)(**{name: _mapped(each, change) for name, each in fields.items()})
    return value


def shown(question: Question) -> list[tuple[Any, ...]]:
    plain = without_try(question)
    table = evaluator.after(plain, evaluator.answer(plain, DATABASE))
    return [tuple(row.values()) for row in table]


@pytest.mark.parametrize("query", BY_HAND)
def test_a_question_worked_out_by_hand_gives_the_answer_of_the_query(
    query: str, shop: duckdb.DuckDBPyConnection
) -> None:
    assert same(shown(compile(query, POLICY)), shop.execute(query).fetchall())
