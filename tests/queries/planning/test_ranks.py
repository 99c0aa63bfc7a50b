"""Ranks over several rows of one unit: how far one unit moves them, by brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlglot import exp
from tests.effort import some
from tests.queries.vaults import BY_ROW, POLICY, Rows, capped, in_memory, shop, without

from celosia.core.errors import QueryRefused
from celosia.core.neighbours import Relation
from celosia.queries.planning import make_plan
from celosia.queries.planning.rank_contribution import RankContribution
from celosia.queries.planning.ranks import RankStep
from celosia.queries.policy import Policy
from celosia.queries.request import QueryRequest

BOTH = pytest.mark.parametrize("relation", list(Relation))
Histogram = list[tuple[int, int]]


def misses(counted: Histogram, points: range, share: Fraction) -> list[int]:
    """The definition, point by point: rows by which a rank misses, times the denominator."""
    target = share.numerator * sum(number for _, number in counted)
    found = []
    for point in points:
        below = sum(number for value, number in counted if value < point)
        upto = sum(number for value, number in counted if value <= point)
        scale = share.denominator
        found.append(max(0, below * scale - target, target - upto * scale))
    return found


def log_chances(
    counted: Histogram, points: range, share: Fraction, rate: Fraction
) -> NDArray[np.float64]:
    """The logarithm of the chance of each point under the exponential mechanism."""
    weights = -float(rate) * np.array(misses(counted, points, share))
    found: NDArray[np.float64] = weights - np.logaddexp.reduce(weights)
    return found


def bag(rows: list[tuple[int, int]], group: int) -> Histogram:
    return sorted(Counter(value for place, value in rows if place == group).items())


@BOTH
@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 4), Fraction(99, 100)])
@pytest.mark.parametrize(
    ("rows", "groups", "is_reduced"),
    [(1, 1, True), (2, 1, False), (1, 2, False), (2, 2, False), (2, 2, True), (2, 3, True)],
)
def test_no_unit_moves_misses_by_more_than_the_steps_and_some_unit_by_as_many(
    relation: Relation, share: Fraction, rows: int, groups: int, is_reduced: bool
) -> None:
    points = range(3)
    entries = list(product(range(groups), points))
    units = [
        list(unit)
        for size in range(rows + 1)
        for unit in combinations_with_replacement(entries, size)
        if not is_reduced or len({group for group, _ in unit}) == size
    ]
    pairs: list[tuple[list[tuple[int, int]], ...]] = [([], unit) for unit in units]
    if relation is Relation.CHANGE_ONE:
        pairs = list(product(units, units))
    random = Random(5)
    others = [
        [(group, point) for group in range(groups) for point in random.choices(points, k=size)]
        for size in (0, 1, 4)
        for _ in range(2)
    ]
    # Rows in the lowest or the highest point only: the sides of the target are then far.
    others += [[(group, end) for group in range(groups)] * 200 for end in (0, 2)]
    worst = 0
    for rest in others:
        known: dict[tuple[int, tuple[tuple[int, int], ...]], list[int]] = {}

        def of(
            unit: list[tuple[int, int]], group: int, rest: Any = rest, known: Any = known
        ) -> Any:
            mine = tuple(each for each in unit if each[0] == group)
            if (group, mine) not in known:
                known[group, mine] = misses(bag([*rest, *mine], group), points, share)
            return known[group, mine]

        for one, other in pairs:
            moved = sum(
                max(abs(a - b) for a, b in zip(of(one, group), of(other, group), strict=True))
                for group in range(groups)
            )
            worst = max(worst, moved)
    bound = RankContribution(most=rows, is_reduced=is_reduced).steps(
        share, relation, rows=rows, groups=groups
    )
    assert worst == bound


def test_rows_that_come_and_go_by_a_join_are_not_taken_for_pairs() -> None:
    rows = RankContribution(most=3, is_paired=False)
    share = Fraction(1, 4)
    assert rows.steps(share, Relation.CHANGE_ONE, rows=3, groups=1) == 2 * 3 * 3
    assert rows.steps(share, Relation.ADD_REMOVE, rows=3, groups=1) == 3 * 3


def steps_of(query: str, policy: Policy, *, epsilon: Any = 1, **more: Any) -> list[RankStep]:
    plan = make_plan(QueryRequest(query, epsilon=epsilon, **more), policy)
    return [step for step in plan.steps if isinstance(step, RankStep)]


QUESTIONS = [
    "SELECT MIN(balance) AS m FROM orders",
    "SELECT MAX(balance) AS m FROM orders",
    "SELECT MEDIAN(balance) AS m FROM orders",
    "SELECT QUANTILE_CONT(balance, 0.9) AS m FROM orders",
    "SELECT status, MAX(balance) AS m FROM orders GROUP BY status",
    "SELECT status, MEDIAN(balance) AS m FROM orders GROUP BY status",
    "SELECT EXTRACT(MONTH FROM placed) AS k, MIN(balance) AS m FROM orders "
    "GROUP BY EXTRACT(MONTH FROM placed)",
    'SELECT MEDIAN(o.balance) AS m FROM orders o JOIN item i ON i."order" = o.id',
]


class Exact:
    """The exact histograms and levels of a step over some rows."""

    def __init__(self, rows: Rows, step: RankStep, known: Any) -> None:
        connection = in_memory(rows)

        def ask(tree: exp.Expr) -> list[tuple[Any, ...]]:
            return connection.execute(step.context.target.text(tree)).fetchall()

        lists = known if step.context.key_count else None
        caps = step.cap.mechanism.caps if step.rows.is_chosen else (step.rows.most,)
        self.levels = step.levels(ask, lists) if step.rows.is_chosen else []
        self.by_cap = {cap: step.histograms(ask, lists, cap) for cap in caps}
        points = range(step.fixed.low, step.fixed.high + 1)
        self.misses = {
            cap: [misses(each, points, step.share) for each in groups]
            for cap, groups in self.by_cap.items()
        }
        self.logs = {
            cap: [log_chances(each, points, step.share, step.rate(cap)) for each in groups]
            for cap, groups in self.by_cap.items()
        }

    def moved(self, other: Exact, step: RankStep) -> Fraction:
        """How far misses move, as a part of the most that the rate is made for."""
        return max(
            Fraction(
                sum(
                    max(abs(a - b) for a, b in zip(*pair, strict=True))
                    for pair in zip(mine, other.misses[cap], strict=True)
                ),
                step.rows.steps(step.share, step.relation, rows=cap, groups=step.groups),
            )
            for cap, mine in self.misses.items()
        )

    def distance(self, other: Exact, step: RankStep) -> float:
        """The largest log-ratio of any output: the cap's numbers, then the points of all groups."""
        moved = sum(abs(a - b) for a, b in zip(self.levels, other.levels, strict=True))
        first = float(moved / step.cap.mechanism.level_noise.scale) if self.levels else 0.0
        return first + max(
            max(
                sum(float((a - b).max()) for a, b in zip(mine, theirs, strict=True)),
                sum(float((b - a).max()) for a, b in zip(mine, theirs, strict=True)),
            )
            for mine, theirs in zip(self.logs.values(), other.logs.values(), strict=True)
        )


