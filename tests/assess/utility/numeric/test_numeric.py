"""Moments, losses and marginals, against worked examples, NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from celosia.assess.linkage import align
from celosia.assess.utility.numeric import (
    information_loss,
    kolmogorov_smirnov,
    marginals,
    moments,
    numeric_utility,
)
from celosia.core.errors import InputError

AGES = [29, 48, 21, 36, 45, 58, 72, 22, 25, 43]
T6 = [32, 46, 28, 38, 48, 61, 59, 20, 24, 55]
MEANS = [27, 46.5, 21.5, 39.5, 46.5, 65, 65, 21.5, 27, 39.5]
T8 = [25, 45, 22, 43, 48, 72, 58, 21, 29, 36]


def test_microaggregated_ages_lose_what_the_worked_example_says() -> None:
    tables = align({"age": AGES}, {"age": MEANS})
    found = information_loss(tables)
    assert found.squares == pytest.approx(135.5 / 2492.9)
    assert 100 * found.squares == pytest.approx(5.435, abs=5e-4)
    (age,) = moments(tables).columns
    assert age.mean_before == pytest.approx(39.9)
    assert age.mean_after == pytest.approx(39.9, abs=1e-9)
    assert age.variance_before == pytest.approx(16.643**2, rel=1e-4)


def test_class_means_lose_what_the_worked_example_says() -> None:
    t10 = [25, 46.5, 25, 39.5, 46.5, 65, 65, 23.5, 23.5, 39.5]
    assert 100 * information_loss(align({"age": AGES}, {"age": t10})).squares == pytest.approx(
        6.559, abs=5e-4
    )


def test_noisy_and_swapped_ages_have_the_moments_of_the_worked_example() -> None:
    (age,) = moments(align({"age": AGES}, {"age": T6})).columns
    assert age.mean_after == pytest.approx(41.1)
    assert age.mean_change == pytest.approx(1.2 / 16.643, rel=1e-4)
    (swapped,) = moments(align({"age": AGES}, {"age": T8})).columns
    assert swapped.mean_change == 0
    assert swapped.variance_change == pytest.approx(0)


def test_il1s_is_the_formula_over_every_cell() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(50, 3)) * [1, 10, 100], rng.normal(size=(50, 3))
    deviations = x.std(axis=0, ddof=1)
    expected = (np.abs(x - y) / (np.sqrt(2) * deviations)).sum() / (50 * 3)
    found = information_loss(align(_frame(x), _frame(y)))
    assert found.il1s == pytest.approx(expected)
    assert found.cells == 150
    squares = ((x - y) ** 2 / deviations**2).sum() / (
        (x - x.mean(axis=0)) ** 2 / deviations**2
    ).sum()
    assert found.squares == pytest.approx(squares)


def test_losses_follow_the_alignment() -> None:
    assert information_loss(align({"a": [1, 2, 3]}, {"a": [3, 1]}, rows=[2, 0])).il1s == 0


def test_gaps_and_constant_columns_are_left_out_of_losses() -> None:
    before: dict[str, Any] = {"a": [1.0, 2.0, None, 4.0], "b": [5, 5, 5, 5], "c": [None] * 4}
    after: dict[str, Any] = {"a": [1.0, None, 3.0, 5.0], "b": [5, 6, 5, 5], "c": [None] * 4}
    frames = [
        {name: np.array(cells, dtype=float) for name, cells in side.items()}
        for side in (before, after)
    ]
    found = information_loss(align(frames[0], frames[1]))
    assert found.cells == 2
    assert found.il1s == pytest.approx(1 / (np.sqrt(2) * 2 * np.std([1, 2, 4], ddof=1)))


def test_covariances_correlations_and_eigenvalues_are_those_of_numpy() -> None:
    rng = np.random.default_rng(2)
    x = rng.multivariate_normal([0, 0, 0], [[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]], 300)
    y = x + rng.normal(size=x.shape)
    found = moments(align(_frame(x), _frame(y)))
    linked_x, linked_y = (np.atleast_2d(np.corrcoef(side.T)) for side in (x, y))
    spread_x, spread_y = (np.atleast_2d(np.cov(side.T)) for side in (x, y))
    for pair, (i, j) in zip(found.pairs, [(0, 1), (0, 2), (1, 2)], strict=True):
        assert pair.covariance_before == pytest.approx(spread_x[i, j])
        assert pair.covariance_after == pytest.approx(spread_y[i, j])
        assert pair.correlation_before == pytest.approx(linked_x[i, j])
        assert pair.correlation_after == pytest.approx(linked_y[i, j])
    values = np.sort(np.linalg.eigvalsh(np.corrcoef(x.T)))[::-1]
    np.testing.assert_allclose(found.eigenvalues_before, values)
    assert sum(found.eigenvalues_after) == pytest.approx(3)
    assert 0 < found.angle < 90


def test_noise_inflates_variances_by_its_own_share() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20_000, 2))
    found = moments(align(_frame(x), _frame(x + 0.5 * rng.normal(size=x.shape))))
    # The relative error of a variance from n values is sqrt(2/n) = 0.01.
    assert found.variance_change == pytest.approx(0.25, abs=0.05)
    assert moments(align(_frame(x), _frame(x))).variance_change == 0


def test_principal_components_turn_with_the_data() -> None:
    x = np.random.default_rng(4).normal(size=500)
    same = {"a": x, "b": x}
    opposite = {"a": x, "b": -x}
    # The arccosine of 1 - 1e-16 is 1e-8, in degrees 1e-6.
    assert moments(align(same, same)).angle == pytest.approx(0, abs=1e-5)
    assert moments(align(same, opposite)).angle == pytest.approx(90, abs=1e-5)


def test_constant_columns_have_no_correlation_and_no_error() -> None:
    found = moments(align({"a": [1, 2, 3], "b": [5, 5, 5]}, {"a": [1, 2, 3], "b": [5, 5, 6]}))
    assert found.pairs[0].correlation_before == 0
    assert found.columns[1].variance_change == np.inf
    assert found.as_dict()["columns"][1]["variance_change"] == "infinite"


def test_records_with_gaps_are_left_out_of_correlations() -> None:
    a, b = np.array([1.0, 2.0, 3.0, np.nan, 9.0]), np.array([2.0, 4.0, 6.0, 1.0, np.nan])
    found = moments(align({"a": a, "b": b}, {"a": a, "b": b}))
    assert found.pairs[0].correlation_before == pytest.approx(1)
    assert found.columns[0].mean_before == 3.75


def test_kolmogorov_and_smirnov_agree_with_scipy() -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 20, 80).astype(np.float64)
    y = rng.integers(3, 25, 60).astype(np.float64)
    expected = ks_2samp(x, y).statistic
    assert kolmogorov_smirnov(x, y) == pytest.approx(expected)
    assert kolmogorov_smirnov(np.append(x, np.nan), y) == pytest.approx(expected)
    assert kolmogorov_smirnov(x, x) == 0
    assert kolmogorov_smirnov(x, x + 100) == 1
    assert kolmogorov_smirnov(x, np.array([np.nan])) == 1


def test_marginals_of_categories_count_empty_cells() -> None:
    before: dict[str, Any] = {"c": ["a", "a", "b", None]}
    after: dict[str, Any] = {"c": ["a", None, "b", None]}
    (found,) = marginals(align(before, after))
    assert found.total_variation == pytest.approx(0.25)
    assert found.kolmogorov is None
    p, q = np.sqrt([0.5, 0.25, 0.25]), np.sqrt([0.25, 0.25, 0.5])
    assert found.hellinger == pytest.approx(np.sqrt(((p - q) ** 2).sum() / 2))


def test_marginals_of_amounts_are_those_of_twenty_equal_parts() -> None:
    x = np.arange(1.0, 101.0)
    (same,) = marginals(align({"x": x}, {"x": x[::-1]}))
    assert (same.total_variation, same.hellinger, same.kolmogorov) == (0, 0, 0)
    (half,) = marginals(align({"x": x}, {"x": np.full(100, 3.0)}))
    assert half.total_variation == pytest.approx(0.95)  # all in the first of twenty bins
    (apart,) = marginals(align({"x": x}, {"x": x + 1e6}))
    assert apart.kolmogorov == 1


def test_the_summary_leaves_out_what_does_not_apply() -> None:
    codes = align({"c": ["a", "b", "a"]}, {"c": ["a", "a", "b"]})
    assert numeric_utility(codes).moments is None
    made = align({"x": [1, 2, 3]}, {"x": [1, 2]}, synthetic=True)
    found = numeric_utility(made)
    assert found.loss is None
    assert found.moments is not None
    with pytest.raises(InputError) as refused:
        information_loss(made)
    assert refused.value.code == "CEL-A206"
    with pytest.raises(InputError) as refused:
        moments(codes)
    assert refused.value.code == "CEL-A207"


def _frame(matrix: Any) -> dict[str, Any]:
    return {f"x{place}": column for place, column in enumerate(matrix.T)}
