from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from sqlglot import exp
from tests.queries.bounds import evaluator
from tests.queries.emission.conftest import Bench
from tests.queries.emission.shop import BY_ROW, POLICY, Rows, Trees, database, tree, without
from tests.queries.emission.test_aggregates import steps

from celosia.core.errors import InputError, QueryRefused
from celosia.engines import DuckDBEngine
from celosia.queries.algebra import (
    Aggregate,
    Column,
    DerivedTable,
    Filter,
    Join,
    Key,
    NamedExpression,
    Question,
    Relation,
    Scan,
)
from celosia.queries.emission import (
    FixedPoint,
    Target,
    count_query,
    incidence_query,
    per_owner_query,
    truncated_totals_query,
)
from celosia.queries.ownership import OwnedRelation, attach_owners

FIXED = FixedPoint(lower=Fraction(-1), upper=Fraction(3), step=Fraction(1, 4))
THRESHOLDS = [0, 1, 2, 4, 8, 16, 1024]
PEOPLE = range(1, 8)
CHAIN = Join(
    Join(
        Join(
            Scan("Person", "p"), Scan("orders", "o"), ((Column("p", "id"), Column("o", "person")),)
        ),
        Scan("item", "i"),
        ((Column("o", "id"), Column("i", "order")),),
    ),
    Scan("part", "q"),
    ((Column("i", "part"), Column("q", "id")),),
)
ARGUMENTS = ("o.amount", "o.id", "i.part", "q.town")
Contributions = dict[Any, dict[Any, list[Any]]]


def contributions(
    owned: OwnedRelation, argument: str, key: str | None, rows: dict[str, Rows]
) -> Contributions:
    """For each group and person the values of the argument, straight from the evaluator."""
    found: Contributions = {}
    for row in evaluator.rows(owned.relation, rows):
        place = evaluator.value(tree(key), row) if key else None
        values = found.setdefault(place, {}).setdefault(row[owned.owners[0]], [])
        values.append(evaluator.value(tree(argument), row))
    return found


def amount(kind: str, values: list[Any]) -> int:
    known = [each for each in values if each is not None]
    match kind:
        case "rows":
            return len(values)
        case "count":
            return len(known)
        case "distinct":
            return len(set(known))
    return sum(steps(each, FIXED) for each in known)


def asked(kind: str, argument: str) -> Aggregate:
    if kind == "rows":
        return Aggregate("rows", "n")
    return Aggregate(kind, "n", tree(argument))  # type: ignore[arg-type]


def test_what_each_person_adds_to_a_chain_of_four_tables(bench: Bench) -> None:
    owned = attach_owners(CHAIN, policy=POLICY)
    assert owned.owner_count == 1
    for seed in range(4):
        rows = database(Random(seed), size=6)
        bench.load(rows)
        for kind, argument in product(("rows", "count", "distinct", "sum"), ARGUMENTS):
            question = Question(CHAIN, (asked(kind, argument),))
            query = per_owner_query(question, owned, target=bench.target(), fixed={"n": FIXED})
            exact = contributions(owned, argument, None, rows).get(None, {})
            expected = [amount(kind, exact[person]) for person in sorted(exact)]
            assert bench.ask(query) == list(enumerate(expected, start=1))


def test_clipped_totals_are_those_of_clipped_contributions(bench: Bench) -> None:
    owned = attach_owners(CHAIN, policy=POLICY)
    for seed in range(4):
        rows = database(Random(seed), size=6)
        bench.load(rows)
        for kind, argument, key in product(
            ("rows", "count", "sum", "distinct"), ("o.amount", "o.id"), (None, "i.part")
        ):
            if kind == "distinct" and argument != "o.id":
                continue  # values that people share: see below
            keys = (Key("k", tree(key)),) if key else ()
            question = Question(CHAIN, (asked(kind, argument),), keys)
            exact = contributions(owned, argument, key, rows)
            expected = {
                place: tuple(
                    sum(max(-t, min(t, amount(kind, values))) for values in people.values())
                    for t in THRESHOLDS
                )
                for place, people in exact.items()
            }
            for known in (None, [[2, 9, 1]]) if key else (None,):
                query = truncated_totals_query(
                    question,
                    owned,
                    thresholds=THRESHOLDS,
                    target=bench.target(),
                    fixed={"n": FIXED},
                    group_keys=known,
                )
                answer = bench.ask(query)
                nothing = (0,) * len(THRESHOLDS)
                if key is None:
                    assert answer == [expected.get(None, nothing)]
                elif known is None:
                    assert {row[0]: row[1:] for row in answer} == expected
                else:
                    listed = [(each, *expected.get(each, nothing)) for each in known[0]]
                    assert answer == listed


