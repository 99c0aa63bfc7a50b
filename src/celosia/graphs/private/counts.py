"""Private counts: edges, triangles and stars."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, comb, expm1, log

from celosia.accounting.losses import ApproximateLoss, BoundedRangeLoss, Loss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import whole
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.private.local_sensitivity import (
    Ladder,
    Sensitive,
    smooth_bound,
    smoothness,
    stars,
    triangles,
)
from celosia.graphs.private.mechanism import GraphMechanism, check_graph
from celosia.graphs.private.projection import BoundedStatistic
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.noise.laws import MOST as WIDEST
from celosia.mechanisms.parameters import check_confidence, check_delta, check_whole
from celosia.mechanisms.values import from_zero


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
class BoundedCount(BoundedStatistic[int]):
    """One number under a cap."""

    is_count = True

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that is not exceeded under the greatest cap, besides what is beyond it."""
        count = check_whole(size, name=Message("graphs.count.counts"))
        return float(self.law(self.caps[-1]).bound(check_confidence(confidence), size=count))

    def interval(self, measurement: Measurement[int], confidence: float = 0.95) -> tuple[int, int]:
        """Bounds of the number under the cap."""
        error = self.law(measurement.parts["cap"]).bound(check_confidence(confidence))
        value = measurement.value
        return from_zero(value - error, value, value + error)


@dataclass(frozen=True, kw_only=True)
class BoundedEdgeCount(BoundedCount):
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


MOST_WIDTH = 2**60
"""What one edge may move: twice as much is chosen among as 64-bit weights."""


@dataclass(frozen=True, kw_only=True)
class SubgraphCount(GraphMechanism[int]):
    """A count that one edge can move far in some graphs, but not in most.

    Without a delta the answer is drawn from a ladder, see `Ladder`; with one, discrete Laplace
    noise is scaled by the smooth sensitivity, see `smoothness`. Either way the noise depends on the
    graph, so there is no interval: its width would tell about the graph.
    """

    is_count = True

    delta: float | None = None
    """For smooth sensitivity; None for the ladder, which needs none and errs about as little."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is not None:
            check_delta(self.delta)
            self.beta  # noqa: B018 - refuses what cannot be kept

    @property
    def beta(self) -> float | None:
        """How fast the smooth sensitivity may change from graph to graph; None for the ladder."""
        return None if self.delta is None else smoothness(self.price, self.delta)

    def sensitive(self, graph: Graph, *, progress: Progress = silent) -> Sensitive:
        """The exact count and its local sensitivities. They are private: not for release."""
        if self.greatest(check_graph(graph).order) >= self._most_width:
            raise InputError("CEL-G304.too_many_vertices")
        return self._count(graph, progress)

    @abstractmethod
    def _count(self, graph: Graph, progress: Progress) -> Sensitive:
        """The count with its local sensitivities."""

    @abstractmethod
    def greatest(self, order: int) -> int:
        """By how much an edge can change the count in the worst graph of `order` vertices."""

    @property
    def rate(self) -> Fraction:
        """How fast the chances fall from rung to rung."""
        return self.price / 2

    def privacy_loss(self) -> BoundedRangeLoss | ApproximateLoss:
        """That of the exponential mechanism, or (epsilon, delta)."""
        if self.delta is None:
            return BoundedRangeLoss(self.price)
        return ApproximateLoss(self.price, self.delta)

    def measure(self, x: Graph | Sensitive, *, rng: Source) -> Measurement[int]:
        """The count with noise; it may be below 0. Takes a graph, or what `sensitive` made of it.

        Raises:
            InputError: CEL-G304 an edge of so large a graph may move the count beyond 64 bits.
        """
        found = x if isinstance(x, Sensitive) else self.sensitive(x)
        if self.beta is None:
            return Measurement(Ladder(found.count, found.widths).draw(self.rate, rng))
        law = DiscreteLaplace(2 * smooth_bound(found.widths, self.beta) / self.price)
        return Measurement(found.count + int(law.draw(1, rng)[0]))

    @property
    def _most_width(self) -> Fraction:
        """What the worst graph may have, so that no graph is refused for its edges."""
        return Fraction(MOST_WIDTH) if self.delta is None else WIDEST * self.price / 4

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that is not exceeded in the worst graph; it is far less in most.

        A number at distance z is of rung z / C at least, where C is the greatest width, so a
        distance above x has a chance of at most 2 exp(-rate (x + 1) / C) / (1 - exp(-rate / C)).

        Args:
            confidence: between 0 and 1.
            size: how many vertices there are.
        """
        sure = check_confidence(confidence)
        most = self.greatest(check_whole(size, name=Message("graphs.count.vertices")))
        if self.delta is not None:
            return float(DiscreteLaplace(2 * most / self.price).bound(sure))
        speed = float(self.rate) / most
        return float(ceil(log(2 / ((1 - sure) * -expm1(-speed))) / speed))


@dataclass(frozen=True, kw_only=True)
class TriangleCount(SubgraphCount):
    """The number of triangles.

    Guarantee: epsilon-DP with delta 0 for one edge, or (epsilon, delta)-DP where a delta is given;
    the vertices and their number are public.

    Reference: Zhang, Cormode, Procopiuc, Srivastava, Xiao 2015 (ladder); Nissim, Raskhodnikova,
    Smith 2007 (smooth sensitivity).

    >>> from celosia.core.randomness import Seeded
    >>> graph = Graph.of([(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> TriangleCount(epsilon=20).release(graph, rng=Seeded(1))
    1
    """

    @property
    def question(self) -> str:
        return Message("graphs.statistic.triangles")

    def _count(self, graph: Graph, progress: Progress) -> Sensitive:
        return triangles(graph, progress=progress)

    def greatest(self, order: int) -> int:
        return max(order - 2, 1)


@dataclass(frozen=True, kw_only=True)
class StarCount(SubgraphCount):
    """The number of stars with k rays: a vertex and k of its neighbours.

    Guarantee: epsilon-DP with delta 0 for one edge, or (epsilon, delta)-DP where a delta is given;
    the vertices and their number are public.

    Reference: Zhang, Cormode, Procopiuc, Srivastava, Xiao 2015 (ladder); Karwa, Raskhodnikova,
    Smith, Yaroslavtsev 2011 (smooth sensitivity).

    >>> from celosia.core.randomness import Seeded
    >>> StarCount(epsilon=20, k=2).release(Graph.of([(0, 1), (0, 2), (0, 3)]), rng=Seeded(1))
    3
    """

    k: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        rays = whole(self.k)
        if rays is None or not 2 <= rays <= 20:
            raise InputError("CEL-G304.rays", k=self.k)

    @property
    def question(self) -> str:
        return Message("graphs.statistic.stars", k=self.k)

    def _count(self, graph: Graph, progress: Progress) -> Sensitive:
        return stars(graph, self.k)

    def greatest(self, order: int) -> int:
        return max(2 * comb(max(order - 2, 0), self.k - 1), 1)
