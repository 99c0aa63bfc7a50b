"""Totals of groups under one cap, and sums in doubles, against plain arithmetic."""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from sqlglot import exp, parse_one
from tests.queries.emission.conftest import Bench
from tests.queries.emission.shop import POLICY, database, tree, without
from tests.queries.emission.test_contribution_levels import (
    COUNT,
    JOIN,
    KNOWN,
    PART,
    count_levels,
    entries,
)

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.queries.algebra import Aggregate, Column, Filter, Join, Question, Scan
from celosia.queries.bounds.caps import capped_totals, ladder, people_by_level
from celosia.queries.bounds.private_cap import ContributionSummary, PrivateCap
from celosia.queries.emission import (
    FixedPoint,
    Target,
    contribution_levels_query,
    contribution_totals_query,
    group_truncation,
    truncated_groups_query,
)
from celosia.queries.emission.aggregates import FlatQuery
from celosia.queries.emission.contribution_levels import read_totals
from celosia.queries.emission.deferred_joins import defer_owner_join
from celosia.queries.emission.group_truncation import LISTED, may_be_listed
from celosia.queries.ownership import attach_owners
from celosia.queries.planning.chosen_cap import Contributors

CAPS = ladder(8)
SIGNED = FixedPoint(lower=Fraction(-3), upper=Fraction(3))
POSITIVE = FixedPoint(lower=Fraction(0), upper=Fraction(3))
SUM = Aggregate("sum", "s", tree("o.amount"))
ORDERS = Aggregate("distinct", "d", tree("o.id"))  # an order tells its person
CASES = [(COUNT, POSITIVE), (SUM, POSITIVE), (SUM, SIGNED), (ORDERS, POSITIVE)]
NAMES = ["count", "sum", "signed", "distinct"]


def shares(rows: Any, aggregate: Aggregate, fixed: FixedPoint) -> dict[int, dict[int, int]]:
    """For each person what they add to each group."""
    made: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    seen = set()
    for person, order, item in entries(rows):
        if item["part"] not in KNOWN[0]:
            continue
        amount: Any = order["amount"]
        if aggregate is COUNT:
            made[person][item["part"]] += 1
        elif aggregate is SUM and amount is not None:
            made[person][item["part"]] += max(fixed.low, min(fixed.high, int(amount)))
        elif aggregate is ORDERS and (order["id"], item["part"]) not in seen:
            seen.add((order["id"], item["part"]))
            made[person][item["part"]] += 1
    return made


@pytest.mark.parametrize(("aggregate", "fixed"), CASES, ids=NAMES)
def test_people_are_counted_by_their_sizes_over_all_groups(
    bench: Bench, aggregate: Aggregate, fixed: FixedPoint
) -> None:
    owned = attach_owners(JOIN, policy=POLICY)
    query = contribution_levels_query(
        Question(JOIN, (aggregate, COUNT), (PART,)),
        owned,
        caps=[CAPS, ladder(5)],
        target=bench.target(),
        group_keys=KNOWN,
        fixed={"s": fixed},
    )
    for seed in range(4):
        rows = database(Random(seed), size=12)
        bench.load(rows)
        found = bench.ask(query)
        for place, (each, caps) in enumerate(((aggregate, CAPS), (COUNT, ladder(5)))):
            owners = shares(rows, each, fixed)
            wholes = {who: sum(map(abs, own.values())) for who, own in owners.items()}
            assert count_levels(found, place, len(caps)) == list(
                people_by_level(list(wholes.values()), caps)
            )
            largest = {row[-1]: int(row[-2]) for row in found if row[0] == place + 1}
            assert {who: size for who, size in largest.items() if size} == {
                who: min(size, caps[-1]) for who, size in wholes.items() if size
            }


