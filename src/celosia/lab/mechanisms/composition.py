"""What several releases cost together, and the worked examples of the basic mechanisms.

Two numbers of the thesis are corrected, and say so: 1/801 is too much for each of ten thousand
releases, and the 12.2 of its histogram needs a failure of 0.05 where it prints 0.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import exp, log

from celosia.accounting import (
    ApproximateLoss,
    PureLoss,
    advanced,
    advanced_corollary,
    advanced_inverse,
    basic,
    best_composition,
    mixture,
    parallel,
    sequential,
)
from celosia.core.messages import Message
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE
from celosia.core.progress import Progress
from celosia.lab.findings import Row
from celosia.lab.mechanisms.cells import comparing
from celosia.mechanisms import Laplace, RandomisedResponse, laplace_bound, laplace_failure

compare_equal, compare_printed = comparing("program")

TOTALS = (
    (100, 0.1, 1e-5, "5.8502", 10),
    (100, 0.1, 1e-6, "6.3082", 10),
    (1000, 0.01, 1e-6, "1.76276", 10),
    (1000, 0.1, 1e-6, "27.1397", 100),
    (10, 0.1, 1e-6, "1.7674", 1),
)
"""Releases, epsilon of each, slack; the advanced and the basic total."""

CROSSOVERS = (
    (0.1, 1e-5, 29),
    (0.1, 1e-6, 35),
    (0.5, 1e-5, 187),
    (0.5, 1e-6, 224),
    (0.01, 1e-5, 24),
    (0.01, 1e-6, 29),
)
"""Epsilon, slack, and the fewest releases for which the advanced bound is the smaller one."""

MANY = 10_000
SLACK = exp(-32)
"""Of the worked example: ten thousand databases, a total epsilon of 1."""


def rows(progress: Progress) -> list[Row]:
    """Totals, crossovers, the worked example, the basic theorems and the basic mechanisms."""
    return [*_totals(), *_example(), *_theorems(), *_responses(), *_histogram()]


def _totals() -> Iterator[Row]:
    for count, epsilon, slack, text, plain in TOTALS:
        run = Message("lab.mechanisms.releases_at_slack", count=count, epsilon=epsilon, slack=slack)
        yield compare_printed(
            run, "lab.mechanisms.advanced", text, advanced(count, epsilon, slack=slack).epsilon
        )
        yield compare_equal(
            run, "lab.mechanisms.basic", float(plain), basic(count, epsilon).epsilon
        )
    names = {
        "basic": Message("lab.mechanisms.basic"),
        "advanced": Message("lab.mechanisms.advanced"),
    }
    for count, name in ((10, "basic"), (100, "advanced")):
        run = Message("lab.mechanisms.releases_at_0_1_slack_1e", count=count)
        yield compare_equal(
            run,
            "lab.mechanisms.the_smaller_bound",
            names[name],
            names[best_composition(count, 0.1, slack=1e-6).name],
        )
    for epsilon, slack, fewest in CROSSOVERS:
        run = Message("lab.mechanisms.fewest_releases_for_which_advanced_beats")
        yield compare_equal(
            run,
            Message("lab.mechanisms.at_slack", epsilon=epsilon, slack=slack),
            fewest,
            _crossover(epsilon, slack),
        )


def _crossover(epsilon: float, slack: float) -> int:
    count = 1
    while advanced(count, epsilon, slack=slack).epsilon >= basic(count, epsilon).epsilon:
        count += 1
    return count


def _example() -> Iterator[Row]:
    run = Message("lab.mechanisms.10_000_databases_total_1_slack")

    def total(share: float) -> float:
        return advanced(MANY, share, slack=SLACK).epsilon

    root = advanced_inverse(MANY, 1.0, slack=SLACK)
    yield compare_printed(
        run,
        "lab.mechanisms.total_at_1_801_the_thesis",
        "1.0143473",
        total(1 / 801),
        printed=1,
        wrong=Message("lab.wrong.share_of_801"),
    )
    yield compare_printed(run, "lab.mechanisms.the_most_that_each_may_cost", "0.00123104", root)
    yield compare_printed(
        run,
        "lab.mechanisms.1_over_that",
        "812.32",
        1 / root,
        printed=801,
        wrong=Message("lab.wrong.share_of_801"),
    )
    yield compare_printed(run, "lab.mechanisms.total_at_1_813", "0.99915", total(1 / 813))
    corollary = advanced_corollary(MANY, 1.0, slack=SLACK)
    yield compare_equal(run, "lab.mechanisms.1_over_the_corollarys", 1600.0, 1 / corollary)
    yield compare_printed(run, "lab.mechanisms.total_at_1_1600", "0.5039", total(corollary))


def _theorems() -> Iterator[Row]:
    run = Message("lab.mechanisms.basic_theorems")
    tenth = Fraction(1, 10)
    total = sequential([*[ApproximateLoss(tenth, 1e-6)] * 3, PureLoss(5 * tenth)])
    yield compare_equal(run, "lab.mechanisms.sequential_epsilon", 0.8, total.as_dict()["epsilon"])
    yield compare_equal(run, "lab.mechanisms.sequential_delta", 3e-6, total.as_dict()["delta"])
    parts = [PureLoss(tenth), PureLoss(7 * tenth), PureLoss(3 * tenth)]
    yield compare_equal(
        run, "lab.mechanisms.parallel_add_or_remove", 0.7, parallel(parts, ADD_REMOVE).pure
    )
    moved = parallel(parts, CHANGE_ONE, moves_only=True)
    yield compare_equal(run, "lab.mechanisms.parallel_change_one_if_rows_can", 1.0, moved.pure)
    changed = parallel(parts, CHANGE_ONE)
    yield compare_equal(run, "lab.mechanisms.parallel_change_one_printed_1_for", 1.4, changed.pure)
    yield compare_equal(
        run, "lab.mechanisms.mixture", 1.0, mixture([PureLoss(Fraction(1))] * 2).pure
    )


def _responses() -> Iterator[Row]:
    run = Message("lab.mechanisms.randomised_response_two_coins")
    coins = RandomisedResponse.two_coins()
    transition = coins.transition
    yield compare_printed(run, "lab.mechanisms.epsilon", "1.0986123", coins.epsilon, kind=None)
    yield compare_equal(
        run, "lab.mechanisms.chance_of_the_truth", 0.75, float(transition[1, 1]), kind=None
    )
    yield compare_equal(
        run, "lab.mechanisms.chance_of_the_other_answer", 0.25, float(transition[0, 1]), kind=None
    )
    answers = list(product((0, 1), repeat=3))

    def chance(truth: tuple[int, ...], answer: tuple[int, ...]) -> float:
        first, second, third = (transition[pair] for pair in zip(truth, answer, strict=True))
        return float(first * second * third)

    worst = max(
        log(chance(one, said) / chance(other, said))
        for one, other, said in product(answers, repeat=3)
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1
    )
    yield compare_printed(
        run, "lab.mechanisms.largest_loss_of_three_answers_by", "1.0986123", worst
    )
    for share, rate in ((0.25, 0.0), (0.5, 0.5), (0.75, 1.0)):
        yield compare_equal(
            run, Message("lab.mechanisms.rate_for_a_share_of", share=share), rate, coins.rate(share)
        )
    best = float(RandomisedResponse.for_epsilon(1).truth)
    yield compare_printed(run, "lab.mechanisms.chance_to_tell_the_truth_at", ".4621172", best)


def _histogram() -> Iterator[Row]:
    run = Message("lab.mechanisms.10_000_first_names_epsilon_1")
    bound = laplace_bound(1, size=10_000, failure=0.05)
    words = Message("lab.mechanisms.error_with_95_the_thesis_prints")
    yield compare_printed(run, words, "12.2", bound, kind=None)
    yield compare_printed(run, "lab.mechanisms.the_same_with_all_digits", "12.2060726", bound)
    yield compare_printed(
        run, "lab.mechanisms.exact_failure", ".0487707", laplace_failure(1, bound, size=10_000)
    )
    noise = Laplace(epsilon=1, sensitivity=1)
    losses = [
        log(noise.law.mass(place) / noise.law.mass(place - noise.shift))
        for place in range(-5 * noise.shift, 6 * noise.shift, noise.shift // 8)
    ]
    yield compare_equal(
        run, "lab.mechanisms.largest_loss_of_a_count_on", 1.0, max(map(abs, losses))
    )
