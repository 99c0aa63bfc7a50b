"""Degree histograms: the number of vertices of each degree."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import PureLoss
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.private.degree_sequence import isotonic_fit
from celosia.graphs.private.mechanism import GraphMechanism, check_cap, check_graph
from celosia.graphs.private.projection import BoundedStatistic
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_whole
from celosia.mechanisms.values import counts_from_zero

Strategy = Literal["cumulative", "bins"]
Counts = dict[int, int]


@dataclass(frozen=True, kw_only=True)
class DegreeHistogram(GraphMechanism[Counts]):
    """The number of vertices of each degree from 0 to `cap`; the last one is of cap or more.

    `cumulative` puts noise on the numbers of vertices of degree at most 0, 1, ..., makes them
    rising again and takes differences. An edge moves two vertices up by a degree, and so these
    numbers by 2 in sum; where many degrees are rare or do not occur the noise is averaged away.
    `bins` puts noise on the counts themselves, which an edge moves by 4 in sum: unbiased, and
    better for a few degrees that many vertices have.

    Guarantee: epsilon-DP with delta 0 for one edge; the vertices and their number are public.

    Reference: Hay, Li, Miklau, Jensen 2009; Day, Li, Lyu 2016, section 5 for cumulated counts.

    >>> from celosia.core.randomness import Seeded
    >>> graph = Graph.of([(0, 1), (1, 2), (2, 3)])
    >>> DegreeHistogram(epsilon=50).release(graph, rng=Seeded(1))
    {0: 0, 1: 2, 2: 2, 3: 0}
    """

    cap: int | None = None
    """The degree from which on vertices are counted together; the greatest possible if None."""
    strategy: Strategy = "cumulative"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_strategy(self.strategy)
        if self.cap is not None:
            check_cap(self.cap)

    @property
    def question(self) -> str:
        more = "" if self.cap is None else Message("graphs.statistic.last_degree", cap=self.cap)
        return Message("graphs.statistic.degrees", more=more)

    @property
    def sensitivity(self) -> float:
        """Two for cumulated counts, four for the counts themselves."""
        return 2.0 if self.strategy == "cumulative" else 4.0

    @property
    def law(self) -> DiscreteLaplace:
        """The noise of each number."""
        return DiscreteLaplace(int(self.sensitivity) / self.price)

    def privacy_loss(self) -> PureLoss:
        return PureLoss(self.price)

    def measure(self, x: Graph, *, rng: Source) -> Measurement[Counts]:
        """The counts by degree."""
        graph = check_graph(x)
        last = max(graph.order - 1, 1) if self.cap is None else check_cap(self.cap)
        counts = np.bincount(np.minimum(graph.degrees, last), minlength=last + 1)
        return add_noise(counts, strategy=self.strategy, law=self.law, total=graph.order, rng=rng)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that none of `size` counts exceeds, besides what the fit gains."""
        return _error(self.strategy, self.law, confidence, size)

    def interval(
        self, measurement: Measurement[Counts], confidence: float = 0.95
    ) -> tuple[Counts, Counts]:
        return _bounds(measurement.value, self.strategy, self.law, confidence)


@dataclass(frozen=True, kw_only=True)
class BoundedDegreeHistogram(BoundedStatistic[Counts]):
    """The number of vertices of each degree when each keeps at most `cap` edges.

    The interval is of these numbers: vertices that have more edges than the cap are counted where
    the edges that they keep put them.

    Guarantee: epsilon-DP with delta 0 for one vertex with all its edges; the number of vertices is
    private. A vertex moves the cumulated counts by cap + 1 in sum, and the counts themselves by
    2 cap + 1, see `Projection`.

    Reference: Day, Li, Lyu 2016, sections 4 and 5.
    """

    strategy: Strategy = "cumulative"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_strategy(self.strategy)

    @property
    def question(self) -> str:
        if isinstance(self.cap, int):
            return Message("graphs.statistic.degrees_capped", cap=self.cap)
        return Message("graphs.statistic.degrees_chosen")

    def shift(self, cap: int) -> int:
        """One more than the cap for cumulated counts, and than twice the cap for the counts."""
        return cap + 1 if self.strategy == "cumulative" else 2 * cap + 1

    def cost(self, cap: int) -> Fraction:
        """The mean noise of all numbers: a lost edge moves the cumulated counts by 2 in sum."""
        return (cap + 1) * self.shift(cap) / self.noise_price / 2

    def measure(self, x: Graph, *, rng: Source) -> Measurement[Counts]:
        """The counts by degree, from 0 to the cap."""
        cap, projected = self.project(check_graph(x), rng)
        counts = np.bincount(projected.degrees, minlength=cap + 1)
        return add_noise(counts, strategy=self.strategy, law=self.law(cap), total=None, rng=rng)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that none of `size` counts exceeds under the greatest cap."""
        return _error(self.strategy, self.law(self.caps[-1]), confidence, size)

    def interval(
        self, measurement: Measurement[Counts], confidence: float = 0.95
    ) -> tuple[Counts, Counts]:
        """Bounds of the exact counts under the cap: all hold together with this confidence."""
        cap = len(measurement.value) - 1
        return _bounds(measurement.value, self.strategy, self.law(cap), confidence)


def check_strategy(strategy: object) -> None:
    """Refuse what is neither `cumulative` nor `bins`."""
    if strategy not in get_args(Strategy):
        raise InputError("CEL-G305", strategy=strategy)


def add_noise(
    counts: NDArray[np.int64],
    *,
    strategy: Strategy,
    law: DiscreteLaplace,
    total: int | None,
    rng: Source,
) -> Measurement[Counts]:
    """Counts with noise; a `total` that is public stays as it is where they are cumulated."""
    if strategy == "bins":
        found = counts + law.draw(counts.size, rng)  # draws are below 2**62
    else:
        sums = np.cumsum(counts)
        drawn = sums.size if total is None else sums.size - 1
        fitted = isotonic_fit(sums[:drawn] + law.draw(drawn, rng), low=0, high=total)
        ends = fitted if total is None else np.append(fitted, total)
        found = np.diff(ends, prepend=0)
    return Measurement(dict(enumerate(found.tolist())))


def _error(strategy: Strategy, law: DiscreteLaplace, confidence: float, size: int) -> float:
    count = check_whole(size, name=Message("graphs.count.degrees"))
    steps = law.bound(check_confidence(confidence), size=count)
    return float(2 * steps if strategy == "cumulative" else steps)


def _bounds(
    counts: Counts, strategy: Strategy, law: DiscreteLaplace, confidence: float
) -> tuple[Counts, Counts]:
    error = int(_error(strategy, law, confidence, len(counts)))
    return counts_from_zero(counts, error)
