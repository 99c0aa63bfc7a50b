"""The same question has one canonical text, and different questions have different ones."""

from __future__ import annotations

from itertools import combinations

import pytest
from tests.queries.sql.shop import POLICY
from tests.queries.sql.test_golden import CASES

from celosia.core.messages import speaking
from celosia.queries.sql import compile, normalise


def text(query: str) -> str:
    return normalise(compile(query, POLICY))


SAME = [
    (
        "SELECT COUNT(*) FROM orders WHERE price > 1",
        "select  count( * )\nfrom ORDERS -- all\nwhere (PRICE>1) ;",
        "SELECT COUNT(*) FROM orders AS o WHERE /* high */ ((o.price) > 1)",
        'SELECT count(*) FROM "Orders" WHERE "price" > 1',
    ),
    (
        "SELECT region, SUM(price) AS s FROM customer c JOIN orders o ON c.custkey = o.custkey "
        "GROUP BY region",
        "SELECT x.region, SUM(y.price) AS s FROM customer x JOIN orders y USING (custkey) "
        "GROUP BY x.region",
        "SELECT x.REGION, SUM(y.price) AS s FROM customer x, orders y "
        "WHERE x.custkey = y.custkey GROUP BY 1",
    ),
    (
        "SELECT COUNT(*) FROM customer c WHERE EXISTS (SELECT 1 FROM orders o "
        "WHERE o.custkey = c.custkey)",
        "SELECT COUNT(*) FROM customer WHERE custkey IN (SELECT custkey FROM orders)",
    ),
    (
        "SELECT COUNT(*) FROM orders WHERE year(placed) = 2020",
        "SELECT COUNT(*) FROM orders WHERE EXTRACT(YEAR FROM placed) = 2020",
    ),
]

DIFFERENT = [
    "SELECT COUNT(*) FROM orders WHERE status = 'open'",
    "SELECT COUNT(*) FROM orders WHERE status = 'OPEN'",
    "SELECT COUNT(*) FROM orders WHERE status = ' open'",
    "SELECT COUNT(*) FROM orders WHERE status <> 'open'",
    "SELECT COUNT(*) AS n FROM orders WHERE status = 'open'",
    "SELECT COUNT(*) FROM orders a JOIN orders b ON a.custkey = b.custkey WHERE a.price > 1",
    "SELECT COUNT(*) FROM orders a JOIN orders b ON a.custkey = b.custkey WHERE b.price > 1",
    "SELECT COUNT(*) FROM orders WHERE price - (quantity - 1) > 0",
    "SELECT COUNT(*) FROM orders WHERE (price - quantity) - 1 > 0",
    "SELECT COUNT(*) FROM orders WHERE price > 1 AND (quantity > 1 OR custkey > 1)",
    "SELECT COUNT(*) FROM orders WHERE (price > 1 AND quantity > 1) OR custkey > 1",
    "SELECT COUNT(*) FROM orders GROUP BY status",
    "SELECT COUNT(*) FROM orders GROUP BY status LIMIT 1",
    "SELECT COUNT(*) FROM orders GROUP BY status ORDER BY 1",
    "SELECT COUNT(*) FROM orders GROUP BY status ORDER BY 1 DESC",
    "SELECT COUNT(*) FROM orders GROUP BY status HAVING COUNT(*) > 1",
    "SELECT QUANTILE_CONT(price, 0.1) AS q FROM orders",
    "SELECT QUANTILE_CONT(price, 0.2) AS q FROM orders",
]


@pytest.mark.parametrize("queries", SAME)
def test_ways_to_write_a_question_have_one_text(queries: tuple[str, ...]) -> None:
    assert len({text(query) for query in queries}) == 1


def test_different_questions_have_different_texts() -> None:
    for one, other in combinations(DIFFERENT, 2):
        assert text(one) != text(other)


@pytest.mark.parametrize("query", [query for query, _ in CASES])
def test_the_text_is_the_same_each_time(query: str) -> None:
    assert text(query) == text(query)


def test_the_text_does_not_depend_on_the_language() -> None:
    for query, _ in CASES:
        with speaking("es"):
            spoken = text(query)
        assert spoken == text(query)


def test_a_name_with_a_line_break_cannot_forge_a_line() -> None:
    forged = text('SELECT COUNT(*) AS "n\n  limit 1" FROM orders')
    assert '"n\n  limit 1" = rows()' in forged
    assert forged != text("SELECT COUNT(*) AS n FROM orders LIMIT 1")
