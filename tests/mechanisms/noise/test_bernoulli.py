"""Coins of chance exp(-gamma)."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy.stats import norm

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded, System
from celosia.mechanisms.noise import bernoulli_exp

SIZE = 200_000


def away(heads: int, chance: float) -> float:
    return float(abs(heads - SIZE * chance) / (SIZE * chance * (1 - chance)) ** 0.5)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [(1, 10), (1, 2), (1, 1), (7, 4), (3, 1), (2**62, 2**62 + 1), (5 * 2**60, 2**61)],
)
def test_the_share_of_heads_is_that_of_the_exponent_and_no_other(
    numerator: int, denominator: int
) -> None:
    coins = bernoulli_exp(np.full(SIZE, numerator), denominator, Seeded(numerator % 1000))
    limit, gamma = norm.isf(0.5e-6), numerator / denominator
    heads = int(coins.sum())
    assert away(heads, exp(-gamma)) < limit
    for factor in (0.8, 1.25):
        assert away(heads, exp(-gamma * factor)) > limit


def test_an_exponent_of_zero_is_always_heads_and_a_huge_one_never() -> None:
    assert bernoulli_exp(np.zeros(1000, dtype=np.int64), 3, System()).all()
    assert not bernoulli_exp(np.full(1000, 2**63 - 1), 1, System()).any()


def test_each_entry_has_its_own_exponent() -> None:
    numerators = np.tile(np.array([0, 10**9, 1]), 1000)
    coins = bernoulli_exp(numerators, 1, Seeded(3)).reshape(1000, 3)
    assert coins[:, 0].all()
    assert not coins[:, 1].any()
    assert 0 < coins[:, 2].sum() < 1000


@pytest.mark.parametrize(
    ("numerators", "denominator"),
    [
        ([-1], 1),
        ([1], 0),
        ([1], -1),
        ([1], 2**63),
        ([0.5], 1),
        ([[1]], 1),
        ([True], 1),
        (np.array([2**63], dtype=np.uint64), 1),
    ],
)
def test_what_is_not_a_rational_within_64_bits_is_refused(
    numerators: object, denominator: int
) -> None:
    with pytest.raises(InputError) as caught:
        bernoulli_exp(np.array(numerators), denominator, System())
    assert caught.value.code == "CEL-M022"
