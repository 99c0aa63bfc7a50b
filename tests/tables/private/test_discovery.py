"""Domains that are found privately: what they cost, and what one person can show."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.numbers import exact
from celosia.core.randomness import Seeded
from celosia.mechanisms import Geometric, KeyHistogram
from celosia.tables.masking.recipe import read_for_methods
from celosia.tables.private import AdaptiveMarginals, TableBudget
from celosia.tables.private.discovery import DiscoveryPlan, frequent_values, private_bounds

SURE = Geometric(epsilon=20)
"""Noise that is hardly ever anything but 0."""


def bounds_of(values: list[Any], kind: str = "integer") -> tuple[float, float] | None:
    dtype = pl.Int64 if kind == "integer" else pl.Float64
    return private_bounds(pl.Series("x", values, dtype=dtype), kind, SURE, Seeded(1))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(
    "kinds", [("integer",), ("decimal", "integer"), ("text", "text", "decimal")]
)
@pytest.mark.parametrize("most_rows", [1, 4])
def test_finding_domains_and_all_else_cost_the_budget_together(
    kinds: tuple[str, ...], delta: float, most_rows: int
) -> None:
    if "text" in kinds and not delta:
        with pytest.raises(InputError) as refusal:
            _ = DiscoveryPlan(TableBudget(1, delta), kinds, 0.1, (most_rows,) * len(kinds)).rest
        assert refusal.value.code == "CEL-Y029"
        return
    plan = DiscoveryPlan(TableBudget(1, delta), kinds, 0.1, (most_rows,) * len(kinds))
    epsilons = [exact(each.epsilon) for each in plan.mechanisms] + [exact(plan.rest.epsilon)]
    assert 1 - Fraction(1, 10**9) < sum(each for each in epsilons if each) <= 1
    texts = [each for each in plan.mechanisms if isinstance(each, KeyHistogram)]
    failures = [each.failure(each.threshold) for each in texts]
    assert sum(failures) + plan.rest.delta <= delta
    if failures:
        assert sum(failures) > 0.4 * delta
    for each in plan.mechanisms:
        moved = each.keys_per_unit if isinstance(each, KeyHistogram) else each.sensitivity
        assert moved == most_rows


def test_a_value_of_one_person_shows_no_more_often_than_delta() -> None:
    mechanism = KeyHistogram(epsilon=1, delta=0.05)
    cells = pl.Series("city", ["alone", *["many"] * 60, None])
    seen = [frequent_values(cells, mechanism, Seeded(seed), None).to_list() for seed in range(500)]
    alone = sum("alone" in each for each in seen) / 500
    wanted = mechanism.failure(mechanism.threshold)
    assert alone == pytest.approx(wanted, abs=5 * (0.05 / 500) ** 0.5)
    assert all("many" in each for each in seen)  # 60 is far above the threshold
    assert {value for each in seen for value in each} == {"alone", "many"}


def test_a_person_counts_once_for_a_value_of_many_of_their_rows() -> None:
    mechanism = KeyHistogram(epsilon=20, delta=1e-6, keys_per_unit=3)
    cells = pl.Series("city", ["mine"] * 40 + ["ours"] * 40)
    units = np.array([0] * 40 + list(range(40)))
    assert frequent_values(cells, mechanism, Seeded(1), units).to_list() == ["ours"]
    assert frequent_values(cells, mechanism, Seeded(1), None).to_list() == ["mine", "ours"]


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        ([17, 40, 90], "integer", (16, 127)),
        ([-100, 5], "integer", (-127, 7)),
        ([0, 0], "integer", (0, 1)),
        ([0, 9], "integer", (0, 15)),
        ([2**53, -(2**60)], "integer", (-(2**53) + 1, 2**53 - 1)),
        ([0.75, 3.0], "decimal", (0.5, 4.0)),
        ([1e-30, -0.3], "decimal", (-0.5, 2.0**-16)),
        ([inf, 1.0, nan, None], "decimal", (1.0, 2.0**53)),
    ],
)
def test_bounds_are_powers_of_two_around_the_numbers(
    values: list[Any], kind: str, wanted: tuple[float, float]
) -> None:
    assert bounds_of(values * 9, kind) == wanted


def test_where_nothing_is_frequent_a_column_is_released_empty() -> None:
    assert bounds_of([]) is None
    discover = {"s": "text", "n": "integer"}
    for rows in (0, 1):
        frame = pl.DataFrame({"s": ["a"] * rows, "n": [7] * rows}, schema={"s": str, "n": int})
        made = AdaptiveMarginals(epsilon=1, rows=20, discover=discover).apply(
            frame, ["s", "n"], rng=Seeded(2)
        )
        assert made.frame.null_count().row(0) == (20, 20)
        assert made.frame.schema == frame.schema


def test_a_table_without_declarations_can_be_released_and_tells_the_price() -> None:
    rng = np.random.default_rng(1)
    size = 3000
    frame = pl.DataFrame({"city": rng.choice(["u", "v"], size), "age": rng.integers(20, 60, size)})
    frame = pl.concat([frame, pl.DataFrame({"city": ["secret"], "age": [10**12]})])
    method = AdaptiveMarginals(epsilon=1, discover={"city": "text", "age": "integer"})
    made = method.apply(frame, frame.columns, rng=Seeded(1))
    assert set(made.frame["city"].drop_nulls()) == {"u", "v"}
    assert made.frame["age"].drop_nulls().is_between(16, 63).all()
    assert made.facts["epsilon for domains"] == pytest.approx(0.1)
    assert made.facts["delta for domains"] == pytest.approx(5e-10)
    loss = method.privacy_loss(frame.columns)
    assert loss.epsilon(1e-9) <= 1


@pytest.mark.parametrize(
    ("discover", "code"),
    [
        ({"s": "integer", "x": "decimal"}, "CEL-Y022"),
        ({"s": "text", "x": "text"}, "CEL-Y022"),
        ({"s": "text"}, "CEL-Y020"),  # x is neither declared nor asked for
        ({"s": "text", "x": "decimal", "y": "text"}, "CEL-V003"),
        ({"s": "words", "x": "decimal"}, "CEL-I060"),
        ({}, "CEL-I060"),
    ],
)
def test_what_is_neither_declared_nor_asked_for_is_refused(
    discover: dict[str, str], code: str
) -> None:
    frame = pl.DataFrame({"s": ["a"], "x": [0.5]})
    with pytest.raises(InputError) as refusal:
        AdaptiveMarginals(epsilon=1, discover=discover).apply(frame, ["s", "x"], rng=Seeded(1))
    assert refusal.value.code == code


def test_a_column_is_declared_or_found_and_not_both() -> None:
    with pytest.raises(InputError) as refusal:
        AdaptiveMarginals(epsilon=1, discover={"s": "text"}, domains={"s": ("a",)})
    assert refusal.value.code == "CEL-Y020"


def test_no_cell_of_a_file_decides_what_a_column_holds(tmp_path: Path) -> None:
    method = AdaptiveMarginals(
        epsilon=1, discover={"age": "integer", "city": "text"}, weight="w", most_weight=9
    )
    for cell in ("31", "x", "1.5", ""):
        (tmp_path / "people.csv").write_text(f"age,city,w\n{cell},7,{cell}\n40,8,2\n")
        frame = read_for_methods(tmp_path / "people.csv", [method])
        assert frame.dtypes == [pl.Int64, pl.String, pl.Float64]
