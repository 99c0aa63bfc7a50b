"""The broken mechanisms break exactly as the literature says, and no less."""

from __future__ import annotations

from itertools import product
from math import e, exp, inf, isclose, log

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import binom, kstest

from celosia.core.randomness import Seeded
from celosia.lab.mechanisms.broken import (
    BROKEN,
    BrokenClampedMean,
    BrokenExactCountMean,
    BrokenFloatLaplace,
    BrokenHalfScaleLaplace,
    BrokenMechanism,
    BrokenNoisyCountMean,
    BrokenNoisyMax,
    BrokenResampledMean,
    BrokenSparseChen,
    BrokenSparseLeeClifton,
    BrokenSparseRoth,
    BrokenSparseStoddard,
)
from celosia.lab.mechanisms.broken.example import laplace
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.sparse.analysis import difference_tail, pattern_loss

Floats = NDArray[np.float64]


@pytest.mark.parametrize("broken", BROKEN, ids=str)
def test_the_event_costs_more_than_is_claimed_and_no_more_than_is_true(
    broken: BrokenMechanism,
) -> None:
    assert broken.claimed_epsilon < broken.shown_epsilon <= broken.true_epsilon
    assert type(broken).__name__.startswith("Broken")
    facts = broken.as_dict()
    assert facts["citation"]
    assert facts["flaw"]
    assert (facts["true_epsilon"] is None) == (broken.true_epsilon == inf)


@pytest.mark.statistical
@pytest.mark.parametrize("broken", BROKEN, ids=str)
def test_the_event_comes_as_often_as_computed(broken: BrokenMechanism) -> None:
    runs = 200_000
    for seed, (data, chance) in enumerate(zip(broken.neighbours, broken.chances, strict=True)):
        outputs = broken.run(data, rng=Seeded(16 + seed), size=runs)
        assert len(outputs) == runs
        seen = int(broken.event(outputs).sum())
        # A right chance falls outside once in a million times.
        low, high = binom.interval(1 - 1e-6, runs, chance) if 0 < chance < 1 else (0, 0)
        assert low <= seen <= high
        if chance > 5e-3:  # and a chance a quarter off would be noticed
            for wrong in (0.8, 1.25):
                low, high = binom.interval(1 - 1e-6, runs, wrong * chance)
                assert not low <= seen <= high


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
def test_a_run_has_laplace_noise_of_the_scale_it_says(epsilon: float) -> None:
    drawn = laplace(1 / epsilon, 20_000, Seeded(17))
    assert kstest(drawn, "laplace", args=(0, 1 / epsilon)).pvalue > 1e-5
    assert kstest(drawn, "laplace", args=(0, 1.25 / epsilon)).pvalue < 1e-5
    assert kstest(drawn, "laplace", args=(0, 0.8 / epsilon)).pvalue < 1e-5


def test_stoddard_has_an_outcome_on_one_side_only() -> None:
    broken = BrokenSparseStoddard()
    first, second = broken.chances
    assert isclose(first, (1 - exp(-0.5)) / 2, rel_tol=1e-12)
    assert isclose(first, 0.19673, abs_tol=5e-6)
    assert second == 0
    assert broken.shown_epsilon == inf


@pytest.mark.parametrize(("length", "loss"), [(1, 0.8204), (2, 1.7041), (3, 2.6166), (10, 9.276)])
def test_chen_costs_half_an_epsilon_for_each_positive(length: int, loss: float) -> None:
    shown = BrokenSparseChen(length=length).shown_epsilon
    assert isclose(shown, loss, abs_tol=5e-4 if length == 10 else 5e-5)
    assert shown >= length / 2


def test_chen_has_the_published_chances() -> None:
    assert isclose(BrokenSparseChen().chances[0], 1 / 30, rel_tol=1e-9)
    assert isclose(BrokenSparseChen().chances[1], 0.0060643, rel_tol=1e-5)
    assert isclose(BrokenSparseChen(length=3).chances[0], 1 / 140, rel_tol=1e-9)
    assert isclose(BrokenSparseChen(length=3).chances[1], 0.00052178, rel_tol=1e-5)


@pytest.mark.parametrize("length", [1, 2, 5, 12])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_roth_leaks_half_an_epsilon_for_each_answer_below(length: int, epsilon: float) -> None:
    broken = BrokenSparseRoth(length=length, epsilon=epsilon)
    first, second = (broken.log_output_density(data, 0.0) for data in broken.neighbours)
    assert isclose(first - second, (length - 1) * epsilon / 2, abs_tol=1e-9)


def test_roth_has_the_published_chances() -> None:
    first, second = BrokenSparseRoth().chances
    assert isclose(first, 0.0084263, rel_tol=1e-5)
    assert isclose(second, 0.00089148, rel_tol=1e-5)
    assert isclose(BrokenSparseRoth().shown_epsilon, 2.246, abs_tol=5e-4)


