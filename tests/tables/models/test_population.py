"""Models that look at the population, and those that judge the table as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.assess.risk.uniqueness import population_unique_share
from celosia.core.errors import InputError
from celosia.tables.models import (
    AverageRisk,
    Classes,
    DeltaPresence,
    KAnonymity,
    KMap,
    PopulationUniqueness,
    judge_all,
)
from celosia.tables.models.k_map import smallest_sample


def sample(sizes: list[int], people: list[int] | None = None, unmatched: int = 0) -> Classes:
    population = None if people is None else np.array(people, dtype=np.int64)
    return Classes(np.array(sizes, dtype=np.int64), population=population, unmatched=unmatched)


lists_of_sizes = st.lists(st.integers(1, 9), min_size=1, max_size=12)


def test_a_class_of_one_may_fit_many_people() -> None:
    assert KMap(5).needs_population
    assert KMap(5).judge(sample([1, 4], [5, 4])).satisfied.tolist() == [True, False]
    assert KMap(5).judge(sample([1, 4], [5, 4])).must_go.tolist() == [0, 4]


def test_without_a_population_people_are_estimated() -> None:
    model = KMap(5, 0.1)
    assert not model.needs_population
    assert model.holds(sample([2, 3])).tolist() == [False, True]


@pytest.mark.statistical
def test_the_estimate_is_that_of_draws_until_so_many_successes() -> None:
    """2 of 1e5 draws' standard deviation is 0.0014; the chances at f and f - 1 differ by more."""
    generator = np.random.default_rng(3)
    for k, fraction in ((5, 0.1), (20, 0.3), (50, 0.5)):
        fewest = smallest_sample(k, fraction, 0.95)
        people = fewest + generator.negative_binomial(fewest, fraction, 100_000)
        fewer = fewest - 1 + generator.negative_binomial(fewest - 1, fraction, 100_000)
        assert (people >= k).mean() > 0.95 - 0.0014 * 3
        assert (fewer >= k).mean() < 0.95 + 0.0014 * 3


def test_a_census_needs_k_records_and_a_tiny_sample_few() -> None:
    assert smallest_sample(7, 1, 0.95) == 7
    assert smallest_sample(7, 0.001, 0.95) == 1
    assert 50_000 < smallest_sample(100_000, 0.5, 0.95) < 50_500


def test_presence_has_an_upper_bound_for_each_class() -> None:
    found = DeltaPresence(0, 0.5).judge(sample([1, 3, 4], [2, 4, 4]))
    assert found.satisfied.tolist() == [True, False, False]
    assert found.must_go.tolist() == [0, 1, 2]
    assert not DeltaPresence(0, 0.5).judges_table


def test_presence_with_a_lower_bound_is_all_or_nothing() -> None:
    model = DeltaPresence(0.2, 0.5)
    assert model.judges_table
    assert model.holds(sample([1, 2], [5, 5])).all()
    assert not model.holds(sample([1, 2], [6, 5])).any()
    assert not model.holds(sample([1, 3], [5, 5])).any()
    assert not model.holds(sample([1, 2], [5, 5], unmatched=1)).any()


def test_a_class_that_another_model_suppresses_breaks_the_lower_bound() -> None:
    classes = sample([2, 4], [8, 8])
    assert judge_all(classes, [DeltaPresence(0.2, 0.5)]).satisfied.all()
    assert not judge_all(classes, [DeltaPresence(0.2, 0.5), KAnonymity(3)]).satisfied.any()
    assert judge_all(classes, [DeltaPresence(0, 0.5), KAnonymity(3)]).satisfied.tolist() == [
        False,
        True,
    ]


def test_models_of_the_population_need_one() -> None:
    for model in (KMap(3), DeltaPresence(0, 0.5)):
        assert model.needs_population
        with pytest.raises(InputError) as caught:
            model.judge(sample([3]))
        assert caught.value.code == "CEL-P034"


@given(lists_of_sizes, st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 0.9]))
def test_the_average_risk_is_held_by_suppressing_the_fewest_small_classes(
    sizes: list[int], most: float
) -> None:
    satisfied = AverageRisk(most).holds(sample(sizes))
    left = sorted(range(len(sizes)), key=lambda place: sizes[place])
    while left and _average([sizes[place] for place in left]) > most + 1e-12:
        left.pop(0)
    assert np.flatnonzero(satisfied).tolist() == sorted(left)