def test_totals_below_zero_are_clipped_too(bench: Bench) -> None:
    relation = Scan("orders", "o")
    owned = attach_owners(relation, policy=POLICY)
    orders = [{"id": 1, "person": 1, "amount": 9}, {"id": 2, "person": 2, "amount": 0}]
    bench.load({"Person": [{"id": 1}, {"id": 2}], "orders": orders})
    fixed = FixedPoint(lower=Fraction(-8), upper=Fraction(8))
    query = truncated_totals_query(
        Question(relation, (Aggregate("sum", "n", tree("1 - o.amount")),)),
        owned,
        thresholds=[0, 2, 1024],
        target=bench.target(),
        fixed={"n": fixed},
    )
    assert bench.ask(query) == [(0, 1 - 2, 1 - 8)]


def test_distinct_values_that_people_share_keep_all_three_facts(bench: Bench) -> None:
    """One person moves f_t by at most t, f_t is at most the answer, and is it in the end."""
    owned = attach_owners(CHAIN, policy=POLICY)
    question = Question(CHAIN, (asked("distinct", "i.part"),))
    query = truncated_totals_query(question, owned, thresholds=THRESHOLDS, target=bench.target())
    moved = 0
    for seed in range(3):
        rows = database(Random(seed), size=6)
        bench.load(rows)
        [totals] = bench.ask(query)
        [[exact]] = list(evaluator.answer(question, rows).values())
        assert list(totals) == sorted(totals)
        assert totals[0] == 0
        assert totals[-1] == exact
        for person in PEOPLE:
            bench.load(without(person, rows))
            [neighbour] = bench.ask(query)
            for t, one, other in zip(THRESHOLDS, totals, neighbour, strict=True):
                assert abs(one - other) <= t
                moved += one != other
    assert moved


def test_a_person_counts_in_so_many_groups_at_most(bench: Bench) -> None:
    owned = attach_owners(CHAIN, policy=POLICY)
    question = Question(CHAIN, (Aggregate("rows", "n"),), (Key("k", tree("i.part")),))
    for seed, groups in product(range(3), (1, 2)):
        rows = database(Random(seed), size=6)
        query = truncated_totals_query(
            question,
            owned,
            thresholds=[1, 1000],
            target=bench.target(),
            group_keys=[[1, 2, 3]],
            groups=groups,
        )
        bench.load(rows)
        answer = bench.ask(query)
        exact = contributions(owned, "o.id", "i.part", rows)
        sizes = Counter(person for key in exact if key in (1, 2, 3) for person in exact[key])
        # Clipped at 1, the totals count in how many groups people are.
        assert sum(row[1] for row in answer) == sum(min(groups, n) for n in sizes.values())
        for person in PEOPLE:
            bench.load(without(person, rows))
            others = bench.ask(query)
            shifts = [abs(one[1] - other[1]) for one, other in zip(answer, others, strict=True)]
            assert sum(shifts) == min(groups, sizes[person])


def test_the_incidence_of_random_questions(bench: Bench) -> None:
    several = 0
    for seed in range(50):
        random = Random(seed)
        relation, _ = Trees(random).relation(random.choice([1, 2, 2]))
        try:
            owned = attach_owners(relation, policy=POLICY)
        except QueryRefused:
            continue
        if not owned.owners:
            continue
        rows = database(random)
        bench.load(rows)
        question = Question(relation, (Aggregate("rows", "n"),))
        answer = bench.ask(incidence_query(question, owned, target=bench.target()))
        exact = Counter(
            tuple(row[owner] for owner in owned.owners)
            for row in evaluator.rows(owned.relation, rows)
        )
        people = sorted({each for owners in exact for each in owners})
        expected = {tuple(people.index(each) for each in owners): n for owners, n in exact.items()}
        assert {row[:-1]: row[-1] for row in answer} == expected
        assert answer == sorted(answer)
        by_key = incidence_query(question, owned, target=bench.target(), numbered=False)
        assert {row[:-1]: row[-1] for row in bench.ask(by_key)} == dict(exact)
        several += owned.owner_count > 1
    assert several > 5


