"""Parameters that are refused before anything is drawn or spent."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.mechanisms import parameters


@pytest.mark.parametrize(
    "bad", [0, -1, float("nan"), float("inf"), 1e9, "1", None, True, 1e-12, 10**400]
)
def test_an_epsilon_out_of_range_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="from 1e-09 to 100") as error:
        parameters.check_epsilon(bad)
    assert error.value.code == "CEL-I060"


@pytest.mark.parametrize("good", [0.1, Decimal("0.1"), Fraction(1, 10), np.float64(0.1)])
def test_an_epsilon_means_the_decimal_it_is_written_as(good: object) -> None:
    assert parameters.check_epsilon(good) == Fraction(1, 10)


@pytest.mark.parametrize("bad", [0, -1e-9, 1, 1.5, float("nan"), "1e-6", None, True])
def test_a_delta_out_of_range_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="'delta' must be") as error:
        parameters.check_delta(bad)
    assert error.value.code == "CEL-I060"


def test_a_delta_of_zero_is_allowed_where_pure_privacy_is_meant() -> None:
    assert parameters.check_delta(0, zero=True) == 0


@pytest.mark.parametrize("bad", [0, 1, -0.5, 95, float("nan"), "0.95"])
def test_a_confidence_out_of_range_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match=r"Try confidence = 0\.95") as error:
        parameters.check_confidence(bad)
    assert error.value.code == "CEL-I060"


@pytest.mark.parametrize("bad", [0, -1, "1", None, float("nan"), float("inf"), True])
def test_a_sensitivity_that_is_no_positive_number_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="'sensitivity' must be") as error:
        parameters.check_sensitivity(bad)
    assert error.value.code == "CEL-I060"


@pytest.mark.parametrize(
    ("lower", "upper"), [(float("nan"), 1), (0, float("inf")), ("0", 1), (0, None)]
)
def test_bounds_that_are_no_numbers_are_refused(lower: object, upper: object) -> None:
    with pytest.raises(InputError, match="must be a number") as error:
        parameters.check_bounds(lower, upper)
    assert error.value.code == "CEL-I060"


@pytest.mark.parametrize(("lower", "upper"), [(1, 0), (1, 1)])
def test_bounds_that_make_no_range_are_refused(lower: object, upper: object) -> None:
    with pytest.raises(InputError, match="lower bound must be") as error:
        parameters.check_bounds(lower, upper)
    assert error.value.code == "CEL-M006"


@pytest.mark.parametrize("bad", [0, -1, 1.0, "3", None, True, 2**60])
def test_a_count_that_is_no_whole_number_in_range_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="'positives' must be a whole number") as error:
        parameters.check_whole(bad, name="positives")
    assert error.value.code == "CEL-I060"
