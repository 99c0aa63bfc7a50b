"""An interval holds the number that is released with it, however small the epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms import (
    Count,
    DirectMean,
    Histogram,
    KeyHistogram,
    Mean,
    Mechanism,
    StandardDeviation,
    Sum,
    SumCountMean,
    Variance,
    per_unit,
    release,
)

BOUNDS: dict[str, Any] = {"lower": 0, "upper": 500}
VALUES = np.arange(0.0, 500.0, 10)


def _mechanisms(epsilon: float, neighbours: Neighbours) -> list[Mechanism[Any, Any]]:
    price: dict[str, Any] = {"epsilon": epsilon, "neighbours": neighbours}
    bounded = (Sum, Mean, SumCountMean, DirectMean, Variance, StandardDeviation)
    return [
        Count(**price),
        Histogram(edges=[0, 100, 500], **price),
        KeyHistogram(delta=0.3, **price),
        *(each(**BOUNDS, **price) for each in bounded),
    ]


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, CHANGE_ONE])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 1e-2, 1])
def test_an_interval_holds_the_released_number(epsilon: float, neighbours: Neighbours) -> None:
    for mechanism in _mechanisms(epsilon, neighbours):
        rows: Any = VALUES.astype(int) if isinstance(mechanism, KeyHistogram) else VALUES
        for seed in range(30):
            found = release(mechanism, rows, rng=Seeded(seed))
            assert found.interval is not None
            table = found.to_polars()
            inside = (table["lower"] <= table["value"]) & (table["value"] <= table["upper"])
            assert inside.all(), f"{mechanism}, seed {seed}"


@pytest.mark.parametrize("mechanism", [Count, Histogram])
def test_no_interval_of_a_count_is_wholly_below_zero(mechanism: Any) -> None:
    bins = {"edges": [0, 500]} if mechanism is Histogram else {}
    for seed in range(30):
        found = release(mechanism(epsilon=1e-4, **bins), VALUES, confidence=0.5, rng=Seeded(seed))
        assert found.to_polars()["upper"].min() >= 0  # type: ignore[operator]


def test_a_count_below_zero_says_so() -> None:
    found = [release(Count(epsilon=1e-4), VALUES, rng=Seeded(seed)) for seed in range(20)]
    assert {bool(each.warnings) for each in found} == {True, False}
    for each in found:
        assert (each.value < 0) == any("is below 0" in words for words in each.warnings)


def test_a_count_of_units_below_zero_says_so() -> None:
    counting = per_unit(Count(epsilon=1e-4), rows_per_unit=2)
    found = [release(counting, VALUES, rng=Seeded(seed)) for seed in range(20)]
    assert any(each.value < 0 for each in found)
    for each in found:
        assert (each.value < 0) == any("is below 0" in words for words in each.warnings)
