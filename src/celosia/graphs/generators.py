"""Generators of random graphs, with hubs or without, and of rings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import real, whole
from celosia.core.randomness import Source
from celosia.graphs.graph import MOST_VERTICES, Graph
from celosia.graphs.sampling import distinct, non_edges, pairs_of
from celosia.tables.masking.draws import uniforms

FLATTEST = 2.2
"""The least exponent: at 2 the degrees have no mean, and near it nearly all draws are loops."""


def random_graph(order: int, size: int, rng: Source) -> Graph:
    """One of all graphs with `order` vertices and `size` edges, each equally likely.

    >>> from celosia.core.randomness import Seeded
    >>> print(random_graph(5, 4, Seeded(1)))
    5 vertices, 4 edges

    Reference: Erdos, Renyi 1959.
    """
    _check(order, size)
    keys = non_edges(Graph.of([], order=order), size, rng)
    return Graph.from_keys(keys, order=order)


def power_law(order: int, size: int, exponent: float, rng: Source) -> Graph:
    """A graph with hubs: the share of vertices of degree d falls as d to the minus `exponent`.

    Both ends of an edge are drawn with chances in proportion to weights i ** (-1 / (exponent - 1)),
    i = 1 .. n; loops and repeated edges are drawn again. Vertices are then numbered at random.

    >>> from celosia.core.randomness import Seeded
    >>> graph = power_law(1000, 5000, 2.5, Seeded(1))
    >>> graph.size, bool(graph.degrees.max() > 100)
    (5000, True)

    Reference: Chung, Lu 2002.
    """
    _check(order, size)
    power = real(exponent)
    if power is None or not power >= FLATTEST or 4 * size > pairs_of(order):
        raise InputError("CEL-G051", order=order, size=size, exponent=exponent, flattest=FLATTEST)
    stretch = (power - 1) / (power - 2)
    shuffled = rng.permutation(order)

    def draw(missing: int) -> NDArray[np.int64]:
        # u ** stretch has the distribution function x ** (1 - 1 / (exponent - 1)).
        places = (uniforms(rng, 2 * missing) ** stretch * order).astype(np.int64)
        one, other = shuffled[np.minimum(places, order - 1)].reshape(2, -1)
        keys: NDArray[np.int64] = np.minimum(one, other) * order + np.maximum(one, other)
        return np.asarray(keys[one != other])

    return Graph.from_keys(distinct(draw, size), order=order)


def ring(order: int, *, reach: int = 1) -> Graph:
    """A circle in which each vertex is joined with the `reach` next ones.

    >>> ring(5).degrees.tolist(), ring(6, reach=2).size
    ([2, 2, 2, 2, 2], 12)
    """
    _check(order, order * reach)
    here = np.repeat(np.arange(order, dtype=np.int64), reach)
    there = (here + np.tile(np.arange(1, reach + 1), order)) % max(order, 1)
    keep = here != there
    return Graph.of(np.stack([here[keep], there[keep]], axis=1), order=order)


def _check(order: object, size: object) -> None:
    numbers = whole(order), whole(size)
    if None in numbers or not 0 <= (numbers[0] or 0) <= MOST_VERTICES or (numbers[1] or 0) < 0:
        raise InputError("CEL-G052", order=order, size=size)
