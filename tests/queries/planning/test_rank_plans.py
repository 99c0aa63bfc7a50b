"""Which rows count in a rank, at which price, and what the plan says of it, without any data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log

import pytest
from tests.queries.planning.test_ranks import BOTH, QUESTIONS, steps_of
from tests.queries.vaults import BY_ROW, POLICY, capped

from celosia.accounting.losses import BoundedRangeLoss, PureLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import QueryRefused
from celosia.core.neighbours import Relation
from celosia.core.randomness import Seeded
from celosia.queries.planning import make_plan
from celosia.queries.planning.rank_contribution import RankContribution, RowCap
from celosia.queries.policy import Policy
from celosia.queries.request import QueryRequest


@pytest.mark.parametrize(
    ("query", "policy", "rows"),
    [
        ("SELECT MEDIAN(age) AS m FROM person", POLICY, RankContribution()),
        ("SELECT MAX(price) AS m FROM orders", POLICY, RankContribution(is_reduced=True)),
        (
            "SELECT QUANTILE_CONT(price, 1) AS m FROM orders",
            POLICY,
            RankContribution(is_reduced=True),
        ),
        (
            "SELECT MEDIAN(price) AS m FROM orders",
            POLICY,
            RankContribution(most=64, is_chosen=True),
        ),
        (
            "SELECT MEDIAN(price) AS m FROM orders",
            capped(POLICY, orders__person=5),
            RankContribution(most=5),
        ),
        (
            "SELECT MEDIAN(price) AS m FROM orders",
            capped(POLICY, orders__person=5000),
            RankContribution(most=64, is_chosen=True),
        ),
        (
            "SELECT status, MIN(price) AS m FROM orders GROUP BY status",
            POLICY,
            RankContribution(most=2, is_reduced=True),
        ),
        (
            "SELECT placed, MIN(price) AS m FROM orders GROUP BY placed",
            POLICY,
            RankContribution(most=64, is_chosen=True, is_reduced=True),
        ),
        (
            "SELECT placed, MIN(price) AS m FROM orders GROUP BY placed",
            capped(POLICY, orders__person=5),
            RankContribution(most=5, is_reduced=True),
        ),
        (
            'SELECT MEDIAN(o.price) AS m FROM orders o JOIN item i ON i."order" = o.id',
            capped(BY_ROW, item__order=5),
            RankContribution(most=10, is_paired=False),
        ),
    ],
)
def test_the_rows_of_a_unit_follow_from_what_is_declared(
    query: str, policy: Policy, rows: RankContribution
) -> None:
    (step,) = steps_of(query, policy, delta=1e-6)
    if rows.most == 10:  # whatever the stability analysis proves, it is more than the cap
        rows = replace(rows, most=step.rows.most)
        assert step.rows.most >= 5
    assert step.rows == rows


def test_a_method_may_be_asked_for() -> None:
    query = "SELECT MEDIAN(price) AS m FROM orders"
    (step,) = steps_of(query, capped(POLICY, orders__person=5), method="chosen-cap")
    assert step.rows == RankContribution(most=5, is_chosen=True)
    (step,) = steps_of(query, capped(POLICY, orders__person=500), method="capped")
    assert step.rows == RankContribution(most=500)
    with pytest.raises(QueryRefused) as refused:
        steps_of(query, POLICY, method="capped")
    assert refused.value.code == "CEL-Q143"


def test_the_plan_says_which_rows_count_and_how_far_the_rank_is_off() -> None:
    (median,) = steps_of("SELECT MEDIAN(balance) AS m FROM orders", POLICY)
    (greatest,) = steps_of("SELECT MAX(balance) AS m FROM orders", POLICY)
    (few,) = steps_of("SELECT MEDIAN(balance) AS m FROM orders", capped(POLICY, orders__person=5))
    (part,) = median.parts
    # Rate 0.8 / 2 a row of rank, half a row for each row of the cap: (ln 11 + ln 2) / 0.8 rows.
    assert "at most c rows, spread evenly over their own" in part.bound
    assert "up to 64, chosen privately for epsilon 0.2" in part.bound
    assert f"c times {(log(11) + log(2)) / 0.8:.0f} rows" in part.bound
    assert "0.99 quantile of each person's own maximum stands for" in greatest.parts[0].mechanism
    # s = 0.99: (ln 11 + ln 2) * 2 * 0.99.
    assert f"counts once; the rank misses by about {1.98 * log(22):.0f} persons" in (
        greatest.parts[0].bound
    )
    assert f"at most 5 rows, by declared caps; the rank misses by about {5 * log(22):.0f} rows" in (
        few.parts[0].bound
    )


@BOTH
def test_the_losses_add_up_to_epsilon(relation: Relation) -> None:
    policy = replace(POLICY, relation=relation)
    (chosen,) = steps_of("SELECT MEDIAN(balance) AS m FROM orders", policy)
    scale = 5 if relation is Relation.ADD_REMOVE else 10
    assert chosen.cap.mechanism.level_noise.scale == scale
    first = (
        LaplaceLoss(Fraction(5), 1) if relation is Relation.ADD_REMOVE else PureLoss(Fraction(1, 5))
    )
    assert chosen.losses(1) == (first, BoundedRangeLoss(Fraction(4, 5)))
    (grouped,) = steps_of(QUESTIONS[5], policy)
    assert grouped.losses(2) == (first, PureLoss(Fraction(4, 5)))
    loss = make_plan(QueryRequest(QUESTIONS[5], epsilon=1), policy).loss
    assert loss is not None
    assert loss.epsilon(0) == pytest.approx(1, rel=1e-9)


def test_a_cap_is_chosen_by_how_many_people_have_how_many_rows() -> None:
    cap = RowCap(epsilon=Fraction(1, 5), most=1000, miss=8.0, relation=Relation.ADD_REMOVE)
    assert cap.mechanism.caps[-1] == 1000
    assert cap.levels([(1, 5), (2, 3), (3, 1), (4, 2), (1000, 1)])[:3] == [5, 3, 3]
    few = cap.levels([(6, 10_000)])
    many = cap.levels([(6, 10_000), (60, 10_000)])
    chosen = [cap.choose(each, Seeded(seed))[0] for each in (few, many) for seed in range(20)]
    # 10,000 people at a level against noise of scale 5: no doubt about which levels are there. The
    # miss at a cap of 64 is 512 rows, far below the 56 * 10,000 that a cap of 8 would leave out.
    assert set(chosen[:20]) == {8}
    assert set(chosen[20:]) == {64}
