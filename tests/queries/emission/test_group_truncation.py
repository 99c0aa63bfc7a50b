"""Totals of groups under one cap, and sums in doubles, against plain arithmetic."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from tests.queries.emission.conftest import Bench
from tests.queries.emission.shop import POLICY, database, tree, without
from tests.queries.emission.test_contribution_levels import COUNT, JOIN, KNOWN, PART, entries

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
    truncated_groups_query,
)
from celosia.queries.emission.aggregates import FlatQuery
from celosia.queries.emission.deferred_joins import defer_owner_join
from celosia.queries.ownership import attach_owners

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
        ((*found,),) = bench.ask(query)
        expected: list[int] = []
        for each, caps in ((aggregate, CAPS), (COUNT, ladder(5))):
            wholes = [sum(map(abs, own.values())) for own in shares(rows, each, fixed).values()]
            expected += people_by_level(wholes, caps)
        assert [int(each) for each in found] == expected


@pytest.mark.parametrize(("aggregate", "fixed"), CASES, ids=NAMES)
def test_a_cut_total_is_what_people_keep_each_by_themselves(
    bench: Bench, aggregate: Aggregate, fixed: FixedPoint
) -> None:
    owned = attach_owners(JOIN, policy=POLICY)
    asked = Question(JOIN, (aggregate,), (PART,))

    def totals(cap: int) -> list[int]:
        query = truncated_groups_query(
            asked, owned, cap=cap, target=bench.target(), group_keys=KNOWN, fixed={"s": fixed}
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


def test_cut_totals_are_of_one_aggregate_that_people_do_not_share(bench: Bench) -> None:
    owned = attach_owners(JOIN, policy=POLICY)
    shared = Aggregate("distinct", "d", tree("i.part"))
    given: dict[str, Any] = {"target": bench.target(), "group_keys": KNOWN}
    for aggregates in ((COUNT, COUNT), (shared,)):
        with pytest.raises(InputError) as refused:
            truncated_groups_query(Question(JOIN, aggregates, (PART,)), owned, cap=1, **given)
        assert refused.value.code == "CEL-Q130"
    with pytest.raises(InputError) as refused:
        contribution_levels_query(Question(JOIN, (shared,), (PART,)), owned, caps=[CAPS], **given)
    assert refused.value.code == "CEL-Q130"
    with pytest.raises(InputError) as refused:
        contribution_totals_query(Question(JOIN, (COUNT,), (PART,)), owned, caps=[CAPS], **given)
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
    ((*found,),) = bench.ask(query)
    expected: list[int] = []
    for owners in (counts, sums):
        values = list(owners.values())
        expected += [*people_by_level(values, CAPS), *capped_totals(values, CAPS)]
    assert [int(each) for each in found] == expected


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


def test_a_private_cap_asks_for_the_totals_of_the_chosen_cap_only() -> None:
    mechanism = PrivateCap(epsilon=1, most=64, groups=2)
    levels = [900, 800, 700, 2, 0, 0, 0]
    totals = [[100 * cap, 7] for cap in mechanism.caps]
    asked: list[int] = []

    def under(cap: int) -> list[int]:
        asked.append(cap)
        return totals[mechanism.caps.index(cap)]

    at_once = mechanism.measure(ContributionSummary(levels, totals), rng=Seeded(4))
    later = mechanism.measure(ContributionSummary(levels, under), rng=Seeded(4))
    assert later.value.tolist() == at_once.value.tolist()
    assert asked == [later.parts["cap"]] == [at_once.parts["cap"]]
