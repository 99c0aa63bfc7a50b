"""The published accuracy bounds: errors that hold with a chance of failure of at most `failure`.

An algorithm is (alpha, beta)-accurate when, except with chance beta, every answer above the
threshold is at least T - alpha, every answer below is at most T + alpha, and it does not halt
early. They assume that at most `positives` queries come within alpha of the threshold or above.
"""

from __future__ import annotations

from math import log, sqrt


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
