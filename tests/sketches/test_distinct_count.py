"""Different values: Flajolet-Martin, HyperLogLog and Theta keep the errors they state."""

from __future__ import annotations

from math import inf, log, sqrt
from typing import Any

import numpy as np
import pytest

from celosia import InputError
from celosia.sketches import FlajoletMartin, HyperLogLog, ThetaSketch
from celosia.sketches.flajolet_martin import PHI

RUNS = 500


def relative(kind: Any, sizes: dict[str, int], items: int, *, way: str = "estimate") -> Any:
    """Relative errors over runs with keys of their own."""
    values = np.arange(items)
    return (
        np.array(
            [getattr(kind(**sizes, key=f"run {run}").update(values), way)() for run in range(RUNS)]
        )
        / items
        - 1
    )


def unbiased(errors: Any) -> bool:
    return bool(abs(errors.mean()) < 4 * errors.std() / sqrt(RUNS))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("kind", "sizes", "stated"),
    [
        (FlajoletMartin, {"maps": 64}, 0.78 / 8),
        (HyperLogLog, {"precision": 8}, 1.04 / 16),
        (ThetaSketch, {"most": 256}, 1 / sqrt(255)),
    ],
)
def test_errors_are_unbiased_and_as_large_as_stated(
    kind: Any, sizes: dict[str, int], stated: float
) -> None:
    errors = relative(kind, sizes, 20_000)
    assert unbiased(errors)
    # 500 runs tell a deviation to 1 / sqrt(1000), 3.2 %: 4 of these are 13 %.
    assert 0.87 < errors.std() / stated < 1.13


@pytest.mark.statistical
@pytest.mark.parametrize("items", [10, 100, 256, 640, 1000, 5000])
def test_hyperloglog_is_unbiased_from_few_to_many_values(items: int) -> None:
    errors = relative(HyperLogLog, {"precision": 8}, items)
    assert unbiased(errors)
    assert errors.std() < 1.04 / 16 * 1.13


@pytest.mark.statistical
def test_the_classic_estimate_is_too_high_where_its_two_formulas_meet() -> None:
    classic = relative(HyperLogLog, {"precision": 8}, 750, way="classic")
    assert not unbiased(classic)
    assert 0 < classic.mean() < 0.05


def test_the_classic_estimate_has_the_corrected_formula() -> None:
    sketch = HyperLogLog(precision=4)
    sketch._state["registers"][:] = 3
    assert sketch.classic() == pytest.approx(0.673 * 16**2 / (16 / 8))
    sketch._state["registers"][:] = [0] * 4 + [1] * 12
    assert sketch.classic() == pytest.approx(16 * log(16 / 4))
    wide = HyperLogLog(precision=7)
    wide._state["registers"][:] = 5
    assert wide.classic() == pytest.approx(0.7213 / (1 + 1.079 / 128) * 128 * 32)


def test_no_and_all_values_are_the_ends_of_hyperloglog() -> None:
    sketch = HyperLogLog(precision=5)
    assert sketch.estimate() == sketch.classic() == 0
    sketch._state["registers"][:] = 60
    assert sketch.estimate() == inf
    assert sketch.as_dict()["estimate"] is None


def test_the_estimate_of_hyperloglog_is_its_series_summed_exactly() -> None:
    sketch = HyperLogLog(precision=4)
    ranks = [0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 5, 7, 9, 30, 61, 61]
    sketch._state["registers"][:] = ranks
    size, longest = 16, 60
    empty, full = 3 / size, 1 - 2 / size
    sigma = empty + sum(empty ** (2**k) * 2 ** (k - 1) for k in range(1, 8))
    tau = (1 - full - sum((1 - full ** (2.0**-k)) ** 2 * 2.0**-k for k in range(1, 60))) / 3
    middle = sum(2.0**-rank for rank in ranks if 0 < rank <= longest)
    below = size * sigma + middle + size * tau * 2.0**-longest
    assert sketch.estimate() == pytest.approx(size**2 / (2 * log(2) * below), rel=1e-12)


@pytest.mark.statistical
def test_one_map_is_off_by_a_factor_of_two() -> None:
    powers = np.log2(1 + relative(FlajoletMartin, {"maps": 1}, 5000, way="classic"))
    kurtosis = float(((powers - powers.mean()) ** 4).mean() / powers.var() ** 2)
    # C-9: 1.12 in log2; the deviation of 500 runs has a relative error of sqrt((k - 1) / 2000).
    assert abs(powers.std() / 1.12 - 1) < 4 * sqrt((kurtosis - 1) / (4 * RUNS))


def test_one_map_gives_a_power_of_two_over_phi() -> None:
    sketch = FlajoletMartin(maps=1)
    sketch._state["maps"][0] = 0b1011
    assert sketch.classic() == pytest.approx(2**2 / PHI)
    assert FlajoletMartin(maps=1).estimate() == 0
    sketch._state["maps"][0] = 2**64 - 1
    assert sketch.classic() == pytest.approx(2**64 / PHI)