def test_only_the_people_who_add_most_are_listed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_truncation, "LISTED", 1)
    rows = database(Random(3), size=24)
    bench.load(rows)
    query = contribution_levels_query(
        Question(JOIN, (COUNT,), (PART,)),
        attach_owners(JOIN, policy=POLICY),
        caps=[ladder(64)],
        target=bench.target(),
        group_keys=KNOWN,
    )
    sizes = sorted(sum(own.values()) for own in shares(rows, COUNT, POSITIVE).values())
    listed = [int(row[-2]) for row in bench.ask(query) if row[0] == 1]
    assert sorted(listed) == sizes[-2:] == [3, 8]


@pytest.mark.parametrize(("aggregate", "fixed"), CASES, ids=NAMES)
def test_a_cut_total_is_what_people_keep_each_by_themselves(
    bench: Bench, aggregate: Aggregate, fixed: FixedPoint
) -> None:
    owned = attach_owners(JOIN, policy=POLICY)
    asked = Question(JOIN, (aggregate,), (PART,))

    def totals(cap: int) -> list[int]:
        query = truncated_groups_query(
            asked, owned, caps=[cap], target=bench.target(), group_keys=KNOWN, fixed={"s": fixed}
        )
        answer = bench.ask(query)
        assert [row[0] for row in answer] == KNOWN[0]
        return [int(row[1]) for row in answer]

    rows = database(Random(6), size=12)
    owners = shares(rows, aggregate, fixed)
    bench.load(rows)
    together = {cap: totals(cap) for cap in (1, 3, 8, 2**40)}
    added = {cap: [0, 0, 0] for cap in together}
    was_cut = False
    for person, own in owners.items():
        alone = rows
        for other in (owners.keys() | {each["id"] for each in rows["Person"]}) - {person}:
            alone = without(other, alone)
        bench.load(alone)
        for cap in together:
            kept = totals(cap)
            full = [own.get(part, 0) for part in KNOWN[0]]
            # In the same direction, never more, at most one of them in part, up to the cap.
            assert all(a == 0 or (a > 0) == (b > 0) for a, b in zip(kept, full, strict=True))
            assert all(abs(a) <= abs(b) for a, b in zip(kept, full, strict=True))
            assert sum(a not in (0, b) for a, b in zip(kept, full, strict=True)) <= 1
            assert sum(map(abs, kept)) == min(cap, sum(map(abs, full)))
            was_cut |= kept != full
            added[cap] = [a + b for a, b in zip(added[cap], kept, strict=True)]
    assert together == added
    assert was_cut


def test_totals_that_are_cut_together_are_those_that_are_cut_alone(bench: Bench) -> None:
    """Whether the people above the caps are searched for or listed, with others among them."""
    owned = attach_owners(JOIN, policy=POLICY)
    rows = database(Random(3), size=24)
    bench.load(rows)
    given: dict[str, Any] = {"target": bench.target(), "group_keys": KNOWN, "fixed": {"s": SIGNED}}

    def totals(aggregates: tuple[Aggregate, ...], caps: list[int], people: Any) -> list[list[int]]:
        query = truncated_groups_query(
            Question(JOIN, aggregates, (PART,)), owned, caps=caps, people=people, **given
        )
        return [[int(each) for each in row[1:]] for row in bench.ask(query)]

    aggregates = (COUNT, SUM, ORDERS)
    sizes = [
        {who: sum(map(abs, own.values())) for who, own in shares(rows, each, SIGNED).items()}
        for each in aggregates
    ]
    for caps in ([1, 2, 3], [4, 1, 2**40], [2**40, 2**40, 2**40]):
        above = {
            who
            for cap, owners in zip(caps, sizes, strict=True)
            for who, size in owners.items()
            if size > cap
        }
        alone = [totals((each,), [cap], None) for each, cap in zip(aggregates, caps, strict=True)]
        expected = [[row for (row,) in parts] for parts in zip(*alone, strict=True)]
        assert totals(aggregates, caps, None) == expected
        assert totals(aggregates, caps, sorted(above)) == expected
        everybody = sorted(set().union(*sizes))
        assert totals(aggregates, caps, everybody) == expected


