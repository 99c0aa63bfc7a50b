"""Rounding in the direction that protects."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.numbers import exact
from celosia.mechanisms.additive.directed_rounding import (
    exp_below,
    float_above,
    log_above,
    short_above,
)


def series(power: Fraction, terms: int = 400) -> Fraction:
    """A lower bound of e^power by its series, for a power of at least 0."""
    total = term = Fraction(1)
    for count in range(1, terms):
        term = term * power / count
        total += term
    return total


@pytest.mark.parametrize("power", [Fraction(1, 10**9), Fraction(1, 3), Fraction(1), Fraction(20)])
def test_an_exponential_is_rounded_down_and_by_next_to_nothing(power: Fraction) -> None:
    below = exp_below(power)
    assert below <= series(power) <= below * (1 + Fraction(1, 10**60))


@given(st.fractions(0, 100))
def test_an_exponential_agrees_with_floats(power: Fraction) -> None:
    assert float(exp_below(power)) == pytest.approx(exp(power), rel=1e-12)


@given(st.fractions(1, 10**9))
def test_a_logarithm_is_rounded_up_at_the_fifteenth_decimal(ratio: Fraction) -> None:
    above = log_above(ratio)
    assert exp_below(above) * (1 + Fraction(1, 10**60)) >= ratio
    assert above - Fraction(1, 10**15) < Fraction(log(ratio)) + Fraction(1, 10**13)
    assert (above * 10**15).denominator == 1


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**30))
def test_a_short_number_is_never_below(number: Fraction) -> None:
    short = short_above(number)
    assert number <= short <= number * (1 + Fraction(1, 2**22))


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**15))
def test_a_float_never_means_less(number: Fraction) -> None:
    meant = exact(float_above(number))
    assert meant is not None
    assert number <= meant <= number * (1 + Fraction(1, 2**50))