def test_roth_says_numbers_and_halts() -> None:
    broken = BrokenSparseRoth(length=2)
    rows = broken.run(np.array([0.0, 50.0, 0.0]), rng=Seeded(18), size=1000)
    halted = rows[np.isneginf(rows[:, 0])]
    assert np.isnan(halted[:, 2]).all()
    assert np.isfinite(halted[:, 1]).all()
    assert (halted[:, 1] > 20).all()


@pytest.mark.parametrize(
    ("positives", "length", "loss"),
    [(1, 3, 1.688), (1, 10, 1.7499), (2, 10, 3.2492), (5, 100, 7.75)],
)
def test_lee_and_clifton_cost_as_published(positives: int, length: int, loss: float) -> None:
    broken = BrokenSparseLeeClifton(positives=positives, length=length)
    assert isclose(broken.shown_epsilon, loss, abs_tol=5e-4 if length == 3 else 5e-5)
    assert broken.shown_epsilon <= broken.true_epsilon == (1 + 6 * positives) / 4


def test_lee_and_clifton_has_the_published_chances() -> None:
    first, second = BrokenSparseLeeClifton().chances
    assert isclose(first, 0.029121, rel_tol=2e-5)
    assert isclose(second, 0.0053839, rel_tol=2e-5)


@pytest.mark.parametrize("positives", [1, 2])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_lee_and_clifton_never_cost_more_than_their_true_level(
    positives: int, epsilon: float
) -> None:
    broken = BrokenSparseLeeClifton(positives=positives, epsilon=epsilon)
    threshold, query = broken.scales
    for below, moved, other in product((0, 1, 4, 50), (-1, 0, 1), (-1, 0, 1)):
        pattern = [False] * below + [True] * positives
        neighbour = [float(moved)] * below + [float(other)] * positives
        loss = pattern_loss(
            [0.0] * len(pattern), neighbour, pattern, threshold_scale=threshold, query_scale=query
        )
        assert abs(loss) <= broken.true_epsilon + 1e-9


def test_lee_and_clifton_halt_and_the_others_do_not() -> None:
    high = np.full(6, 1e6)
    halting = BrokenSparseLeeClifton(positives=2).run(high, rng=Seeded(19), size=10)
    assert (halting == [1, 1, -1, -1, -1, -1]).all()
    for broken in (BrokenSparseChen(), BrokenSparseStoddard()):
        assert (broken.run(high, rng=Seeded(19), size=10) == 1).all()


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_the_exact_count_costs_without_limit(epsilon: float) -> None:
    broken = BrokenExactCountMean(epsilon=epsilon)
    first, second = broken.neighbours
    losses = []
    for z in (2.0, 10.0, 100.0, 1000.0):
        # ((n + 1)/n) exp(epsilon (|n z - S'| - |(n + 1) z - S' - a'|)) with n = 1, S' = 0, a' = 1.
        ratio = log(2) + epsilon * (abs(z) - abs(2 * z - 1))
        densities = [log(max(broken.raw_density(data, z), 5e-324)) for data in (first, second)]
        if z <= 100:
            assert isclose(densities[1] - densities[0], ratio, rel_tol=1e-9)
        losses.append(-ratio)
    assert losses == sorted(losses)
    assert losses[-1] > 400 * epsilon
    for level in (2.0, 5.0, 20.0):
        shown = BrokenExactCountMean(epsilon=epsilon, level=level).shown_epsilon
        assert isclose(shown, epsilon * (level - 1), rel_tol=1e-9)


def resampled_ratio(copies: int, epsilon: float) -> float:
    broken = BrokenResampledMean(copies=copies, epsilon=epsilon)
    first, second = (broken.density(data, -1.0) for data in broken.neighbours)
    return first / second


def test_resampling_has_the_published_ratios() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        assert isclose(resampled_ratio(1, epsilon), exp(epsilon), rel_tol=1e-12)
        for copies in (2, 3, 50):
            shrink = (1 - exp(-epsilon)) / (1 - exp(-epsilon * copies))
            wanted = exp(epsilon) * copies / (copies + 1) * (1 + shrink)
            assert isclose(resampled_ratio(copies, epsilon), wanted, rel_tol=1e-9)
    assert isclose(resampled_ratio(2, 1.0), 3.1370034, rel_tol=1e-7)
    assert isclose(resampled_ratio(1000, 1.0), 4.4321, rel_tol=1e-5)
    assert resampled_ratio(10**6, 1.0) < 2 * e - 1


def test_resampling_has_the_published_chances() -> None:
    first, second = BrokenResampledMean().chances
    assert isclose(first, 0.09516, abs_tol=5e-6)
    assert isclose(second, 0.02495, abs_tol=5e-6)
    assert isclose(BrokenResampledMean().shown_epsilon, 1.3385, abs_tol=5e-5)