def crowded(seed: int, *, people: int = 3) -> Rows:
    """Few people with many orders, of whom the first has most."""
    random = Random(seed)
    rows = shop(random, people=people, orders=24)
    for order in rows["orders"]:
        order["person"] = random.choice([1, 1, 1, *range(1, people + 1)])
        order["balance"] = random.randint(-5, 5)
        order["placed"] = f"2026-0{random.randint(1, 6)}-05"
        if order["person"] == 1:
            order["balance"] = 5 if seed % 2 else -5
    return rows


def remade(rows: Rows, person: int, *, value: int) -> Rows:
    """The neighbour in which a person has other orders: all with one value, in other groups."""
    made = {name: [dict(each) for each in table] for name, table in rows.items()}
    swap = {"open": "done", "done": "lost", "lost": "open", None: "open"}
    for order in made["orders"]:
        if order["person"] == person:
            later = f"2026-{6 + int(order['placed'][5:7]):02}-05"
            order |= {"balance": value, "status": swap[order["status"]], "placed": later}
    return made


def neighbours(rows: Rows, relation: Relation) -> Iterator[Rows]:
    for person in (1, 2):
        if relation is Relation.ADD_REMOVE:
            yield without(person, rows)
        else:
            yield from (remade(rows, person, value=value) for value in (-5, 5))
            yield without(person, rows)  # as if changed into somebody without any order


