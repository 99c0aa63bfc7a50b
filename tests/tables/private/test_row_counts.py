"""Rows that count by survey weights: how far one moves a count, and what new rows stand for."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.private import AdaptiveMarginals
from celosia.tables.private.row_counts import STEPS, WEIGHT_STEPS, RowCounts

DECLARED: dict[str, Any] = {"domains": {"s": ("a", "b", "c")}, "bounds": {"x": (0, 3)}}


def survey(rows: int = 4000) -> pl.DataFrame:
    """Few of the rows are 'a', and each of them stands for many people."""
    rng = np.random.default_rng(1)
    s = rng.choice(["a", "b", "c"], rows, p=[0.2, 0.5, 0.3])
    x = np.where(s == "a", rng.integers(2, 4, rows), rng.integers(0, 3, rows))
    return pl.DataFrame({"s": s, "x": x, "w": np.where(s == "a", 80.0, 10.0)})


@pytest.mark.parametrize("weight", [nan, None, -inf, -3.0, 0.0])
def test_what_is_no_weight_counts_as_nothing(weight: float | None) -> None:
    found = RowCounts.weighted(pl.Series([weight, 5.0], dtype=pl.Float64), 10)
    assert found.weights is not None
    assert found.weights.tolist() == [0, WEIGHT_STEPS // 2]


@pytest.mark.parametrize("weight", [10, 11, 1e300, inf])
def test_a_weight_counts_as_its_bound_at_most(weight: float) -> None:
    found = RowCounts.weighted(pl.Series([weight], dtype=pl.Float64), 10)
    assert found.weights is not None
    assert found.weights.tolist() == [WEIGHT_STEPS]


@pytest.mark.parametrize("most_rows", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_unit_moves_counts_and_scores_by_their_sensitivity_which_is_reached(
    weighted: bool, most_rows: int
) -> None:
    rng = np.random.default_rng(1)
    counted = scored = 0
    for _ in range(200):
        cells = rng.integers(0, 4, 9 + most_rows)
        weights = pl.Series(rng.choice([0, 1.7, 5.0, 99.0], cells.size))
        expected = rng.uniform(0, 6, 4)
        known = []
        for end in (9, cells.size):  # the rows of one unit are the last
            rows = RowCounts(most_rows=most_rows)
            if weighted:
                one = RowCounts.weighted(weights[:end], 5.0)
                rows = RowCounts(one.weights, one.steps, most_rows)
            counts = rows.counts(cells[:end], 4)
            known.append((counts, rows.score(counts, expected)))
        counted = max(counted, int(np.abs(known[1][0] - known[0][0]).sum()))
        scored = max(scored, abs(known[1][1] - known[0][1]))
    assert counted == rows.sensitivity == most_rows * (WEIGHT_STEPS if weighted else 1)
    assert scored <= rows.score_sensitivity == most_rows * max(STEPS, rows.steps)
    assert scored > 0.9 * rows.score_sensitivity


def test_new_rows_stand_for_the_weighted_population() -> None:
    people = survey()
    given: dict[str, Any] = {"epsilon": 5, "weight": "w", "most_weight": 100}
    made = AdaptiveMarginals(**given, rows=2000, **DECLARED).apply(
        people, people.columns, rng=Seeded(1)
    )
    assert made.frame.height == 2000
    assert made.frame["w"].n_unique() == 1
    population, deviation = float(people["w"].sum()), made.facts["deviation of one-way counts"]
    # A total is the sum of at most 5 noisy counts; those of a value are moved by one of them and
    # by making all of them agree, and a weight by half a step of 100 / 4096.
    error = 6 * deviation * 5**0.5 + people.height * 100 / WEIGHT_STEPS / 2
    assert made.frame["w"].sum() == pytest.approx(population, abs=error)
    share = float(made.frame.filter(s="a")["w"].sum()) / population
    wanted = float(people.filter(s="a")["w"].sum()) / population
    assert share == pytest.approx(wanted, abs=2 * error / population)
    # By rows it is a fifth: an unweighted table would not pass.
    assert abs(wanted - people.filter(s="a").height / people.height) > 5 * error / population


def test_without_a_number_of_rows_there_are_as_many_as_people_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("celosia.tables.private.adaptive.MOST_WEIGHTED", 500)
    people = survey(400)
    for weight, most in ((1.0, 2), (9e6, 10e6)):
        frame = people.with_columns(w=pl.lit(weight))
        method = AdaptiveMarginals(epsilon=1, weight="w", most_weight=most, **DECLARED)
        made = method.apply(frame, frame.columns, rng=Seeded(1))
        assert made.frame.height == min(round(made.facts["population"]), 500)
        assert made.frame["w"].sum() == pytest.approx(made.facts["population"])


def test_the_guarantee_says_the_bound_of_the_weights() -> None:
    method = AdaptiveMarginals(epsilon=1, weight="w", most_weight=250, **DECLARED)
    assumed = method.guarantee(["s", "x", "w"]).assumes
    assert any("one above 250 counts as 250" in line for line in assumed)
    assert not any("weight" in line for line in AdaptiveMarginals(epsilon=1).assumes())


@pytest.mark.parametrize(
    ("changes", "columns", "code"),
    [
        ({"weight": "w"}, ["s", "x", "w"], "CEL-Y030"),
        ({"most_weight": 5}, ["s", "x", "w"], "CEL-Y030"),
        ({"weight": "v", "most_weight": 5}, ["s", "x", "w"], "CEL-V003"),
        ({"weight": "s", "most_weight": 5}, ["s", "x", "w"], "CEL-Y022.kind"),
        ({"weight": "w", "most_weight": 5, "domains": None, "bounds": None}, ["w"], "CEL-Y030"),
        ({"weight": "w", "most_weight": 0}, ["s", "x", "w"], "CEL-I060"),
    ],
)
def test_a_weight_that_cannot_be_bounded_is_refused(
    changes: dict[str, Any], columns: list[str], code: str
) -> None:
    with pytest.raises(InputError) as refusal:
        AdaptiveMarginals(epsilon=1, **{**DECLARED, **changes}).apply(
            survey(10).select(columns), columns, rng=Seeded(1)
        )
    assert code.startswith(refusal.value.code)