def test_people_above_a_cap_are_told_where_the_list_reaches_down_to_it() -> None:
    few = Contributors([], [(9, "a"), (8, "b"), (3, "c")], 8)
    assert few.above(2) == ["a", "b", "c"]
    assert few.above(3) == ["a", "b"]
    assert few.above(8) == ["a", "b"]  # cut off there, they may have more
    many = Contributors([], [(4, who) for who in range(LISTED)] + [(2, "x")], 64)
    assert many.above(1) is None  # others may add 2 as well
    assert many.above(2) == list(range(LISTED))
    assert many.above(4) == []
    assert Contributors([], [(2, who) for who in range(LISTED + 1)], 2).above(2) is None
    assert Contributors([], None, 8).above(2) is None  # an engine that lists nobody


def test_the_people_above_a_cap_are_one_text_of_the_same_statement(bench: Bench) -> None:
    """Whoever they are, and however many: the engine has seen this statement before."""
    owned = attach_owners(JOIN, policy=POLICY)

    def shape(people: list[int]) -> str:
        query = truncated_groups_query(
            Question(JOIN, (COUNT,), (PART,)),
            owned,
            caps=[4],
            target=bench.target(),
            group_keys=KNOWN,
            people=people,
        )
        text = bench.target().text(query)
        return re.sub(r"'[^']*'", "?", text)

    assert shape([]) == shape([7]) == shape(list(range(900)))


def test_people_whose_key_is_a_text_are_told_apart_as_the_engine_does(bench: Bench) -> None:
    names = ["a", "O'Neil", "x,y", "{b}", "[c]", "NULL", "%s", " d "]
    rows = ", ".join(f"({exp.Literal.string(each)})" for each in [*names, "other"])
    bench.load(database(Random(1), size=1))

    def found(people: list[str]) -> list[str]:
        owner = exp.column("o", quoted=True)
        condition = group_truncation._is_one_of(owner, people, "text", bench.target())
        query = f'SELECT "o" FROM (VALUES {rows}) AS v("o") WHERE {bench.target().text(condition)}'
        return sorted(row[0] for row in bench.ask(parse_one(query, read=bench.dialect)))

    assert found(names) == sorted(names)
    assert found(["a"]) == ["a"]
    assert found([]) == []