@pytest.mark.statistical
def test_the_correction_for_few_values_is_worth_it() -> None:
    plain = relative(FlajoletMartin, {"maps": 64}, 64, way="classic")
    corrected = relative(FlajoletMartin, {"maps": 64}, 64)
    assert abs(plain.mean()) > 0.5
    assert abs(corrected.mean()) < 0.1


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("kind", "sizes"),
    [(FlajoletMartin, {"maps": 64}), (HyperLogLog, {"precision": 8}), (ThetaSketch, {"most": 100})],
)
def test_intervals_hold_the_truth_as_often_as_promised(kind: Any, sizes: dict[str, int]) -> None:
    held = 0
    for run in range(RUNS):
        sketch = kind(**sizes, key=f"run {run}").update(np.arange(8000))
        low, high = sketch.interval(0.9)
        held += low <= 8000 <= high
        assert sketch.error(0.9) == max(sketch.estimate() - low, high - sketch.estimate())
    assert abs(held / RUNS - 0.9) < 4 * sqrt(0.9 * 0.1 / RUNS)  # a binomial law


def test_sizes_follow_from_error_and_confidence() -> None:
    assert FlajoletMartin.size_for(error=0.0975, confidence=0.6826) == {"maps": 64}
    assert HyperLogLog.size_for(error=0.0326, confidence=0.6826) == {"precision": 10}
    assert ThetaSketch.size_for(error=0.01, confidence=0.95) == {"most": 38416}
    with pytest.raises(InputError) as told:
        HyperLogLog.size_for(error=1e-5)
    assert told.value.code == "CEL-K003"
    with pytest.raises(InputError) as told:
        FlajoletMartin(maps=12)
    assert told.value.code == "CEL-K003"


def test_theta_is_exact_until_it_is_full() -> None:
    sketch = ThetaSketch(most=100).update(np.arange(100)).update(np.arange(50))
    assert (sketch.theta, sketch.kept, sketch.estimate()) == (1, 100, 100)
    assert sketch.interval() == (100, 100)
    assert sketch.update([1000]).theta < 1
    assert sketch.kept == 100


def test_theta_is_the_sixth_smallest_hash_of_five_kept() -> None:
    sketch = ThetaSketch(most=5)
    hashes = np.array([0.05, 0.12, 0.3, 0.41, 0.55, 0.6254, 0.9]) * 2.0**63
    sketch._keep(hashes.astype(np.uint64), 2**63)
    assert sketch.theta == pytest.approx(0.6254)
    assert sketch.estimate() == pytest.approx(5 / 0.6254)


@pytest.mark.statistical
def test_set_operations_of_theta_are_unbiased_and_their_intervals_hold() -> None:
    left, right = np.arange(6000), np.arange(4000, 10_000)
    truth = {"__or__": 10_000, "__and__": 2000, "__sub__": 4000}
    found: dict[str, list[float]] = {way: [] for way in truth}
    held = dict.fromkeys(truth, 0)
    for run in range(RUNS):
        one = ThetaSketch(most=200, key=f"run {run}").update(left)
        two = ThetaSketch(most=200, key=f"run {run}").update(right)
        for way, wanted in truth.items():
            made = getattr(one, way)(two)
            found[way].append(made.estimate() / wanted - 1)
            low, high = made.interval(0.9)
            held[way] += low <= wanted <= high
    for way in truth:
        assert unbiased(np.array(found[way])), way
        # Whole numbers of hashes make the exact interval hold a little more often than it must.
        share = held[way] / RUNS
        assert 0.9 - 4 * sqrt(0.09 / RUNS) < share < 0.97, way


def test_a_union_is_cut_at_the_smaller_of_both_limits() -> None:
    one, two = (
        ThetaSketch(most=64).update(range(5000)),
        ThetaSketch(most=64).update(range(2500, 7500)),
    )
    both = one & two  # fewer hashes than would fit, below a limit far from 1
    assert both.kept < both.estimate() / 10
    assert both | ThetaSketch(most=64) == ThetaSketch(most=64) | both == both


def test_set_operations_of_small_sets_are_those_of_sets() -> None:
    one, two = ThetaSketch(most=50).update(range(20)), ThetaSketch(most=50).update(range(10, 40))
    assert (one & two) == ThetaSketch(most=50).update(range(10, 20))
    assert (one - two) == ThetaSketch(most=50).update(range(10))
    assert (one | two) == ThetaSketch(most=50).update(range(40)) == one.union(two)
    assert one.kept == 20
    assert (one & ThetaSketch(most=50)).estimate() == 0
    with pytest.raises(InputError) as told:
        one & ThetaSketch(most=51)
    assert told.value.code == "CEL-K006"


def test_an_empty_intersection_of_large_sets_is_bounded_from_above() -> None:
    one, two = (
        ThetaSketch(most=100).update(range(10_000)),
        ThetaSketch(most=100).update(range(20_000, 30_000)),
    )
    low, high = (one & two).interval(0.95)
    assert low == 0
    # (1 - theta)^n = 0.025 for the largest n that shows none.
    assert high == pytest.approx(log(0.025) / log(1 - (one & two).theta))
