"""Local sensitivity of a count, in a graph and in all graphs a few edges away."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, expm1, log, log1p

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.mechanisms.noise import DiscreteLaplace, draw_weighted

Widths = NDArray[np.int64]

_BATCH = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class Sensitive:
    """A count of a graph with its local sensitivity at each distance. All of it is private."""

    count: int
    widths: Widths
    """`widths[t]` is the most by which an edge moves the count in a graph within t edges of this
    one, at least 1; the last one holds for every distance beyond. As the graphs within t edges of
    a neighbour are within t + 1 edges of this one, widths[t] there is at most widths[t + 1] here.
    """


def triangles(graph: Graph, *, progress: Progress = silent) -> Sensitive:
    """The number of triangles.

    An edge {i, j} is in a triangle with each common neighbour, a of them. With t other edges more,
    up to b vertices that have one of the two as a neighbour become common by one edge each, all
    others by two: min(a + (t + min(t, b)) // 2, n - 2). As b = d_i + d_j - 2 a - 2 [ij is an edge],
    this is min(a + t, (r + t) // 2, n - 2) with r = 2 a + b, and only the greatest r of all pairs
    with the same a counts. Pairs without a common neighbour need not be looked at one by one: the
    greatest r of all pairs either belongs to one of them or to a pair that outdoes them all.

    Reference: Nissim, Raskhodnikova, Smith 2007, Claim 3.13.
    """
    from celosia.graphs.private._kernels import pairs_with_shared

    degrees = graph.degrees
    reach = np.full(int(degrees.max(initial=0)) + 1, -1, dtype=np.int64)
    shared = np.zeros(graph.order, dtype=np.int64)
    found = 0
    for first in range(0, graph.order, _BATCH):
        progress(Step(Message("graphs.stage.common_neighbours"), first, graph.order))
        last = min(first + _BATCH, graph.order)
        found += pairs_with_shared(
            graph.starts, graph.neighbours, degrees, first, last, shared, reach
        )
    joined, apart = _partners(graph)
    ends = np.concatenate([joined + degrees - 2, apart + degrees])
    reach[0] = max(int(ends.max(initial=0)), 0)
    most = max(graph.order - 2, 1)
    distance = np.arange(2 * most + 1, dtype=np.int64)
    widths = np.ones(distance.size, dtype=np.int64)
    above = -1
    for common in range(reach.size - 1, -1, -1):
        if reach[common] > above:  # others are outdone by a pair with more in common
            above = int(reach[common])
            np.maximum(widths, np.minimum(common + distance, (above + distance) // 2), out=widths)
    return Sensitive(found // 3, np.minimum(widths, most))


def stars(graph: Graph, k: int) -> Sensitive:
    """The number of stars of a centre and k others: the sum of comb(d, k) over all degrees.

    An edge {i, j} is in comb(d, k - 1) stars around i, where d is the degree of i without it, and
    likewise around j. Each of t other edges raises one of these two d by one, up to n - 2; as comb
    is convex, it is worst to raise the greater one first.

    Reference: Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011, section 4.
    """
    degrees, most = graph.degrees, max(graph.order - 2, 0)
    values, times = np.unique(degrees, return_counts=True)
    pairs = zip(values.tolist(), times.tolist(), strict=True)
    count = sum(comb(value, k) * time for value, time in pairs)
    joined, apart = _partners(graph)
    ends = np.concatenate([np.stack([degrees, joined]) - 1, np.stack([degrees, apart])], axis=1)
    ends = np.sort(ends[:, ends[1] >= 0], axis=0)  # -2 and -1 where there is no such vertex
    distance = np.arange(2 * most + 1, dtype=np.int64)
    table = np.array([comb(value, k - 1) for value in range(most + 1)], dtype=np.int64)
    widths = np.ones(distance.size, dtype=np.int64)
    for low, high in _outermost(ends):
        great = np.minimum(high + distance, most)
        small = np.minimum(low + high + distance - great, most)
        np.maximum(widths, table[great] + table[small], out=widths)
    return Sensitive(count, widths)


def _outermost(ends: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Of pairs (low, high), those that no other exceeds in one and reaches in the other."""
    order = np.lexsort((-ends[0], -ends[1]))
    low = ends[0][order]
    before = np.maximum.accumulate(low)
    kept = order[np.concatenate([[True], before[1:] > before[:-1]])[: low.size]]
    return list(zip(ends[0][kept].tolist(), ends[1][kept].tolist(), strict=True))


def _partners(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each vertex the greatest degree of a neighbour, and of another vertex; -1 for none."""
    from celosia.graphs.private._kernels import best_partners

    joined = np.empty(graph.order, dtype=np.int64)
    apart = np.empty(graph.order, dtype=np.int64)
    ranked = np.argsort(-graph.degrees, kind="stable")
    best_partners(graph.starts, graph.neighbours, graph.degrees, ranked, joined, apart)
    return joined, apart


ROUNDING = 2.0**-40
"""By which share a smooth bound may be rounded up; far more than the error of the floats in it."""


def smoothness(epsilon: Fraction, delta: float) -> float:
    """The beta at which discrete Laplace noise of scale 2 S / epsilon is (epsilon, delta)-DP.

    Let S and S' be beta-smooth bounds of neighbours with S <= e^beta S', s and s' the scales, y the
    answer, f and f' the counts, w = |y - f| / s. The loss of y is
    log(tanh(1/2s) / tanh(1/2s')) - |y - f| / s + |y - f'| / s'.

    - s >= s': the first term is at most 0, the rest at most w (s/s' - 1) + |f - f'| / s', that is
      w (e^beta - 1) + epsilon / 2. It exceeds epsilon only if w > epsilon / (2 (e^beta - 1)) = x,
      which has a chance of at most 2 e^-x: delta, for e^beta - 1 = epsilon / (2 ln(2/delta)).
    - s < s': tanh(z)/z falls, so the first term is at most log(s'/s) <= beta <= epsilon / 2, and
      the rest at most |f - f'| / s' <= epsilon / 2.

    A bound that is rounded up by a share of r is still (beta + r)-smooth; twice that is set aside.

    Reference: Nissim, Raskhodnikova, Smith 2007, Lemma 2.9, for a continuous law.
    """
    most = log1p(float(epsilon) / (2 * log(2 / delta))) * (1 - 2.0**-40)
    beta = most - 2 * ROUNDING
    if beta <= 0 or delta > 0.5:
        raise InputError("CEL-G303", epsilon=float(epsilon))
    return beta


def smooth_bound(widths: NDArray[np.int64], beta: float) -> Fraction:
    """The greatest exp(-beta t) widths[t], rounded up by less than a share of 2^-40.

    `widths[t]` bounds how far a neighbour of a graph t steps away can move the count; the last one
    is the bound for all graphs. Exponents above 50 cannot matter: widths are from 1 to 2^60.

    >>> float(smooth_bound(np.array([1, 2, 3]), 0.5)) - 2 * 2.718281828459045**-0.5 < 1e-11
    True
    """
    exponents = -beta * np.arange(widths.size)
    greatest = float(np.max(widths * np.exp(np.maximum(exponents, -745.0))))
    return Fraction(greatest * (1 + ROUNDING / 2))


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """The whole numbers on both sides of a count, in rungs of rising width.

    The count itself is rung 0; rung t holds the next `rungs[t - 1]` numbers on either side, and the
    last width goes on for ever. A number in rung t has a chance proportional to exp(-rate t).

    Let the width I_t of two neighbouring graphs G and H obey I_0(G) >= |f(G) - f(H)| and
    I_t(H) <= I_(t+1)(G). Then a number of rung t for one of them is of rung t + 1 at most for the
    other: it is within I_0(H) + the first t widths of G of f(H), which are at most the first t + 1
    widths of H. So with rate = epsilon / 2 this is the exponential mechanism for scores -t of
    sensitivity 1.

    Reference: Zhang, Cormode, Procopiuc, Srivastava, Xiao 2015, Def. 3.1 and Thm 4.2.
    """

    centre: int
    rungs: NDArray[np.int64]
    """Widths of at least 1, never falling, below 2**60."""

    def draw(self, rate: Fraction, rng: Source) -> int:
        """One number, exactly by its chance.

        Rung t weighs w_t exp(-rate t), where w_t = 1, 2 I_0, 2 I_1, ... never falls: it is the sum
        of the rises up to t. So first a rise is chosen, by its size times exp(-rate place), and
        then a geometric number of rungs above it. Both are exact, and the ladder has no end.
        """
        law = DiscreteLaplace(1 / rate)
        speed = 1 / law.scale  # a scale that had to be rounded up is the one of both draws
        rises = self._rises()
        start = draw_weighted(
            np.arange(rises.size, dtype=np.int64), rate=speed, weights=rises, rng=rng
        )
        rung = start + _geometric(law, rng)
        if rung == 0:
            return self.centre
        distance = self._below(rung) + 1 + int(rng.integers(self._width(rung), 1)[0])
        return self.centre + (distance if rng.integers(2, 1)[0] else -distance)

    def mass(self, point: int, rate: Fraction) -> float:
        """The chance of one number. It tells the graph: not for release."""
        distance, rung = abs(point - self.centre), 0
        while distance > 0:
            rung += 1
            distance -= self._width(rung)
        speed = float(rate)
        rises = self._rises()
        total = float(np.dot(rises, np.exp(-speed * np.arange(rises.size)))) / -expm1(-speed)
        return exp(-speed * rung) / total

    def _rises(self) -> NDArray[np.int64]:
        # In all twice the last width: below 2**61.
        return np.diff(np.concatenate([[1], 2 * self.rungs]), prepend=0)

    def _width(self, rung: int) -> int:
        return int(self.rungs[min(rung, self.rungs.size) - 1])

    def _below(self, rung: int) -> int:
        """How many numbers on one side are nearer than those of a rung."""
        inner = self.rungs[: rung - 1]
        beyond = max(0, rung - 1 - self.rungs.size) * int(self.rungs[-1])
        # In two halves, so that the sum cannot overflow.
        return (int((inner >> 30).sum()) << 30) + int((inner & (2**30 - 1)).sum()) + beyond


def _geometric(law: DiscreteLaplace, rng: Source) -> int:
    """A number k >= 0 with a chance proportional to exp(-k / scale), from a two-sided law."""
    while True:
        for number in law.draw(8, rng).tolist():
            if number >= 0:
                return int(number)
