from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from sqlglot import exp
from tests.queries.emission.conftest import Bench
from tests.queries.emission.shop import BY_ROW, POLICY, Rows, capped, tree, without

from celosia.queries.algebra import (
    Aggregate,
    Column,
    Filter,
    GroupedTable,
    Join,
    Key,
    NamedExpression,
    Question,
    Scan,
)
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission import count_query, grouped_query, truncated_totals_query
from celosia.queries.ownership import attach_owners
from celosia.queries.policy.values import Policy

ITEM = Scan("item", "i")
COLUMNS = ("order", "part", "amount")


def draw(random: Random, size: int = 12) -> Rows:
    return [
        {name: random.choice([None, 1, 2, 3]) for name in COLUMNS}
        for _ in range(random.randrange(size))
    ]


def kept(rows: Rows, bench: Bench, policy: Policy) -> Counter[tuple[Any, ...]]:
    """The rows that stay, as the engine sees them."""
    bench.load({"item": rows})
    keys = tuple(Key(name, tree(f'i."{name}"')) for name in COLUMNS)
    question = Question(ITEM, (Aggregate("rows", "n"),), keys)
    answer = bench.ask(grouped_query(question, target=bench.target(policy)))
    return Counter({row[:3]: row[3] for row in answer})


def test_a_cap_keeps_as_many_rows_as_it_may_and_nulls_are_free(bench: Bench) -> None:
    policy = capped(BY_ROW, "item", part=2)
    for seed in range(8):
        rows = draw(Random(seed))
        stayed = kept(rows, bench, policy)
        before = Counter(row["part"] for row in rows)
        after: Counter[Any] = Counter()
        for (_, part, _), n in stayed.items():
            after[part] += n
        for part, n in before.items():
            assert after[part] == (n if part is None else min(n, 2))
        everything = Counter(tuple(row[name] for name in COLUMNS) for row in rows)
        assert stayed <= everything


def test_rows_of_a_capped_value_are_counted_up_to_the_cap_without_a_search(bench: Bench) -> None:
    part = column_expression(Column("i", "part"))
    present = Filter(ITEM, exp.Not(this=exp.Is(this=part.copy(), expression=exp.Null())))
    keys = (NamedExpression("p", part), NamedExpression("q", part.copy()))
    groups = GroupedTable(present, "g", keys, (Aggregate("rows", "n"),), key_count=2)
    shown = tuple(Key(name, column_expression(Column("g", name))) for name in ("p", "q", "n"))
    question = Question(groups, (Aggregate("rows", "m"),), shown)
    one, two = capped(BY_ROW, "item", part=2), capped(BY_ROW, "item", part=2, order=1)
    for seed in range(3):
        rows = draw(Random(seed))
        for policy in (one, two):
            stayed = kept(rows, bench, policy)
            sizes = Counter(part for _, part, _ in stayed.elements() if part is not None)
            query = grouped_query(question, target=bench.target(policy))
            assert ("UNION" in bench.target().text(query)) == (policy is two)
            found = sorted(tuple(map(int, row)) for row in bench.ask(query))
            assert found == sorted((part, part, n, 1) for part, n in sizes.items())


def test_one_row_displaces_at_most_one_row_for_each_cap(bench: Bench) -> None:
    for policy, caps in (
        (capped(BY_ROW, "item", part=2), 1),
        (capped(BY_ROW, "item", part=2, order=1), 2),
    ):
        worst = 0
        for seed in range(8):
            random = Random(seed)
            rows = [*draw(random), {"order": 1, "part": 1, "amount": random.choice([None, 1, 2])}]
            stayed = kept(rows, bench, policy)
            for place in {0, len(rows) - 1}:
                fewer = kept(rows[:place] + rows[place + 1 :], bench, policy)
                gone, come = (stayed - fewer).total(), (fewer - stayed).total()
                # A row that is taken away is one that stayed or none; others only come back.
                assert gone <= 1
                assert come <= caps
                worst = max(worst, gone + come)
        assert worst >= 2  # the bound of one displaced row is met


def test_which_rows_stay_does_not_depend_on_their_order(bench: Bench) -> None:
    policy = capped(BY_ROW, "item", part=2, order=2)
    rows = draw(Random(3), 40)
    first = kept(rows, bench, policy)
    Random(1).shuffle(rows)
    assert kept(rows, bench, policy) == first


def test_a_cap_bounds_what_a_row_adds_to_a_join(bench: Bench) -> None:
    policy = capped(BY_ROW, "item", part=3)
    join = Join(Scan("part", "q"), ITEM, ((Column("q", "id"), Column("i", "part")),))
    bench.load(
        {"part": [{"id": 1}], "item": [{"order": n, "part": 1, "amount": n} for n in range(50)]}
    )
    assert bench.ask(count_query(join, target=bench.target(policy))) == [(3,)]
    assert bench.ask(count_query(join, target=bench.target(BY_ROW))) == [(50,)]


def test_a_cap_on_the_owners_key_concerns_nobody_else(bench: Bench) -> None:
    policy = capped(POLICY, "orders", person=2)
    orders = Scan("orders", "o")
    owned = attach_owners(orders, policy=policy)
    question = Question(orders, (Aggregate("rows", "n"),))
    query = truncated_totals_query(
        question, owned, thresholds=[1, 2, 100], target=bench.target(policy)
    )
    for seed in range(6):
        random = Random(seed)
        rows = {"orders": [{"id": n, "person": random.choice([None, 1, 2, 3])} for n in range(10)]}
        sizes = Counter(row["person"] for row in rows["orders"] if row["person"])
        bench.load(rows)
        expected = tuple(sum(min(n, 2, t) for n in sizes.values()) for t in (1, 2, 100))
        assert bench.ask(query) == [expected]
        bench.load(without(1, rows | {"Person": []}))
        fewer = tuple(sum(min(n, 2, t) for p, n in sizes.items() if p != 1) for t in (1, 2, 100))
        assert bench.ask(query) == [fewer]


def test_a_capped_table_is_written_alike_however_often_it_was_asked(bench: Bench) -> None:
    policy = capped(BY_ROW, "item", part=2, order=1)
    twice = Join(ITEM, Scan("item", "j"), ((Column("i", "part"), Column("j", "part")),))
    target = bench.target(policy)
    first = target.text(count_query(twice, target=target))
    for each in (ITEM, twice):
        query = count_query(each, target=target)
        query.transform(lambda node: node)
        target.text(query)
    assert target.text(count_query(twice, target=target)) == first
    assert first.count("ROW_NUMBER") == 4  # two caps in each of the two places
