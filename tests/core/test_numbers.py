"""Numbers as they come from users, read exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.numbers import exact


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_an_exact_number_reads_back_as_the_float(number: float) -> None:
    found = exact(number)
    assert found is not None
    assert float(found) == number


def test_ten_times_a_tenth_is_one() -> None:
    tenth = exact(0.1)
    assert tenth is not None
    assert 10 * tenth == 1


@pytest.mark.parametrize(
    ("given_as", "means"),
    [
        (3, Fraction(3)),
        (np.int64(3), Fraction(3)),
        (np.float64(0.25), Fraction(1, 4)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(2, 6), Fraction(1, 3)),
        (10**400, Fraction(10**400)),
    ],
)
def test_every_kind_of_number_is_read(given_as: object, means: Fraction) -> None:
    assert exact(given_as) == means


@pytest.mark.parametrize(
    "bad", ["0.1", None, True, float("nan"), float("inf"), Decimal("NaN"), Decimal("inf"), 1j]
)
def test_what_is_no_finite_number_is_none(bad: object) -> None:
    assert exact(bad) is None
