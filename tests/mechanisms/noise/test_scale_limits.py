"""Scales are kept as given where 64-bit arithmetic can draw them, and rounded up elsewhere."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.mechanisms.noise import DiscreteGaussian, DiscreteLaplace
from celosia.mechanisms.noise.laws import BOTTOM, LEAST, MOST, REACH, Proposal

scales = st.one_of(
    st.fractions(LEAST, 100),
    st.builds(Fraction, st.integers(2**40, 2**52)),
    st.builds(Fraction, st.integers(10**40, 10**43), st.integers(10**40, 10**43)),
).filter(lambda scale: LEAST <= scale <= MOST)


@given(scales)
def test_a_scale_is_rounded_up_by_next_to_nothing(scale: Fraction) -> None:
    used = DiscreteLaplace(scale).scale
    assert scale <= used <= scale * (1 + Fraction(1, 2**50))
    assert used.numerator <= REACH
    assert used.denominator <= BOTTOM
    if scale.numerator <= REACH and scale.denominator <= BOTTOM:
        assert used == scale


@given(st.one_of(scales, scales.map(lambda scale: scale**2)))
def test_a_parameter_is_rounded_up_by_next_to_nothing(parameter: Fraction) -> None:
    if parameter < LEAST**2:
        return
    used = DiscreteGaussian(parameter).parameter
    assert parameter <= used <= parameter * (1 + Fraction(1, 2**48))
    assert Proposal.of(used).within_reach
    assert DiscreteGaussian(used).parameter == used


@pytest.mark.parametrize("parameter", [1, 2, 5, Fraction(1, 3), 10**6, 2**50, 4**50, 0.1])
def test_ordinary_parameters_are_kept(parameter: object) -> None:
    given_as = Fraction(str(parameter))
    assert DiscreteGaussian(given_as).parameter == given_as


@given(scales.map(lambda scale: DiscreteGaussian(scale).parameter), st.integers(0, 2**60))
def test_a_proposal_is_kept_with_the_chance_of_the_algorithm(parameter: Fraction, y: int) -> None:
    way = Proposal.of(parameter)
    scale = Fraction(way.top, way.bottom)
    kept = Fraction((way.factor * y - way.centre) ** 2, 2 * way.low * way.high)
    assert kept == (y - parameter / scale) ** 2 / (2 * parameter)
    assert way.low <= way.high
    # A proposal near sigma keeps the rejections few; at worst 1.5 is rounded to 1 or to 2.
    assert Fraction(4, 9) <= scale**2 / parameter <= Fraction(9, 4)


@pytest.mark.parametrize(
    "scale", [Fraction(3 * REACH - 1, 3), Fraction(10**30 * REACH - 1, 10**30)]
)
def test_the_largest_scales_are_rounded_to_the_largest_within_reach(scale: Fraction) -> None:
    assert DiscreteLaplace(scale).scale == REACH
    assert DiscreteGaussian(scale**2).parameter == REACH**2
    assert DiscreteLaplace(LEAST).scale == LEAST
    assert DiscreteGaussian(LEAST**2).parameter == LEAST**2


@pytest.mark.parametrize(
    "scale", [0, -1, Fraction(1, 1025), 2**52 + 1, "3", None, float("nan"), True]
)
def test_scales_out_of_reach_are_refused(scale: object) -> None:
    numbers = isinstance(scale, int | Fraction) and not isinstance(scale, bool)
    parameter = scale * abs(scale) if numbers else scale  # type: ignore[operator, arg-type]
    for law, given_as in ((DiscreteLaplace, scale), (DiscreteGaussian, parameter)):
        with pytest.raises(InputError) as caught:
            law(given_as)  # type: ignore[arg-type]
        assert caught.value.code == "CEL-M020"
