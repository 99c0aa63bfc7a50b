"""The entropy check: how well a vertex hides from an attacker who knows its degree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.numbers import exact, whole
from celosia.graphs.graph import Graph
from celosia.graphs.uncertain.graph import UncertainGraph

UNLIKELY = 1e-9
"""A degree that fewer vertices than this are expected to have hides no vertex: its entropy is 0."""

SLACK = 1e-9
"""Entropies this close to log2 k are taken as equal: they are sums of rounded numbers."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Obfuscation:
    """The vertices that are hidden among k, and those that are not."""

    k: int
    entropies: NDArray[np.float64]
    """For each vertex, the bits that are left to find who has its degree of the original."""
    failing: NDArray[np.int64]
    """The vertices whose entropy is below log2 k."""

    @property
    def share(self) -> float:
        """The share of vertices that are not hidden: the least tolerance that is met."""
        return self.failing.size / max(self.entropies.size, 1)

    def holds(self, tolerance: float) -> bool:
        """Whether the graph is (k, tolerance)-obfuscated."""
        limit = exact(tolerance)
        return limit is not None and self.failing.size <= limit * self.entropies.size

    def as_dict(self) -> dict[str, Any]:
        """The counts as plain values, without vertices."""
        return {
            "k": self.k,
            "vertices": int(self.entropies.size),
            "failing": int(self.failing.size),
            "share": self.share,
            "least_entropy": float(self.entropies.min(initial=np.inf)),
        }

    def __str__(self) -> str:
        failing, percent = int(self.failing.size), 100 * self.share
        return say("graphs.graph.hidden", failing=failing, k=self.k, percent=percent)


def obfuscation(uncertain: UncertainGraph, original: Graph, *, k: int) -> Obfuscation:
    """Check (k, epsilon)-obfuscation of the degree.

    An attacker who knows that a person has degree d in the original believes the person is vertex v
    with the chance Y(v) in proportion to that of v to have degree d; the entropy of Y says among
    how many they hide. It depends on the degree alone, so it is computed once for each that occurs.

    Degrees are convolved exactly, but for chances below 1e-24. Where the variance of a degree is
    above 225, as that of hubs with 900 coins, a normal curve with Edgeworth's correction for
    skewness and kurtosis takes over: each chance is within 1e-6, the total variation below 3e-5.
    A degree that fewer than 1e-9 vertices are expected to have counts as hiding no vertex.

    Raises:
        InputError: CEL-G201 the two graphs have different vertices, or k is no number of them.

    Reference: Boldi, Bonchi, Gionis, Tassa 2012, definition 2.
    """
    check_k(k, original.order)
    if uncertain.order != original.order:
        raise InputError("CEL-G201.other_graph", uncertain=uncertain.order, original=original.order)
    by_degree = degree_entropies(uncertain, original.degrees)
    entropies = by_degree[original.degrees]
    failing = np.flatnonzero(entropies < log2(k) - SLACK)
    return Obfuscation(k=k, entropies=entropies, failing=failing)


def degree_entropies(uncertain: UncertainGraph, degrees: NDArray[np.int64]) -> NDArray[np.float64]:
    """The entropy of the vertex for each degree that occurs; NaN for the others."""
    from celosia.graphs.uncertain._kernels import entropy_terms

    wanted = np.zeros(int(degrees.max(initial=0)) + 1, dtype=np.bool_)
    wanted[degrees] = True
    total, terms = np.zeros(wanted.size), np.zeros(wanted.size)
    if uncertain.order:
        starts, chances = incident_chances(uncertain)
        entropy_terms(starts, chances, wanted, total, terms, (0, uncertain.order))
    found = np.full(wanted.size, np.nan)
    found[wanted] = 0.0
    likely = wanted & (total > UNLIKELY)
    # H(Y) of Y = X / S is log2 S - (sum of X log2 X) / S.
    found[likely] = np.maximum(np.log2(total[likely]) - terms[likely] / total[likely], 0.0)
    return found


def check_k(k: object, order: int) -> None:
    """Refuse a k that no graph of `order` vertices can reach."""
    number = whole(k)
    if number is None or not 1 <= number <= max(order, 1):
        raise InputError("CEL-G201.no_k", order=order, k=k)


