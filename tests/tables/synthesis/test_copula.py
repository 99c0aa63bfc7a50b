"""The Gaussian copula: correlations, marginals, categories, empty cells."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
import pytest
from scipy import stats

from celosia.core.randomness import Seeded
from celosia.tables.synthesis import Copula
from celosia.tables.synthesis.copula import (
    latent_correlation,
    nearest_correlation,
    normal_scores,
)

ROWS = 20_000


def correlated(rho: float, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).multivariate_normal([0, 0], [[1, rho], [rho, 1]], ROWS)


def test_the_nearest_correlation_is_the_published_one() -> None:
    # Higham 2002, section 4: the nearest correlation matrix to this one.
    given = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    found = nearest_correlation(given)
    assert found[0, 1] == pytest.approx(0.7607, abs=1e-3)
    assert found[0, 2] == pytest.approx(0.1573, abs=1e-3)
    assert np.linalg.eigvalsh(found)[0] > 0


def test_a_possible_correlation_stays_as_it_is() -> None:
    given = np.array([[1.0, 0.3], [0.3, 1.0]])
    assert np.array_equal(nearest_correlation(given), given)


def test_scores_of_distinct_numbers_are_nearly_normal_quantiles() -> None:
    scores, variance = normal_scores(np.arange(1000.0))
    assert scores[[99, 499, 899]] == pytest.approx(
        stats.norm.ppf([0.0995, 0.4995, 0.8995]), abs=2e-3
    )
    assert 0.99 < variance <= 1


def test_scores_of_a_coin_are_the_means_of_half_a_normal() -> None:
    scores, variance = normal_scores(np.array([0.0, 1.0, np.nan, 0.0, 1.0]))
    half = np.sqrt(2 / np.pi)
    assert scores[[0, 1]] == pytest.approx([-half, half])
    assert np.isnan(scores[2])
    assert variance == pytest.approx(2 / np.pi)


@pytest.mark.parametrize("cuts", [(), (0.3,), (-1.0, 0.0, 1.5)])
def test_the_latent_correlation_of_a_cut_variable_is_found(cuts: tuple[float, ...]) -> None:
    rows = correlated(0.6)
    second = np.searchsorted(cuts, rows[:, 1]).astype(float) if cuts else rows[:, 1]
    parts = [normal_scores(rows[:, 0]), normal_scores(second)]
    found = latent_correlation(
        np.column_stack([scores for scores, _ in parts]), np.array([size for _, size in parts])
    )
    # The error of a correlation is at most 1/sqrt(n), of one with a coin about 1.25 times that.
    assert abs(found[0, 1] - 0.6) < 5 * 1.25 / np.sqrt(ROWS)


@pytest.mark.parametrize("marginals", ["empirical", "parametric"])
def test_marginals_and_correlation_are_kept(marginals: Literal["empirical", "parametric"]) -> None:
    rows = correlated(-0.7)
    frame = pl.DataFrame({"pay": np.exp(rows[:, 0]), "age": rows[:, 1] * 10 + 50})
    made = Copula(marginals=marginals).apply(frame, frame.columns, rng=Seeded(3)).frame
    for name in frame.columns:
        distance = stats.ks_2samp(frame[name], made[name]).statistic
        assert distance < 2.5 * np.sqrt(2 / ROWS)  # Kolmogorov: beyond 2.5 by chance 1e-5
        assert made[name].min() >= frame[name].min()  # type: ignore[operator]
        assert made[name].max() <= frame[name].max()  # type: ignore[operator]
    before = stats.spearmanr(frame["pay"], frame["age"]).statistic
    after = stats.spearmanr(made["pay"], made["age"]).statistic
    assert abs(before - after) < 5 / np.sqrt(ROWS)


def test_shares_of_categories_and_of_empty_cells_are_kept() -> None:
    rng = np.random.default_rng(5)
    hair = rng.choice(["black", "brown", "red"], ROWS, p=[0.5, 0.45, 0.05])
    size = np.where(hair == "red", 190.0, 170.0) + rng.normal(0, 5, ROWS)
    known = rng.random(ROWS) < np.where(hair == "black", 0.9, 0.5)
    frame = pl.DataFrame({"hair": hair, "size": pl.Series(size).set(pl.Series(~known), None)})
    made = Copula().apply(frame, frame.columns, rng=Seeded(3)).frame
    for value in ("black", "brown", "red"):
        gap = made.filter(hair=value).height - frame.filter(hair=value).height
        assert abs(gap) / ROWS < 5 * 0.5 / np.sqrt(ROWS)
    gap = made["size"].null_count() - frame["size"].null_count()
    assert abs(gap) / ROWS < 5 * 0.5 / np.sqrt(ROWS)
    # Empty cells go with the hair, as in the table.
    empty = made.group_by("hair").agg(pl.col("size").is_null().mean())
    shares = dict(empty.iter_rows())
    assert shares["brown"] - shares["black"] > 0.2


def test_values_without_an_order_are_put_in_one_that_fits_the_others() -> None:
    rng = np.random.default_rng(5)
    towns = np.array(["a", "b", "c", "d"])
    level = np.array([3.0, 0.0, 2.0, 1.0])  # not the order of the alphabet
    code = rng.integers(0, 4, ROWS)
    frame = pl.DataFrame({"town": towns[code], "rent": level[code] + rng.normal(0, 0.5, ROWS)})
    made = Copula().apply(frame, frame.columns, rng=Seeded(3)).frame
    means = dict(made.group_by("town").agg(pl.col("rent").mean()).iter_rows())
    assert means["b"] < means["d"] < means["c"] < means["a"]


def test_a_declared_order_is_followed() -> None:
    rng = np.random.default_rng(5)
    code = rng.integers(0, 3, ROWS)
    frame = pl.DataFrame(
        {"level": np.array(["low", "mid", "high"])[code], "x": code + rng.normal(0, 0.5, ROWS)}
    )
    method = Copula(order={"level": ["low", "mid", "high"]})  # type: ignore[dict-item]
    made = method.apply(frame, frame.columns, rng=Seeded(3)).frame
    means = dict(made.group_by("level").agg(pl.col("x").mean()).iter_rows())
    assert means["low"] < means["mid"] < means["high"]
