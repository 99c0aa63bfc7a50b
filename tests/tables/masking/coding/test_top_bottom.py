"""Top and bottom coding: labels, means, thresholds by quantile."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError, PrivacyError
from celosia.core.randomness import Seeded
from celosia.tables.masking.coding import TopBottom


def coded(values: list[Any], **parameters: Any) -> list[Any]:
    frame = pl.DataFrame({"x": values})
    return TopBottom(**parameters).apply(frame, ["x"], rng=Seeded(1)).frame["x"].to_list()


def test_fifteen_above_ten_becomes_more_than_ten() -> None:
    assert coded([15, 10, 3, None], top=10) == [">10", "10", "3", None]
    assert coded([15.0, 10.0, 3.0, -2.5], bottom=3) == ["15", "10", "3", "<3"]


def test_a_threshold_can_be_part_of_what_it_codes() -> None:
    found = coded([15, 10, 3, 0, -1, None], top=10, bottom=0, inclusive=True)
    assert found == ["≥10", "≥10", "3", "≤0", "≤0", None]


def test_labels_write_thresholds_as_people_do() -> None:
    assert coded([2.5, 1.0, float("nan")], top=1.5) == [">1.5", "1", None]


@pytest.mark.parametrize("replace", ["mean", "median"])
def test_numbers_stay_numbers_under_their_mean_or_median(replace: Any) -> None:
    values = [1, 2, 3, 4, 5, 6, 20, 30, 70, None]
    found = coded(values, top=6, bottom=4, replace=replace)
    top = 40.0 if replace == "mean" else 30.0
    assert found == [2.0, 2.0, 2.0, 4.0, 5.0, 6.0, top, top, top, None]


@given(st.lists(st.integers(-1000, 1000), min_size=20, max_size=60, unique=True))
def test_means_keep_the_total_and_quantiles_code_their_share(values: list[int]) -> None:
    frame = pl.DataFrame({"x": values})
    method = TopBottom(top_quantile=0.8, bottom_quantile=0.2, replace="mean")
    masked = method.apply(frame, ["x"], rng=Seeded(1))
    assert np.sum(masked.frame["x"].to_numpy()) == pytest.approx(sum(values), abs=1e-6)
    # Of n different values at most (n - 1)/5 lie strictly beyond a quantile of a fifth, rounded up.
    wanted = int(np.ceil(0.2 * (len(values) - 1)))
    assert abs(masked.facts["x"]["top"] - wanted) <= 1
    assert abs(masked.facts["x"]["bottom"] - wanted) <= 1


def test_facts_count_what_is_coded() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3, 40, 50], "y": [1, 2, 3, 4, 5]})
    masked = TopBottom(top=3, bottom=2).apply(frame, ["x"], rng=Seeded(1))
    assert masked.facts == {"x": {"top": 2, "bottom": 1}}
    assert masked.frame["y"].equals(frame["y"])
    assert frame["x"].to_list() == [1, 2, 3, 40, 50]


def test_nothing_beyond_the_thresholds_leaves_the_values() -> None:
    assert coded([1, 2], top=5) == ["1", "2"]
    assert coded([1, 2], top=5, replace="mean") == [1.0, 2.0]


@pytest.mark.parametrize("replace", ["mean", "median"])
def test_a_mean_of_fewer_than_three_cells_is_refused(replace: Any) -> None:
    with pytest.raises(PrivacyError) as caught:
        coded([1, 2, 3, 777, 778], top=5, replace=replace)
    assert caught.value.code == "CEL-V280"
    assert "777" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({}, "CEL-V201"),
        ({"top": 1, "bottom": 1}, "CEL-V201"),
        ({"top": "1"}, "CEL-I060"),
        ({"top": 1, "top_quantile": 0.9}, "CEL-V201"),
        ({"top_quantile": 1}, "CEL-I060"),
        ({"bottom_quantile": 0}, "CEL-I060"),
        ({"bottom_quantile": 0.9, "top_quantile": 0.1}, "CEL-V201"),
        ({"top": 1, "replace": "mode"}, "CEL-I060"),
        ({"top": 1, "inclusive": "yes"}, "CEL-I060"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        TopBottom(**parameters)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("values", "parameters", "code"),
    [
        (["a", "b"], {"top": 1}, "CEL-V004"),
        ([1.0, float("inf")], {"top": 1}, "CEL-V005"),
        ([float("nan")], {"top_quantile": 0.5}, "CEL-V281"),
        ([5, 5, 5], {"top_quantile": 0.9, "bottom_quantile": 0.1}, "CEL-V201"),
    ],
)
def test_columns_without_ends_are_refused(values: Any, parameters: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        coded(values, **parameters)
    assert caught.value.code == code