def test_the_incidence_of_sums_and_groups(bench: Bench) -> None:
    relation = Scan("message", "m")
    owned = attach_owners(relation, policy=POLICY)
    rows = {
        "message": [
            {"sender": 40, "receiver": 30, "amount": 2},
            {"sender": 40, "receiver": 30, "amount": 5},
            {"sender": 30, "receiver": 40, "amount": 0},
            {"sender": None, "receiver": 40, "amount": 1},
        ]
    }
    bench.load(rows)  # type: ignore[arg-type]
    fixed = FixedPoint(lower=Fraction(0), upper=Fraction(3))
    question = Question(relation, (Aggregate("sum", "s", tree("m.amount")),))
    query = incidence_query(question, owned, target=bench.target(), fixed={"s": fixed})
    assert bench.ask(query) == [(1, 0, 5)]
    signed = FixedPoint(lower=Fraction(-3), upper=Fraction(3))
    less = Question(relation, (Aggregate("sum", "s", tree("1 - m.amount")),))
    query = incidence_query(less, owned, target=bench.target(), fixed={"s": signed})
    assert bench.ask(query) == [(0, 1, 1), (1, 0, -4)]
    question = Question(relation, (Aggregate("distinct", "n", tree("m.amount")),))
    query = incidence_query(question, owned, target=bench.target())
    assert bench.ask(query) == [(0, 1, 0, 1), (1, 0, 1, 1), (1, 0, 2, 1)]
    query = incidence_query(question, owned, target=bench.target(), numbered=False)
    assert sorted(bench.ask(query)) == [(30, 40, 0, 1), (40, 30, 1, 1), (40, 30, 2, 1)]
    question = Question(relation, (Aggregate("rows", "n"),), (Key("k", tree("m.amount")),))
    query = incidence_query(question, owned, target=bench.target())
    assert bench.ask(query) == [(0, 0, 1, 1), (2, 1, 0, 1), (5, 1, 0, 1)]


def test_rows_with_several_partners_count_once(bench: Bench) -> None:
    number = NamedExpression("place", exp.Window(this=exp.RowNumber()))
    columns = (NamedExpression("id", tree("p.id")), NamedExpression("town", tree("p.town")), number)
    relation: Relation = Join(
        DerivedTable(Scan("Person", "p"), "r", columns),
        Scan("message", "m"),
        ((Column("r", "id"), Column("m", "sender")),),
    )
    owned = attach_owners(relation, policy=POLICY)
    assert owned.owner_count == 2
    bench.load(
        {
            "Person": [{"id": 30, "town": None}, {"id": 40, "town": 1}],
            "message": [
                {"sender": 40, "receiver": 30},
                {"sender": 40, "receiver": 30},
                {"sender": 40, "receiver": 40},
                {"sender": 30, "receiver": 40},
            ],
        }
    )
    target = bench.target()
    for aggregate, expected in (
        (Aggregate("rows", "n"), [(0, 1, 1), (1, 0, 1), (1, 1, 1)]),
        (Aggregate("count", "n", tree("r.town")), [(1, 0, 1), (1, 1, 1)]),
        (Aggregate("sum", "n", tree("r.id")), [(0, 1, 3), (1, 0, 3), (1, 1, 3)]),
    ):
        query = incidence_query(
            Question(relation, (aggregate,)),
            owned,
            target=target,
            fixed={"n": FixedPoint(lower=Fraction(0), upper=Fraction(3))},
            result_column=Column("r", "place"),
        )
        answer = bench.ask(query)
        assert [(*row[:2], row[3]) for row in answer] == expected
        shown = {row[:2]: row[2] for row in answer}
        assert shown[1, 0] == shown[1, 1] != shown.get((0, 1))


def test_with_rows_as_unit_numbers_are_of_each_table(bench: Bench) -> None:
    relation: Relation = Join(
        Scan("Person", "p"), Scan("orders", "o"), ((Column("p", "id"), Column("o", "person")),)
    )
    owned = attach_owners(relation, policy=BY_ROW)
    bench.load(
        {
            "Person": [{"id": 5}, {"id": 6}],
            "orders": [{"id": 5, "person": 6}, {"id": 7, "person": 6}],
        }
    )
    question = Question(relation, (Aggregate("rows", "n"),))
    query = incidence_query(question, owned, target=bench.target(BY_ROW))
    assert bench.ask(query) == [(0, 0, 1), (0, 1, 1)]


