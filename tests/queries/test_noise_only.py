"""The noise-only error: of the answer under the cap chosen, from public and released facts."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf, log
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from tests.queries.vaults import BY_ROW, capped, opened, shop

from celosia.core.randomness import Seeded
from celosia.datasets import tpch
from celosia.queries import QueryAnswer, Vault
from celosia.queries.bounds.private_cap import ContributionSummary
from celosia.queries.planning.chosen_cap import ChosenCapStep
from celosia.queries.planning.plan import ReleasedValues
from celosia.queries.service.remote import parse_answer

COUNT = "SELECT COUNT(*) AS n FROM orders WHERE person > 0"


def test_the_bar_of_a_count_is_that_of_the_noise_for_its_cap(tmp_path: Path) -> None:
    with opened(shop(Random(1), people=50, orders=400), tmp_path) as vault:
        answer = vault.sql(COUNT, epsilon=1)
    (cap,) = answer.caps.values()
    # P(|noise| > x) = 2 a^(x + 1) / (1 + a) with a = exp(-0.7 / cap); 0.7 is left for the answer.
    wanted = cap / 0.7 * log(20)
    assert answer.noise[0]["n"] == pytest.approx(wanted, abs=2)
    bar = answer.noise[0]["n"]
    assert bar is not None
    low, high = answer.interval() or (0, 0)
    assert high - answer.value > 3 * bar  # what the cap may have cut off
    assert low <= answer.value


def test_another_confidence_has_another_bar(tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path) as vault:
        bars = [
            vault.sql(COUNT, epsilon=1, confidence=each).noise[0]["n"] or 0
            for each in (0.5, 0.9, 0.99)
        ]
    assert bars == sorted(set(bars))


@pytest.mark.statistical
@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.8, False)])
def test_the_bar_holds_the_total_under_the_cap_as_often_as_it_says(
    tmp_path: Path, factor: float, holds: bool
) -> None:
    with opened(shop(Random(1)), tmp_path) as vault:
        (step,) = vault.explain(COUNT, epsilon=1).steps
    assert isinstance(step, ChosenCapStep)
    (mechanism,) = step.mechanisms(1)
    contributions = [Random(4).randint(0, 60) for _ in range(300)]
    people, rng, inside, times = ContributionSummary.of(contributions, most=64), Seeded(7), 0, 2000
    for _ in range(times):
        found = mechanism.measure(people, rng=rng)
        measured = ReleasedValues((found.value,), {"cap": found.parts["cap"]})
        (error,) = step.noise(0, measured, 0.95)
        assert error is not None
        truth = sum(min(each, found.parts["cap"]) for each in contributions)
        inside += abs(found.value - truth) <= factor * error
    # 0.95 or more, and 1 - 20^-0.8 = 0.909 with a bar of 0.8 times the size; the deviation of the
    # share is sqrt(0.95 * 0.05 / 2000) = 0.0049.
    assert (inside / times >= 0.95 - 3 * 0.0049) is holds


def capped_mean(rows: list[tuple[float, int]], caps: list[int], centre: float) -> float:
    """A sum of distances from a centre, and a count, each cut off for every person."""
    total = sum(max(-caps[0], min(caps[0], each)) for each, _ in rows)
    count = sum(min(caps[1], each) for _, each in rows)
    return total / count + centre


def test_a_mean_over_tpch_orders_has_a_useful_bar(tmp_path: Path) -> None:
    policy = tpch(0.02, maker="celosia").save(tmp_path)
    query = "SELECT AVG(totalprice) AS a FROM orders"
    answers: list[QueryAnswer] = []
    with Vault.open(policy, rng=Seeded(3)) as vault:
        plan = vault.explain(query)
        centre = float(plan.derivations[0].centre)
        answers += [
            vault.sql(f"{query} WHERE orderkey > {-number}", epsilon=1) for number in range(9)
        ]
    file = next(tmp_path.glob("orders.parquet"))
    with duckdb.connect() as engine:
        people: Any = engine.execute(
            f"SELECT SUM(totalprice::DOUBLE - {centre}), COUNT(*) FROM '{file}' GROUP BY custkey"
        ).fetchall()
    missed = 0
    for answer in answers:
        error = answer.noise[0]["a"]
        assert error is not None
        # A third of a percent of 30,000 rows times the range would be 10,000; the mean is 150,000.
        assert error < 0.1 * answer.value
        low, high = answer.interval() or (0.0, 0.0)
        assert error < (high - low) / 4
        missed += (
            abs(answer.value - capped_mean(people, list(answer.caps.values()), centre)) > error
        )
    # Each misses with a chance below 0.05: more than three of nine have one below 0.001.
    assert missed <= 3


def test_deviations_have_a_bar_and_ranks_and_secret_scales_have_none(tmp_path: Path) -> None:
    rows = shop(Random(3), people=80, orders=400)
    with opened(rows, tmp_path) as vault:
        spread = vault.sql("SELECT STDDEV_POP(balance) AS d FROM orders", epsilon=100)
        rank = vault.sql("SELECT MEDIAN(age) AS m FROM person", epsilon=1)
        exact = vault.sql("SELECT COUNT(*) AS n FROM part", epsilon=1)
    bar = spread.noise[0]["d"]
    assert bar is not None
    assert 0 < bar < 5
    assert rank.noise == [{"m": None}]
    assert exact.noise == [{"n": 0.0}]


def test_declared_caps_show_their_interval_only(tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path, capped(BY_ROW, orders__person=9)) as vault:
        answer = vault.sql("SELECT COUNT(*) AS n FROM orders", epsilon=1)
    assert answer.caps == {}
    assert answer.noise[0]["n"] == pytest.approx(log(20), abs=1)
    assert "noise" not in str(answer)
    assert answer.to_polars().columns == ["n", "n_lower", "n_upper"]


def test_groups_each_have_their_bar_wherever_the_answer_goes(tmp_path: Path) -> None:
    query = "SELECT status, COUNT(*) AS n, AVG(price) AS a FROM orders GROUP BY status"
    with opened(shop(Random(2), people=60, orders=300), tmp_path) as vault:
        answer = vault.sql(query, epsilon=20)
        again = vault.sql(query, epsilon=20)
    assert [set(row) for row in answer.noise] == [{"n", "a"}] * 2
    assert again.stored
    assert again.noise == answer.noise
    answer.save(tmp_path / "a.json")
    assert QueryAnswer.load(tmp_path / "a.json") == answer
    parsed = parse_answer(json.loads(json.dumps(answer.as_dict())))  # as a service does
    assert (parsed.noise, parsed.caps, parsed.answered) == (
        answer.noise,
        answer.caps,
        answer.answered,
    )
    assert answer.to_polars()["n_noise"].to_list() == [row["n"] for row in answer.noise]
    text = answer.report(tmp_path / "r.html").read_text("utf-8")
    assert "caps cut off is not counted in it" in text


def test_one_number_tells_its_bar_in_a_line(tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path) as vault:
        answer = vault.sql(COUNT, epsilon=1)
        again = vault.sql(COUNT, epsilon=1)
    error = answer.noise[0]["n"]
    assert f"noise 95%: ±{error:,.6g} of the answer under the cap chosen" in str(answer)
    assert "noise only" in answer.report(tmp_path / "r.html").read_text("utf-8")
    assert "stored, first answered at 20" in str(again)
    assert "stored" not in str(answer)


KINDS = ("COUNT(*)", "COUNT(DISTINCT person)", "SUM(price)", "AVG(price)", "STDDEV_POP(balance)")


@pytest.mark.parametrize("caps", [{}, {"orders__person": 9}], ids=["chosen", "declared"])
def test_a_number_is_never_outside_of_its_interval(tmp_path: Path, caps: dict[str, int]) -> None:
    policy = capped(BY_ROW, **caps) if caps else None
    rows = shop(Random(5), people=8, orders=9)
    with opened(rows, tmp_path, *([policy] if policy else [])) as vault:
        for kind in KINDS:
            for number in range(4):
                query = f"SELECT {kind} AS n FROM orders WHERE price > {-1 - number}"
                answer = vault.sql(query, epsilon=0.05)
                bounds = answer.interval()
                if bounds is not None and answer.value is not None:
                    assert bounds[0] <= answer.value <= bounds[1]


def test_an_end_far_beyond_the_noise_is_left_open(tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path) as vault:
        made = vault.sql("SELECT COUNT(*) AS n FROM orders", epsilon=1)
    wide = replace(
        made,
        rows=[{"n": 150}],
        intervals=[{"n": (110.0, 5e8)}],
        noise=[{"n": 43.0}],
        caps={"orders": 9},
    )
    assert wide.shown_intervals == [{"n": (110.0, inf)}]
    assert "at least 110" in str(wide)
    assert "500,000,000" not in str(wide)
    assert wide.measures()["intervals"] == [{"n": [110.0, 5e8]}]  # all that is known
    low = replace(wide, intervals=[{"n": (-5e8, 200.0)}])
    assert "at most 200" in str(low)
    near = replace(wide, intervals=[{"n": (110.0, 4000.0)}])
    assert near.shown_intervals == near.intervals
