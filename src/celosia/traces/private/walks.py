"""New trips from a noisy model: their ends, their lengths, and walks that reach their ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.traces.private.grids import Refined
from celosia.traces.private.trips import END, MOVES, Model, band, path, quarter


class Learnt(NamedTuple):
    """All that was learnt with noise: what follows reads nothing else."""

    counts: Model
    longest: int
    """The longest trip in cells."""
    refined: Refined | None


def norm_sub(counts: NDArray[Any]) -> NDArray[np.float64]:
    """The nearest counts of at least 0 with the same total: negative ones are taken from all.

    >>> norm_sub(np.array([5, -1, -1])).tolist()
    [3.0, 0.0, 0.0]
    """
    values = counts.astype(np.float64).ravel()
    total = max(float(values.sum()), 1.0)
    ranked = np.sort(values)[::-1]
    sums = np.cumsum(ranked)
    ranks = np.arange(1, values.size + 1)
    kept = np.nonzero(ranked - (sums - total) / ranks > 0)[0]
    shift = (sums[kept[-1]] - total) / ranks[kept[-1]]
    found: NDArray[np.float64] = np.maximum(values - shift, 0).reshape(counts.shape)
    return found


class Walker:
    """Draws trips from a model; reads nothing but the model."""

    def __init__(self, learnt: Learnt, size: int) -> None:
        self.size, self.max_steps, model = size, learnt.longest, learnt.counts
        self.refined = learnt.refined
        cells = self.size**2
        self.ends = norm_sub(model.ends).ravel()
        self.lengths = np.stack([norm_sub(row) for row in model.lengths])
        self.hours = np.stack([norm_sub(row) for row in model.hours])
        self.next = np.zeros((cells, cells))
        """The chance of each move between neighbouring cells."""
        for cell in range(cells):
            row = norm_sub(model.transitions[cell, : END + 1]) + 1e-9
            for move, (dx, dy) in enumerate(MOVES):
                x, y = cell % self.size + dx, cell // self.size + dy
                if 0 <= x < self.size and 0 <= y < self.size:
                    self.next[cell, y * self.size + x] = row[move]
            self.next[cell] /= self.next[cell].sum()
        self._messages: dict[int, list[NDArray[np.float64]]] = {}

    def backward(self, end: int) -> list[NDArray[np.float64]]:
        """For each number of moves, the chance to reach the end from every cell in so many."""
        if end not in self._messages:
            found = [np.zeros(self.size**2)]
            found[0][end] = 1.0
            for _ in range(self.max_steps):
                found.append(self.next @ found[-1])
            self._messages[end] = found
        return self._messages[end]

    def walk(self, rng: Source) -> list[int]:
        """One trip: its ends, its length, and a walk that is made to reach its end."""
        pair = _draw(self.ends, rng)
        start, end = divmod(pair, self.size**2)
        messages = self.backward(end)
        weights = self.lengths[band(start, end, self.size)].copy()
        weights *= [messages[moves][start] > 0 for moves in range(self.max_steps)]
        if not weights.any():
            return path([start, end], self.size)[: self.max_steps]
        moves = _draw(weights, rng)
        found = [start]
        for left in range(moves, 0, -1):
            found.append(_draw(self.next[found[-1]] * messages[left - 1], rng))
        return found

    def hour(self, start: int, rng: Source) -> int:
        """The hour at which a trip from a cell begins."""
        return _draw(self.hours[quarter(np.array([start]), self.size)[0]], rng)

    def inside(self, cell: NDArray[np.int64], rng: Source) -> Any:
        """Where inside its cell each point lies: a small cell, by column, row and cuts of it."""
        cut = np.ones(cell.size, dtype=np.int64)
        place = np.zeros(cell.size, dtype=np.int64)
        if self.refined is not None:
            cut = self.refined.cuts[cell]
            for one in np.unique(cell[cut > 1]).tolist():
                here = np.flatnonzero(cell == one)
                sums = np.cumsum(_wholes(norm_sub(self.refined.counts[one])))
                levels = rng.integers(int(sums[-1]), here.size)
                place[here] = np.searchsorted(sums, levels, side="right")
        return place % cut, place // cut, cut


class ChainWalker:
    """Draws trips from counts of transitions alone: a chain from the start until its end.

    Hours and places inside the cells are not known: trips begin at midnight, and points are
    uniform in their cells.
    """

    def __init__(self, transitions: NDArray[np.float64], size: int, max_steps: int) -> None:
        self.size, self.max_steps = size, max_steps
        cells = size**2
        self._start = norm_sub(transitions[cells, :cells])
        self._rows = norm_sub(transitions[:cells, : END + 1])
        for cell in range(cells):
            x, y = cell % size, cell // size
            for move, (dx, dy) in enumerate(MOVES):
                if not (0 <= x + dx < size and 0 <= y + dy < size):
                    self._rows[cell, move] = 0
            if not self._rows[cell].any():  # nothing is known of the way on
                self._rows[cell, END] = 1

    def walk(self, rng: Source) -> list[int]:
        """One trip."""
        found = [_draw(self._start, rng)]
        while len(found) < self.max_steps:
            move = _draw(self._rows[found[-1]], rng)
            if move == END:
                break
            dx, dy = MOVES[move]
            found.append(found[-1] + dy * self.size + dx)
        return found

    def hour(self, start: int, rng: Source) -> int:
        """The hour at which a trip begins: none is known."""
        return 0

    def inside(self, cell: NDArray[np.int64], rng: Source) -> Any:
        """Where inside its cell each point lies: anywhere."""
        return np.zeros_like(cell), np.zeros_like(cell), np.ones_like(cell)


def _wholes(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights as whole numbers, the largest one 2^32."""
    found: NDArray[np.int64] = np.floor(weights / weights.max() * 2**32).astype(np.int64)
    return found


def _draw(weights: NDArray[np.float64], rng: Source) -> int:
    """One choice with chances as the weights, exactly for their multiples of 2^-32."""
    whole = _wholes(weights)
    level = int(rng.integers(int(whole.sum()), 1)[0])
    return int(np.searchsorted(np.cumsum(whole), level, side="right"))
