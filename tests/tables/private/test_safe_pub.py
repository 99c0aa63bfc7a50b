"""SafePub: its accounting against the distributions themselves, and what it releases."""

from __future__ import annotations

from math import exp, floor, log

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded, System
from celosia.tables.private import SafePub
from celosia.tables.private.safe_pub import _large_classes, sampling_delta, smallest_k

DECLARED = {"domains": {"sex": ("f", "m")}, "bounds": {"age": (0, 99)}}


def shown(records: int, k: int, rate: float) -> np.ndarray:
    """The distribution of what a class of so many records shows: nothing, or k and more."""
    chances = binom.pmf(np.arange(0, 400), records, rate)
    return np.concatenate([[chances[:k].sum()], chances[k:]])


@settings(max_examples=40)
@given(st.floats(0.2, 3.0), st.floats(0.05, 1.0), st.integers(2, 25))
def test_delta_is_the_largest_divergence_of_neighbours(
    epsilon: float, share: float, k: int
) -> None:
    """Over classes of up to 250 records, in both directions; larger ones are below by the bound."""
    rate = share * -np.expm1(-epsilon)
    found = sampling_delta(k, rate, epsilon)
    worst = 0.0
    for records in range(1, 250):
        with_it, without = shown(records, k, rate), shown(records - 1, k, rate)
        for one, other in ((with_it, without), (without, with_it)):
            worst = max(worst, float(np.maximum(0.0, one - exp(epsilon) * other).sum()))
    assert worst <= found + 1e-12
    assert found <= worst * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize(("epsilon", "k"), [(0.5, 20), (1.0, 30), (2.0, 10)])
def test_delta_is_no_more_than_the_published_bound(epsilon: float, k: int) -> None:
    """Li et al. add up the whole tail beyond g n, over all n from k / g - 1 on."""
    rate = 1 - exp(-epsilon)
    edge = 1 - (1 - rate) * exp(-epsilon)
    least = max(1, int(np.ceil(k / edge - 1)))
    tails = [binom.sf(floor(edge * n), n, rate) for n in range(least, least + 2000)]
    assert sampling_delta(k, rate, epsilon) <= max(tails) * (1 + 1e-8)


def test_a_record_that_is_likely_to_be_drawn_tells_by_its_absence() -> None:
    assert sampling_delta(50, 0.7, 1.0) == 1.0
    with pytest.raises(InputError) as caught:
        SafePub(epsilon=1, rate=0.7, **DECLARED)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-Y027"


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-4), (1.0, 1e-6), (2.0, 1e-9)])
def test_k_is_the_least_that_keeps_delta(epsilon: float, delta: float) -> None:
    rate = -np.expm1(-epsilon) * 0.999
    k = smallest_k(epsilon, delta, rate)
    assert sampling_delta(k, rate, epsilon) <= delta < sampling_delta(k - 1, rate, epsilon)


def people(rows: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    age = np.clip(rng.normal(40, 15, rows), 0, 99).astype(int)
    return pl.DataFrame({"sex": rng.choice(["f", "m"], rows), "age": age})


def test_released_records_are_true_and_every_class_has_k_of_them() -> None:
    table = people()
    method = SafePub(epsilon=1, delta=1e-6, **DECLARED)  # type: ignore[arg-type]
    done = method.apply(table, table.columns, rng=Seeded(3))
    assert done.rows is not None
    assert done.frame.group_by(table.columns).len()["len"].min() >= method.k  # type: ignore[operator]
    source = table[done.rows]
    assert done.frame["sex"].to_list() == source["sex"].to_list()
    for label, age in zip(done.frame["age"], source["age"], strict=True):
        low, _, high = label.partition("-")
        assert int(low) <= age <= int(high or low)
    assert len(set(done.rows.tolist())) == done.rows.size
    assert done.facts["k"] == method.k
    assert 0.5 < done.rows.size / table.height < method.chance + 0.05


def test_the_number_drawn_is_binomial() -> None:
    """One class: its size is binomial, so within 5 deviations of its mean over 200 draws."""
    table = pl.DataFrame({"sex": ["f"] * 500})
    method = SafePub(epsilon=0.5, delta=1e-3, domains={"sex": ("f",)}, rate=0.3)
    drawn = [method.apply(table, ["sex"], rng=Seeded(seed)).frame.height for seed in range(200)]
    assert abs(np.mean(drawn) - 150) < 5 * np.sqrt(500 * 0.3 * 0.7 / 200)
    assert 0.6 < np.var(drawn) / (500 * 0.3 * 0.7) < 1.6


def test_the_order_of_the_release_is_that_of_its_labels() -> None:
    codes = [np.array([1, 0, 1, 0, 2])]
    assert codes[0][_large_classes(codes, 2)].tolist() == [0, 0, 1, 1]


def test_a_chosen_scheme_is_coarser_where_records_are_few() -> None:
    few = SafePub(epsilon=2, delta=1e-4, choice=0.5, **DECLARED)  # type: ignore[arg-type]
    levels = [
        few.apply(people(rows), ["sex", "age"], rng=Seeded(5)).facts["levels"]["age"]
        for rows in (300, 60_000)
    ]
    assert levels[0] > levels[1]
    done = few.apply(people(300), ["sex", "age"], rng=System())
    assert done.frame.columns == ["sex", "age"]
    assert few.privacy_loss(["sex", "age"]).epsilon(1e-4) <= 2 + 1e-9


def test_no_cell_makes_it_refuse_and_unknown_values_are_empty() -> None:
    odd = pl.DataFrame({"sex": ["x", None] * 200, "age": [-5, 1000] * 200})
    method = SafePub(epsilon=1, delta=1e-3, **DECLARED)  # type: ignore[arg-type]
    done = method.apply(odd, odd.columns, rng=Seeded(1))
    assert set(done.frame["sex"]) <= {None}
    assert len(set(done.frame["age"])) <= 2
    empty = method.apply(odd.head(0), odd.columns, rng=Seeded(1))
    assert empty.frame.height == 0


def test_the_promise_states_the_budget() -> None:
    method = SafePub(epsilon=1, delta=1e-6, **DECLARED)  # type: ignore[arg-type]
    promise = method.promise(["sex", "age"])
    assert promise is not None
    assert "(1, 1e-06)" in promise
    assert method.chance <= 1 - exp(-1) < method.chance + 1e-9
    assert any("sample" in gap for gap in method.leaves_open(["sex", "age"]))
    assert log(1 / (1 - method.chance)) <= 1
