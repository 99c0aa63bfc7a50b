"""Six published variants of the sparse vector: what they cost in truth, by exact integration.

A pattern says below `length` times and then above `positives` times. The neighbour raises the
answers that come out below and lowers those above, which is the worst that one person can do; for
queries that all move in one direction it leaves the latter as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from celosia.core.messages import Message
from celosia.lab.findings import Row
from celosia.lab.mechanisms.broken import (
    BrokenSparseChen,
    BrokenSparseLeeClifton,
    BrokenSparseRoth,
    BrokenSparseStoddard,
)
from celosia.lab.mechanisms.cells import comparing
from celosia.mechanisms import ABOVE, BELOW, AboveThreshold, Sparse, SparseVector
from celosia.mechanisms.sparse import exact_probabilities
from celosia.mechanisms.sparse.analysis import log_pattern, pattern_loss
from celosia.mechanisms.sparse.base import SparseMechanism

compare_equal, compare_printed = comparing("program")

LONG = 100
"""Answers below from which the loss is at its limit to all printed digits."""


def variants() -> list[Row]:
    """The rows of A.1 to A.6, in their order, and of the standard sparse vector."""
    return [*_private(), *_roth(), *_lee_clifton(), *_stoddard(), *_chen(), *_standard()]


def worst_loss(
    threshold: float, query: float, *, positives: int, length: int, lowered: float = -1.0
) -> float:
    """The loss of a pattern on the worst neighbour."""
    return pattern_loss(
        [0.0] * (length + positives),
        [1.0] * length + [lowered] * positives,
        [False] * length + [True] * positives,
        threshold_scale=threshold,
        query_scale=query,
    )


def _private() -> Iterator[Row]:
    """A.1 and A.2 cost epsilon and no less; so do our mechanisms with their discrete noise."""
    run = Message("lab.mechanisms.a_1_epsilon_1")
    for positives in (1, 2, 5):
        most = max(
            abs(worst_loss(2, 4 * positives, positives=positives, length=length, lowered=lowered))
            for length in (0, 1, 3, 10, LONG)
            for lowered in (-1.0, 0.0, 1.0)
        )
        yield compare_printed(
            run,
            Message("lab.mechanisms.true_level_c", positives=positives),
            "1.0000",
            most,
            kind=None,
        )
    run = Message("lab.mechanisms.a_2_epsilon_1")
    pattern = ([False] * LONG + [True]) * 2
    neighbour = ([1.0] * LONG + [-1.0]) * 2
    first, second = (
        log_pattern(answers, pattern, threshold_scale=4, query_scale=8, redraw=True)
        for answers in ([0.0] * len(pattern), neighbour)
    )
    words = "lab.mechanisms.true_level_c_2"
    yield compare_printed(run, words, "1.0000", first - second, kind=None)
    run = Message("lab.mechanisms.ours_exact_noise_epsilon_1")
    yield compare_printed(run, "AboveThreshold", "1.0000", _own(AboveThreshold(1.0, threshold=0)))
    one = SparseVector(1.0, threshold=0, positives=2, split=1)
    yield compare_printed(run, "lab.mechanisms.sparsevector_c_2", "1.0000", _own(one))
    yield compare_printed(
        run, "lab.mechanisms.sparse_c_1", "1.0000", _own(Sparse(1.0, threshold=0))
    )


def _own(mechanism: SparseMechanism) -> float:
    """The loss of a mechanism of ours on the worst pattern, by the masses of its own noise."""
    outcome = [BELOW] * LONG + [ABOVE] * mechanism.limit
    first, second = (
        exact_probabilities.log_probability(mechanism, answers, outcome)
        for answers in ([0] * len(outcome), [1] * LONG + [-1] * mechanism.limit)
    )
    return first - second


def _roth() -> Iterator[Row]:
    run = Message("lab.mechanisms.a_3_roth_2011_epsilon_1")
    yield compare_equal(run, "lab.mechanisms.true_level", inf, BrokenSparseRoth().true_epsilon)
    for length in (2, 5, 12):
        broken = BrokenSparseRoth(length=length)
        first, second = (broken.log_output_density(data, 0.0) for data in broken.neighbours)
        yield compare_equal(
            run,
            Message("lab.mechanisms.loss_at_0_after_below", length=length),
            (length - 1) / 2,
            first - second,
        )
    broken = BrokenSparseRoth()
    first, second = broken.chances
    yield compare_printed(run, "lab.mechanisms.5_below_then_at_most_2", ".0084263", first)
    yield compare_printed(run, "lab.mechanisms.the_same_on_the_neighbour", ".00089148", second)
    yield compare_printed(run, "lab.mechanisms.loss_of_that_event", "2.246", broken.shown_epsilon)


def _lee_clifton() -> Iterator[Row]:
    run = Message("lab.mechanisms.a_4_lee_clifton_2014_epsilon")
    example = BrokenSparseLeeClifton()
    first, second = example.chances
    yield compare_printed(run, "lab.mechanisms.3_below_then_above", ".029121", first)
    yield compare_printed(run, "lab.mechanisms.the_same_on_the_neighbour", ".0053839", second)
    yield compare_printed(run, "lab.mechanisms.loss_of_that_event", "1.688", example.shown_epsilon)
    for positives, length, text in ((1, 10, "1.7499"), (2, 10, "3.2492"), (5, 100, "7.7500")):
        broken = BrokenSparseLeeClifton(positives=positives, length=length)
        yield compare_printed(
            run,
            Message("lab.mechanisms.c_below", positives=positives, length=length),
            text,
            broken.shown_epsilon,
        )
    for positives in (1, 2, 5):
        threshold, query = BrokenSparseLeeClifton().scales
        loss = worst_loss(threshold, query, positives=positives, length=LONG)
        yield compare_equal(
            run,
            Message("lab.mechanisms.true_level_1_6c_4_c", positives=positives),
            (1 + 6 * positives) / 4,
            loss,
            kind=None,
        )
        loss = worst_loss(threshold, query, positives=positives, length=LONG, lowered=0.0)
        words = Message("lab.mechanisms.monotone_queries_1_3c_4_c", positives=positives)
        yield compare_equal(run, words, (1 + 3 * positives) / 4, loss)
        loss = worst_loss(threshold, positives * query, positives=positives, length=LONG)
        words = Message("lab.mechanisms.with_the_noise_that_the_thesis", positives=positives)
        yield compare_printed(run, words, "1.75", loss)


def _stoddard() -> Iterator[Row]:
    run = Message("lab.mechanisms.a_5_stoddard_and_others_2014")
    broken = BrokenSparseStoddard()
    first, second = broken.chances
    yield compare_equal(run, "lab.mechanisms.true_level", inf, broken.shown_epsilon)
    yield compare_printed(run, "lab.mechanisms.below_then_above", ".19673", first)
    yield compare_equal(run, "lab.mechanisms.the_same_on_the_neighbour", 0.0, second)


def _chen() -> Iterator[Row]:
    run = Message("lab.mechanisms.a_6_chen_and_others_2015")
    yield compare_equal(run, "lab.mechanisms.true_level", inf, BrokenSparseChen().true_epsilon)
    for length, text in ((1, ".8204"), (2, "1.7041"), (3, "2.6166"), (10, "9.276")):
        broken = BrokenSparseChen(length=length)
        yield compare_printed(
            run,
            Message("lab.mechanisms.below_above_loss", length=length),
            text,
            broken.shown_epsilon,
        )
        grows = "yes" if broken.shown_epsilon >= length / 2 else "no"
        yield compare_equal(
            run,
            Message("lab.mechanisms.below_above_at_least_2", length=length),
            "yes",
            grows,
        )
    for length, chance, text in ((2, 1 / 30, ".0060643"), (3, 1 / 140, ".00052178")):
        first, second = BrokenSparseChen(length=length).chances
        yield compare_equal(
            run, Message("lab.mechanisms.below_above_chance", length=length), chance, first
        )
        yield compare_printed(
            run, Message("lab.mechanisms.below_above_on_the_neighbour", length=length), text, second
        )


def _standard() -> Iterator[Row]:
    """Algorithm 8 with the noise for monotone queries, split 1:1, on both kinds of neighbours."""
    run = Message("lab.mechanisms.standard_sparse_vector_with_monotone_noise")
    for positives in (1, 5):
        scales = SparseVector(1.0, threshold=0, positives=positives, monotone=True, split=1).scales
        threshold, query = float(scales.threshold), float(scales.query)
        loss = worst_loss(threshold, query, positives=positives, length=LONG, lowered=0.0)
        yield compare_equal(
            run, Message("lab.mechanisms.monotone_neighbours_c", positives=positives), 1.0, loss
        )
        loss = worst_loss(threshold, query, positives=positives, length=LONG)
        yield compare_equal(
            run, Message("lab.mechanisms.other_neighbours_c", positives=positives), 1.5, loss
        )
