"""Chances to float precision, against sums in fifty digits and against the normal law."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from celosia.core.errors import InputError
from celosia.mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Law

CLOSE = 1e-14
LAPLACES = [Fraction(1, 50), Fraction(1, 3), Fraction(1), Fraction(20, 3), Fraction(2000), 2**50]
GAUSSIANS = [Fraction(1, 2500), Fraction(1, 3), Fraction(1), Fraction(7, 3), 100, 4000, 4100]


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / number.denominator


@pytest.mark.parametrize("scale", LAPLACES, ids=str)
def test_laplace_chances_equal_the_closed_forms(scale: Fraction) -> None:
    law = DiscreteLaplace(Fraction(scale))
    with localcontext() as context:
        context.prec = 60
        q = (-1 / decimal(law.scale)).exp()
        for point in (1, 2, int(scale) + 1, int(10 * scale) + 1, int(600 * scale) + 1):
            mass, tail = (1 - q) / (1 + q) * q**point, q**point / (1 + q)
            assert law.mass(point) == law.mass(-point) == pytest.approx(float(mass), rel=CLOSE)
            assert law.tail(point) == pytest.approx(float(tail), rel=CLOSE)
        assert law.mass(0) == pytest.approx(float((1 - q) / (1 + q)), rel=CLOSE)
        assert law.tail(0) == pytest.approx(float(1 / (1 + q)), rel=CLOSE)
        assert law.variance == pytest.approx(float(2 * q / (1 - q) ** 2), rel=CLOSE)


@pytest.mark.parametrize("parameter", GAUSSIANS, ids=str)
def test_gaussian_chances_equal_the_sums(parameter: Fraction) -> None:
    law = DiscreteGaussian(Fraction(parameter))
    sigma = float(parameter) ** 0.5
    points = sorted({1, 2, *(int(times * sigma) + 1 for times in (1, 5, 20, 35))})
    edge = points[-1] + int(12 * sigma) + 2
    with localcontext() as context:
        context.prec = 50
        twice = 2 * decimal(law.parameter)
        powers = [(-z * z / twice).exp() for z in range(edge)]
        total = 2 * sum(powers) - 1
        for point in points:
            mass, tail = powers[point] / total, sum(powers[point:]) / total
            if tail > Decimal("1e-300"):  # below, floats lose digits by their nature
                assert law.mass(-point) == pytest.approx(float(mass), rel=CLOSE, abs=0)
                assert law.tail(point) == pytest.approx(float(tail), rel=CLOSE, abs=0)
        variance = 2 * sum(z * z * power for z, power in enumerate(powers)) / total
        if variance > Decimal("1e-300"):
            assert law.variance == pytest.approx(float(variance), rel=CLOSE, abs=0)


@pytest.mark.parametrize("exponent", [20, 35, 50])
def test_a_wide_gaussian_is_normal(exponent: int) -> None:
    law = DiscreteGaussian(Fraction(4) ** exponent)
    sigma = 2.0**exponent
    for times in (0, 1, 5, 20):
        point = times * 2**exponent + 1
        # The midpoint rule is off by (times / sigma)^2 / 24 of the tail at most.
        expected = norm.sf((point - 0.5) / sigma)
        assert law.tail(point) == pytest.approx(expected, rel=1e-11)
    assert law.variance == 4.0**exponent


laws = st.one_of(
    st.builds(DiscreteLaplace, st.fractions(Fraction(1, 50), 300)),
    st.builds(DiscreteGaussian, st.fractions(Fraction(1, 50), 10_000)),
)


@given(laws, st.integers(-200, 200))
def test_tails_and_masses_belong_together(law: Law, point: int) -> None:
    assert law.tail(point) - law.tail(point + 1) == pytest.approx(law.mass(point), abs=1e-15)
    assert law.tail(point) + law.tail(1 - point) == pytest.approx(1, abs=1e-15)


@given(laws, st.floats(0.001, 0.999999), st.integers(1, 10**6))
def test_a_bound_is_the_least_that_holds(law: Law, confidence: float, size: int) -> None:
    bound = law.bound(confidence, size=size)
    within = Decimal(1) - 2 * Decimal(law.tail(bound + 1))
    assert within**size >= Decimal(confidence) * (1 - Decimal("1e-12"))
    if bound > 0:
        short = Decimal(1) - 2 * Decimal(law.tail(bound))
        assert short**size <= Decimal(confidence) * (1 + Decimal("1e-10"))


def test_the_bound_of_ten_thousand_bins() -> None:
    # The continuous bound at epsilon 1 is ln(10000/0.05) = 12.206 (spec check 5); on the grid
    # P(|Z| > t) = 2 q^(t+1)/(1+q), and 1 - (1 - that)^10000 is 0.0325 at 12 and 0.0859 at 11.
    law = DiscreteLaplace(Fraction(1))
    assert law.bound(0.95, size=10_000) == 12
    assert 1 - (1 - 2 * law.tail(13)) ** 10_000 == pytest.approx(0.0325086, abs=1e-7)
    assert 1 - (1 - 2 * law.tail(12)) ** 10_000 > 0.05


def test_a_tie_goes_to_the_larger_bound() -> None:
    law = DiscreteLaplace(Fraction(7))
    exactly = 1 - 2 * law.tail(10)
    assert law.bound(exactly) == 10
    assert law.bound(exactly * (1 - 1e-9)) == 9


@pytest.mark.parametrize("confidence", [0, 1, -0.1, "0.95", float("nan")])
def test_a_confidence_out_of_range_is_refused(confidence: float) -> None:
    with pytest.raises(InputError, match="confidence"):
        DiscreteLaplace(Fraction(1)).bound(confidence)
    with pytest.raises(InputError, match="'size' must be"):
        DiscreteLaplace(Fraction(1)).bound(0.5, size=0)
