"""A SELECT over an aggregating sub-query asks what one SELECT asks."""

from __future__ import annotations

import pytest
from tests.queries.vaults import POLICY

from celosia.core.errors import QueryRefused
from celosia.queries.sql import compile

GROUPED = "SELECT status AS s, COUNT(*) AS n, SUM(balance) AS b FROM orders GROUP BY"
SAME = [
    (
        f"SELECT s, n, SUM(n) OVER (ORDER BY s) AS r FROM ({GROUPED} 1) AS t",
        "SELECT status AS s, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY status) AS r FROM orders "
        "GROUP BY status",
    ),
    (
        f"WITH t AS ({GROUPED} s) SELECT t.s, 100 * (n / SUM(n) OVER ()) AS p FROM t ORDER BY p",
        "SELECT status AS s, 100 * (COUNT(*) / SUM(COUNT(*)) OVER ()) AS p FROM orders "
        "GROUP BY status ORDER BY p",
    ),
    (
        f"SELECT * FROM ({GROUPED} status HAVING COUNT(*) > 3) AS t WHERE b / n > 2 LIMIT 2",
        "SELECT status AS s, COUNT(*) AS n, SUM(balance) AS b FROM orders GROUP BY status "
        "HAVING COUNT(*) > 3 AND SUM(balance) / COUNT(*) > 2 LIMIT 2",
    ),
    (
        "SELECT b / n AS mean FROM (SELECT COUNT(*) AS n, SUM(balance) AS b FROM orders) AS t",
        "SELECT SUM(balance) / COUNT(*) AS mean FROM orders",
    ),
    (
        "WITH a AS (SELECT * FROM orders WHERE balance > 3), t AS (SELECT status, COUNT(*) AS n "
        "FROM a GROUP BY status) SELECT status, n FROM t",
        "WITH a AS (SELECT * FROM orders WHERE balance > 3) SELECT status, COUNT(*) AS n "
        "FROM a GROUP BY status",
    ),
    (
        f"SELECT * FROM ({GROUPED} 1) AS t ORDER BY t.s DESC, t.n",
        "SELECT status AS s, COUNT(*) AS n, SUM(balance) AS b FROM orders GROUP BY status "
        "ORDER BY status DESC, COUNT(*)",
    ),
    (
        f"SELECT s, m FROM (SELECT s, b / n AS m FROM ({GROUPED} s) AS t) AS u",
        "SELECT status AS s, SUM(balance) / COUNT(*) AS m FROM orders GROUP BY status",
    ),
]


@pytest.mark.parametrize(("nested", "flat"), SAME)
def test_both_are_the_same_question(nested: str, flat: str) -> None:
    assert compile(nested, POLICY) == compile(flat, POLICY)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s, n FROM (SELECT status AS s, balance AS n FROM orders) AS t",
        f"SELECT s, missing FROM ({GROUPED} s) AS t",
        f"SELECT other.n FROM ({GROUPED} s) AS t",
        f"SELECT s, n FROM ({GROUPED} s LIMIT 2) AS t",
        "SELECT status, n FROM (SELECT balance > 3 AS status, COUNT(*) AS n FROM orders "
        "GROUP BY status) AS t",  # the column, or the truth value?
        f"SELECT t.s, t.n FROM ({GROUPED} s) AS t JOIN person ON person.id = t.n",
    ],
)
def test_rows_and_other_sub_queries_are_refused_as_before(query: str) -> None:
    with pytest.raises(QueryRefused):
        compile(query, POLICY)
