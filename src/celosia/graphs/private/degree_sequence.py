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
from celosia.graphs.private.constrained_inference import isotonic_fit
from celosia.graphs.private.mechanism import GraphMechanism, check_graph
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_whole


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
