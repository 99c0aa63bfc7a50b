"""Sparse vector mechanisms with continuous noise: exact chances, and published bounds of errors.

An algorithm is (alpha, beta)-accurate when, except with chance beta, every answer above the
threshold is at least T - alpha, every answer below is at most T + alpha, and it does not halt
early. The bounds hold with a chance of failure of at most `failure`; they assume that at most
`positives` queries come within alpha of the threshold or above.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import exp, inf, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TAIL = 40.0
"""Scales beyond the last bend of the integrand: what is left out is e^-40 of the whole."""


def log_below(limit: Floats, scale: float) -> Floats:
    """The log of P(noise < limit) for continuous Laplace noise; scale 0 is no noise at all."""
    if scale == 0:
        return np.where(limit > 0, 0.0, -inf)
    size = np.abs(limit) / scale
    return np.where(limit < 0, -size - log(2), np.log1p(-np.exp(-size) / 2))


def log_above(limit: Floats, scale: float) -> Floats:
    """The log of P(noise >= limit) for continuous Laplace noise."""
    if scale == 0:
        return np.where(limit <= 0, 0.0, -inf)
    return log_below(-limit, scale)


def log_density(point: Floats, scale: float) -> Floats:
    """The log of the Laplace density."""
    return -np.abs(point) / scale - log(2 * scale)


def log_integral(
    integrand: Callable[[Floats], Floats],
    *,
    bends: Sequence[float],
    width: float,
    reach: float,
    within: tuple[float, float] = (-inf, inf),
) -> float:
    """The log of the integral of exp(integrand), which is smooth between its bends.

    Args:
        integrand: the log of what is integrated.
        bends: where it is not smooth.
        width: of the pieces that it is cut into; the least scale of its exponentials will do.
        reach: how far beyond the first and the last bend it matters.
        within: where the integral starts and ends.
    """
    first, last = max(min(bends) - reach, within[0]), min(max(bends) + reach, within[1])
    edges = sorted({first, last} | {bend for bend in bends if first < bend < last})
    nodes, weights = np.polynomial.legendre.leggauss(20)
    parts: list[Floats] = []
    for left, right in pairwise(edges):
        pieces = np.linspace(left, right, 2 + int((right - left) / width))
        half = (pieces[1] - pieces[0]) / 2
        points = ((pieces[1:] + pieces[:-1]) / 2)[:, None] + half * nodes
        parts.append((integrand(points) + np.log(half * weights)).ravel())
    return log_sum(np.concatenate(parts)) if parts else -inf


def log_sum(logs: Floats) -> float:
    """The log of a sum of exponentials."""
    top = float(logs.max(initial=-inf))
    return top if top == -inf else top + log(float(np.exp(logs - top).sum()))


def log_pattern(
    answers: Sequence[float],
    pattern: Sequence[bool],
    *,
    threshold_scale: float,
    query_scale: float,
    redraw: bool = False,
) -> float:
    """The log of the chance that the answers come out above (True) and below as in a pattern.

    Args:
        answers: the exact answers, each less its threshold.
        pattern: what is said of each, up to the halt.
        threshold_scale: of the Laplace noise of the threshold.
        query_scale: of the noise of the answers; 0 for none.
        redraw: whether the threshold is drawn again after each positive.

    >>> round(exp(log_pattern([0.0], [True], threshold_scale=2, query_scale=4)), 12)
    0.5
    """
    if redraw:
        return sum(
            log_pattern(
                answers[start:end],
                pattern[start:end],
                threshold_scale=threshold_scale,
                query_scale=query_scale,
            )
            for start, end in segments(pattern)
        )
    counted = Counter(zip(answers, pattern, strict=True))

    def integrand(z: Floats) -> Floats:
        total = log_density(z, threshold_scale)
        for (margin, above), times in counted.items():
            side = log_above if above else log_below
            total = total + times * side(z - margin, query_scale)
        return total

    return log_integral(
        integrand,
        bends=sorted({0.0} | {margin for margin, _ in counted}),
        width=min(threshold_scale, query_scale or threshold_scale),
        # The product of many factors flattens later than each of them.
        reach=TAIL * (threshold_scale + query_scale) + query_scale * log1p(len(pattern)),
    )


def pattern_loss(
    answers: Sequence[float],
    neighbour: Sequence[float],
    pattern: Sequence[bool],
    *,
    threshold_scale: float,
    query_scale: float,
) -> float:
    """The privacy loss of a pattern: the log of the ratio of its chances; infinite over 0."""
    first, second = (
        log_pattern(some, pattern, threshold_scale=threshold_scale, query_scale=query_scale)
        for some in (answers, neighbour)
    )
    if first == second == -inf:
        return 0.0
    return first - second


def difference_tail(limit: float, first: float, second: float) -> float:
    """P(X - Y > limit) for X of Laplace scale `first` and Y of scale `second`, both about 0.

    The chance that one noisy answer beats another, or a noisy threshold.

    >>> difference_tail(0, 2, 4)
    0.5
    """
    if limit < 0:
        return 1 - difference_tail(-limit, first, second)
    if first == second:
        return exp(-limit / first) * (2 + limit / first) / 4
    squares = first**2, second**2
    top = squares[0] * exp(-limit / first) - squares[1] * exp(-limit / second)
    return top / (2 * (squares[0] - squares[1]))


def segments(pattern: Sequence[bool]) -> list[tuple[int, int]]:
    """Where the parts of a pattern start and end that share one threshold.

    >>> segments([False, True, True, False])
    [(0, 2), (2, 3), (3, 4)]
    """
    cuts = [0, *(place + 1 for place, above in enumerate(pattern) if above), len(pattern)]
    return [(start, end) for start, end in pairwise(cuts) if start < end]


def above_threshold_error(epsilon: float, *, queries: int, failure: float) -> float:
    """AboveThreshold (Dwork & Roth 2014, Thm 3.24).

    >>> round(above_threshold_error(1, queries=1000, failure=0.05), 4)
    84.7731
    """
    return 8 * (log(queries) + log(2 / failure)) / epsilon


def sparse_error(
    epsilon: float, *, positives: int, queries: int, failure: float, delta: float = 0.0
) -> float:
    """Sparse with the scales that it prints (Dwork & Roth 2014, Thm 3.26).

    >>> round(sparse_error(1, positives=5, queries=1000, failure=0.05), 3)
    488.243
    """
    logs = log(queries) + log(2 * positives / failure)
    if delta == 0:
        return 8 * positives * logs / epsilon
    return logs * sqrt(512 * positives * log(1 / delta)) / epsilon


def numeric_sparse_error(
    epsilon: float, *, positives: int, queries: int, failure: float, delta: float = 0.0
) -> float:
    """NumericSparse, as printed (Dwork & Roth 2014, Thm 3.28).

    For delta above 0 the printed bound is of the comparisons; the noise of the released numbers is
    sqrt(8) times as wide and can exceed it, so `NumericSparse.accuracy` does not use it.

    >>> round(numeric_sparse_error(1, positives=5, queries=1000, failure=0.05), 3)
    580.465
    """
    logs = log(queries) + log(4 * positives / failure)
    if delta == 0:
        return 9 * positives * logs / epsilon
    return logs * (sqrt(512) + 1) * sqrt(positives * log(2 / delta)) / epsilon


def tight_error(
    threshold_scale: float,
    query_scale: float,
    *,
    queries: int,
    failure: float,
    thresholds: int = 1,
) -> float:
    """The same promise for any two scales, the failure shared out in proportion to them.

    Minimises a + b subject to `thresholds` e^(-a/s1) + `queries` e^(-b/s2) = failure.

    >>> round(tight_error(2, 4, queries=1000, failure=0.05), 2)
    49.42
    """
    both = threshold_scale + query_scale
    first = threshold_scale * log(thresholds * both / (threshold_scale * failure))
    return first + query_scale * log(queries * both / (query_scale * failure))
