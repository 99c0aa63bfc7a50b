"""The means that are not private: what each of them costs in truth, by closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import log

import numpy as np

from celosia.core.messages import Message
from celosia.lab.findings import Row
from celosia.lab.mechanisms.broken import (
    BrokenClampedMean,
    BrokenNoisyCountMean,
    BrokenResampledMean,
)
from celosia.lab.mechanisms.cells import compare_equal, compare_printed
from celosia.mechanisms import SumCountMean


def broken_averages() -> Iterator[Row]:
    """The rows of Algorithms 1 (as misprinted), 2 and 3."""
    yield from _misprinted()
    yield from _resampled()
    yield from _clamped()


def _misprinted() -> Iterator[Row]:
    run = Message("lab.mechanisms.algorithm_1_on_100_101_epsilon")
    yield compare_printed(
        run,
        "lab.mechanisms.loss_of_the_sum_as_misprinted",
        "50.5",
        BrokenNoisyCountMean().sum_epsilon,
    )
    ours = SumCountMean(epsilon=1, lower=100, upper=101)
    yield compare_equal(
        run, "lab.mechanisms.loss_of_the_whole_with_the", 1.0, ours.privacy_loss().pure
    )


def _resampled() -> Iterator[Row]:
    run = Message("lab.mechanisms.algorithm_2_on_1_1_epsilon")
    for copies, text in ((1, "2.7183"), (2, "3.1370034"), (1000, "4.4321")):
        broken = BrokenResampledMean(copies=copies)
        first, second = (broken.density(data, -1.0) for data in broken.neighbours)
        slip = Message("lab.mechanisms.the_thesis_says_2e") if copies == 1 else ""
        yield compare_printed(
            run,
            Message("lab.mechanisms.ratio_at_1_n", copies=copies, slip=slip),
            text,
            first / second,
        )
    broken = BrokenResampledMean()
    first, second = broken.chances
    yield compare_printed(run, "lab.mechanisms.n_20_at_most_99", ".09516", first)
    yield compare_printed(run, "lab.mechanisms.the_same_on_the_neighbour", ".02495", second)
    yield compare_printed(run, "lab.mechanisms.loss_of_that_event", "1.3385", broken.shown_epsilon)
    yield compare_equal(run, "lab.mechanisms.true_level", 2.0, broken.true_epsilon)


def _clamped() -> Iterator[Row]:
    run = Message("lab.mechanisms.algorithm_3_on_0_1")
    first, second = BrokenClampedMean(epsilon=0.1).chances
    yield compare_printed(run, "lab.mechanisms.between_ends_of_one", ".0475813", second)
    yield compare_printed(run, "lab.mechanisms.between_ends_of_both", ".0951626", first)
    yield compare_equal(run, "lab.mechanisms.their_ratio", 2.0, first / second)
    for epsilon, text in ((0.1, ".7431"), (1.0, "1.1931")):
        worst = _worst(BrokenClampedMean(epsilon=epsilon))
        words = Message("lab.mechanisms.epsilon_true_level_claimed", epsilon=epsilon)
        yield compare_printed(run, words, text, worst)
    turn = 2 * log(2)
    yield compare_printed(run, "lab.mechanisms.epsilon_from_which_the_claim_holds", "1.3863", turn)
    yield compare_equal(
        run, "lab.mechanisms.true_level_there", turn, BrokenClampedMean(epsilon=turn).true_epsilon
    )


def _worst(broken: BrokenClampedMean) -> float:
    """The largest loss between a table of up to three rows and the same with one row more."""
    places, points = np.linspace(0, 1, 6), np.linspace(0, 1, 11)
    worst = 0.0
    for count in range(4):
        for *values, extra in product(places, repeat=count + 1):
            one, other = np.array(values), np.array([*values, extra])
            inside = [broken.density(one, z) / broken.density(other, z) for z in points]
            ends = zip(broken.ends(one), broken.ends(other), strict=True)
            ratios = [*inside, *(first / second for first, second in ends)]
            worst = max(worst, *(abs(log(ratio)) for ratio in ratios))
    return worst
