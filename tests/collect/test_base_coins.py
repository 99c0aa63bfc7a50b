"""Coins: how near to the wished chance, and never beyond the wished epsilon."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from celosia.collect.coins import WHOLE, Coin
from celosia.core.randomness import Seeded, Source


class Fixed(Source):
    """Gives the same units again and again."""

    simulation = True

    def __init__(self, units: list[int]) -> None:
        self.units = units

    def raw(self, count: int) -> bytes:
        return np.resize(np.array(self.units, dtype=np.uint32), count // 4).tobytes()


@given(st.fractions(Fraction(1, 10**6), Fraction(20)))
def test_the_odds_are_never_above_e_to_the_epsilon_and_nearly_reach_it(price: Fraction) -> None:
    coin = Coin.truthful(price)
    with localcontext() as context:  # an oracle of 60 digits
        context.prec = 60
        odds = (Decimal(price.numerator) / Decimal(price.denominator)).exp()
        lies = Decimal(WHOLE) / (1 + odds)
    assert lies <= WHOLE - coin.heads < lies + 1 + Decimal("1e-20")
    assert 2 * coin.heads > WHOLE


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 2.0, 4.0, 22.0])
def test_the_realised_epsilon_is_within_a_hair_of_the_asked_one(epsilon: float) -> None:
    found = Coin.truthful(epsilon).epsilon
    # One unit of 2^-32 changes the odds by (1 + e^epsilon)^2 / (e^epsilon 2^32) at most.
    slack = (1 + exp(epsilon)) ** 2 / exp(epsilon) / 2**32
    assert epsilon - 1.01 * slack - 1e-12 <= found <= epsilon


@pytest.mark.parametrize("epsilon", [23, 64, 1024, 10_000])
def test_beyond_22_the_truth_is_told_but_for_one_in_four_billion(epsilon: float) -> None:
    assert Coin.truthful(epsilon).heads == WHOLE - 1
    assert Coin.truthful(epsilon).chance < 1


def test_a_toss_is_heads_where_the_unit_is_below_the_bound() -> None:
    coin = Coin(5)
    units = [0, 4, 5, 6, 2**32 - 1]
    assert coin.toss(5, Fixed(units)).tolist() == [True, True, False, False, False]


@pytest.mark.statistical
def test_tosses_are_heads_with_their_chance() -> None:
    heads = int(Coin.truthful(1.0).toss(200_000, Seeded(1)).sum())
    # An exact binomial test at one in 10,000; 1 % of 0.73 is 7 standard errors.
    assert binomtest(heads, 200_000, 1 / (1 + exp(-1))).pvalue > 1e-4
    assert binomtest(heads, 200_000, 0.99 / (1 + exp(-1))).pvalue < 1e-4
