"""People by level and totals under caps, against a plain account of who owns what."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from tests.queries.emission.conftest import Bench
from tests.queries.emission.shop import POLICY, Rows, database, tree, without

from celosia.core.errors import InputError
from celosia.queries.algebra import Aggregate, Column, Join, Key, Question, Scan
from celosia.queries.bounds.caps import capped_totals, ladder, people_by_level
from celosia.queries.emission import (
    FixedPoint,
    contribution_levels_query,
    contribution_totals_query,
    histogram_query,
    people_by_key_query,
    shared_values_query,
    truncated_groups_query,
)
from celosia.queries.emission.contribution_levels import read_totals
from celosia.queries.ownership import OwnedRelation, attach_owners

CAPS = ladder(8)
JOIN = Join(Scan("orders", "o"), Scan("item", "i"), ((Column("o", "id"), Column("i", "order")),))
BALANCE = FixedPoint(lower=Fraction(-3), upper=Fraction(3))
COUNT = Aggregate("rows", "n")
SUM = Aggregate("sum", "s", tree("o.amount"))
PARTS = Aggregate("distinct", "d", tree("i.part"))
PART = Key("part", tree("i.part"))
KNOWN = [[1, 2, 3]]


def entries(rows: dict[str, Rows]) -> list[tuple[int, dict[str, object], dict[str, object]]]:
    """Each joined row that has an owner."""
    return [
        (order["person"], order, item)
        for order in rows["orders"]
        for item in rows["item"]
        if order["person"] is not None and item["order"] == order["id"]
    ]


def read(found: list[tuple[int, ...]], start: int) -> tuple[list[int], list[list[int]]]:
    """The people of a distinct count, and its totals by cap and group."""
    levels = [sum(int(row[start + n]) for row in found) for n in range(len(CAPS))]
    totals = [[int(row[start + len(CAPS) + n]) for row in found] for n in range(len(CAPS))]
    return levels, totals


def count_levels(found: list[tuple[Any, ...]], place: int, size: int) -> list[int]:
    """People at each cap of an aggregate, as `contribution_levels_query` returns them."""
    levels = [0] * (size + 1)
    for kind, *numbers in found:
        if kind == 0:
            levels[numbers[place]] += int(numbers[-2])
    return levels[1:]


def found_of(
    bench: Bench, asked: Question, owned: OwnedRelation
) -> tuple[list[int], list[list[int]]]:
    """The people of the one aggregate, and its totals by cap and group, all caps being asked."""
    given: dict[str, Any] = {"target": bench.target(), "fixed": {"s": BALANCE}}
    (aggregate,) = asked.aggregates
    if asked.keys and aggregate.kind != "distinct":
        levels = contribution_levels_query(asked, owned, caps=[CAPS], group_keys=KNOWN, **given)
        totals = [
            truncated_groups_query(asked, owned, caps=[cap], group_keys=KNOWN, **given)
            for cap in CAPS
        ]
        people = count_levels(bench.ask(levels), 0, len(CAPS))
        return people, [[int(n) for _, n in bench.ask(each)] for each in totals]
    if aggregate.kind == "distinct":
        known = KNOWN if asked.keys else None
        query = shared_values_query(
            asked, owned, caps=CAPS, group_keys=known, target=given["target"]
        )
        return read(bench.ask(query), len(asked.keys))
    query = contribution_totals_query(asked, owned, caps=[CAPS], **given)
    ((people, own),) = read_totals(bench.ask(query), asked, caps=[CAPS], fixed=given["fixed"])
    return people, [[each] for each in own]


@pytest.mark.parametrize("seed", range(4))
def test_levels_and_totals_are_those_of_all_contributions(bench: Bench, seed: int) -> None:
    rows = database(Random(seed), size=9)
    bench.load(rows)
    owned = attach_owners(JOIN, policy=POLICY)
    fixed = {"s": BALANCE}
    counts: dict[int, int] = defaultdict(int)
    sums: dict[int, int] = defaultdict(int)
    for person, order, _ in entries(rows):
        amount = order["amount"]
        counts[person] += 1
        sums[person] += 0 if amount is None else max(-3, min(3, int(str(amount))))
    for asked, expected in (
        ((COUNT, SUM), (counts, sums)),
        ((COUNT,), (counts,)),
        ((SUM,), (sums,)),
    ):
        question, caps = Question(JOIN, asked), [CAPS] * len(asked)
        query = contribution_totals_query(
            question, owned, caps=caps, target=bench.target(), fixed=fixed
        )
        found = read_totals(bench.ask(query), question, caps=caps, fixed=fixed)
        for (levels, totals), owners in zip(found, expected, strict=True):
            values = list(owners.values())
            assert levels == list(people_by_level(values, CAPS))
            assert totals == list(capped_totals(values, CAPS))


@pytest.mark.parametrize("aggregate", [COUNT, SUM, PARTS], ids=["count", "sum", "distinct"])
@pytest.mark.parametrize("grouped", [False, True])
def test_one_person_moves_one_level_by_one_and_all_totals_by_the_cap(
    bench: Bench, aggregate: Aggregate, grouped: bool
) -> None:
    owned = attach_owners(JOIN, policy=POLICY)
    asked = Question(JOIN, (aggregate,), (PART,) if grouped else ())
    moved = False
    for seed in range(3):
        rows = database(Random(seed), size=8)
        bench.load(rows)
        levels, totals = found_of(bench, asked, owned)
        people = [each["id"] for each in rows["Person"]]
        if not people:
            continue
        bench.load(without(Random(seed).choice(people), rows))
        fewer, lower = found_of(bench, asked, owned)
        assert sum(abs(a - b) for a, b in zip(levels, fewer, strict=True)) <= 1
        for cap, one, other in zip(CAPS, totals, lower, strict=True):
            change = sum(abs(a - b) for a, b in zip(one, other, strict=True))
            assert change <= cap
            moved |= change > 0
    assert moved or aggregate is SUM


def test_with_a_large_cap_groups_hold_all_there_is(bench: Bench) -> None:
    rows = database(Random(11), size=9)
    bench.load(rows)
    caps = ladder(1024)
    owned = attach_owners(JOIN, policy=POLICY)
    query = truncated_groups_query(
        Question(JOIN, (COUNT,), (PART,)),
        owned,
        caps=[caps[-1]],
        target=bench.target(),
        group_keys=KNOWN,
    )
    found = {row[0]: int(row[-1]) for row in bench.ask(query)}
    truth = [item["part"] for _, _, item in entries(rows)]
    assert found == {part: truth.count(part) for part in (1, 2, 3)}


def test_a_shared_distinct_count_is_asked_alone(bench: Bench) -> None:
    owned = attach_owners(JOIN, policy=POLICY)
    both, target = Question(JOIN, (COUNT, PARTS)), bench.target()
    with pytest.raises(InputError) as refused:
        contribution_totals_query(both, owned, caps=[CAPS, CAPS], target=target)
    assert refused.value.code == "CEL-Q130"
    for question in (both, Question(JOIN, (COUNT,))):
        with pytest.raises(InputError) as refused:
            shared_values_query(question, owned, caps=CAPS, target=target)
        assert refused.value.code == "CEL-Q130"


def test_people_count_for_their_first_groups_only(bench: Bench) -> None:
    rows = database(Random(3), size=9)
    bench.load(rows)
    owned = attach_owners(JOIN, policy=POLICY)
    question = Question(JOIN, (COUNT,), (PART,))
    pairs = {(who, item["part"]) for who, _, item in entries(rows) if item["part"] is not None}
    for groups in (1, 2, 9):
        query = people_by_key_query(question, owned, groups=groups, target=bench.target())
        found = {row[0]: int(row[1]) for row in bench.ask(query)}
        most = sum(min(groups, sum(p == who for p, _ in pairs)) for who in {p for p, _ in pairs})
        assert sum(found.values()) == most
        assert all(n <= sum(part == key for _, part in pairs) for key, n in found.items())
    by_row = people_by_key_query(question, None, groups=1, target=bench.target())
    joined = [
        item["part"]
        for order in rows["orders"]
        for item in rows["item"]
        if item["order"] == order["id"] and item["part"] is not None
    ]
    assert dict(bench.ask(by_row)) == {part: joined.count(part) for part in sorted(set(joined))}


def test_a_histogram_counts_rows_by_step(bench: Bench) -> None:
    rows = database(Random(5), size=9)
    bench.load(rows)
    scan = Scan("orders", "o")
    query = histogram_query(
        Question(scan, (Aggregate("quantile", "q", tree("o.amount"), 0.5),)),
        fixed=BALANCE,
        target=bench.target(),
    )
    kept = [max(-3, min(3, row["amount"])) for row in rows["orders"] if row["amount"] is not None]
    assert bench.ask(query) == [(step, kept.count(step)) for step in sorted(set(kept))]
