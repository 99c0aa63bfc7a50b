"""Noise: its width, what it keeps, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.masking.draws import normals
from celosia.tables.masking.perturbation import Noise
from celosia.tables.masking.perturbation.moments import mixing

ROWS = 100_000
WEIGHTS = pl.DataFrame({"weight": [76.5, 54.6, 59.8, 81.2, 91.5, 50.9]})
AGES = pl.DataFrame({"age": [29, 48, 21, 36, 45, 58, 72, 22, 25, 43]})
SALARIES = pl.DataFrame({"salary": [45, 30, 99, 92, 73, 27, 84, 94, 62, 14]})
MIX = np.array([[2.0, 0.0, 0.0], [1.5, 1.0, 0.0], [-1.0, 0.5, 1.0]])


def people(rows: int = ROWS, seed: int = 1) -> pl.DataFrame:
    """Three correlated columns with means far from zero."""
    drawn = normals(Seeded(seed), 3 * rows).reshape(rows, 3) @ MIX.T + [50.0, -20.0, 7.0]
    return pl.DataFrame({name: drawn[:, place] for place, name in enumerate("abc")})


def covariance(frame: pl.DataFrame) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.cov(frame.to_numpy().T, ddof=0)
    return found


def test_noise_of_the_weights_has_the_square_root_of_a_tenth_of_their_variance() -> None:
    assert np.var(WEIGHTS["weight"].to_numpy()) == pytest.approx(
        221.81, abs=0.01
    )  # printed cut off
    facts = Noise(alpha=0.1).apply(WEIGHTS, ["weight"], rng=Seeded(1)).facts
    assert facts["weight"]["noise"] == pytest.approx(4.71, abs=0.005)


def test_amount_is_a_standard_deviation_and_alpha_a_variance() -> None:
    facts = Noise(amount=0.3943).apply(AGES, ["age"], rng=Seeded(1)).facts
    assert facts["age"]["noise"] == pytest.approx(6.226, abs=0.001)  # as in the printed table
    same = Noise(alpha=0.25).apply(AGES, ["age"], rng=Seeded(3)).frame
    assert same.equals(Noise(amount=0.5).apply(AGES, ["age"], rng=Seeded(3)).frame)


@pytest.mark.statistical
@pytest.mark.parametrize("distribution", ["normal", "laplace"])
def test_noise_has_mean_zero_and_the_width_asked_for(distribution: Any) -> None:
    frame = people().select("a")
    sigma = float(np.std(frame["a"].to_numpy()))
    method = Noise(amount=0.2, distribution=distribution)
    drawn = (method.apply(frame, ["a"], rng=Seeded(5)).frame["a"] - frame["a"]).to_numpy()
    assert abs(drawn.mean()) < 4 * 0.2 * sigma / math.sqrt(ROWS)
    # The standard error of a deviation is sqrt((kurtosis - 1) / 4n) of it: at most 0.36 % here.
    assert np.std(drawn) == pytest.approx(0.2 * sigma, rel=0.02)
    for factor in (0.8, 1.25):
        assert np.std(drawn) != pytest.approx(factor * 0.2 * sigma, rel=0.02)
    kurtosis = float(np.mean(drawn**4) / np.mean(drawn**2) ** 2)
    wanted, error = (3.0, 0.0155) if distribution == "normal" else (6.0, 0.14)
    assert abs(kurtosis - wanted) < 6 * error  # sqrt(24/n), and sqrt of about 2000/n for Laplace


@pytest.mark.statistical
def test_uncorrelated_noise_adds_alpha_to_the_variances_only() -> None:
    frame = people()
    before = covariance(frame)
    after = covariance(Noise(alpha=0.5).apply(frame, list("abc"), rng=Seeded(2)).frame)
    wanted = before + 0.5 * np.diag(np.diag(before))
    scale = np.sqrt(np.outer(np.diag(before), np.diag(before)))
    # Given x, an entry of the covariance errs by at most sqrt((4 * 0.5 + 2 * 0.25) / n) of it.
    assert np.abs((after - wanted) / scale).max() < 5 * math.sqrt(2.5 / ROWS)
    assert np.abs((after - before) / scale).max() > 0.4


@pytest.mark.statistical
@pytest.mark.parametrize("distribution", ["normal", "laplace"])
def test_correlated_noise_multiplies_the_covariance_and_keeps_correlations(
    distribution: Any,
) -> None:
    frame = people()
    before = covariance(frame)
    method = Noise(alpha=0.5, correlated=True, distribution=distribution)
    masked = method.apply(frame, list("abc"), rng=Seeded(2)).frame
    scale = np.sqrt(np.outer(np.diag(before), np.diag(before)))
    assert np.abs((covariance(masked) - 1.5 * before) / scale).max() < 5 * math.sqrt(3.25 / ROWS)
    kept = np.corrcoef(masked.to_numpy().T) - np.corrcoef(frame.to_numpy().T)
    assert np.abs(kept).max() < 5 * math.sqrt(2 / ROWS)


@pytest.mark.statistical
def test_the_expected_correction_brings_mean_and_covariance_back_on_average() -> None:
    frame = people()
    before = covariance(frame)
    method = Noise(amount=0.7, correlated=True, correct="expected")
    masked = method.apply(frame, list("abc"), rng=Seeded(4)).frame
    scale = np.sqrt(np.outer(np.diag(before), np.diag(before)))
    assert np.abs((covariance(masked) - before) / scale).max() < 5 * math.sqrt(2 / ROWS)
    moved = masked.to_numpy().mean(axis=0) - frame.to_numpy().mean(axis=0)
    assert (np.abs(moved) < 5 * np.sqrt(np.diag(before) / ROWS)).all()


@pytest.mark.statistical
def test_the_expected_correction_of_multiplied_noise_keeps_the_variance() -> None:
    frame = people()
    method = Noise(amount=0.3, multiplicative=True, correct="expected")
    masked = method.apply(frame, ["a"], rng=Seeded(4)).frame
    # The noise here is six times as wide as the column: kurtosis 3, so 5 sqrt(2/n) of the variance.
    ratio = float(np.var(masked["a"].to_numpy()) / np.var(frame["a"].to_numpy()))
    assert abs(ratio - 1) < 5 * math.sqrt(2 / ROWS)


@pytest.mark.parametrize(
    "method",
    [
        Noise(amount=0.7, correlated=True, correct="exact"),
        Noise(amount=0.7, correct="exact", distribution="laplace"),
        Noise(amount=0.1, multiplicative=True, correct="exact"),
    ],
    ids=["correlated", "uncorrelated", "multiplicative"],
)
def test_the_exact_correction_restores_the_moments_of_the_sample(method: Noise) -> None:
    frame = people(500)
    masked = method.apply(frame, list("abc"), rng=Seeded(4)).frame
    np.testing.assert_allclose(masked.mean().row(0), frame.mean().row(0), rtol=1e-12)
    np.testing.assert_allclose(covariance(masked), covariance(frame), rtol=1e-10, atol=1e-10)
    assert not np.allclose(masked.to_numpy(), frame.to_numpy(), atol=0.1)


def test_the_exact_correction_of_one_column_passes_over_empty_cells() -> None:
    frame = people(50).select(pl.when(pl.int_range(50) % 7 != 3).then(pl.col("a")).alias("a"))
    masked = Noise(amount=0.5, correct="exact").apply(frame, ["a"], rng=Seeded(1)).frame["a"]
    assert masked.is_null().to_list() == frame["a"].is_null().to_list()
    assert masked.mean() == pytest.approx(frame["a"].mean(), rel=1e-12)
    assert masked.std() == pytest.approx(frame["a"].std(), rel=1e-12)


@pytest.mark.parametrize("correct", ["none", "expected", "exact"])
@pytest.mark.parametrize("multiplicative", [False, True])
def test_noise_of_amount_zero_changes_nothing(correct: Any, multiplicative: bool) -> None:
    frame = people(100)
    method = Noise(amount=0, correct=correct, multiplicative=multiplicative)
    assert method.apply(frame, list("abc"), rng=Seeded(1)).frame.equals(frame)


def test_multiplied_noise_is_relative_and_leaves_zeros() -> None:
    frame = pl.DataFrame({"pay": [0.0] + [1000.0] * 4000 + [0.001] * 4000})
    masked = Noise(amount=0.1, multiplicative=True).apply(frame, ["pay"], rng=Seeded(1)).frame
    ratio = (masked["pay"] / frame["pay"]).to_numpy()[1:]
    assert masked["pay"][0] == 0
    for part in (ratio[:4000], ratio[4000:]):  # 5 standard errors of a deviation, 1/sqrt(2n)
        assert np.std(part) == pytest.approx(0.1, rel=5 / math.sqrt(8000))


def test_bounds_and_whole_numbers_are_kept() -> None:
    frame = pl.DataFrame({"age": np.arange(2000) % 90})
    method = Noise(amount=2, integer=True, lower=0.5, upper=80.5)
    masked = method.apply(frame, ["age"], rng=Seeded(1))
    ages = masked.frame["age"]
    assert ages.dtype == pl.Int64
    assert (ages.min(), ages.max()) == (1, 80)
    assert 0 < masked.facts["age"]["bounded"] < 2000


def test_decimals_are_kept_by_default() -> None:
    assert Noise(amount=0.1).apply(AGES, ["age"], rng=Seeded(1)).frame["age"].dtype == pl.Float64


@pytest.mark.parametrize("correlated", [False, True])
def test_empty_cells_stay_empty_and_the_others_get_noise(correlated: bool) -> None:
    frame = pl.DataFrame({"x": [1.0, None, 3.0, 4.0, float("nan")], "y": [2, 5, None, 1, 3]})
    masked = Noise(amount=0.5, correlated=correlated).apply(frame, ["x", "y"], rng=Seeded(1)).frame
    assert masked["x"].is_null().to_list() == [False, True, False, False, True]
    assert masked["y"].is_null().to_list() == [False, False, True, False, False]
    assert (masked["y"].drop_nulls() != frame["y"].drop_nulls()).all()


def test_values_that_noise_cannot_hide_are_counted() -> None:
    # Noise of deviation 3.4, as in the printed table: 45, 73, 84, 62 and 14 lie 8 or more from all
    # others, more than two deviations.
    sigma = float(np.std(SALARIES["salary"].to_numpy()))
    facts = Noise(amount=3.4 / sigma).apply(SALARIES, ["salary"], rng=Seeded(1)).facts
    assert facts["salary"]["isolated"] == 5
    wide = Noise(amount=7 / sigma).apply(SALARIES, ["salary"], rng=Seeded(1)).facts
    assert wide["salary"]["isolated"] == 1  # 45, with 14 to its neighbours no more than 15 away


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=20), st.floats(0.01, 2))
def test_isolated_values_are_those_a_plain_search_finds(values: list[int], amount: float) -> None:
    if len(set(values)) < 2:
        return
    width = 2 * amount * float(np.std(values))
    alone = [
        all(abs(value - other) > width for j, other in enumerate(values) if j != i)
        for i, value in enumerate(values)
    ]
    facts = Noise(amount=amount).apply(pl.DataFrame({"x": values}), ["x"], rng=Seeded(1)).facts
    assert facts["x"]["isolated"] == sum(alone)


def test_the_root_of_a_singular_correlation_matrix_is_one() -> None:
    root = mixing(np.ones((3, 3)))
    np.testing.assert_allclose(root @ root.T, np.ones((3, 3)), atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({}, "CEL-V201"),
        ({"amount": 0.1, "alpha": 0.1}, "CEL-V201"),
        ({"amount": -0.1}, "CEL-I060"),
        ({"amount": float("nan")}, "CEL-I060"),
        ({"amount": True}, "CEL-I060"),
        ({"alpha": "0.1"}, "CEL-I060"),
        ({"amount": 0.1, "correlated": 1}, "CEL-I060"),
        ({"amount": 0.1, "distribution": "normale"}, "CEL-I060"),
        ({"amount": 0.1, "correct": True}, "CEL-I060"),
        ({"amount": 0.1, "lower": 5, "upper": 4}, "CEL-V201"),
        ({"amount": 0.1, "lower": 4.2, "upper": 4.8, "integer": True}, "CEL-V201"),
        ({"amount": 0.1, "correlated": True, "multiplicative": True}, "CEL-V201"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        Noise(**parameters)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("frame", "method", "code"),
    [
        ({"x": [1, 2, 3], "y": [2, 4, 6]}, Noise(amount=1, correct="exact"), "CEL-V206"),
        ({"x": [1, 2], "y": [2, 5]}, Noise(amount=1, correct="exact"), "CEL-V206"),
        ({"x": [1, 2, None], "y": [2, 5, 3]}, Noise(amount=1, correct="exact"), "CEL-V205"),
        ({"x": [1, 2, None], "y": [2, None, 3]}, Noise(amount=1, correlated=True), "CEL-V204"),
        ({"x": [1e200, -1e200], "y": [1, 2]}, Noise(amount=1), "CEL-V203"),
        ({"x": [1, 2**62], "y": [1, 2]}, Noise(amount=1e3, integer=True), "CEL-V203"),
        ({"x": [1e300, 1e300 * (1 + 1e-15)], "y": [1, 2]}, Noise(amount=1e99), "CEL-V203"),
    ],
)
def test_tables_that_noise_cannot_serve_are_refused(frame: Any, method: Noise, code: str) -> None:
    with pytest.raises(InputError) as caught:
        method.apply(pl.DataFrame(frame), ["x", "y"], rng=Seeded(1))
    assert caught.value.code == code
