"""The entropy check a second time, written independently, on the graph to be published.

Whole tables of degree distributions, by products of polynomials instead of coin after coin, and
the entropy of each posterior by its definition. Slower, and on NumPy alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

import numpy as np
from numpy.typing import NDArray

from celosia.graphs.graph import Graph
from celosia.graphs.uncertain.graph import UncertainGraph

_BLOCK = 16
_CELLS = 1 << 22
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
    ends = uncertain.pairs.T.ravel()
    in_order = np.argsort(ends, kind="stable")
    chances = np.append(np.tile(uncertain.steps / uncertain.grid, 2)[in_order], 0.0)
    counts = np.bincount(ends, minlength=uncertain.order)
    starts = np.cumsum(counts) - counts
    blocks = np.maximum(-(-counts // _BLOCK), 1)
    widths = 1 << np.ceil(np.log2(blocks)).astype(np.int64)
    for width in np.unique(widths):
        members = np.flatnonzero(widths == width)
        step = max(_CELLS // int(width * _BLOCK), 1)
        for first in range(0, members.size, step):
            some = members[first : first + step]
            offsets = np.arange(width * _BLOCK)
            places = starts[some, None] + offsets
            places[offsets >= counts[some, None]] = chances.size - 1  # a coin that never comes up
            yield _products(chances[places].reshape(some.size, int(width), _BLOCK))


def _products(coins: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product of 1 - p + p x over all coins of a vertex: blocks first, then pairs of blocks."""
    found = np.zeros((*coins.shape[:2], _BLOCK + 1))
    found[..., 0] = 1.0
    for number in range(_BLOCK):
        chance = coins[..., number, None]
        moved = found[..., :-1] * chance
        found *= 1.0 - chance
        found[..., 1:] += moved
    while found.shape[1] > 1:
        length = 2 * found.shape[2] - 1
        waves = np.fft.rfft(found, 1 << (length - 1).bit_length(), axis=2)
        found = np.fft.irfft(waves[:, ::2] * waves[:, 1::2], axis=2)[..., :length]
    return found[:, 0]
