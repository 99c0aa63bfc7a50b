"""Randomised response with several categories."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.accounting.losses import PureLoss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import ADD_REMOVE
from celosia.core.randomness import Seeded
from celosia.mechanisms.additive.directed_rounding import exp_below
from celosia.mechanisms.responses.kary_response import KaryResponse
from celosia.mechanisms.responses.randomised_response import RandomisedResponse

MODES = ("car", "bus", "bike", "foot")


def test_two_categories_are_plain_randomised_response() -> None:
    two = KaryResponse(epsilon=1, categories=("no", "yes"))
    assert two.transition == pytest.approx(RandomisedResponse.for_epsilon(1).transition, abs=1e-15)


@given(st.floats(1e-6, 30), st.integers(2, 50))
def test_an_epsilon_is_never_exceeded_and_nearly_met(epsilon: float, size: int) -> None:
    mechanism = KaryResponse(epsilon=epsilon, categories=list(range(size)))
    ratio = mechanism.keep * (size - 1) / (1 - mechanism.keep)
    assert ratio <= exp_below(Fraction(repr(epsilon))) * (1 + Fraction(1, 10**60))
    assert log(ratio) == pytest.approx(epsilon, rel=1e-4)
    assert mechanism.privacy_loss() == PureLoss(Fraction(repr(epsilon)))


def test_rows_of_the_matrix_are_chances() -> None:
    matrix = KaryResponse(epsilon=2, categories=MODES).transition
    assert matrix.sum(axis=1) == pytest.approx(np.ones(4), abs=1e-12)
    assert matrix.diagonal() == pytest.approx(np.full(4, exp(2) / (exp(2) + 3)), abs=1e-12)
    assert log(matrix.max() / matrix.min()) == pytest.approx(2)


def test_one_answer_gives_one_and_a_list_gives_a_list() -> None:
    mechanism = KaryResponse(epsilon=2, categories=MODES)
    assert mechanism.release("bus", rng=Seeded(1)) in MODES
    told = mechanism.release(np.array(["bus", "car"]), rng=Seeded(1))
    assert isinstance(told, list)
    assert len(mechanism.release(pl.Series(["bus", "car"]), rng=Seeded(1))) == 2
    assert set(told) <= set(MODES)


@pytest.mark.parametrize("bad", ["boat", None, 7, ["bus", "boat"], [["bus"]], [None]])
def test_an_answer_outside_the_categories_is_refused_before_any_coin(bad: Any) -> None:
    with pytest.raises(InputError) as refusal:
        KaryResponse(epsilon=1, categories=MODES).release(bad, rng=ForbiddenSource())
    assert refusal.value.code == "CEL-M047"
    assert "boat" not in str(refusal.value)
    assert refusal.value.__context__ is None  # a KeyError would hold the answer


@pytest.mark.parametrize("bad", [(), ("a",), ("a", "a"), "ab", None, ("a", None), ("a", 0.5)])
def test_what_is_no_list_of_categories_is_refused_on_creation(bad: Any) -> None:
    with pytest.raises(InputError) as refusal:
        KaryResponse(epsilon=1, categories=bad)
    assert refusal.value.code == "CEL-I060"


def test_only_changing_an_answer_is_hidden() -> None:
    with pytest.raises(PrivacyError) as refusal:
        KaryResponse(epsilon=1, categories=MODES, neighbours=ADD_REMOVE)
    assert refusal.value.code == "CEL-M044"


@pytest.mark.statistical
def test_answers_fall_as_the_matrix_says() -> None:
    mechanism, size = KaryResponse(epsilon=1, categories=MODES), 40_000
    told = mechanism.release(["bike"] * size, rng=Seeded(6))
    expected = mechanism.transition[2] * size
    counted = np.array([told.count(mode) for mode in MODES])
    # Chi-square with 3 degrees of freedom exceeds 21.1 once in 10,000.
    assert float(((counted - expected) ** 2 / expected).sum()) < 21.1
    for times in (0.8, 1.25):
        other = KaryResponse(epsilon=times, categories=MODES).transition[2] * size
        assert float(((counted - other) ** 2 / other).sum()) > 21.1


@pytest.mark.statistical
def test_the_estimate_is_unbiased_with_the_variance_that_is_stated() -> None:
    mechanism, rounds, size = KaryResponse(epsilon=1.5, categories=MODES), 1500, 60
    rng = Seeded(9)
    rates = np.array([0.5, 0.3, 0.2, 0.0])
    truths = np.searchsorted([5, 8, 10], rng.integers(10, rounds * size), side="right")
    told = np.array(mechanism.release([MODES[code] for code in truths], rng=rng))
    found = [mechanism.estimate(row) for row in told.reshape(rounds, size)]
    estimates = np.array([list(each.rates.values()) for each in found])
    shares = rates @ mechanism.transition
    slope = mechanism.transition[0, 0] - mechanism.transition[0, 1]
    variances = shares * (1 - shares) / (size * slope**2)
    assert np.all(np.abs(estimates.mean(axis=0) - rates) < 4 * np.sqrt(variances / rounds))
    # Nearly normal: the relative deviation of a variance is sqrt(2 / rounds).
    assert np.var(estimates, axis=0) == pytest.approx(variances, rel=4 * sqrt(2 / rounds))
    assert sum(found[0].rates.values()) == pytest.approx(1)
    errors = np.abs(estimates - rates).max(axis=1)
    assert np.mean(errors > mechanism.accuracy(0.9, size=size)) <= 0.1


def test_clipping_keeps_rates_within_bounds() -> None:
    mechanism = KaryResponse(epsilon=1, categories=("a", "b"))
    found = mechanism.estimate(["a"] * 5, clip=True)
    assert found.rates == {"a": 1.0, "b": 0.0}
    assert mechanism.estimate(["a"] * 5).rates["a"] > 1
    assert found.as_dict()["categories"] == ["a", "b"]
    assert str(found) == "a 1.0000 +- 0.0000, b 0.0000 +- 0.0000 (standard errors, 5 answers)"


def test_nothing_is_estimated_from_nothing() -> None:
    with pytest.raises(InputError) as refusal:
        KaryResponse(epsilon=1, categories=MODES).estimate([])
    assert refusal.value.code == "CEL-M049"
