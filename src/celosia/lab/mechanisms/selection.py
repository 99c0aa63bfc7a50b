"""Choosing among candidates: exact chances, what happens without monotonicity, an auction.

Two numbers are corrected, and say so: with four bidders the price 1 earns 4, not 3; and the chance
of the second candidate of the noisy maximum rounds to .306, not to about .305.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from math import log

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress
from celosia.lab.findings import Row
from celosia.lab.mechanisms.broken import BrokenNoisyMax
from celosia.lab.mechanisms.cells import comparing
from celosia.mechanisms import Exponential, Grid, NoisyMax, PermuteAndFlip
from celosia.mechanisms.sparse.analysis import above_threshold_error, difference_tail

compare_equal, compare_printed = comparing("program")

SCORES = [0, 1, 2]
FINE = Grid(Fraction(1, 4096))
"""On which discrete noise is as good as the continuous noise of the publications."""

FAILURE = 0.05
BIDS = ("3.01", "1", "1", "1")


def rows(progress: Progress) -> list[Row]:
    """Chances, losses, an auction, and how near the threshold each method can tell."""
    return [*_chances(), *_two_conditions(), *_losses(), *_auction(), *_errors()]


def _chances() -> Iterator[Row]:
    run = Message("lab.mechanisms.scores_0_1_2_at_epsilon")
    fine = NoisyMax(epsilon=1, grid=FINE).probabilities([float(score) for score in SCORES])
    methods = (
        (
            Message("lab.mechanisms.exponential"),
            Exponential(epsilon=1).probabilities(SCORES),
            ".1863237 .3071959 .5064804",
        ),
        (
            Message("lab.mechanisms.exponential_monotone"),
            Exponential(epsilon=1, monotone=True).probabilities(SCORES),
            ".0900306 .2447285 .6652410",
        ),
        (
            Message("lab.mechanisms.permute_and_flip"),
            PermuteAndFlip(epsilon=1).probabilities(SCORES),
            ".14675 .26608 .58717",
        ),
        (Message("lab.mechanisms.noisy_max"), fine, ".175 .306 .520"),
    )
    for name, chances, texts in methods:
        for score, chance, text in zip(SCORES, chances, texts.split(), strict=True):
            slip = Message("lab.mechanisms.printed_as_about_305") if text == ".306" else ""
            yield compare_printed(
                run,
                Message("lab.mechanisms.chance_of_score", name=name, score=score, slip=slip),
                text,
                float(chance),
            )


def _two_conditions() -> Iterator[Row]:
    """Nobody has condition A and ten have B: how often A is named."""
    run = Message("lab.mechanisms.0_or_10_cases_at_epsilon")
    cases = [0, 10]
    general = float(Exponential(epsilon=1).probabilities(cases)[0])
    monotone = float(Exponential(epsilon=1, monotone=True).probabilities(cases)[0])
    flipped = float(PermuteAndFlip(epsilon=1).probabilities(cases)[0])
    yield compare_printed(run, "lab.mechanisms.chance_of_the_wrong_one", ".0066929", general)
    yield compare_printed(run, "lab.mechanisms.its_bound_2_e_5", ".013476", 2 * float(np.exp(-5)))
    yield compare_printed(
        run, "lab.mechanisms.chance_of_the_wrong_one_monotone", "4.54e-5", monotone
    )
    yield compare_printed(run, "lab.mechanisms.its_bound_2_e_10", "9.08e-5", 2 * float(np.exp(-10)))
    yield compare_equal(
        run, "lab.mechanisms.permute_and_flip_e_5_2", float(np.exp(-5)) / 2, flipped
    )


def _losses() -> Iterator[Row]:
    """What monotone noise costs on scores that move in opposite directions."""
    run = Message("lab.mechanisms.losses_at_epsilon_1")
    half = Exponential(epsilon=1, monotone=True)

    def worst(one: Sequence[int], other: Sequence[int]) -> float:
        ratios = np.log(half.probabilities(one)) - np.log(half.probabilities(other))
        return float(np.abs(ratios).max())

    yield compare_printed(
        run, "lab.mechanisms.monotone_weights_0_0_against_1", "1.43378", worst([0, 0], [1, -1])
    )
    yield compare_printed(
        run, "lab.mechanisms.the_same_with_a_gap_of", "2.0000", worst([0, 50], [1, 49])
    )
    one_way = log(difference_tail(49, 1, 1) / difference_tail(50, 1, 1))
    yield compare_printed(run, "lab.mechanisms.noisy_max_monotone_gap_50_to", ".98058", one_way)
    both_ways = BrokenNoisyMax(gap=50.0).shown_epsilon
    yield compare_printed(run, "lab.mechanisms.noisy_max_with_half_the_noise", "1.96078", both_ways)
    repaired = log(difference_tail(48, 2, 2) / difference_tail(50, 2, 2))
    yield compare_printed(run, "lab.mechanisms.noisy_max_gap_50_to_48", ".96226", repaired)


def _auction() -> Iterator[Row]:
    """What a price earns: exact money, so no rounding."""
    for bids, fair in ((BIDS, "4"), (BIDS[:3], "3")):
        run = Message("lab.mechanisms.auction_with_bids", bids=len(bids), bids2=bids)
        slip = Message("lab.mechanisms.the_thesis_says_3") if fair == "4" else ""
        for price, revenue in (("1", fair), ("3", "3"), ("3.01", "3.01"), ("3.02", "0")):
            earned = Decimal(price) * sum(Decimal(bid) >= Decimal(price) for bid in bids)
            note = slip if price == "1" else ""
            yield compare_equal(
                run,
                Message("lab.mechanisms.revenue_at", price=price, note=note),
                float(revenue),
                float(earned),
                printed=3 if note else None,
                wrong=Message("lab.wrong.four_bidders") if note else "",
            )


def _errors() -> Iterator[Row]:
    """The distance from the threshold at which one query among k is told from the others."""
    for queries, svt, chosen in ((10, "47.93", "5.142"), (1000, "84.77", "9.851")):
        run = Message("lab.mechanisms.one_of_queries_at_epsilon_1", queries=queries)
        threshold = above_threshold_error(1, queries=queries, failure=FAILURE)
        selected = selection_error(1, queries=queries, failure=FAILURE)
        yield compare_printed(run, "lab.mechanisms.error_of_abovethreshold", svt, threshold)
        yield compare_printed(
            run, "lab.mechanisms.error_of_the_exponential_mechanism", chosen, selected
        )
        less = "yes" if selected < threshold / 8 else "no"
        words = "lab.mechanisms.less_than_an_eighth_the_thesis"
        yield compare_equal(run, words, "yes", less, kind=None)
        grid = Grid(Fraction(1, 2**12))
        scores = [-selected] * (queries - 1) + [selected]
        missed = 1 - float(Exponential(epsilon=1, grid=grid).probabilities(scores)[-1])
        yield compare_printed(run, "lab.mechanisms.failure_of_ours_at_that_error", ".05", missed)


def selection_error(epsilon: float, *, queries: int, failure: float) -> float:
    """How far from the threshold the exponential mechanism tells one query from all others.

    The one query is `error` above the threshold and the others as much below it; sensitivity 1.

    >>> round(selection_error(1, queries=1000, failure=0.05), 5)
    9.85119
    """
    return (log(queries - 1) + log((1 - failure) / failure)) / epsilon