def _average(sizes: list[int]) -> float:
    return len(sizes) / sum(sizes) if sizes else 0.0


def test_a_risk_at_the_tie_is_met() -> None:
    assert AverageRisk(0.1).holds(sample([10] * 3)).all()
    assert AverageRisk(0.3).holds(sample([3, 3, 4])).all()


def test_the_average_is_of_what_the_other_models_keep() -> None:
    classes = sample([1, 2, 9])
    assert judge_all(classes, [AverageRisk(0.3)]).satisfied.tolist() == [True, True, True]
    assert judge_all(classes, [AverageRisk(0.15), KAnonymity(2)]).satisfied.tolist() == [
        False,
        False,
        True,
    ]


@given(lists_of_sizes, st.sampled_from([0.05, 0.3, 1.0]), st.sampled_from([0.01, 0.1, 0.5]))
def test_lone_records_go_exactly_if_too_many_people_are_estimated_unique(
    sizes: list[int], fraction: float, most: float
) -> None:
    counts = {size: sizes.count(size) for size in sizes}
    high = population_unique_share(counts, fraction) > most
    satisfied = PopulationUniqueness(most, fraction).holds(sample(sizes))
    assert satisfied.tolist() == [size > 1 or not high for size in sizes]
    kept = np.array(sizes)[satisfied]
    rest = {int(size): int((kept == size).sum()) for size in kept}
    assert not rest or population_unique_share(rest, fraction) <= most


def test_models_of_the_table_say_nothing_of_single_classes() -> None:
    classes = sample([1, 1, 2, 9], [9, 9, 9, 9])
    for model in (AverageRisk(0.1), PopulationUniqueness(0.01, 0.1), DeltaPresence(0.1, 0.2)):
        assert model.judges_table
        assert not model.judge(classes).must_go.any()
        assert model.smallest == 1
        assert model.promise()
        assert model.protects()
        assert model.leaves_open()


def test_a_table_that_cannot_meet_a_model_says_why() -> None:
    assert "at least 20 records" in (AverageRisk(0.05).why_infeasible(sample([10])) or "")
    assert AverageRisk(0.05).why_infeasible(sample([20])) is None
    assert "single record" in (PopulationUniqueness(0.01, 0.5).why_infeasible(sample([1])) or "")
    assert PopulationUniqueness(0.01, 0.5).why_infeasible(sample([2])) is None
    assert "fewer than k = 5 people" in (KMap(5).why_infeasible(sample([3], [4])) or "")
    assert "than the 3 records" in (KMap(5, 0.1).why_infeasible(sample([2])) or "")
    assert "more than the upper bound" in (
        DeltaPresence(0, 0.5).why_infeasible(sample([6], [10])) or ""
    )
    assert "less than the lower bound" in (
        DeltaPresence(0.2, 0.5).why_infeasible(sample([1], [10])) or ""
    )


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: KMap(1), "CEL-I060"),
        (lambda: KMap(5, 0), "CEL-I060"),
        (lambda: KMap(5, 1.5), "CEL-I060"),
        (lambda: KMap(5, 0.5, 1), "CEL-I060"),
        (lambda: DeltaPresence(0.5, 0.2), "CEL-P027"),
        (lambda: DeltaPresence(0, 0), "CEL-I060"),
        (lambda: DeltaPresence(-0.1, 0.2), "CEL-I060"),
        (lambda: DeltaPresence(float("nan"), 0.2), "CEL-I060"),
        (lambda: DeltaPresence("0", 1), "CEL-I060"),  # type: ignore[arg-type]
        (lambda: AverageRisk(0), "CEL-I060"),
        (lambda: AverageRisk(1), "CEL-I060"),
        (lambda: PopulationUniqueness(0, 0.1), "CEL-I060"),
        (lambda: PopulationUniqueness(0.1, 2), "CEL-I060"),
    ],
)
def test_parameters_out_of_range_are_refused(make: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.code == code