def test_resampling_is_the_exponential_mechanism_with_twice_the_epsilon() -> None:
    data = np.array([0.5, -0.25, 1.0])
    for epsilon in (0.5, 2.0):
        broken = BrokenResampledMean(epsilon=epsilon)

        def weight(r: float, epsilon: float = epsilon) -> float:
            doubled = 2 * epsilon  # utility -|sum(x - r)| has sensitivity 2, the width
            return exp(-doubled * abs(float(np.sum(data - r))) / (2 * 2))

        total = quad(weight, -1, 1, points=[float(data.mean())])[0]
        for r in (-1.0, 0.0, 0.4, 1.0):
            assert isclose(broken.density(data, r), weight(r) / total, rel_tol=1e-9)


@pytest.mark.statistical
def test_resampled_and_clamped_means_stay_in_the_range() -> None:
    for broken in (BrokenResampledMean(), BrokenClampedMean()):
        for data in (*broken.neighbours, np.empty(0)):
            found = broken.run(data, rng=Seeded(20), size=20_000)
            assert found.min() >= broken.lower
            assert found.max() <= broken.upper


def test_clamping_has_the_published_chances() -> None:
    first, second = BrokenClampedMean().chances
    assert isclose(first, 0.0951626, abs_tol=5e-8)
    assert isclose(second, 0.0475813, abs_tol=5e-8)
    for epsilon in (0.01, 0.1, 1.0, 5.0):
        first, second = BrokenClampedMean(epsilon=epsilon).chances
        assert isclose(first / second, 2, rel_tol=1e-9)


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.5, 1.0, 2.0])
def test_clamping_costs_its_true_level_and_no_more(epsilon: float) -> None:
    broken = BrokenClampedMean(epsilon=epsilon)
    points = np.linspace(0, 1, 11)
    worst = 0.0
    for count in range(4):
        for data in product(points[::2], repeat=count):
            for extra in points[::2]:
                before, after = np.array(data), np.array([*data, extra])
                ratios = [
                    broken.density(before, float(z)) / broken.density(after, float(z))
                    for z in points
                ]
                ends = zip(broken.ends(before), broken.ends(after), strict=True)
                ratios += [first / second for first, second in ends]
                worst = max(worst, *(abs(log(ratio)) for ratio in ratios))
    assert isclose(worst, broken.true_epsilon, rel_tol=1e-9)
    assert (worst > epsilon + 1e-9) == (epsilon < 2 * log(2))


def test_an_empty_clamped_mean_has_its_ends() -> None:
    broken = BrokenClampedMean(epsilon=1.0)
    found = broken.run(np.empty(0), rng=Seeded(21), size=100_000)
    for end, chance in zip((0.0, 1.0), broken.ends(np.empty(0)), strict=True):
        low, high = binom.interval(1 - 1e-6, 100_000, chance)
        assert low <= int((found == end).sum()) <= high


def test_the_misprinted_sum_costs_fifty_times_epsilon() -> None:
    broken = BrokenNoisyCountMean()
    assert isclose(broken.sum_epsilon, 50.5)
    assert isclose(broken.true_epsilon, 51)
    # Where 0 lies in the range the width is enough, if not the least.
    assert BrokenNoisyCountMean(lower=-1.0, upper=1.0).true_epsilon <= 1


def test_noisy_max_costs_twice_its_epsilon_in_the_limit() -> None:
    assert isclose(BrokenNoisyMax(gap=50.0).shown_epsilon, 1.96078, abs_tol=5e-6)
    one_way = log(difference_tail(49, 1, 1) / difference_tail(50, 1, 1))
    assert isclose(one_way, 0.98058, abs_tol=5e-6)
    repaired = log(difference_tail(48, 2, 2) / difference_tail(50, 2, 2))
    assert isclose(repaired, 0.96226, abs_tol=5e-6)


def test_half_the_scale_costs_twice_the_epsilon() -> None:
    for epsilon in (0.1, 1.0):
        assert isclose(BrokenHalfScaleLaplace(epsilon=epsilon).shown_epsilon, 2 * epsilon)


def test_float_noise_has_outputs_that_the_neighbour_cannot_have() -> None:
    broken = BrokenFloatLaplace()
    zero, one = (broken.run(data, rng=Seeded(22), size=100_000) for data in broken.neighbours)
    assert broken.event(zero).sum() > 1000
    assert not broken.event(one).any()
    # Exact noise on a grid has the same support whatever the answer is.
    exact = DiscreteLaplace(2**20).draw(100_000, Seeded(23)) * 2.0**-20  # type: ignore[arg-type]
    assert not broken.event(exact).any()
    assert not broken.event(exact + 1).any()
