"""Population uniqueness: each model against a plain twin, and against populations we made."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb, exp, lgamma, log
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.assess.risk import (
    _kernels,
    measure,
    population_unique_share,
    population_uniques,
)
from celosia.core.errors import InputError

sizes_of_classes = st.lists(st.integers(1, 40), min_size=1, max_size=60)
fractions = st.floats(0.001, 1.0)


def counted(sizes: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    found, counts = np.unique(np.array(sizes), return_counts=True)
    return found, counts


@given(sizes_of_classes, fractions)
def test_estimates_are_finite_and_within_their_bounds(sizes: list[int], fraction: float) -> None:
    found = population_uniques(sizes, fraction)
    limit = sizes.count(1) / fraction
    for estimate in found.estimates.values():
        assert estimate is None or 0 <= estimate <= limit * (1 + 1e-12)
    assert found.estimates["zayatz"] is not None
    assert found.estimates["pitman"] is not None
    assert 0 <= found.share <= 1
    assert found.uniques == found.estimates[found.chosen]


@given(sizes_of_classes, fractions)
def test_the_cheap_share_is_the_share(sizes: list[int], fraction: float) -> None:
    found, counts = counted(sizes)
    share = population_uniques(sizes, fraction).share
    assert population_unique_share((found, counts), fraction) == pytest.approx(share)
    histogram = dict(zip(found.tolist(), counts.tolist(), strict=True))
    assert population_unique_share(histogram | {99: 0}, fraction) == pytest.approx(share)


@given(st.integers(1, 300), fractions)
def test_a_sample_of_uniques_only_gives_the_whole_population(size: int, fraction: float) -> None:
    found = population_uniques([1] * size, fraction)
    assert found.share == pytest.approx(1)
    assert set(found.estimates.values()) == {size / fraction}


@given(st.lists(st.integers(2, 40), max_size=20), fractions)
def test_a_sample_without_uniques_gives_none(sizes: list[int], fraction: float) -> None:
    found = population_uniques(sizes, fraction)
    assert (found.share, set(found.estimates.values())) == (0, {0.0})


@given(sizes_of_classes)
def test_a_sample_that_is_the_population_gives_its_own_uniques(sizes: list[int]) -> None:
    found = population_uniques(sizes, 1.0)
    assert set(found.estimates.values()) == {float(sizes.count(1))}
    assert found.share == pytest.approx(sizes.count(1) / sum(sizes))


def test_nothing_gives_nothing() -> None:
    assert population_uniques([], 0.1).share == population_unique_share({}, 0.1) == 0


@given(sizes_of_classes, st.integers(2, 30))
def test_zayatz_is_bayes_with_draws_without_replacement(sizes: list[int], times: int) -> None:
    found, counts = counted(sizes)
    records = sum(sizes)
    people = records * times
    chance = {
        size: Fraction(size * comb(people - size, records - 1), comb(people, records))
        for size in set(sizes)
    }
    alone = sizes.count(1)
    total = sum(chance[size] for size in sizes)
    wanted = alone * times * alone * chance.get(1, Fraction(0)) / total if total else Fraction(0)
    assert _kernels.zayatz(found, counts, 1 / times) == pytest.approx(float(wanted), rel=1e-9)


def likelihood(theta: float, alpha: float, sizes: list[int]) -> float:
    if not theta > -alpha:
        return -np.inf
    total = sum(log(theta + i * alpha) for i in range(1, len(sizes)))
    total -= sum(log(theta + i) for i in range(1, sum(sizes)))
    return total + sum(log(i - alpha) for size in sizes for i in range(1, size))


@given(st.lists(st.integers(1, 12), min_size=2, max_size=25).filter(lambda s: max(s) > 1))
def test_no_other_pitman_model_is_likelier(sizes: list[int]) -> None:
    theta, alpha = _kernels.fit_pitman(*counted(sizes))
    best = likelihood(theta, alpha, sizes)
    for other in np.linspace(0, 0.99, 12):
        for step in np.geomspace(0.01, 1e4, 12):
            assert likelihood(step - other, float(other), sizes) <= best + 1e-5


@given(st.floats(-0.3, 300), st.floats(0.31, 0.99), st.integers(1, 300))
def test_expected_pitman_uniques_are_the_chance_that_nobody_joins(
    theta: float, alpha: float, people: int
) -> None:
    wanted = people * np.prod([(theta + i - 1 + alpha) / (theta + i) for i in range(1, people)])
    assert _kernels.pitman_uniques(theta, alpha, people) == pytest.approx(wanted, rel=1e-9)


def negative_binomial(value: int, shape: float, chance: float) -> float:
    if value < 0:
        return 0.0
    ways = lgamma(value + shape) - lgamma(shape) - lgamma(value + 1)
    return exp(ways + shape * log(chance) + value * log(1 - chance))


@given(st.floats(0.2, 8), st.floats(0.08, 0.9), st.floats(0.05, 0.95))
def test_the_shifted_negative_binomial_is_found_from_its_moments(
    shape: float, chance: float, fraction: float
) -> None:
    def sampled(records: int) -> float:
        return sum(
            negative_binomial(people - 1, shape, chance)
            * comb(people, records)
            * fraction**records
            * (1 - fraction) ** (people - records)
            for people in range(records, 900)
        )

    classes = 1000.0
    people = classes * (1 + shape * (1 - chance) / chance)
    found = _kernels.snb_uniques(
        classes, classes * sampled(1), classes * sampled(2), people, fraction
    )
    assert found == pytest.approx(classes * chance**shape, rel=1e-3, abs=1e-3)


@given(sizes_of_classes.filter(lambda sizes: 1 in sizes), st.floats(0.01, 0.99))
def test_shlosser_follows_its_formula(sizes: list[int], f: float) -> None:
    first = sum(i * f**2 * (1 - f**2) ** (i - 1) for i in sizes)
    second = sum((1 - f) ** i * ((1 + f) ** i - 1) for i in sizes)
    third = sum((1 - f) ** i for i in sizes) / sum(i * f * (1 - f) ** (i - 1) for i in sizes)
    wanted = len(sizes) + sizes.count(1) * first / second * third**2
    assert _kernels.shlosser(*counted(sizes), f) == pytest.approx(wanted, rel=1e-9)


def seats(people: int, theta: float, alpha: float, seed: int) -> NDArray[np.int64]:
    """The class of each person of an Ewens-Pitman population, seated one by one."""
    generator = np.random.default_rng(seed)
    draws = generator.random((people, 2))
    tables: list[int] = []
    places = np.empty(people, dtype=np.int64)
    for person in range(people):
        new = draws[person, 0] * (theta + person) < theta + alpha * len(tables)
        if new:
            tables.append(0)
            places[person] = len(tables) - 1
        else:
            weights = np.array(tables) - alpha
            limit = draws[person, 1] * weights.sum()
            places[person] = np.searchsorted(np.cumsum(weights), limit)
        tables[places[person]] += 1
    return places


def class_sizes(places: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(places, return_counts=True)[1]


@pytest.mark.statistical
def test_pitman_finds_the_uniques_of_ewens_pitman_populations() -> None:
    ratios = []
    for seed in range(12):
        places = seats(3000, 20.0, 0.5, seed)
        # Seats are exchangeable, so the first 300 people are a random sample.
        found = population_uniques(class_sizes(places[:300]), 0.1)
        assert found.chosen == "pitman"
        ratios.append(log(found.uniques / (class_sizes(places) == 1).sum()))
    # Four standard errors of the mean, and 0.1 for the bias of a likelihood fit (order 1/uniques).
    assert abs(np.mean(ratios)) < 4 * np.std(ratios) / np.sqrt(len(ratios)) + 0.1


@pytest.mark.statistical
def test_the_shifted_negative_binomial_finds_the_uniques_of_its_own_populations() -> None:
    generator = np.random.default_rng(3)
    people = 1 + generator.negative_binomial(0.7, 0.15, 20_000)
    sample = generator.binomial(people, 0.5)
    found = population_uniques(sample[sample > 0], float(sample.sum() / people.sum()))
    truth = int((people == 1).sum())
    # The number of classes is Shlosser's, whose bias here is a few per cent: 10 % bounds it.
    assert found.estimates["snb"] == pytest.approx(truth, rel=0.1)
    assert found.share == pytest.approx(truth / people.sum(), rel=0.1)


@pytest.mark.statistical
def test_at_a_high_fraction_every_model_comes_near_the_truth() -> None:
    generator = np.random.default_rng(4)
    people = np.maximum(1, generator.lognormal(0.7, 1.3, 20_000)).astype(np.int64)
    sample = generator.binomial(people, 0.9)
    found = population_uniques(sample[sample > 0], float(sample.sum() / people.sum()))
    truth = (people == 1).sum()
    for estimate in found.estimates.values():
        # A tenth of the uniques is not in the sample; no model can miss by more than that.
        assert estimate == pytest.approx(truth, rel=0.1)


def test_the_rule_takes_pitman_for_small_samples_and_the_lower_of_two_otherwise() -> None:
    sizes = [1] * 60 + [2] * 15 + [10]
    assert population_uniques(sizes, 0.1).chosen == "pitman"
    large = population_uniques(sizes, 0.11)
    both = [large.estimates["zayatz"], large.estimates["snb"]]
    assert large.uniques == min(value for value in both if value is not None)


def test_a_model_that_fits_nothing_is_left_out_and_not_chosen() -> None:
    # Hardly any uniques and many pairs: no negative binomial on top of one is so narrow.
    found = population_uniques([1] * 5 + [2] * 100, 0.5)
    assert found.estimates["snb"] is None
    assert found.chosen == "zayatz"


@pytest.mark.parametrize("sizes", [[0, 1], [1.5], [[1, 2]], [-3], ["a"]])
def test_what_is_no_size_is_refused(sizes: Any) -> None:
    with pytest.raises(InputError) as caught:
        population_uniques(sizes, 0.5)
    assert caught.value.code == "CEL-A023"


def test_sizes_without_their_counts_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        population_unique_share(([1, 2], [3]), 0.5)
    assert caught.value.code == "CEL-A023"


def test_a_fraction_outside_its_range_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        population_unique_share({1: 3}, 0.0)
    assert caught.value.code == "CEL-A021"


def test_the_estimates_are_plain_values_and_one_line() -> None:
    found = population_uniques([1] * 30 + [2] * 9, 0.2)
    assert json.loads(json.dumps(found.as_dict()))["sample_uniques"] == 30
    assert "\n" not in str(found)


@pytest.mark.statistical
@pytest.mark.parametrize("fraction", [0.1, 0.2, 0.5, 0.9])
def test_the_uniques_of_the_census_rows_are_estimated_from_a_sample(
    real: pl.DataFrame, fraction: float
) -> None:
    known = [name for name in real.columns if name != "occupation"]
    truth = measure(real, known).unique
    assert truth == 8841
    sample = real.select(known).sample(fraction=fraction, seed=1)
    sizes = sample.group_by(known).len().get_column("len").to_numpy().astype(np.int64)
    found = population_uniques(sizes, sample.height / real.height)
    # The number of sampled uniques varies by sqrt(U f (1-f)), at most 3.2 % of it here; the rest of
    # the 15 % is what the models, none of which is that of a census, may be wrong by.
    assert found.uniques == pytest.approx(truth, rel=0.15)
