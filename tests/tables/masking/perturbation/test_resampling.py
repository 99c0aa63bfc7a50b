"""Resampling: ranks are kept, and averages are those of sorted samples."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.masking.perturbation import Resampling
from celosia.tables.masking.perturbation.resampling import rank_averages


@pytest.mark.statistical
def test_averages_are_those_of_all_sorted_samples() -> None:
    values = [1.0, 2.0, 6.0]
    every = np.array([sorted(sample) for sample in product(values, repeat=3)])
    samples = 20_000
    found = rank_averages(np.array(values), samples, Seeded(1))
    error = every.std(axis=0) / np.sqrt(samples)
    assert (np.abs(found - every.mean(axis=0)) < 5 * error).all()


@given(st.lists(st.integers(-100, 100), min_size=2, max_size=40), st.integers(1, 5))
def test_ranks_and_the_range_are_kept(values: list[int], samples: int) -> None:
    if len(set(values)) < 2:
        return
    frame = pl.DataFrame({"x": values})
    masked = Resampling(samples=samples).apply(frame, ["x"], rng=Seeded(2)).frame["x"].to_list()
    pairs = sorted(zip(values, masked, strict=True))
    for (low, masked_low), (high, masked_high) in pairwise(pairs):
        assert low == high or masked_low <= masked_high
    assert min(values) <= min(masked)
    assert max(masked) <= max(values)


def test_one_sample_releases_values_of_records() -> None:
    frame = pl.DataFrame({"x": [3, 1, 4, 15, 9, 2, 6]})
    masked = Resampling(samples=1).apply(frame, ["x"], rng=Seeded(1)).frame["x"]
    assert set(masked) <= set(frame["x"])


def test_empty_cells_stay_empty_and_whole_numbers_can_be_kept() -> None:
    frame = pl.DataFrame({"x": [3, None, 4, 15], "y": [0.5, 0.7, None, 0.1]})
    masked = Resampling(integer=True).apply(frame, ["x"], rng=Seeded(1)).frame
    assert masked["x"].dtype == pl.Int64
    assert masked["x"].is_null().to_list() == [False, True, False, False]
    assert masked["y"].equals(frame["y"])


@pytest.mark.parametrize("parameters", [{"samples": 0}, {"samples": 2.0}, {"integer": "yes"}])
def test_parameters_that_make_no_sense_are_refused(parameters: Any) -> None:
    with pytest.raises(InputError) as caught:
        Resampling(**parameters)
    assert caught.value.code == "CEL-I060"


def test_numbers_whose_sums_leave_the_floats_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        Resampling().apply(pl.DataFrame({"x": [1e308, 1.0]}), ["x"], rng=Seeded(1))
    assert caught.value.code == "CEL-V203"
