"""Answers of a vault against exact ones: with a large epsilon they are as good as the same."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.queries.vaults import BY_ROW, POLICY, Rows, capped, exact, opened, shop

from celosia.core.errors import InputError, QueryRefused
from celosia.core.neighbours import Relation
from celosia.queries import QueryAnswer
from celosia.queries.policy import Policy

PERSON_QUESTIONS = [
    "SELECT COUNT(*) FROM person",
    "SELECT COUNT(*) FROM orders o WHERE o.person IS NOT NULL",
    "SELECT COUNT(o.price) FROM orders o WHERE o.person IS NOT NULL",
    "SELECT COUNT(DISTINCT o.person) FROM orders o",
    'SELECT COUNT(DISTINCT i.part) FROM item i JOIN orders o ON i."order" = o.id '
    "WHERE o.person IS NOT NULL",
    "SELECT COUNT(*) FROM person p JOIN orders o ON p.id = o.person "
    "JOIN item i ON i.\"order\" = o.id JOIN part ON part.id = i.part WHERE part.kind = 'x'",
    "SELECT COUNT(*) FROM person p WHERE p.id IN (SELECT person FROM orders)",
    "SELECT COUNT(*) FROM person p WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.person = p.id)",
    "SELECT SUM(LEAST(o.price, 10)) FROM orders o WHERE o.person IS NOT NULL",
    "SELECT SUM(GREATEST(LEAST(o.balance, 5), -5)) FROM orders o WHERE o.person IS NOT NULL",
    "SELECT AVG(LEAST(o.price, 10)) FROM orders o WHERE o.person IS NOT NULL",
    "SELECT AVG(GREATEST(LEAST(o.balance, 5), -5)) FROM orders o WHERE o.person IS NOT NULL",
    "SELECT VAR_POP(GREATEST(LEAST(o.balance, 5), -5)) FROM orders o WHERE o.person IS NOT NULL",
    "SELECT COUNT(*) FROM message m JOIN person p ON p.id = m.sender WHERE m.receiver = m.sender",
]


def number(vault_answer: Any) -> float:
    return float(vault_answer.value)


@pytest.mark.parametrize("query", PERSON_QUESTIONS)
def test_with_a_large_epsilon_the_answer_about_people_is_the_exact_one(
    query: str, tmp_path: Path
) -> None:
    rows = shop(Random(3), people=40, orders=160)
    with opened(rows, tmp_path) as vault:
        answer = vault.sql(query, epsilon=100)
    ((truth,),) = exact(rows, query)
    # Three totals at most: each has noise of scale at most (cap 32) / (0.7 * 100 / 3) in its own
    # unit, below 1.4 rows; means and variances divide that by a hundred rows or more.
    assert number(answer) == pytest.approx(float(truth), rel=0.06, abs=12)
    low, high = answer.interval(0.999) or (-inf, inf)
    assert low <= float(truth) + 1e-6
    assert float(truth) - 1e-6 <= high


@pytest.mark.parametrize("method", ["capped", "chosen-cap", "r2t", "r2t-cap"])
def test_every_method_answers_a_join_of_one_owner(method: str, tmp_path: Path) -> None:
    rows = shop(Random(5), people=60, orders=200)
    policy = capped(POLICY, orders__person=20, item__order=20)
    query = 'SELECT COUNT(*) FROM orders o JOIN item i ON i."order" = o.id WHERE o.person > 0'
    with opened(rows, tmp_path, policy) as vault:
        answer = vault.sql(query, epsilon=100, method=method)
    ((truth,),) = exact(rows, query)
    # The race pays for ten candidates: scale 10 * 64 / 100; the others less than a cap of 400 / 70.
    assert answer.method == method
    assert number(answer) == pytest.approx(truth, abs=60)


def test_a_self_join_of_different_people_is_answered_by_the_linear_program(tmp_path: Path) -> None:
    rows = shop(Random(7), people=80, orders=200)
    query = "SELECT COUNT(*) FROM message m JOIN message w ON m.receiver = w.sender"
    with opened(rows, tmp_path) as vault:
        plan = vault.explain(query, epsilon=100)
        answer = vault.sql(query, epsilon=100)
    known = {each["id"] for each in rows["person"]} | {None}
    kept = [m for m in rows["message"] if {m["sender"], m["receiver"]} <= known - {None}]
    truth = sum(one["receiver"] == other["sender"] for one in kept for other in kept)
    assert plan.method == "r2t-cap"
    # A larger cap is worth its rate of one sensitivity, at most 64; noise of scale 64 / 50.
    assert number(answer) == pytest.approx(truth, abs=80)


def test_every_declared_key_is_shown_and_no_other(tmp_path: Path) -> None:
    rows = shop(Random(1))
    rows["person"] = [each for each in rows["person"] if each["town"] != "B"]
    query = "SELECT town, COUNT(*) AS n FROM person GROUP BY town"
    with opened(rows, tmp_path) as vault:
        found = vault.sql(query, epsilon=100).rows
    truth = [each["town"] for each in rows["person"]]
    assert [row["town"] for row in found] == ["A", "B", "C"]
    assert [row["n"] for row in found] == [truth.count("A"), 0, truth.count("C")]


@pytest.mark.parametrize("policy", [POLICY, capped(POLICY, orders__person=20)])
def test_groups_of_a_person_in_several_groups_add_up(policy: Policy, tmp_path: Path) -> None:
    rows = shop(Random(2), people=50, orders=200)
    query = (
        "SELECT o.status, COUNT(*) AS n, COUNT(DISTINCT o.person) AS p, SUM(o.price) AS s "
        "FROM orders o JOIN person q ON q.id = o.person GROUP BY o.status ORDER BY o.status"
    )
    with opened(rows, tmp_path, policy) as vault:
        found = {row["status"]: row for row in vault.sql(query, epsilon=100).rows}
    clipped = query.replace("SUM(o.price)", "SUM(CASE WHEN o.price > 10 THEN 10 ELSE o.price END)")
    truth = {row[0]: row[1:] for row in exact(rows, clipped)}
    for status in ("open", "done"):
        numbers = [found[status][name] for name in ("n", "p", "s")]
        # Each third of epsilon: noise of scale at most 20 * 10 / 33 for the sum, less for counts.
        assert numbers == pytest.approx(truth[status], abs=45)


def test_months_cases_and_truth_values_are_public_keys(tmp_path: Path) -> None:
    rows = shop(Random(4))
    with opened(rows, tmp_path) as vault:
        months = vault.sql(
            "SELECT EXTRACT(MONTH FROM placed) AS m, COUNT(*) AS n FROM orders "
            "GROUP BY EXTRACT(MONTH FROM placed)",
            epsilon=50,
        )
        cases = vault.sql(
            "SELECT CASE WHEN age > 30 THEN 'old' ELSE 'young' END AS k, COUNT(*) AS n "
            "FROM person GROUP BY CASE WHEN age > 30 THEN 'old' ELSE 'young' END",
            epsilon=50,
        )
        truths = vault.sql(
            "SELECT age > 30 AS k, COUNT(*) AS n FROM person GROUP BY age > 30", epsilon=50
        )
    assert [row["m"] for row in months.rows] == list(range(1, 13))
    assert [row["k"] for row in cases.rows] == ["old", "young"]
    assert [row["k"] for row in truths.rows] == [False, True]
    assert sum(row["n"] for row in cases.rows) == len(rows["person"])


def test_groups_without_public_keys_show_only_those_of_many_people(tmp_path: Path) -> None:
    rows = shop(Random(1), people=400)
    for place, person in enumerate(rows["person"]):
        person["street"] = "long" if place else "hidden"
    query = "SELECT street, COUNT(*) AS n FROM person GROUP BY street"
    with opened(rows, tmp_path) as vault:
        with pytest.raises(QueryRefused) as refused:
            vault.sql(query, epsilon=2)
        answer = vault.sql(query, epsilon=2, delta=1e-6)
    assert refused.value.key == "CEL-Q146.no_keys"
    assert [row["street"] for row in answer.rows] == ["long"]
    assert answer.delta == 1e-6
    # Half of epsilon for the count of one row each: noise of scale 1.
    assert answer.rows[0]["n"] == pytest.approx(399, abs=12)


def test_several_private_keys_are_found_together(tmp_path: Path) -> None:
    rows = shop(Random(1), people=300)
    for place, person in enumerate(rows["person"]):
        person["street"], person["age"] = ("long", 1) if place % 2 else ("short", 2)
    query = "SELECT street, age, COUNT(*) AS n FROM person GROUP BY street, age"
    with opened(rows, tmp_path) as vault:
        answer = vault.sql(query, epsilon=4, delta=1e-6)
    assert [(row["street"], row["age"]) for row in answer.rows] == [("long", 1), ("short", 2)]


def test_quantiles_are_near_the_exact_ones(tmp_path: Path) -> None:
    rows = shop(Random(1), people=500)
    for place, person in enumerate(rows["person"]):
        person["age"] = place % 100
    query = "SELECT MEDIAN(age) AS m, MIN(age) AS low, MAX(age) AS high FROM person"
    with opened(rows, tmp_path) as vault:
        (row,) = vault.sql(query, epsilon=100).rows
        (grouped, *_) = vault.sql(
            "SELECT town, QUANTILE_CONT(age, 0.25) AS q FROM person GROUP BY town", epsilon=100
        ).rows
    # At epsilon 33 a rank misses by (ln 101 + ln 1000) * 2 / 33 < 1 row, and 5 rows share an age.
    assert abs(row["m"] - 50) <= 1
    assert row["low"] <= 2
    assert row["high"] >= 98
    assert 15 <= grouped["q"] <= 35


def many_orders(random: Random) -> Rows:
    """People with one to fifteen orders, whose prices do not depend on how many there are."""
    rows = shop(random, people=600, orders=1)
    (model,) = rows["orders"]
    rows["orders"] = [
        model | {"id": 100 * person + each, "person": person, "status": random.choice(STATUSES)}
        for person in range(1, 601)
        for each in range(random.choice([1, 2, 3, 5, 15]))
    ]
    for order in rows["orders"]:
        order["price"] = round(random.triangular(0, 10, 2), 2)
    return rows


STATUSES = ["open", "done"]


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("most", [None, 15])
def test_quantiles_of_people_with_many_rows_are_near_the_exact_ones(
    most: int | None, relation: Relation, tmp_path: Path
) -> None:
    rows = many_orders(Random(1))
    policy = POLICY if most is None else capped(POLICY, orders__person=most)
    shares = (0.1, 0.5, 0.9)
    columns = ", ".join(
        f"QUANTILE_CONT(price, {share}) AS q{place}" for place, share in enumerate(shares)
    )
    prices = sorted(each["price"] for each in rows["orders"])
    with opened(rows, tmp_path, replace(policy, relation=relation)) as vault:
        answer = vault.sql(f"SELECT {columns} FROM orders", epsilon=9)
        (row,) = answer.rows
        found = vault.sql(
            "SELECT status, MEDIAN(price) AS m FROM orders GROUP BY status", epsilon=9
        ).rows
    assert bool(answer.caps) is (most is None)
    assert answer.intervals[0]["q1"] is None
    for place, share in enumerate(shares):
        rank = sum(each < row[f"q{place}"] for each in prices)
        # A cap of at most 16 rows, 0.8 * 3 for each rank, where a change counts as 1: it misses by
        # 16 * 2 * (ln 1001 + ln 1000) / 2.4 = 184 rows but for one time in a thousand. The rows
        # that a cap of 8 keeps are a sample of 2400 of 3120: 4 * 3120 * sqrt(0.25 / 2400 * 0.23).
        assert abs(rank - share * len(prices)) < 184 + 62
    for each in found:
        of_group = sorted(o["price"] for o in rows["orders"] if o["status"] == each["status"])
        # A third of that, for a median with a change in groups and all of epsilon 9.
        assert abs(sum(p < each["m"] for p in of_group) - len(of_group) / 2) < 62 + 62


def test_the_least_and_the_greatest_of_people_with_many_rows(tmp_path: Path) -> None:
    rows = many_orders(Random(2))
    query = "SELECT MIN(price) AS low, MAX(price) AS high FROM orders"
    by_status = "SELECT status, MAX(price) AS high FROM orders GROUP BY status"
    with opened(rows, tmp_path) as vault:
        (row,) = vault.sql(query, epsilon=20).rows
        groups = vault.sql(by_status, epsilon=20).rows
    own: dict[int, list[float]] = {}
    for order in rows["orders"]:
        own.setdefault(order["person"], []).append(order["price"])
    lows, highs = sorted(map(min, own.values())), sorted(map(max, own.values()))
    # Of 600 people 6 lie beyond; at epsilon 10 the rank misses by at most
    # 2 * 0.99 * (ln 1001 + ln 1000) / 10 = 2.8 people but for one time in a thousand.
    assert lows[2] <= row["low"] <= lows[9]
    assert highs[-10] <= row["high"] <= highs[-3]
    assert all(each["high"] > 9 for each in groups)


def test_the_plan_of_a_rank_is_the_same_for_any_data(tmp_path: Path) -> None:
    queries = (
        "SELECT MEDIAN(price) FROM orders",
        "SELECT MAX(price) FROM orders",
        "SELECT status, MIN(price) AS m FROM orders GROUP BY status",
    )
    plans = []
    for rows in (shop(Random(1), orders=1), many_orders(Random(3))):
        with opened(rows, tmp_path) as vault:
            plans.append([vault.explain(query, epsilon=1).as_dict() for query in queries])
    assert plans[0] == plans[1]


ROW_QUESTIONS = [
    "SELECT COUNT(*) FROM orders o",
    "SELECT COUNT(*) FROM orders o JOIN person p ON p.id = o.person",
    "SELECT COUNT(DISTINCT i.part) FROM item i",
    "SELECT SUM(LEAST(o.price, 10)) FROM orders o",
    "SELECT COUNT(*) FROM item i JOIN part ON part.id = i.part",
    "SELECT COUNT(*) FROM person p WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.person = p.id)",
]


@pytest.mark.parametrize("query", ROW_QUESTIONS)
def test_with_a_large_epsilon_the_answer_about_rows_is_the_exact_one(
    query: str, tmp_path: Path
) -> None:
    rows = shop(Random(3), people=30, orders=60)
    with opened(rows, tmp_path, capped(BY_ROW, orders__person=60)) as vault:
        answer = vault.sql(query, epsilon=100)
    ((truth,),) = exact(rows, query)
    # The widest noise: a person may meet sixty orders, scale 0.6; times ln(1000) = 4.2.
    assert answer.method == "global"
    assert number(answer) == pytest.approx(float(truth), abs=4.2)
    low, high = answer.interval(0.999) or (inf, -inf)
    assert low <= truth <= high


def test_elastic_noise_is_opt_in_and_shows_no_interval(tmp_path: Path) -> None:
    rows = shop(Random(3), people=30, orders=60)
    query = "SELECT COUNT(*) FROM orders o JOIN person p ON p.id = o.person"
    with opened(rows, tmp_path, BY_ROW) as vault, pytest.raises(QueryRefused) as refused:
        vault.sql(query, epsilon=50, delta=1e-5)
    assert "most" in refused.value.fix
    with opened(rows, tmp_path, replace(BY_ROW, elastic=True)) as vault:
        with pytest.raises(QueryRefused) as needs_delta:
            vault.sql(query, epsilon=50)
        answer = vault.sql(query, epsilon=50, delta=1e-5)
        plan = vault.explain(query, epsilon=50, delta=1e-5)
    ((truth,),) = exact(rows, query)
    assert refused.value.code == "CEL-Q060"
    assert needs_delta.value.code == "CEL-Q148"
    assert answer.method == "elastic"
    assert answer.interval() is None
    assert plan.parts[0].error is None
    # beta > 1: the bound is the frequency itself, at most 10, so the scale is below 0.7.
    assert number(answer) == pytest.approx(truth, abs=8)


def test_rows_may_race_as_people_do(tmp_path: Path) -> None:
    rows = shop(Random(3), people=30, orders=60)
    query = "SELECT COUNT(*) FROM orders o JOIN person p ON p.id = o.person"
    with opened(rows, tmp_path, BY_ROW) as vault:
        answer = vault.sql(query, epsilon=100, method="r2t-cap")
    ((truth,),) = exact(rows, query)
    assert number(answer) == pytest.approx(truth, abs=6)


def test_public_tables_are_answered_exactly_for_nothing(tmp_path: Path) -> None:
    query = "SELECT kind, COUNT(*) AS n, MAX(id) AS m FROM part GROUP BY kind HAVING n > 1"
    with opened(shop(Random(1)), tmp_path) as vault:
        before = vault.ledger.head
        answer = vault.sql(query, epsilon=1)
        assert vault.ledger.head == before
    assert answer.rows == [{"kind": "x", "n": 2, "m": 3}]
    assert (answer.epsilon, answer.entry, answer.method) == (0.0, None, "public")


@pytest.mark.parametrize("policy", [POLICY, BY_ROW])
def test_changed_units_are_answered_too(policy: Policy, tmp_path: Path) -> None:
    rows = shop(Random(3), people=60, orders=200)
    change = replace(policy, relation=Relation.CHANGE_ONE)
    queries = (
        "SELECT COUNT(*) FROM orders WHERE person > 0",
        "SELECT MEDIAN(age) FROM person",
        "SELECT town, COUNT(*) AS n FROM person GROUP BY town",
    )
    with opened(rows, tmp_path, change) as vault:
        answers = [vault.sql(query, epsilon=100) for query in queries]
    ((truth,),) = exact(rows, queries[0])
    assert answers[0].value == pytest.approx(truth, abs=12)
    assert answers[0].guarantee.neighbours == f"change one {policy.unit.name}"
    assert len(answers[2].rows) == 3


def test_having_order_and_limit_work_on_noisy_numbers(tmp_path: Path) -> None:
    rows = shop(Random(3), people=90)
    query = (
        "SELECT COUNT(*) AS n, town FROM person GROUP BY town HAVING n > 5 ORDER BY n DESC LIMIT 2"
    )
    with opened(rows, tmp_path) as vault:
        whole = vault.sql("SELECT town, COUNT(*) AS n FROM person GROUP BY town", epsilon=1)
        answer = vault.sql(query, epsilon=1)
    assert len(whole.rows) == 3
    assert len(answer.rows) == 2
    assert list(answer.rows[0]) == ["n", "town"]
    assert answer.rows[0]["n"] >= answer.rows[1]["n"] > 5


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), query=st.sampled_from(PERSON_QUESTIONS[:8]))
def test_on_any_small_shop_the_interval_holds_the_exact_answer(
    seed: int, query: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("shop")
    rows = shop(Random(seed), people=1 + seed % 9, orders=1 + seed % 23)
    with opened(rows, folder) as vault:
        low, high = vault.sql(query, epsilon=100).interval(1 - 1e-9) or (-inf, inf)
    ((truth,),) = exact(rows, query)
    assert low <= truth <= high


def test_an_answer_is_saved_and_read_back(tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path) as vault:
        answer = vault.sql("SELECT COUNT(*) AS n FROM orders", epsilon=1)
    answer.save(tmp_path / "answer.json")
    again = QueryAnswer.load(tmp_path / "answer.json")
    assert again == answer
    assert again.interval() == answer.interval()
    with pytest.raises(InputError) as refused:
        again.interval(0.5)
    assert refused.value.key == "CEL-Q150.confidence"
    assert json.loads(json.dumps(answer.as_dict()))["rows"] == answer.rows
    assert answer.interval(0.5) != answer.interval(0.99)
    assert answer.to_polars().columns == ["n", "n_lower", "n_upper", "n_noise"]
    assert "with exact noise" in answer.report(tmp_path / "r.html").read_text("utf-8")


def test_a_report_of_groups_has_all_of_them(tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path) as vault:
        answer = vault.sql("SELECT town, COUNT(*) AS n FROM person GROUP BY town", epsilon=1)
        with pytest.raises(InputError) as refused:
            _ = answer.value
    assert refused.value.key == "CEL-Q150.not_one"
    text = answer.report(tmp_path / "r.html").read_text("utf-8")
    assert all(f">{town}<" in text for town in "ABC")
    assert str(answer).startswith("3 rows; 1-differential privacy")