def incident_chances(graph: UncertainGraph) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Where the chances of each vertex begin, and all of them, vertex by vertex."""
    from celosia.graphs.uncertain._kernels import incident

    found: tuple[NDArray[np.int64], NDArray[np.float64]] = incident(
        graph.pairs, graph.steps, graph.grid, graph.order
    )
    return found


def degree_distribution(graph: UncertainGraph, vertex: int) -> NDArray[np.float64]:
    """The chance of each degree of a vertex, from 0 to the number of its pairs.

    Exact to rounding: the convolution of its coins (a Poisson binomial distribution), whatever
    the number of pairs; chances below 1e-24 at the ends are 0.

    >>> degree_distribution(UncertainGraph.of({(0, 1): 0.5, (0, 2): 0.5}), 0).tolist()
    [0.25, 0.5, 0.25]
    """
    from celosia.graphs.uncertain._kernels import convolve

    own = graph.probabilities[(graph.pairs == vertex).any(axis=1)]
    room = np.zeros(own.size + 3)
    low, high, certain = convolve(own, room)
    found = np.zeros(own.size + 1)
    found[low + certain : high + certain + 1] = room[low : high + 1]
    return found


def degree_distributions(graph: UncertainGraph) -> NDArray[np.float64]:
    """One row a vertex, one column a degree; for small graphs, as it is a full table."""
    widest = int(np.bincount(graph.pairs.ravel(), minlength=1).max()) + 1
    table = np.zeros((graph.order, widest))
    for vertex in range(graph.order):
        row = degree_distribution(graph, vertex)
        table[vertex, : row.size] = row
    return table


_BLOCK = 16
_CELLS = 1 << 14
"""Coins that are looked at together: what is made of them stays near the processor."""
_NOISE = 1e-15
"""What Fourier transforms leave where there is nothing."""

_NOBODY = 1e-9
_ROUNDING = 1e-9


def recounted_failures(uncertain: UncertainGraph, original: Graph, *, k: int) -> NDArray[np.int64]:
    """The vertices whose degree in the original leaves fewer than log2 k bits of doubt."""
    asked, place_of_vertex = np.unique(original.degrees, return_inverse=True)
    mass = np.zeros(asked.size)
    surprise = np.zeros(asked.size)
    for table in _tables(uncertain):
        seen = asked < table.shape[1]
        column = table[:, asked[seen]]
        column[column < _NOISE] = 0.0
        mass[seen] += column.sum(axis=0)
        surprise[seen] -= np.where(column > 0, column * np.log2(np.maximum(column, 1e-300)), 0).sum(
            axis=0
        )
    likely = mass > _NOBODY
    bits = np.zeros(asked.size)
    # -sum Y log2 Y with Y = X / S.
    bits[likely] = surprise[likely] / mass[likely] + np.log2(mass[likely])
    return np.flatnonzero(bits[place_of_vertex] < log2(k) - _ROUNDING)


def _tables(uncertain: UncertainGraph) -> Iterator[NDArray[np.float64]]:
    """Degree distributions of all vertices, as tables of vertices with about as many pairs."""
    from scipy.sparse import coo_array

    ends = uncertain.pairs.T.ravel()
    # A matrix with the pairs as its columns, twice, has its entries sorted by vertex.
    entries = (np.tile(uncertain.steps, 2), (ends, np.arange(ends.size)))
    in_order = coo_array(entries, shape=(uncertain.order, ends.size)).tocsr().data
    chances = np.append(in_order / uncertain.grid, 0.0)
    counts = np.bincount(ends, minlength=uncertain.order)
    starts = np.cumsum(counts) - counts
    blocks = np.maximum(-(-counts // _BLOCK), 1)
    widths = 1 << np.ceil(np.log2(blocks)).astype(np.int64)
    by_count = np.argsort(counts, kind="stable")
    for width in np.unique(widths):
        members = by_count[widths[by_count] == width]
        step = max(_CELLS // int(width * _BLOCK), 1)
        for first in range(0, members.size, step):
            some = members[first : first + step]
            most = int(counts[some[-1]]) if width == 1 else int(width * _BLOCK)
            offsets = np.arange(most)
            places = starts[some, None] + offsets
            places[offsets >= counts[some, None]] = chances.size - 1  # a coin that never comes up
            yield _products(chances[places].reshape(some.size, int(width), most // int(width)))


def _products(coins: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product of 1 - p + p x over all coins of a vertex: blocks first, then pairs of blocks."""
    found = np.zeros((*coins.shape[:2], coins.shape[2] + 1))
    found[..., 0] = 1.0
    for number in range(coins.shape[2]):
        chance = coins[..., number, None]
        moved = found[..., : number + 1] * chance
        found[..., : number + 1] *= 1.0 - chance
        found[..., 1 : number + 2] += moved
    while found.shape[1] > 1:
        length = 2 * found.shape[2] - 1
        waves = np.fft.rfft(found, 1 << (length - 1).bit_length(), axis=2)
        found = np.fft.irfft(waves[:, ::2] * waves[:, 1::2], axis=2)[..., :length]
    return found[:, 0]
