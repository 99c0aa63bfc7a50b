"""Projection to bounded degrees, which makes a statistic protect a whole vertex."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, log

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import BoundedRangeLoss, ComposedLoss, Loss, PureLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import Neighbours
from celosia.core.numbers import exact
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.private.mechanism import ONE_VERTEX, GraphMechanism, check_cap
from celosia.mechanisms.grid import FARTHEST
from celosia.mechanisms.mechanism import Output
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.selection.exponential import Exponential

CAPS = tuple(2**power for power in range(1, 11))
"""From 2 to 1024: the caps that are tried where none is given."""
STEPS = 1024
"""Scores of caps are rounded down to this part of 1."""
DOUBT = Fraction(1, 10)
"""How often a worse cap than need be may be chosen, in the penalty of large caps."""


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """A graph of which each vertex keeps at most `cap` edges.

    Edges are taken in a random order, each unless one of its ends has `cap` edges already. Let
    H be G with one vertex v more, and give the edges that both have the same order in both (the
    order of a part of a random order is random, so this couples the two). Of the edges of v, those
    that are not taken change nothing; put the k <= cap others into G one by one. One such edge
    {v, u} raises u by one until another edge of u, {u, w}, finds u full that is not full without
    it; from then on u is equal in both and w is lower by one, and so on. So after each of the k
    edges at most one vertex other than v has another degree, by one, and the number of edges has
    risen by 1 or by 0. Hence, for every k <= cap:

    - the number of edges rises by 0 to cap;
    - the counts of vertices of degree at most 0, 1, .. cap move by k for the others, and by
      cap - k + 1 for v: by cap + 1 in sum;
    - the histogram of degrees moves by 2 k + 1 in sum.

    Reference: Day, Li, Lyu 2016, section 4 (their order is fixed; a random one needs no assumption
    on how vertices are numbered).
    """

    size: int
    """How many edges were taken."""
    degrees: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph, cap: int, service: NDArray[np.int64]) -> Projection:
        """The graph with at most `cap` edges a vertex, taken in the order of `service`."""
        from celosia.graphs.private._kernels import capped_degrees

        degrees = np.zeros(graph.order, dtype=np.int64)
        taken = capped_degrees(graph.edges, service, cap, degrees)
        return cls(int(taken), degrees)


@dataclass(frozen=True, kw_only=True)
class BoundedStatistic(GraphMechanism[Output]):
    """A statistic that hides a vertex with all its edges, by a cap on degrees.

    Several caps may be given: one of them is then chosen privately, with `share` of epsilon, by
    the edges that it loses and the noise that it needs (the generalised exponential mechanism of
    Raskhodnikova, Smith 2016).
    """

    cap: int | tuple[int, ...] = CAPS
    """The most edges of a vertex that count; or several, one of which is chosen privately."""
    share: float = 0.25
    """Of epsilon, for choosing among several caps."""
    neighbours: Neighbours = field(default=ONE_VERTEX, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        given: object = self.cap
        if isinstance(given, Sequence) and not isinstance(given, str):
            object.__setattr__(self, "cap", tuple(sorted({check_cap(each) for each in given})))
            if not self.cap:
                check_cap(None)
        else:
            check_cap(given)
        part = exact(self.share)
        if part is None or not 0 < part < 1:
            raise InputError("CEL-G302.share", share=self.share)
        self.law(self.caps[-1])  # refuses noise that is too wide to be drawn

    @property
    def caps(self) -> tuple[int, ...]:
        """The caps that are possible, rising."""
        return self.cap if isinstance(self.cap, tuple) else (self.cap,)

    @property
    def chosen_price(self) -> Fraction:
        """The part of epsilon that pays for the choice of a cap: 0 where there is none."""
        return self.price * (exact(self.share) or 0) if len(self.caps) > 1 else Fraction(0)

    @property
    def noise_price(self) -> Fraction:
        """The part of epsilon that pays for the noise."""
        return self.price - self.chosen_price

    @abstractmethod
    def shift(self, cap: int) -> int:
        """By how much a vertex moves the statistic under a cap, in sum."""

    def reach(self, cap: int) -> int:
        """By how much a vertex moves the size that a cap is chosen by; it rises with the cap."""
        return cap

    def law(self, cap: int) -> DiscreteLaplace:
        """The noise of each number under a cap."""
        return DiscreteLaplace(self.shift(cap) / self.noise_price)

    @abstractmethod
    def cost(self, cap: int) -> Fraction:
        """The noise of a cap, as the number of lost edges that would be as bad."""

    def noise_loss(self) -> Loss:
        """What the noise costs, whatever the cap."""
        return PureLoss(self.noise_price)

    @property
    def sensitivity(self) -> float:
        """That of the greatest cap."""
        return float(self.shift(self.caps[-1]))

    def privacy_loss(self) -> Loss:
        """That of the noise, and of the choice of the cap where there is one."""
        if not self.chosen_price:
            return self.noise_loss()
        return ComposedLoss((BoundedRangeLoss(self.chosen_price), self.noise_loss()))

    def project(self, graph: Graph, rng: Source) -> tuple[int, Projection]:
        """The cap that is used, which may be published, and the graph under it, which may not."""
        service = rng.permutation(graph.size)
        found = [Projection.of(graph, cap, service) for cap in self.caps]
        place = self.choose([each.size for each in found], rng)
        return self.caps[place], found[place]

    def choose(self, sizes: Sequence[int], rng: Source) -> int:
        """The place of the cap that is used, by what each cap keeps; it may be published."""
        if len(sizes) == 1:
            return 0
        return self._choice.measure(-np.array(self.scores(sizes)), rng=rng).value

    @cached_property
    def _choice(self) -> Exponential:
        # A score moves by 1, that is STEPS, and rounding it down by less than one step more.
        return Exponential(epsilon=self.chosen_price, sensitivity=STEPS + 1)  # type: ignore[arg-type]

    def scores(self, sizes: Sequence[int]) -> list[int]:
        """How far each cap is from the best, in parts of what a vertex can change; 0 is best.

        With u(D) = cost(D) + penalty D - size(D), the score of D is the greatest
        (u(D) - u(E)) / max(r(D), r(E)) over all caps E, r being `reach`. A vertex raises size(D) by
        0 to r(D), so it moves u(D) - u(E) by at most max(r(D), r(E)), and the score by at most 1.
        """
        penalty = ceil(2 * log(len(self.caps) / DOUBT) / float(self.chosen_price))
        totals = [
            self.cost(cap) + penalty * cap - size
            for cap, size in zip(self.caps, sizes, strict=True)
        ]
        pairs = list(zip(self.caps, totals, strict=True))
        worst = (
            max(STEPS * (total - other) / self.reach(max(cap, rival)) for rival, other in pairs)
            for cap, total in pairs
        )
        # What is cut off at 2**50 moves no further than before, and is never refused.
        return [min(floor(score), FARTHEST) for score in worst]
