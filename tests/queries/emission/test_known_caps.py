"""Capped tables whose crowded values are known keep the same rows as those that search for them."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.queries.emission.conftest import Bench
from tests.queries.emission.shop import BY_ROW, Rows, capped, tree

from celosia.queries import row_state
from celosia.queries.algebra import Aggregate, Key, Question, Scan
from celosia.queries.emission import count_query, grouped_query
from celosia.queries.emission.relations import CAPPED
from celosia.queries.policy.values import Policy
from celosia.queries.row_state import RowState, RowStates

COLUMNS = ("id", "person", "amount", "note")
ORDERS = Question(
    Scan("orders", "o"),
    (Aggregate("rows", "n"),),
    tuple(Key(name, tree(f'o."{name}"')) for name in COLUMNS),
)


def draw(random: Random, size: int = 30) -> Rows:
    return [
        {
            "id": place,
            "person": random.choice([None, 1, 1, 2, -3]),
            "amount": random.choice([None, 1, 2, 2]),
            "note": random.choice([None, "a", "a", "it's", "ñ"]),
        }
        for place in range(random.randrange(size))
    ]


def rewritten(bench: Bench, policy: Policy, known: RowState, question: Question = ORDERS) -> Any:
    query = grouped_query(question, target=bench.target(policy))
    return known.without_search(
        query, bench.ask, target=bench.target(policy), cast=lambda query: query
    )


def test_rows_within_known_caps_are_those_within_searched_ones(bench: Bench) -> None:
    for policy in (
        capped(BY_ROW, "orders", person=2),
        capped(BY_ROW, "orders", note=3),
        capped(BY_ROW, "orders", person=3, amount=2, note=2),
        capped(BY_ROW, "orders", person=99, amount=4),
    ):
        for seed in range(2):
            bench.load({"orders": draw(Random(seed))})
            searched = grouped_query(ORDERS, target=bench.target(policy))
            listed = rewritten(bench, policy, RowState("now"))
            assert sorted(map(str, bench.ask(listed))) == sorted(map(str, bench.ask(searched)))
            assert not any(CAPPED in each.meta for each in listed.walk())


def test_a_cap_that_no_value_exceeds_leaves_the_table_as_it_is(bench: Bench) -> None:
    policy = capped(BY_ROW, "orders", person=99, note=99)
    bench.load({"orders": draw(Random(1))})
    text = rewritten(bench, policy, RowState("now")).sql()
    assert "UNION" not in text
    assert "HAVING" not in text


def test_what_is_known_is_not_searched_again(bench: Bench) -> None:
    policy = capped(BY_ROW, "orders", person=2)
    bench.load({"orders": draw(Random(2))})
    states = RowStates("now")
    known = states.find("now")
    assert known is not None
    rewritten(bench, policy, known)
    states.keep(known)
    bench.load({"orders": []})
    again = states.find("now")
    assert again is not None
    assert again.crowds == known.crowds
    assert again.crowds["orders"]


def test_too_many_values_and_odd_ones_are_searched_for_by_the_query(
    bench: Bench, monkeypatch: Any
) -> None:
    policy = capped(BY_ROW, "orders", person=1, note=1)
    query = count_query(Scan("orders", "o"), target=bench.target(policy))
    same = [{"id": place, "person": 1, "note": "a\\b"} for place in range(3)]
    many = [{"id": place, "person": place % 3} for place in range(9)]
    monkeypatch.setattr(row_state, "MOST_LISTED", 2)
    for rows, kept in ((same, 1), (many, 3)):
        bench.load({"orders": rows})
        known = RowState("now")
        made = known.without_search(
            query, bench.ask, target=bench.target(policy), cast=lambda query: query
        )
        assert known.crowds == {"orders": None}
        assert bench.ask(made) == bench.ask(query) == [(kept,)]


def test_a_state_is_searched_once_it_is_seen_twice() -> None:
    states = RowStates(None)
    assert states.find(None) is None
    assert states.find("one") is None
    seen = states.find("one")
    assert seen is not None
    assert states.find("two") is None
    seen.checked.add("orders")
    states.keep(seen)  # of a state that is over
    now = states.find("two")
    assert now is not None
    assert not now.checked
