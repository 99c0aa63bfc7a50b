"""Grouping sets, UNION ALL of answers, SELECT DISTINCT, and values of public tables."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from tests.queries.vaults import POLICY, capped, exact, opened, shop

from celosia.core.errors import QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries import Vault
from celosia.queries.request import QueryRequest

LARGE = 100
"""An epsilon at which noise all but vanishes: in a quarter of it, and 6 rows for each person, a
count is off by more than 2 with a chance of 2 exp(-2 * 25 / 6) = 0.0005."""
ROWS = shop(Random(2))


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    return opened(ROWS, tmp_path_factory.mktemp("shop"), capped(POLICY, orders__person=6))


KNOWN = "status IN ('open', 'done') AND person BETWEEN 1 AND 12"
SETS = {
    "ROLLUP (status, m)": ["sm", "s", ""],
    "CUBE (status, m)": ["sm", "s", "m", ""],
    "GROUPING SETS ((m), (status), ())": ["m", "s", ""],
    "status, ROLLUP (m)": ["sm", "s"],
}


@pytest.mark.parametrize("group", SETS)
def test_grouping_sets_have_the_rows_of_plain_sql(group: str, vault: Vault) -> None:
    query = (
        f"SELECT status, EXTRACT(MONTH FROM placed) AS m, COUNT(*) AS n, GROUPING(status) AS g, "
        f"COALESCE(status, 'all') AS label FROM orders WHERE {KNOWN} AND placed IS NOT NULL "
        f"GROUP BY {group}"
    )
    found = {
        (row["status"], row["m"], row["g"], row["label"]): row["n"]
        for row in vault.sql(query, epsilon=LARGE).rows
    }
    wanted = {
        (status, month, grouping, label): number
        for status, month, number, grouping, label in exact(ROWS, query)
    }
    assert wanted.keys() <= found.keys()
    assert all(abs(number - wanted.get(key, 0)) <= 2 for key, number in found.items())
    months, states = range(1, 13), ("open", "done")
    for letters in SETS[group]:
        keys = product(states if "s" in letters else [None], months if "m" in letters else [None])
        assert {key[:2] for key in found} >= set(keys)


def test_the_price_is_split_and_the_plan_tells_it(vault: Vault) -> None:
    plan = vault.explain("SELECT town, COUNT(*) AS n FROM person GROUP BY ROLLUP (town)", epsilon=1)
    assert [(str(each.name), each.epsilon) for each in plan.parts] == [
        ("1. COUNT(*) by town", Fraction(1, 2)),
        ("2. COUNT(*) of all", Fraction(1, 2)),
    ]
    assert plan.epsilon == 1
    assert plan.loss is not None


def test_the_chance_of_finding_keys_is_split_as_well(vault: Vault) -> None:
    query = (
        "SELECT street, COUNT(*) AS n FROM person GROUP BY GROUPING SETS ((street), (town, street))"
    )
    plan = vault.explain(query, epsilon=1, delta=1e-6)
    assert 0 < plan.delta <= Fraction("1e-6")
    assert all(0 < each.delta <= Fraction("5e-7") for each in plan.branches)


def test_windows_order_and_limit_look_at_all_sets_together(vault: Vault) -> None:
    answer = vault.sql(
        "SELECT town, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place, "
        "COUNT(*) / SUM(age) AS r FROM person GROUP BY ROLLUP (town) ORDER BY n DESC LIMIT 2",
        epsilon=LARGE,
    )
    assert [row["place"] for row in answer.rows] == [1, 2]
    assert answer.rows[0]["town"] is None
    low, high = answer.intervals[0]["r"] or (0, 0)
    assert low <= answer.rows[0]["r"] <= high


def test_a_repeated_answer_of_several_parts_is_the_same_and_free(vault: Vault) -> None:
    query = "SELECT town, COUNT(*) AS n FROM person GROUP BY CUBE (town) ORDER BY n"
    first, spent = vault.sql(query, epsilon=0.5), vault.ledger.spent["epsilon"]
    again = vault.sql(query, epsilon=0.5)
    assert again.stored
    assert again.rows == first.rows
    assert vault.ledger.spent["epsilon"] == spent


def test_answers_are_put_together(vault: Vault) -> None:
    query = (
        "WITH late AS (SELECT id FROM orders WHERE person BETWEEN 1 AND 12 AND price > 1) "
        "SELECT 'people' AS what, COUNT(*) AS n FROM person UNION ALL "
        "SELECT 'orders', COUNT(*) FROM late ORDER BY n DESC"
    )
    rows = vault.sql(query, epsilon=LARGE).rows
    for row, (what, number) in zip(rows, exact(ROWS, query), strict=True):
        assert row["what"] == what
        assert abs(row["n"] - number) <= 2


def test_different_values_are_those_with_rows_beyond_the_noise(vault: Vault) -> None:
    query = f"SELECT DISTINCT status, balance > 9 AS good FROM orders WHERE {KNOWN} ORDER BY status"
    answer = vault.sql(query, epsilon=LARGE)
    assert [tuple(row.values()) for row in answer.rows] == [("done", False), ("open", False)]
    assert not answer.intervals[0]
    assert vault.sql(query, epsilon=0.01).rows == []  # all below the noise


def test_the_union_of_lists_is_found_in_the_data_for_a_delta(vault: Vault) -> None:
    query = "SELECT street FROM person UNION SELECT status FROM orders ORDER BY 1"
    rows = vault.sql(query, epsilon=LARGE, delta=1e-5).rows
    assert {row["street"] for row in rows} <= {"long", "short", "open", "done", "lost"}
    assert len(rows) >= 4


OVER_ANSWERS = {
    "WITH w AS (SELECT status, COUNT(*) AS n, SUM(price) AS p FROM orders GROUP BY status) "
    "SELECT x.status, n, p / n AS mean, 100 * n / SUM(n) OVER () AS share FROM w AS x "
    "WHERE n > 1 ORDER BY share DESC LIMIT 5": "SELECT status, COUNT(*) AS n, "
    "SUM(price) / COUNT(*) AS mean, 100 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM orders "
    "GROUP BY status HAVING COUNT(*) > 1 ORDER BY share DESC LIMIT 5",
    "WITH w AS (SELECT town AS place, COUNT(*) AS n FROM person GROUP BY 1) "
    "SELECT place, n / (SELECT SUM(n) FROM w) AS share FROM w": "SELECT town AS place, "
    "COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM person GROUP BY town",
    "SELECT MAX(n) AS most, AVG(n) AS mean FROM (SELECT CASE WHEN age < 31 THEN 'a' ELSE 'b' END "
    "AS band, COUNT(*) AS n FROM person GROUP BY band HAVING COUNT(*) > 2) AS t WHERE n < 100": (
        "SELECT MAX(COUNT(*)) OVER () AS most, AVG(COUNT(*)) OVER () AS mean FROM person "
        "GROUP BY CASE WHEN age < 31 THEN 'a' ELSE 'b' END "
        "HAVING COUNT(*) > 2 AND COUNT(*) < 100 LIMIT 1"
    ),
}


@pytest.mark.parametrize("query", OVER_ANSWERS)
def test_a_query_over_groups_of_many_people_is_one_of_their_answers(
    query: str, vault: Vault
) -> None:
    """It costs nothing more: its plan is that of the groups, and it is answered from them."""
    plan, flat = vault.explain(query), vault.explain(OVER_ANSWERS[query])
    assert [each.as_dict() for each in plan.parts] == [each.as_dict() for each in flat.parts]
    vault._rng = Seeded(3)
    found = vault.sql(query, epsilon=2, fresh=True)
    vault._rng = Seeded(3)
    wanted = vault.sql(OVER_ANSWERS[query], epsilon=2, fresh=True)
    assert [list(each.values()) for each in found.rows] == [
        list(each.values()) for each in wanted.rows
    ]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT t.status, t.n FROM (SELECT status, COUNT(*) AS n FROM orders GROUP BY status "
        "LIMIT 1) AS t",
        "SELECT t.street FROM (SELECT status, COUNT(*) AS n FROM orders GROUP BY status) AS t",
        "SELECT AVG(n), status FROM (SELECT status, COUNT(*) AS n FROM orders GROUP BY status) "
        "AS t GROUP BY status",
    ],
)
def test_other_queries_over_groups_of_many_people_are_refused(query: str, vault: Vault) -> None:
    with pytest.raises(QueryRefused):
        vault.explain(query)


def test_a_value_of_public_tables_is_written_out(vault: Vault) -> None:
    query = "SELECT COUNT(*) FROM item WHERE part > (SELECT AVG(id) FROM part WHERE kind = 'x')"
    plan = vault.explain(query)
    assert "2.0" in plan.normalised
    assert "AVG" not in plan.normalised
    assert plan.normalised == vault.explain("SELECT COUNT(*) FROM item WHERE part > 2.0").normalised


def test_a_column_of_one_public_row_is_a_value_and_of_no_row_is_null(vault: Vault) -> None:
    query = "SELECT COUNT(*) FROM item WHERE part = (SELECT id FROM part AS p WHERE p.id = {})"
    found = vault.explain(query.format(2)).normalised
    assert found == vault.explain("SELECT COUNT(*) FROM item WHERE part = 2").normalised
    none = vault.explain(query.format(99)).normalised
    assert none == vault.explain("SELECT COUNT(*) FROM item WHERE part = NULL").normalised


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("SELECT COUNT(*) FROM orders WHERE price > (SELECT AVG(price) FROM orders)", "as_a_value"),
        ("SELECT COUNT(*) FROM item WHERE part > (SELECT id FROM part)", "of_several"),
        ("SELECT COUNT(*) FROM orders WHERE status = (SELECT kind FROM part)", "of_several"),
        (
            "SELECT COUNT(*) FROM item WHERE part > (SELECT MAX(id) FROM part GROUP BY kind)",
            "of_several",
        ),
        ("SELECT COUNT(*) FROM orders UNION ALL SELECT COUNT(*) FROM part", "public_branch"),
        ("SELECT kind, COUNT(*) FROM part GROUP BY ROLLUP (kind)", "public_branch"),
    ],
)
def test_what_is_no_value_or_no_private_answer_is_refused(
    query: str, key: str, vault: Vault
) -> None:
    with pytest.raises(QueryRefused) as refused:
        vault.explain(query)
    assert key in refused.value.key
    assert refused.value.fix


def test_the_curator_compares_answers_of_several_parts(vault: Vault) -> None:
    query = "SELECT status, COUNT(*) AS n FROM orders GROUP BY ROLLUP (status)"
    found = vault.compare(QueryRequest(query, epsilon=LARGE))
    by_group = {each.group: each.true for each in found.numbers}
    assert by_group[None,] == len(ROWS["orders"])
