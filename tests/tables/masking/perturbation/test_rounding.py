"""Rounding: multiples, the nearest of them, and no bias."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.masking.perturbation import Rounding


def rounded(values: list[Any], **parameters: Any) -> list[Any]:
    frame = pl.DataFrame({"x": values})
    return Rounding(**parameters).apply(frame, ["x"], rng=Seeded(1)).frame["x"].to_list()


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=30),
    st.integers(1, 1000),
    st.integers(-50, 50),
)
def test_whole_numbers_become_the_nearest_multiple(
    values: list[int], base: int, offset: int
) -> None:
    for before, after in zip(values, rounded(values, base=base, offset=offset), strict=True):
        assert isinstance(after, int)
        assert after == round(Fraction(before - offset, base)) * base + offset


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30))
def test_decimals_are_rounded_as_they_are_written(hundredths: list[int]) -> None:
    values = [each / 100 for each in hundredths]
    wanted = [round(Fraction(each, 10)) / 10 for each in hundredths]  # halves to even tenths
    assert rounded(values, base=0.1) == wanted


@pytest.mark.parametrize("random", [False, True])
def test_multiples_stay_as_they_are(random: bool) -> None:
    values = [each / 100 for each in range(-1000, 1000)]
    assert rounded(values, base=0.01, random=random) == values
    assert rounded([0.3, 0.6, 0.7], base=0.1, random=random) == [0.3, 0.6, 0.7]


@pytest.mark.statistical
@pytest.mark.parametrize(("value", "base", "offset"), [(7, 5, 0), (0.13, 0.1, 0.0), (-7, 10, 2)])
def test_random_rounding_is_unbiased(value: float, base: float, offset: float) -> None:
    count = 40_000
    found = np.array(rounded([value] * count, base=base, offset=offset, random=True))
    share = ((value - offset) / base) % 1
    error = base * np.sqrt(share * (1 - share) / count)
    assert abs(found.mean() - value) < 4 * error
    below = offset + base * np.floor((value - offset) / base)
    assert set(found.round(9)) == {round(below, 9), round(below + base, 9)}


def test_halves_go_to_even_multiples_and_empty_cells_stay_empty() -> None:
    assert rounded([5, 15, 25, None], base=10) == [0, 20, 20, None]
    assert rounded([5.0, float("nan"), -5.0], base=10) == [0.0, None, 0.0]


def test_whole_numbers_stay_whole_only_under_whole_multiples() -> None:
    assert rounded([1, 2], base=0.5) == [1.0, 2.0]
    assert all(isinstance(each, float) for each in rounded([1, 2], base=0.5))


@pytest.mark.parametrize(
    "parameters",
    [
        {"base": 0},
        {"base": -1},
        {"base": float("nan")},
        {"base": "5"},
        {"base": 1e-300},
        {"base": 5, "offset": float("inf")},
        {"base": 5, "random": 1},
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: Any) -> None:
    with pytest.raises(InputError) as caught:
        Rounding(**parameters)
    assert caught.value.code == "CEL-I060"


@pytest.mark.parametrize("values", [[2**53], [1e300], [-1e16]])
def test_numbers_that_a_float_cannot_tell_apart_are_refused(values: Any) -> None:
    with pytest.raises(InputError) as caught:
        rounded(values, base=10)
    assert caught.value.code == "CEL-V203"
