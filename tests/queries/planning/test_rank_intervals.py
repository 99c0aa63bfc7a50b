"""Intervals of MIN, MAX and quantiles: they hold the exact value, and cost what the plan says."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.queries.vaults import POLICY, capped, opened, shop

from celosia.accounting.losses import BoundedRangeLoss, PureLoss
from celosia.core.randomness import Seeded
from celosia.queries.planning import make_plan
from celosia.queries.planning.plan import ReleasedValues
from celosia.queries.planning.ranks import RANK_CONFIDENCE, RankStep
from celosia.queries.policy import Policy
from celosia.queries.request import QueryRequest

MEDIAN = "SELECT MEDIAN(age) AS m FROM person"
CAPPED = capped(POLICY, orders__person=2)


def planned(query: str = MEDIAN, policy: Policy = POLICY, **changes: Any) -> RankStep:
    given = {"epsilon": 1, "rank_intervals": True} | changes
    (step,) = make_plan(QueryRequest(query, **given), policy).steps
    assert isinstance(step, RankStep)
    return step


@pytest.mark.parametrize("size", [0, 1, 2, 7, 60, 400])
@pytest.mark.parametrize("share", ["0.1", "0.5", "0.9"])
def test_the_interval_holds_the_exact_quantile(size: int, share: str) -> None:
    step = planned(f"SELECT QUANTILE_CONT(age, {share}) AS m FROM person", epsilon=2)
    random, outside, runs = Random(size), 0, 60
    values = [random.choice([3, 20, 20, 20, 41, 77, 100]) for _ in range(size)]
    points, counts = np.unique(np.array(values, dtype=np.int64), return_counts=True)
    counted = list(zip(points.tolist(), counts.tolist(), strict=True))
    rng, exact = Seeded(5), np.quantile(values, float(share)) if size else 50.0
    for _ in range(runs):
        ends = [step.segments(counted, end, 1).draw(step.end_rate(1), rng) for end in step.ends]
        outside += not ends[0] <= exact <= ends[1]
    # At most 1 in 100 on average: 6 or more of 60 happen once in 10^4 at that.
    assert outside <= 5


def test_the_margin_is_not_wider_than_it_must_be() -> None:
    step = planned(epsilon=20)
    counted = [(age, 50) for age in range(101)]
    rng = Seeded(1)
    lows = [step.segments(counted, "lower", 1).draw(step.end_rate(1), rng) for _ in range(20)]
    # 5 rows of margin and 5 rows of chance lie within one year of 50 rows each.
    assert min(lows) >= 48
    assert max(lows) <= 50


def test_half_of_epsilon_is_for_the_ends() -> None:
    step = planned(epsilon=2)
    assert (step.point_share, step.end_share) == (Fraction(1), Fraction(1, 2))
    assert step.losses(1) == tuple(
        BoundedRangeLoss(each) for each in (Fraction(1), Fraction(1, 2), Fraction(1, 2))
    )
    assert step.end_rate(1) == step.rate(1) / 2
    assert planned(epsilon=1, rank_intervals=False).rate(1) == step.rate(1)
    by_town = planned("SELECT town, MEDIAN(age) FROM person GROUP BY town", epsilon=2)
    assert by_town.losses(3) == (PureLoss(Fraction(2)),)
    (lowest,) = (planned("SELECT MIN(age) FROM person", epsilon=2).ends,)
    assert lowest == ("upper",)
    assert planned("SELECT MAX(age) FROM person", epsilon=2).end_share == 1
    assert "epsilon 1 of it for an interval of 99%" in step.parts[0].mechanism


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_a_row_moves_the_misses_of_an_end_as_little_as_those_of_the_answer(end: Any) -> None:
    step, random = planned(epsilon=40), Random(2)
    for _ in range(25):
        ages = sorted(random.randint(0, 100) for _ in range(random.randint(1, 30)))
        fewer = list(ages)
        fewer.pop(random.randrange(len(fewer)))
        one, other = (_misses(step, each, end) for each in (ages, fewer))
        assert set(one) == set(other)
        assert max(abs(one[each] - other[each]) for each in one) <= 1  # half a row, twice over


def _misses(step: RankStep, ages: list[int], end: Any) -> dict[Any, int]:
    points, counts = np.unique(np.array(ages, dtype=np.int64), return_counts=True)
    counted = list(zip(points.tolist(), counts.tolist(), strict=True))
    found = step.segments(counted, end, 1)
    *plain, last = zip(
        found.starts.tolist(), found.sizes.tolist(), found.misses.tolist(), strict=True
    )
    misses: dict[Any, int] = {start + at: miss for start, size, miss in plain for at in range(size)}
    assert last[1] == 1
    return misses | {"bound": last[2]}


def test_an_answer_tells_the_interval_at_any_lower_confidence(tmp_path: Path) -> None:
    rows = shop(Random(4), people=60, orders=200)
    query = (
        "SELECT MEDIAN(o.price) AS m, MAX(o.price) AS top, MIN(o.price) AS low FROM orders o "
        "JOIN person p ON p.id = o.person"
    )
    with opened(rows, tmp_path, CAPPED) as vault:
        answer = vault.sql(query, epsilon=60, rank_intervals=True)
        alone = vault.sql(MEDIAN, epsilon=60, rank_intervals=True)
        plain = vault.sql(MEDIAN, epsilon=60)
    (bounds,) = answer.intervals
    median, top, low = (bounds[name] or (0.0, 0.0) for name in ("m", "top", "low"))
    assert median[0] <= answer.rows[0]["m"] <= median[1]
    assert median[1] - median[0] < 10
    assert top[1] == 10  # the declared bound; a price of 50 counts as 10
    assert top[0] > 2
    assert low[0] == 0
    assert alone.interval(RANK_CONFIDENCE) == alone.interval(0.5) is not None
    assert alone.interval(0.999) is None
    assert plain.interval() is None


def test_a_chosen_cap_says_nothing_of_rows_beyond_it() -> None:
    step = planned("SELECT MEDIAN(price) FROM orders", epsilon=4)
    assert step.rows.is_chosen
    measured = ReleasedValues((500,), {"lower": [400], "upper": [700], "cap": 2, "people": 3})
    assert step.bounds(0, measured, 0.95) == (None,)
    assert step.noise(0, measured, 0.95) == (200 + step.coarsened,)
    extreme = planned("SELECT MAX(price) FROM orders", epsilon=4)
    top = ReleasedValues((500,), {"lower": [400], "cap": 2, "people": 3})
    ((low, high),) = extreme.bounds(0, top, 0.95)  # type: ignore[misc]
    assert (low, high) == (400 - extreme.coarsened, extreme.fixed.high)
