"""Noisy counts of keys that are not known beforehand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp, expm1, log, log1p, sqrt
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.exact_laws import RELATIONS, Release, log_mass, measured

from celosia.accounting.losses import ApproximateLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import CHANGE_ONE, Neighbours
from celosia.core.randomness import Seeded
from celosia.mechanisms.statistics.key_histogram import KeyHistogram

__all__ = ["measured"]


def law_of_key(count: int, scale: Fraction, threshold: int, last: int) -> dict[int | None, float]:
    """What is seen of one key: nothing, a count above the threshold, or one from `last` on.

    Above all exact counts the ratio of two such laws does not change any more, so all outcomes from
    there on may be taken together, and nothing is cut off.
    """
    if count == 0:
        return {None: 1.0}
    seen: dict[int | None, float] = {
        out: exp(log_mass(scale, out - count)) for out in range(threshold + 1, last)
    }
    seen[last] = exp(-(last - count) / float(scale)) / (1 + exp(-1 / float(scale)))
    return {**seen, None: 1 - sum(seen.values())}


def hockey_stick(pairs: tuple[tuple[int, int], ...], histogram: KeyHistogram) -> float:
    """sum of max(0, P - e^epsilon P') over all outcomes of keys with these two counts each."""
    scale, threshold = histogram.noise.scale, histogram.threshold
    last = max(threshold, *(max(pair) for pair in pairs)) + 1
    factor, total = exp(float(histogram.price)), 0.0
    laws = [[law_of_key(count, scale, threshold, last) for count in pair] for pair in pairs]
    for outcome in product(*(set(one) | set(two) for one, two in laws)):
        chances = [1.0, 1.0]
        for law, out in zip(laws, outcome, strict=True):
            for side in (0, 1):
                chances[side] *= law[side].get(out, 0.0)
        total += max(0.0, chances[0] - factor * chances[1])
    return total


def unit_steps(per_unit: int, neighbours: Neighbours) -> set[tuple[tuple[int, int], ...]]:
    """Both counts of the keys that one unit moves, for every table with few other rows.

    Keys that do not move have the same law on both sides and change nothing.
    """
    found = set()
    for gained in range(per_unit + 1):
        for lost in range(per_unit + 1 if neighbours == CHANGE_ONE else 1):
            for base in product((0, 1, 2, 5), repeat=gained + lost):
                up = tuple((count, count + 1) for count in base[:gained])
                down = tuple((count + 1, count) for count in base[gained:])
                found |= {tuple(sorted(up + down)), tuple(sorted((b, a) for a, b in up + down))}
    return found - {()}


@RELATIONS
@pytest.mark.parametrize(
    ("epsilon", "delta", "per_unit"),
    [
        (1, 1e-2, 1),
        (2, 1e-4, 1),
        (2, 0.05, 2),
        (0.7, 0.3, 2),
        (9, 0.2, 2),
        (1, 0.9, 1),
        (3, 0.1, 3),
    ],
)
def test_the_exact_delta_at_epsilon_is_that_of_the_threshold(
    neighbours: Neighbours, epsilon: float, delta: float, per_unit: int
) -> None:
    histogram = KeyHistogram(
        epsilon=epsilon, delta=delta, keys_per_unit=per_unit, neighbours=neighbours
    )
    worst = max(hockey_stick(pairs, histogram) for pairs in unit_steps(per_unit, neighbours))
    promised = histogram.privacy_loss().failure
    assert worst <= promised <= delta
    assert worst == pytest.approx(promised, rel=1e-9)  # by a unit all of whose keys are new


@RELATIONS
@given(
    epsilon=st.floats(0.01, 20),
    delta=st.floats(1e-30, 0.5),
    per_unit=st.integers(1, 50),
)
def test_the_threshold_is_the_least_that_keeps_delta(
    neighbours: Neighbours, epsilon: float, delta: float, per_unit: int
) -> None:
    histogram = KeyHistogram(
        epsilon=epsilon, delta=delta, keys_per_unit=per_unit, neighbours=neighbours
    )
    scale = float(histogram.noise.scale)
    assert scale == pytest.approx(per_unit * (2 if neighbours == CHANGE_ONE else 1) / epsilon)

    def failure(threshold: int) -> float:
        log_chance = -threshold / scale - log1p(exp(-1 / scale))
        return -expm1(per_unit * log1p(-exp(log_chance)))

    assert failure(histogram.threshold) <= delta
    if histogram.threshold > 1:
        assert failure(histogram.threshold - 1) > delta * (1 - 1e-9)
    loss = histogram.privacy_loss()
    assert isinstance(loss, ApproximateLoss)
    assert failure(histogram.threshold) <= loss.failure <= delta
    assert loss.value == histogram.price


def test_only_noisy_counts_above_the_threshold_are_released(measured: Release) -> None:
    histogram = KeyHistogram(epsilon=1, delta=1e-6)
    assert histogram.threshold == 14
    rows = ["b"] * 20 + ["a"] * 14 + ["d"] + ["c"] * 15
    # Noise is dealt out in the order of the keys: a, b, c, d.
    found = measured(histogram, rows, [0, -5, 0, 14])
    assert list(found.value.items()) == [("b", 15), ("c", 15), ("d", 15)]
    assert dict(found.parts) == {}  # nothing tells how many keys were left out
    assert measured(histogram, rows, [1, -6, -1, 13]).value == {"a": 15}


@given(st.lists(st.sampled_from(["x", "y", "z", "w"]), min_size=1, max_size=60), st.randoms())
def test_the_order_of_rows_does_not_show(rows: list[str], random: Any) -> None:
    histogram = KeyHistogram(epsilon=10, delta=0.1)
    shuffled = random.sample(rows, len(rows))
    one, two, three = (
        histogram.release(column, rng=Seeded(7)) for column in (rows, shuffled, pl.Series(rows))
    )
    assert list(one.items()) == list(two.items()) == list(three.items())
    assert list(one) == sorted(one)
    assert set(one) <= set(rows)


@pytest.mark.parametrize("keys", [[3, 1, 2], [True, False]])
def test_keys_may_be_whole_numbers_and_truth_values(keys: list[Any]) -> None:
    found = KeyHistogram(epsilon=5, delta=1e-3).release(keys * 100, rng=Seeded(1))
    assert list(found) == sorted(keys)
    assert all(type(key) is type(keys[0]) for key in found)


def test_no_keys_are_an_answer_where_they_may_be() -> None:
    assert KeyHistogram(epsilon=1, delta=1e-6, may_be_empty=True).release([]) == {}
    with pytest.raises(InputError) as caught:
        KeyHistogram(epsilon=1, delta=1e-6).release([])
    assert caught.value.code == "CEL-M082"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"delta": 0}, "CEL-I060"),
        ({"delta": 1}, "CEL-I060"),
        ({"keys_per_unit": 0}, "CEL-I060"),
        ({"keys_per_unit": 1.5}, "CEL-I060"),
    ],
)
def test_parameters_that_are_none_are_refused(wrong: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as caught:
        KeyHistogram(**{"epsilon": 1, "delta": 1e-6, **wrong})
    assert caught.value.code == code


@pytest.mark.statistical
def test_rare_keys_appear_as_rarely_as_promised() -> None:
    # 20,000 keys of one row each: each is released with chance p, so a binomial number of them.
    histogram = KeyHistogram(epsilon=1, delta=0.01)
    chance = histogram.privacy_loss().failure
    found = len(histogram.release(list(range(20_000)), rng=Seeded(9)))
    assert abs(found - 20_000 * chance) < 4 * sqrt(20_000 * chance)
    assert 0.01 / exp(1) < chance <= 0.01


@pytest.mark.statistical
def test_errors_stay_within_the_accuracy_and_bounds_hold_for_each_key() -> None:
    runs, confidence = 600, 0.9
    rng = Seeded(13)
    histogram = KeyHistogram(epsilon=0.5, delta=1e-3, keys_per_unit=2)
    rows = ["a"] * 100 + ["b"] * 35 + ["c"] * 5
    exact: Counter[Any] = Counter(rows)
    error = histogram.accuracy(confidence, size=3)
    near, missed = 0, Counter[object]()
    for _ in range(runs):
        found = histogram.measure(rows, rng=rng)
        near += all(abs(found.value.get(key, 0) - exact[key]) <= error for key in exact)
        low, high = histogram.interval(found, confidence)
        missed.update(key for key in found.value if not low[key] <= exact[key] <= high[key])
    slack = 4 * sqrt(confidence * (1 - confidence) / runs)
    assert near / runs > confidence - slack
    assert all(missed[key] / runs < 1 - confidence + slack for key in exact)
    assert missed["a"] / runs > (1 - confidence) * 0.7 - slack  # as narrow as steps allow


def test_an_accuracy_buys_the_least_epsilon() -> None:
    cheap = KeyHistogram(epsilon=1, delta=1e-6).with_accuracy(100, size=10)
    assert cheap.accuracy(size=10) <= 100
    assert cheap.epsilon < 1
    assert cheap.threshold > log(1e6)
