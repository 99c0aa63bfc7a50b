"""The most frequent of many items, by the sparse vector and by the exponential mechanism.

The items come in a random order, which the sparse vector depends on; counts are monotone, and only
Algorithm 6 is run with the noise for all queries, as it was published. The threshold is halfway
between the last item that should be found and the next. The score error rate is what the mean score
of the chosen items lacks of that of the best ones, the false negative rate the share of the best
that is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded, Source
from celosia.lab.findings import Row
from celosia.lab.mechanisms.cells import comparing
from celosia.mechanisms import Sparse, SparseVector, TopSelection
from celosia.mechanisms.sparse import SparseMechanism

_, compare_printed = comparing("simulation")

Indices = NDArray[np.int64]

ITEMS = 10_000
EPSILON = 0.1
RUNS = 100
RUNS_OF_SPARSE = 40

METHODS = (
    Message("lab.mechanisms.algorithm_6"),
    Message("lab.mechanisms.sparse_vector_1_1"),
    Message("lab.mechanisms.sparse_vector_1_3"),
    Message("lab.mechanisms.sparse_vector_1_c_2_3"),
    Message("lab.mechanisms.exponential"),
)
PUBLISHED = {
    25: (".80/.82", ".09/.14", ".008/.06", ".009/.06", ".001/.03"),
    50: (".97/.98", ".92/.94", ".84/.86", ".74/.76", ".08/.32"),
    100: (".96/.98", ".96/.98", ".96/.97", ".94/.96", ".26/.74"),
}
"""For each c the score error rate and the false negative rate of each method."""

SCORE, MISSED = (
    Message("lab.mechanisms.score_error_rate"),
    Message("lab.mechanisms.false_negative_rate"),
)


def run_name(count: int) -> str:
    """The run of one line of the table."""
    return Message("lab.mechanisms.the_best_c_of", count=count, items=ITEMS)


def rows(progress: Progress) -> list[Row]:
    """Both rates of five methods for three numbers of positives."""
    found: list[Row] = []
    scores = zipf(ITEMS)
    for done, (count, texts) in enumerate(PUBLISHED.items()):
        for method, text, choose in zip(METHODS, texts, _choosers(scores, count), strict=True):
            progress(
                Step(
                    Message("lab.mechanisms.choosing_by", count=count, method=method),
                    done,
                    len(PUBLISHED),
                )
            )
            runs = RUNS_OF_SPARSE if method == METHODS[0] else RUNS
            found += _compare(run_name(count), method, text, _rates(scores, count, choose, runs))
    return found


def zipf(items: int) -> Indices:
    """Whole scores that add up to about a million and fall as one over the rank.

    >>> zipf(10_000)[:3].tolist()
    [102170, 51085, 34056]
    """
    ranks = np.arange(1, items + 1)
    return np.asarray(10**6 / (ranks * (1 / ranks).sum())).astype(np.int64)  # rounds down


def _compare(run: str, method: str, text: str, rates: NDArray[np.float64]) -> Iterator[Row]:
    """Both tables are means of as many runs, so their difference has twice the variance of one."""
    errors = rates.std(axis=0, ddof=1) * sqrt(2 / len(rates))
    for name, one, rate, error in zip(
        (SCORE, MISSED), text.split("/"), rates.mean(axis=0), errors, strict=True
    ):
        yield compare_printed(
            run,
            Message("lab.joined.comma", first=method, second=name),
            one,
            float(rate),
            error=float(error),
        )


def _rates(
    scores: Indices, count: int, choose: Callable[[Source], Indices], runs: int
) -> NDArray[np.float64]:
    """The two rates of each run."""
    rng = Seeded(560 + count)
    best = scores[:count].mean()
    found = []
    for _ in range(runs):
        chosen = choose(rng)
        reached = scores[chosen].mean() if chosen.size else 0.0
        found.append((1 - reached / best, 1 - np.count_nonzero(chosen < count) / count))
    return np.array(found)


def _choosers(scores: Indices, count: int) -> Sequence[Callable[[Source], Indices]]:
    """Each method as a function that draws its places among the scores."""
    between = (int(scores[count - 1]) + int(scores[count])) / 2
    known: dict[str, Any] = {"threshold": between, "positives": count}

    def stream(mechanism: SparseMechanism) -> Callable[[Source], Indices]:
        def choose(rng: Source) -> Indices:
            order = rng.permutation(scores.size)
            found = mechanism.measure(scores[order], rng=rng)
            return order[np.array(found.parts["positions"], dtype=np.int64)]

        return choose

    top = TopSelection(epsilon=EPSILON, count=count, monotone=True)
    return (
        stream(Sparse(EPSILON, **known)),
        stream(SparseVector(EPSILON, monotone=True, split=1, **known)),
        stream(SparseVector(EPSILON, monotone=True, split=3, **known)),
        stream(SparseVector(EPSILON, monotone=True, **known)),
        lambda rng: top.release(scores, rng=rng),
    )
