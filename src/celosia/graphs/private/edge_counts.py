"""The number of edges of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from celosia.accounting.losses import Loss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.private.mechanism import GraphMechanism, check_graph
from celosia.graphs.private.projection import BoundedStatistic
from celosia.mechanisms.intervals import from_zero
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_whole


@dataclass(frozen=True, kw_only=True)
class EdgeCount(GraphMechanism[int]):
    """The number of edges with discrete Laplace noise of scale 1 / epsilon.

    Guarantee: epsilon-DP with delta 0 for one edge; the vertices are public.

    Reference: Hay, Li, Miklau, Jensen 2009; Dwork and Roth 2014, Thm 3.6.

    >>> from celosia.core.randomness import Seeded
    >>> EdgeCount(epsilon=1).release(Graph.of([(0, 1), (1, 2)]), rng=Seeded(1))
    2
    """

    is_count = True

    @property
    def question(self) -> str:
        return Message("graphs.statistic.edges")

    @property
    def sensitivity(self) -> float:
        """One."""
        return 1.0

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise."""
        return DiscreteLaplace(1 / self.price)

    def privacy_loss(self) -> LaplaceLoss:
        """Epsilon, paid by one draw."""
        return LaplaceLoss(self.law.scale, 1)

    def measure(self, x: Graph, *, rng: Source) -> Measurement[int]:
        """The number of edges with noise; it may be below 0."""
        size = check_graph(x).size
        return Measurement(size + int(self.law.draw(1, rng)[0]))

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that none of `size` counts exceeds with this confidence."""
        return float(self.law.bound(check_confidence(confidence), size=check_whole(size, name="n")))

    def interval(self, measurement: Measurement[int], confidence: float = 0.95) -> tuple[int, int]:
        """Bounds of the exact number of edges."""
        error, value = self.law.bound(check_confidence(confidence)), measurement.value
        return from_zero(value - error, value, value + error)


@dataclass(frozen=True, kw_only=True)
class BoundedEdgeCount(BoundedStatistic[int]):
    """The number of edges when each vertex keeps at most `cap`, with noise of scale cap / epsilon.

    The interval is of that number: the graph has as many edges or more.

    Guarantee: epsilon-DP with delta 0 for one vertex with all its edges; the number of vertices is
    private. A vertex moves the number by 0 to cap, see `Projection`.

    Reference: Day, Li, Lyu 2016; the same bound as the flow of Kasiviswanathan, Nissim,
    Raskhodnikova, Smith 2013, section 4.
    """

    is_count = True

    @property
    def question(self) -> str:
        if isinstance(self.cap, int):
            return Message("graphs.statistic.edges_capped", cap=self.cap)
        return Message("graphs.statistic.edges_chosen")

    def shift(self, cap: int) -> int:
        """The cap."""
        return cap

    def cost(self, cap: int) -> Fraction:
        """The mean size of the noise: a lost edge is an error of 1."""
        return cap / self.noise_price

    def noise_loss(self) -> Loss:
        """Epsilon, paid by one draw; the scale is known where the cap is."""
        if len(self.caps) > 1:
            return super().noise_loss()
        return LaplaceLoss(self.law(self.caps[0]).scale, self.caps[0])

    def measure(self, x: Graph, *, rng: Source) -> Measurement[int]:
        """The number of edges under the cap, with noise; the cap is among the parts."""
        cap, projected = self.project(check_graph(x), rng)
        noise = int(self.law(cap).draw(1, rng)[0])
        return Measurement(projected.size + noise, {"cap": cap})

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that is not exceeded under the greatest cap, besides the edges beyond it."""
        count = check_whole(size, name=Message("graphs.count.counts"))
        return float(self.law(self.caps[-1]).bound(check_confidence(confidence), size=count))

    def interval(self, measurement: Measurement[int], confidence: float = 0.95) -> tuple[int, int]:
        """Bounds of the number of edges under the cap."""
        error = self.law(measurement.parts["cap"]).bound(check_confidence(confidence))
        value = measurement.value
        return from_zero(value - error, value, value + error)
