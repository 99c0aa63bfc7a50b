"""The sorted degrees of a graph, without the vertices that have them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import ComposedLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.private.mechanism import GraphMechanism, check_graph
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_whole


def isotonic_fit(values: NDArray[np.int64], *, low: int, high: int | None) -> NDArray[np.int64]:
    """The nearest rising numbers (least squares), rounded, within a range.

    If each value is within b of a rising truth in the range, so is each number here: the fit is a
    largest of least means, which moves no more than the values, and rounding and clipping do not
    leave whole bounds.

    >>> isotonic_fit(np.array([3, 1, 2, 9]), low=0, high=5).tolist()
    [2, 2, 2, 5]

    Reference: Hay, Rastogi, Miklau, Suciu 2010, Thm 1.
    """
    from scipy.optimize import isotonic_regression

    if not values.size:
        return values
    fitted = isotonic_regression(values.astype(np.float64)).x
    return np.asarray(np.clip(np.rint(fitted), low, high), dtype=np.int64)


def is_graphical(degrees: NDArray[np.int64]) -> bool:
    """Whether a simple graph has these degrees: falling ones of at least 0 (Erdos, Gallai 1960)."""
    return int(degrees.sum()) % 2 == 0 and bool((excess(degrees) <= 0).all())


def graphical_degrees(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Degrees of a simple graph at or below the given ones, falling; the largest are lowered.

    Wherever the k greatest degrees want more ends than all can give, they are lowered together by
    what is too much; if the sum is odd, one of the smallest degrees above 0 is lowered by one.

    >>> graphical_degrees(np.array([1, 3, 3, 3])).tolist()
    [3, 2, 2, 1]
    >>> graphical_degrees(np.array([9, 1, 1, 0])).tolist()
    [2, 1, 1, 0]
    """
    found = np.clip(np.sort(degrees)[::-1], 0, max(degrees.size - 1, 0)).astype(np.int64)
    while not is_graphical(found):
        over = excess(found)
        worst = int(np.argmax(over))
        if over[worst] > 0:
            found[: worst + 1] = _lower(found[: worst + 1], int(over[worst]))
            found = np.sort(found)[::-1]
        else:
            found[int(np.flatnonzero(found)[-1])] -= 1
    return found


def excess(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """By how much the k greatest degrees exceed what a graph can give them, for each k.

    Their sum less k (k - 1) and less the sum of min(d, k) over the others, for falling degrees.
    Sums are below n^2 < 2^62.
    """
    count = degrees.size
    k = np.arange(1, count + 1, dtype=np.int64)
    sums = np.concatenate([[0], np.cumsum(degrees)])
    # Of the others, those above k come first: up to place `above`.
    above = np.maximum(np.searchsorted(-degrees, -k, side="left"), k)
    rest = k * (above - k) + sums[-1] - sums[above]
    return np.asarray(sums[1:] - k * (k - 1) - rest)


def _lower(falling: NDArray[np.int64], amount: int) -> NDArray[np.int64]:
    """Falling numbers less `amount` in sum, taken from the greatest so that they become level."""
    low, high = 0, int(falling[0])
    while low < high:  # the greatest level that takes at least the amount
        level = (low + high + 1) // 2
        taken = int(np.maximum(falling - level, 0).sum())
        low, high = (level, high) if taken >= amount else (low, level - 1)
    levelled = np.minimum(falling, low)
    spare = int((falling - levelled).sum()) - amount
    levelled[:spare] += 1
    return levelled


@dataclass(frozen=True, kw_only=True)
class DegreeSequence(GraphMechanism[NDArray[np.int64]]):
    """The sorted degrees with noise of scale 2 / epsilon each, made rising again.

    An edge raises two degrees by one. In the sorted list that is one place each, or two steps of
    one place: 2 in sum. The order of the noisy degrees is restored by isotonic regression, which
    averages the noise over all equal degrees; the more there are, the less of it is left.

    Guarantee: epsilon-DP with delta 0 for one edge; the vertices and their number are public.

    Reference: Hay, Li, Miklau, Jensen 2009, section 3.

    >>> from celosia.core.randomness import Seeded
    >>> graph = Graph.of([(0, 1), (1, 2), (2, 3)])
    >>> DegreeSequence(epsilon=50).release(graph, rng=Seeded(1)).tolist()
    [1, 1, 2, 2]
    """

    @property
    def question(self) -> str:
        return Message("graphs.statistic.sequence")

    @property
    def sensitivity(self) -> float:
        """Two, over all degrees."""
        return 2.0

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise of each degree."""
        return DiscreteLaplace(2 / self.price)

    def privacy_loss(self) -> ComposedLoss:
        """Epsilon, in halves: whole numbers that move by 2 in sum do so in two steps of one."""
        return ComposedLoss((LaplaceLoss(self.law.scale, 1),) * 2)

    def measure(self, x: Graph, *, rng: Source) -> Measurement[NDArray[np.int64]]:
        """The degrees in rising order, from 0 to n - 1."""
        degrees = np.sort(check_graph(x).degrees)
        noisy = degrees + self.law.draw(degrees.size, rng)  # draws are below 2**62
        return Measurement(isotonic_fit(noisy, low=0, high=max(degrees.size - 1, 0)))

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that none of `size` degrees exceeds with this confidence.

        It is that of the noise; isotonic regression makes most errors far smaller.
        """
        count = check_whole(size, name=Message("graphs.count.vertices"))
        return float(self.law.bound(check_confidence(confidence), size=count))

    def interval(
        self, measurement: Measurement[NDArray[np.int64]], confidence: float = 0.95
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Bounds of the exact sorted degrees: all of them hold together with this confidence."""
        value = measurement.value
        error = self.law.bound(check_confidence(confidence), size=max(value.size, 1))
        high = max(value.size - 1, 0)
        return np.maximum(value - error, 0), np.minimum(value + error, high)