def test_what_cannot_be_put_down_to_people_is_refused() -> None:
    target = Target(policy=POLICY)
    message = Scan("message", "m")
    question = Question(message, (Aggregate("rows", "n"),))
    owned = attach_owners(message, policy=POLICY)
    with pytest.raises(QueryRefused) as caught:
        per_owner_query(question, owned, target=target)
    assert caught.value.key == "CEL-Q120.several_people"
    unidentified = attach_owners(Scan("item", "i"), policy=BY_ROW)
    question_of_rows = Question(Scan("item", "i"), (Aggregate("rows", "n"),))
    for query in (per_owner_query, incidence_query):
        with pytest.raises(QueryRefused) as caught:
            query(question_of_rows, unidentified, target=Target(policy=BY_ROW))
        assert caught.value.key == "CEL-Q120.same_rows"
    orders = Scan("orders", "o")
    two = Question(orders, (Aggregate("rows", "n"), Aggregate("rows", "m")))
    of_orders = attach_owners(orders, policy=POLICY)
    one = Question(orders, (Aggregate("rows", "n"),))
    with pytest.raises(InputError) as wrong:
        truncated_totals_query(two, of_orders, thresholds=[1], target=target)
    assert wrong.value.code == "CEL-Q130"
    bad: list[list[Any]] = [[], [-1], [2**63], [1.5], [True]]
    for thresholds in bad:
        with pytest.raises(InputError) as wrong:
            truncated_totals_query(one, of_orders, thresholds=thresholds, target=target)
        assert wrong.value.key == "CEL-Q130.thresholds"


def test_no_key_of_a_person_leaves_the_engine(bench: Bench) -> None:
    rows = {"orders": [{"id": n, "person": 987_654_321 + n} for n in range(3)]}
    bench.load(rows)
    orders = Scan("orders", "o")
    owned = attach_owners(orders, policy=POLICY)
    question = Question(orders, (Aggregate("rows", "n"),))
    for query in (per_owner_query, incidence_query):
        answer = bench.ask(query(question, owned, target=bench.target()))
        assert all(value < 10 for row in answer for value in row)


def test_the_cost_of_clipped_totals_beside_a_plain_count(tmp_path: Path) -> None:
    """A million items of orders of people; printed, because machines differ."""
    path = tmp_path / "large.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""
            CREATE TABLE "Person" AS SELECT range AS id, 1 AS town FROM range(25000);
            CREATE TABLE orders AS
                SELECT range AS id, hash(range) % 25000 AS person FROM range(250000);
            CREATE TABLE item AS
                SELECT hash(range) % 250000 AS "order", range % 1000 AS part FROM range(1000000);
        """)
    people, orders, items = Scan("Person", "p"), Scan("orders", "o"), Scan("item", "i")
    chain: Relation = Join(
        Join(people, orders, ((Column("p", "id"), Column("o", "person")),)),
        items,
        ((Column("o", "id"), Column("i", "order")),),
    )
    thresholds = [2**n for n in range(1, 21)]
    target = Target(policy=POLICY)
    with DuckDBEngine(path) as engine:
        for relation, name in ((chain, "three tables"), (Filter(orders, tree("o.id >= 0")), "one")):
            owned = attach_owners(relation, policy=POLICY)
            question = Question(relation, (Aggregate("rows", "n"),))
            queries = {
                "count": count_query(relation, target=target),
                "totals": truncated_totals_query(
                    question, owned, thresholds=thresholds, target=target
                ),
            }
            best, last = {}, {}
            for word, query in queries.items():
                times = []
                for _ in range(5):
                    start = time.perf_counter()
                    last[word] = engine.run(query, timeout=600)[0][-1]
                    times.append(time.perf_counter() - start)
                best[word] = min(times)
            assert last["totals"] == last["count"]
            ratio = best["totals"] / best["count"]
            print(
                f"{name}: count {best['count']:.4f} s, "
                f"clipped totals {best['totals']:.4f} s, {ratio:.2f} times that"
            )
