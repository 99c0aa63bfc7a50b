"""Groups, windows and left joins of sub-queries: exact totals, and how one person moves them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from random import Random
from typing import Any

import pytest
import sqlglot
from tests.effort import some
from tests.queries.databases import empty_database
from tests.queries.vaults import BY_ROW, POLICY, Rows, capped, filled, shop, without

from celosia.core.errors import QueryRefused
from celosia.queries.planning import make_plan
from celosia.queries.planning.chosen_cap import ChosenCapStep
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.planning.plan import Executor, Plan
from celosia.queries.planning.ranks import RankStep
from celosia.queries.policy import Policy
from celosia.queries.request import QueryRequest

CAPPED = capped(POLICY, orders__person=3)
NO_OWNER = "WHERE person IS NOT NULL"
PER_PERSON = "SELECT person, COUNT(*) AS n, SUM(price) AS t, MAX(balance) AS b FROM orders"
FIRST = "PARTITION BY person ORDER BY placed"
SHAPES = {
    # What is asked, and the most that one person moves of each total, in steps, under a cap of 3.
    f"SELECT COUNT(*), SUM(n) FROM ({PER_PERSON} GROUP BY person) AS o": (1, 3),
    f"SELECT SUM(t), COUNT(t) FROM ({PER_PERSON} GROUP BY person) AS o": (3000, 1),
    f"SELECT n, COUNT(*) FROM ({PER_PERSON} GROUP BY person) AS o GROUP BY n": (1,),
    "SELECT SUM(b) FROM (SELECT person, status, MAX(balance) AS b FROM orders "
    "GROUP BY person, status) AS o": (15,),
    "SELECT COUNT(*) FROM (SELECT id, MIN(placed) AS day FROM orders GROUP BY id) AS o "
    "WHERE day > DATE '2026-02-01'": (3,),
    "SELECT p.town, SUM(o.n) FROM person p JOIN (SELECT x.id, x.town, COUNT(*) AS n FROM person x "
    "JOIN orders y ON y.person = x.id GROUP BY x.id, x.town HAVING COUNT(*) > 1) AS o "
    "ON o.id = p.id GROUP BY p.town": (3,),
    "SELECT COUNT(*) FROM person WHERE id IN (SELECT person FROM orders GROUP BY person "
    "HAVING AVG(price) > 2)": (1,),
    "SELECT kind, COUNT(*) FROM (SELECT person, ARG_MIN(status, placed) AS kind, "
    "ARG_MAX(price, balance) AS last FROM orders GROUP BY person) AS o WHERE last > 1 "
    "GROUP BY kind": (1,),
    "SELECT status, COUNT(*), SUM(price) FROM (SELECT status, price, "
    f"ROW_NUMBER() OVER ({FIRST}) AS place FROM orders) AS o WHERE place = 1 GROUP BY status": (
        1,
        1000,
    ),
    f"SELECT COUNT(*) FROM (SELECT price FROM orders QUALIFY ROW_NUMBER() OVER ({FIRST} DESC) <= 2 "
    f"AND DENSE_RANK() OVER ({FIRST}) < 9) AS o": (2,),
    "SELECT SUM(balance) FROM (SELECT DISTINCT ON (person) person, balance FROM orders "
    "ORDER BY person, price) AS o": (5,),
    "SELECT COUNT(*), SUM(GREATEST(LEAST(gap, 7), -7)) FROM (SELECT balance - LAG(balance) OVER "
    f"({FIRST}) AS gap FROM orders) AS o WHERE gap <> 0": (3, 21),
    "SELECT COUNT(*) FROM (SELECT DISTINCT person, status FROM orders) AS o": (3,),
    "SELECT COUNT(*) FROM (SELECT person AS k FROM orders UNION SELECT id FROM person) AS u": (1,),
    "SELECT COUNT(*) FROM (SELECT DISTINCT status, placed FROM orders) AS o": (3,),
    "SELECT COUNT(*), COUNT(o.id), SUM(o.price) FROM person p LEFT JOIN orders o "
    "ON o.person = p.id AND o.price > 1": (3, 3, 3000),
    "SELECT t.kind, COUNT(*) FROM (SELECT o.status, i.part FROM orders o "
    'LEFT JOIN item i ON i."order" = o.id) AS x LEFT JOIN part t ON t.id = x.part '
    "GROUP BY t.kind": None,
    "SELECT SUM(n) FROM (SELECT p.id, COUNT(o.id) AS n FROM person p LEFT JOIN orders o "
    "ON o.person = p.id GROUP BY p.id) AS x": (3,),
    "SELECT CORR(price, balance) FROM orders": None,
    f"SELECT MEDIAN(t) FROM ({PER_PERSON} GROUP BY person) AS o": (1,),
    "SELECT status, EXTRACT(MONTH FROM placed) AS m, SUM(balance) FROM orders "
    "GROUP BY ROLLUP (status, m)": (15, 15, 15),
    "SELECT town, COUNT(*) FROM person GROUP BY CUBE (town)": (1, 1),
    "SELECT 'a' AS what, COUNT(*) AS n FROM orders UNION ALL SELECT 'b', SUM(age) FROM person": (
        3,
        100,
    ),
    "SELECT DISTINCT status FROM orders": (3,),
    "SELECT status FROM orders WHERE price > 1 UNION SELECT town FROM person": (4,),
}
"""None where nothing bounds the rows of a person, and a cap is chosen."""

Databases = Callable[[int, int | None], Executor]


def small(seed: int) -> Rows:
    return shop(Random(seed), people=5, orders=18)


@pytest.fixture(scope="module")
def databases() -> Iterator[Databases]:
    """Random shops by their seed, whole or without a person; each is made once."""
    with ExitStack() as stack:

        @cache
        def database(seed: int, person: int | None) -> Executor:
            connection = stack.enter_context(empty_database())
            filled(connection, small(seed) if person is None else without(person, small(seed)))
            return lambda query: connection.execute(query.sql("duckdb")).fetchall()

        yield database


def planned(query: str, policy: Policy = CAPPED) -> Plan:
    return make_plan(QueryRequest(query, epsilon=1), policy)


def totals(plan: Plan, ask: Executor) -> tuple[list[Counter[Any]], list[int]]:
    """For each exact number that gets noise its value in each group, and what may move it."""
    if plan.branches:
        found = [totals(each, ask) for each in plan.branches]
        return [one for values, _ in found for one in values], [
            bound for _, bounds in found for bound in bounds
        ]
    (step,) = plan.steps
    keys = plan.group_keys if plan.question.keys else None
    if isinstance(step, RankStep):
        listed = step.histograms(ask, keys, step.rows.most)
        points = {(at, point): n for at, group in enumerate(listed) for point, n in group}
        return [Counter(points)], [step.rows.most]
    if isinstance(step, ChosenCapStep):
        (mechanism,) = step.mechanisms(1)
        by_group, apart = step._split(keys)
        if keys is not None and by_group:
            queries = [step._cut_query(by_group, [cap], keys, None) for cap in mechanism.caps]
            under = [[row[step.context.key_count] for row in ask(query)] for query in queries]
        else:
            (people,) = step._people(apart, ask, keys).values()
            under = people.totals
        return [Counter(dict(enumerate(each))) for each in under], list(mechanism.caps)
    assert isinstance(step, LaplaceStep)
    (query,) = step.queries(keys)
    start = step.context.key_count
    rows = ask(query)
    return [
        Counter({row[:start]: row[start + place] for row in rows})
        for place in range(len(step.totals))
    ], list(step.shifts)


@pytest.mark.parametrize("query", SHAPES)
def test_no_person_moves_a_total_by_more_than_its_bound(query: str, databases: Databases) -> None:
    """Brute force: every person of random databases is taken out, with all their rows."""
    plan, moved = planned(query), 0
    for seed in some(range(40), 2):
        before, bounds = totals(plan, databases(seed, None))
        if SHAPES[query] is not None:
            assert tuple(bounds) == SHAPES[query]
        for person in [*range(1, 6), 10]:
            after, _ = totals(plan, databases(seed, person))
            for one, other, bound in zip(before, after, bounds, strict=True):
                shift = sum(abs(one[group] - other[group]) for group in {*one, *other})
                assert shift <= bound, (seed, person)
                moved += shift
    assert moved


EXACT = {
    f"SELECT SUM(n) FROM ({PER_PERSON} GROUP BY person) AS o": (
        f"SELECT SUM(n) FROM ({PER_PERSON} {NO_OWNER} GROUP BY person) AS o"
    ),
    f"SELECT SUM(t) FROM ({PER_PERSON} GROUP BY person HAVING n > 1) AS o": (
        "SELECT ROUND(100 * SUM(t)) FROM (SELECT SUM(CASE WHEN price > 10 THEN 10 ELSE price END) "
        "AS t FROM orders "
        f"{NO_OWNER} GROUP BY person HAVING COUNT(*) > 1) AS o"
    ),
    "SELECT COUNT(*) FROM person p LEFT JOIN orders o ON o.person = p.id AND o.price > 1": (
        "SELECT COUNT(*) FROM person p LEFT JOIN orders o ON o.person = p.id AND o.price > 1"
    ),
    "SELECT COUNT(*) FROM (SELECT person AS k FROM orders UNION SELECT id FROM person) AS u": (
        "SELECT COUNT(*) FROM (SELECT person AS k FROM orders UNION SELECT id FROM person) AS u "
        "WHERE k IS NOT NULL"
    ),
    "SELECT SUM(balance) FROM (SELECT balance, ROW_NUMBER() OVER (PARTITION BY person "
    "ORDER BY id DESC) AS place FROM orders) AS o WHERE place = 1": (
        "SELECT SUM(CASE WHEN balance > 5 THEN 5 ELSE balance END) FROM (SELECT balance, "
        "ROW_NUMBER() OVER "
        f"(PARTITION BY person ORDER BY id DESC) AS place FROM orders {NO_OWNER}) AS o "
        "WHERE place = 1"
    ),
}


@pytest.mark.parametrize("query", EXACT)
def test_without_noise_the_totals_are_those_of_plain_sql(query: str, databases: Databases) -> None:
    plan = planned(query, capped(POLICY, orders__person=50))
    for seed in range(3):
        (found,), _ = totals(plan, databases(seed, None))
        ask = databases(seed, None)
        ((wanted,),) = ask(sqlglot.parse_one(EXACT[query], read="duckdb"))
        assert sum(found.values()) == (wanted or 0)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        (
            "SELECT AVG(n) FROM person p JOIN (SELECT status, COUNT(*) AS n FROM orders "
            "GROUP BY status) AS o ON o.status = p.town",
            "CEL-Q043.groups_of_several",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT sender, COUNT(*) AS n FROM message GROUP BY sender) AS m",
            "CEL-Q043.groups_of_several",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY status ORDER BY placed) "
            "AS n FROM orders) AS o WHERE n = 1",
            "CEL-Q042.window_of_several",
        ),
        (
            "SELECT COUNT(*) FROM person p LEFT JOIN message m ON m.sender = p.id",
            "CEL-Q036.outer_of_others",
        ),
        (
            "SELECT COUNT(*) FROM orders o LEFT JOIN person p ON p.age = o.balance",
            "CEL-Q036.outer_of_others",
        ),
        (
            "SELECT SUM(x) FROM (SELECT person, SUM(balance * id) AS x FROM orders "
            "GROUP BY person) AS o",
            "CEL-Q144.no_bounds",
        ),
    ],
)
def test_rows_of_several_people_in_one_group_are_refused(query: str, key: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        planned(query)
    assert refused.value.key == key
    assert refused.value.fix


@pytest.mark.parametrize("query", [*SHAPES][:1] + [*SHAPES][8:9] + [*SHAPES][15:16])
def test_single_rows_are_protected_by_no_bound_of_people(query: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        planned(query, BY_ROW)
    assert refused.value.key in {
        "CEL-Q043.groups_of_rows",
        "CEL-Q042.window_of_rows",
        "CEL-Q036.outer_of_rows",
    }
