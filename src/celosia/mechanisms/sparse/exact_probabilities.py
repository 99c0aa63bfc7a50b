"""The exact chance of every outcome of the mechanisms of this package, discrete noise and all.

For checking promises, in tests and in the lab: it reads exact answers and draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, exp, expm1, log, log1p

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.mechanisms.sparse.analysis import TAIL, Floats, log_sum, segments
from celosia.mechanisms.sparse.base import Answers, SparseMechanism
from celosia.mechanisms.sparse.placement import place, place_all
from celosia.mechanisms.sparse.stream import ABOVE, BELOW, Reply, ThresholdAnswer


def log_mass(point: NDArray[np.int64], scale: Fraction) -> Floats:
    """The log of the mass of the discrete Laplace law: (1 - q)/(1 + q) q^|z|, q = e^(-1/scale)."""
    rate = float(1 / scale)
    return -np.abs(point) * rate + log(-expm1(-rate)) - log1p(exp(-rate))


def log_tail(point: NDArray[np.int64], scale: Fraction) -> Floats:
    """The log of P(noise >= point): q^point/(1 + q) from 1 on, one minus the other side below."""
    rate = float(1 / scale)
    outer = -np.maximum(point, 1) * rate - log1p(exp(-rate))
    other = -np.maximum(1 - point, 1) * rate - log1p(exp(-rate))
    return np.where(point >= 1, outer, np.log1p(-np.exp(other)))


def outcomes(queries: int, *, positives: int) -> Iterator[tuple[ThresholdAnswer, ...]]:
    """Every outcome of some questions: halts with the last positive that is allowed.

    >>> len(list(outcomes(3, positives=1)))
    4
    """
    seen: set[tuple[ThresholdAnswer, ...]] = set()
    for full in product((BELOW, ABOVE), repeat=queries):
        above = [place for place, answer in enumerate(full) if answer][:positives]
        kept = full[: above[-1] + 1] if len(above) == positives else full
        if kept not in seen:
            seen.add(kept)
            yield kept


def log_probability(
    mechanism: SparseMechanism, answers: Answers, outcome: Sequence[Reply]
) -> float:
    """The log of the exact chance that a mechanism gives an outcome for some exact answers."""
    exact = place_all(answers, grid=mechanism.grid, rounded=mechanism.rounded)
    pattern = [reply is not BELOW for reply in outcome]
    scales = mechanism.scales
    numbers = [reply for reply in outcome if not isinstance(reply, ThresholdAnswer)]
    said = sum(pattern)
    if said == mechanism.limit:
        ended = pattern[-1] and len(pattern) <= exact.size
    else:
        ended = said < mechanism.limit and len(pattern) == exact.size
    if not ended or len(numbers) != (said if scales.release is not None else 0):
        raise InputError("CEL-M112")
    limits = np.array([mechanism.limit_at(i) for i in range(len(pattern))], dtype=np.int64)
    margins = exact[: len(pattern)] - limits
    cuts = segments(pattern) if scales.redraw else [(0, len(pattern))]
    total = sum(
        _log_segment(margins[start:end], pattern[start:end], scales.threshold, scales.query)
        for start, end in cuts
    )
    if scales.release is not None:
        released = [place(number, grid=mechanism.grid, rounded=False) for number in numbers]
        fresh = np.array(released, dtype=np.int64) - exact[: len(pattern)][pattern]
        total += float(log_mass(fresh, scales.release).sum())
    return total


def outcome_law(
    mechanism: SparseMechanism, answers: Answers
) -> dict[tuple[ThresholdAnswer, ...], float]:
    """The log of the chance of every outcome, for mechanisms that release no numbers.

    >>> from celosia.mechanisms.sparse import AboveThreshold
    >>> law = outcome_law(AboveThreshold(1.0, threshold=0), [3, -2])
    >>> len(law), round(sum(exp(chance) for chance in law.values()), 12)
    (3, 1.0)
    """
    return {
        outcome: log_probability(mechanism, answers, outcome)
        for outcome in outcomes(len(answers), positives=mechanism.limit)
    }


def worst_loss(mechanism: SparseMechanism, answers: Answers, neighbour: Answers) -> float:
    """The largest privacy loss of any outcome, either way, found by trying all of them."""
    first, second = outcome_law(mechanism, answers), outcome_law(mechanism, neighbour)
    return max(abs(first[outcome] - second[outcome]) for outcome in first)


def _log_segment(
    margins: NDArray[np.int64], pattern: Sequence[bool], threshold: Fraction, query: Fraction
) -> float:
    """The log of the sum over the whole numbers of what one threshold gives."""
    if not pattern:
        return 0.0
    far = ceil(TAIL * float(threshold + query) + float(query) * log1p(len(pattern)))
    low, high = min(0, int(margins.min())) - far, max(0, int(margins.max())) + far
    z = np.arange(low, high + 1, dtype=np.int64)
    total = log_mass(z, threshold)
    above = np.asarray(pattern)
    for margin, times in zip(*np.unique(margins[above], return_counts=True), strict=True):
        total = total + times * log_tail(z - margin, query)
    for margin, times in zip(*np.unique(margins[~above], return_counts=True), strict=True):
        # P(nu < x) is P(nu >= 1 - x) by symmetry.
        total = total + times * log_tail(1 - (z - margin), query)
    return log_sum(total)