@BOTH
@pytest.mark.parametrize("query", some(QUESTIONS, 5))
@pytest.mark.parametrize(
    "policy", [POLICY, capped(POLICY, orders__person=4, item__order=3)], ids=["chosen", "capped"]
)
def test_no_output_is_more_likely_than_epsilon_allows_for_any_neighbour(
    query: str, policy: Policy, relation: Relation
) -> None:
    there = replace(policy, relation=relation, most_per_unit=8)
    (step,) = steps_of(query, there)
    known = make_plan(QueryRequest(query, epsilon=1), there).group_keys
    largest, farthest = 0.0, Fraction(0)
    for seed in range(2):
        rows = crowded(seed)
        exact = Exact(rows, step, known)
        for other in (Exact(each, step, known) for each in neighbours(rows, relation)):
            largest = max(largest, exact.distance(other, step))
            farthest = max(farthest, exact.moved(other, step))
    assert largest <= 1 + 1e-9
    assert 0.4 < farthest <= 1  # some neighbour comes near the bound


@BOTH
def test_a_row_that_a_join_repeats_is_hidden_too(relation: Relation) -> None:
    query = QUESTIONS[-1]
    policy = replace(capped(BY_ROW, item__order=5), relation=relation)
    (step,) = steps_of(query, policy)
    assert step.context.owned is None
    rows = crowded(3)
    few = list(rows["orders"])
    exact = Exact(rows, step, None)
    largest = 0.0
    for order in few[:12]:
        # A changed row may stand where it repeats no more.
        changed = [dict(order, id=10**6, balance=5), dict(order, balance=-5), None]
        for new in changed if relation is Relation.CHANGE_ONE else [None]:
            kept = [each for each in few if each is not order]
            other = rows | {"orders": kept if new is None else [*kept, new]}
            largest = max(largest, exact.distance(Exact(other, step, None), step))
    assert step.rows.most > 1
    assert 0.05 < largest <= 1 + 1e-9
    with pytest.raises(QueryRefused) as refused:
        steps_of(query, BY_ROW)
    assert refused.value.key == "CEL-Q144.rank_of_rows"


@pytest.mark.parametrize("query", QUESTIONS[2:6])
def test_points_are_drawn_by_the_chances_of_the_definition(query: str) -> None:
    (step,) = steps_of(query, POLICY)
    rows = crowded(1)
    exact = Exact(rows, step, make_plan(QueryRequest(query, epsilon=1), POLICY).group_keys)
    points = range(step.fixed.low, step.fixed.high + 1)
    for groups in exact.by_cap.values():
        for counted in groups:
            found = step.segments(counted).in_order()
            assert np.repeat(found.misses, found.sizes).tolist() == misses(
                counted, points, step.share
            )


@pytest.mark.parametrize(("share", "most"), [(0.9, 1), (0.1, 1), (0.9, 4)])
def test_the_rows_that_a_cap_keeps_lean_to_no_side(share: float, most: int) -> None:
    random = Random(9)
    rows = shop(random, people=500, orders=500 * 15)
    for place, order in enumerate(rows["orders"]):
        order |= {"person": 1 + place % 500, "price": round(random.uniform(0, 10), 2)}
    (step,) = steps_of(f"SELECT QUANTILE_CONT(price, {share}) AS q FROM orders", POLICY)
    connection = in_memory(rows)
    (counted,) = step.histograms(
        lambda tree: connection.execute(step.context.target.text(tree)).fetchall(), None, most
    )
    total = sum(number for _, number in counted)
    below = sum(number for value, number in counted if value < 1000 * share)
    assert total == 500 * most
    # Four deviations of so many independent rows. The middle rows of each person would have nearly
    # all of them below the 0.9 quantile, the first ones nearly all below the 0.1 quantile.
    assert abs(below / total - share) < 4 * (0.09 / total) ** 0.5
