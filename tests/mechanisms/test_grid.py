"""The grid: exact places, and how far neighbours can move on it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.mechanisms.grid import FARTHEST, Grid

STEPS = st.sampled_from(
    [Fraction(1), Fraction(1, 8), Fraction(1, 100), Fraction(1, 3), Fraction(5)]
)
NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)


@given(NUMBERS, STEPS)
def test_the_point_of_a_number_is_within_half_a_step(number: float, step: Fraction) -> None:
    assert abs(Grid(step).index(number) * step - Fraction(repr(number))) <= step / 2


@given(st.lists(NUMBERS, min_size=1, max_size=20), STEPS)
def test_points_of_many_numbers_are_those_of_each_up_to_ties(
    numbers: list[float], step: Fraction
) -> None:
    grid = Grid(step)
    one_by_one = np.array([grid.index(number) for number in numbers])
    assert np.abs(grid.indices(np.array(numbers)) - one_by_one).max() <= 1


@given(NUMBERS, st.floats(-100, 100), STEPS)
def test_neighbours_move_by_no_more_steps_than_the_grid_says(
    number: float, change: float, step: Fraction
) -> None:
    grid = Grid(step)
    sensitivity = Fraction(100)
    pair = np.array([number, number + change])
    first, second = grid.indices(pair)
    # The sum of floats may be rounded away from a change of exactly 100.
    if abs(Fraction(pair[1]) - Fraction(pair[0])) <= sensitivity:
        assert abs(int(second) - int(first)) <= grid.shift(sensitivity)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, float(FARTHEST) * 2, 1e308])
def test_what_has_no_place_on_the_grid_is_refused(bad: float) -> None:
    with pytest.raises(InputError):  # and no warning before, where the quotient is no float
        Grid(Fraction(1, 1000)).indices(np.array([0.0, bad]))
    with pytest.raises(InputError, match="finite number within") as one:
        Grid().index(bad)
    with pytest.raises(InputError) as many:
        Grid().indices(np.array([0.0, bad]))
    assert one.value.code == many.value.code == "CEL-M009"
    assert repr(bad) not in str(one.value)


@pytest.mark.parametrize("step", [0, -1, float("nan"), "1", None])
def test_a_step_that_is_no_positive_number_is_refused(step: object) -> None:
    with pytest.raises(InputError) as error:
        Grid(step)  # type: ignore[arg-type]
    assert error.value.code == "CEL-M008"


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**12))
def test_a_finer_grid_is_the_largest_power_of_two_with_enough_points(size: Fraction) -> None:
    step = Grid.finer_than(size, points=1000).step
    assert step <= size / 1000 < 2 * step
    power = step if step >= 1 else 1 / step
    assert power.denominator == 1
    assert power.numerator.bit_count() == 1


def test_bounds_move_outward_to_the_grid() -> None:
    grid = Grid(Fraction(1, 4))
    assert grid.below(Fraction(-3, 10)) == -2
    assert grid.above(Fraction(3, 10)) == 2
    assert grid.steps(Fraction(3, 2)) == 6
    assert grid.steps(Fraction(1, 3)) is None


def test_many_coordinates_far_out_on_a_decimal_grid_are_allowed_their_rounding() -> None:
    grid = Grid(Fraction(7, 10))
    first = 565106779955831.8
    second = first
    for _ in range(5):
        second = float(np.nextafter(second, np.inf))
    moved = int(np.diff(grid.indices(np.array([first, second])))[0])
    sensitivity = 100 * (Fraction(second) - Fraction(first))
    assert 100 * moved > -(-sensitivity // grid.step) + 100  # one step a coordinate is too little
    assert 100 * moved <= grid.shift(sensitivity, coordinates=100)