def test_only_people_whose_key_needs_no_escape_are_written_in_a_query(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned, target = attach_owners(JOIN, policy=POLICY), bench.target()
    assert may_be_listed([1, -5, 2**63 - 1], owned, target)
    for people in ([2**63], [True], ["a"], [None], [1.0]):
        assert not may_be_listed([1, *people], owned, target)
    monkeypatch.setattr(group_truncation, "_owner_type", lambda *_: "text")
    assert may_be_listed(["a", "O'Neil"], owned, target)
    for text in ("a\nb", 'a"', "a\\", "a\0"):
        assert not may_be_listed([text], owned, target)
    assert not may_be_listed([1], owned, target)


def test_cut_totals_are_of_aggregates_that_people_do_not_share(bench: Bench) -> None:
    owned = attach_owners(JOIN, policy=POLICY)
    shared = Aggregate("distinct", "d", tree("i.part"))
    given: dict[str, Any] = {"target": bench.target(), "group_keys": KNOWN}
    for aggregates in ((COUNT, COUNT), (shared,)):
        with pytest.raises(InputError) as refused:
            truncated_groups_query(Question(JOIN, aggregates, (PART,)), owned, caps=[1], **given)
        assert refused.value.code == "CEL-Q130"
    with pytest.raises(InputError) as refused:
        contribution_levels_query(Question(JOIN, (shared,), (PART,)), owned, caps=[CAPS], **given)
    assert refused.value.code == "CEL-Q130"
    with pytest.raises(InputError) as refused:
        contribution_totals_query(
            Question(JOIN, (COUNT,), (PART,)), owned, caps=[CAPS], target=bench.target()
        )
    assert refused.value.code == "CEL-Q130"


OWN = Join(Scan("orders", "o"), Scan("Person", "p"), ((Column("o", "person"), Column("p", "id")),))
TURNED = Join(
    Scan("Person", "p"), Scan("orders", "o"), ((Column("p", "id"), Column("o", "person")),)
)
THREE = Join(TURNED, Scan("item", "i"), ((Column("o", "id"), Column("i", "order")),))


@pytest.mark.parametrize("relation", [OWN, TURNED, THREE], ids=["one", "turned", "three"])
@pytest.mark.parametrize("seed", range(3))
def test_the_table_of_people_is_joined_after_their_rows_are_added_up(
    bench: Bench, relation: Join, seed: int
) -> None:
    rows = database(Random(seed), size=12)
    bench.load(rows)
    owned = attach_owners(relation, policy=POLICY)
    question = Question(owned.relation, (COUNT, SUM))
    flat = FlatQuery(question=question, target=bench.target(), owned=owned, fixed={"s": SIGNED})
    later = defer_owner_join(flat)
    assert later is not None
    assert later.table == Scan("Person", "p")
    query = contribution_totals_query(
        question, owned, caps=[CAPS, CAPS], target=bench.target(), fixed={"s": SIGNED}
    )
    known = {each["id"] for each in rows["Person"]}
    counts: dict[int, int] = defaultdict(int)
    sums: dict[int, int] = defaultdict(int)
    for order in rows["orders"]:
        items = sum(item["order"] == order["id"] for item in rows["item"])
        times = items if relation is THREE else 1
        if order["person"] in known and times:
            counts[order["person"]] += times
            amount = order["amount"]
            sums[order["person"]] += times * max(-3, min(3, int(amount or 0)))
    caps, fixed = [CAPS, CAPS], {"s": SIGNED}
    found = read_totals(bench.ask(query), question, caps=caps, fixed=fixed)
    for (levels, totals), owners in zip(found, (counts, sums), strict=True):
        values = list(owners.values())
        assert levels == list(people_by_level(values, CAPS))
        assert totals == list(capped_totals(values, CAPS))


@pytest.mark.parametrize(
    ("relation", "aggregate"),
    [
        (OWN, Aggregate("count", "n", tree("p.town"))),
        (Filter(OWN, tree("p.town = 1")), COUNT),
        (Join(OWN.left, OWN.right, OWN.keys, tree("p.town > o.amount")), COUNT),
        (
            Join(
                OWN,
                Scan("part", "x"),
                ((Column("p", "town"), Column("x", "town")),),
            ),
            COUNT,
        ),
        (JOIN, COUNT),
    ],
    ids=["value", "filter", "condition", "key", "no table of people"],
)
def test_a_table_of_people_that_is_spoken_of_is_joined_at_once(
    relation: Any, aggregate: Aggregate
) -> None:
    owned = attach_owners(relation, policy=POLICY)
    question = Question(owned.relation, (aggregate,))
    assert (
        defer_owner_join(
            FlatQuery(question=question, target=Target(policy=POLICY), owned=owned, fixed={})
        )
        is None
    )


def test_a_private_cap_is_chosen_before_the_totals_under_it_are_asked_for() -> None:
    mechanism = PrivateCap(epsilon=1, most=64, groups=2)
    levels = [900, 800, 700, 2, 0, 0, 0]
    totals = [[100 * cap, 7] for cap in mechanism.caps]
    at_once = mechanism.measure(ContributionSummary(levels, totals), rng=Seeded(4))
    chosen = mechanism.choose(levels, rng=Seeded(4))
    later = chosen.release(totals[mechanism.caps.index(chosen.cap)])
    assert later.value.tolist() == at_once.value.tolist()
    assert later.parts == at_once.parts
    with pytest.raises(InputError) as refused:
        chosen.release([1])
    assert refused.value.code == "CEL-Q081"
