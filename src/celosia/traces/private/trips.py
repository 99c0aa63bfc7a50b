"""Trips as walks through the cells of a grid, and the exact counts of a model of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.traces.points import Traces
from celosia.traces.private.mechanism import grid_keys
from celosia.traces.zones import hours_of_day

UNIT = 2**20
"""Weights of transitions are whole multiples of 1 / UNIT."""
BANDS = 4
"""Bands of distance between the ends of a trip, for which lengths are learnt apart."""
MOVES = [(dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dx, dy) != (0, 0)]
END = len(MOVES)
QUARTERS = 4
"""Parts of the region for which hours are learnt apart: two by two."""


class Trips(NamedTuple):
    """Trips as sequences of cells: all cells, where each trip begins, and its first hour."""

    cells: NDArray[np.int64]
    starts: NDArray[np.int64]
    hours: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The number of trips."""
        return int(self.starts.size - 1)


class Model(NamedTuple):
    """Counts of the parts of the model, with or without noise."""

    ends: NDArray[np.int64]
    lengths: NDArray[np.int64]
    transitions: NDArray[np.int64]
    """In units of 1 / UNIT: one row for each cell, its eight neighbours and the end; the last row
    is the beginning of trips."""
    hours: NDArray[np.int64]
    """By quarter of the region in which trips begin."""


def joined(parts: list[NDArray[np.int64]], hours: NDArray[np.int64]) -> Trips:
    """Trips from their parts."""
    sizes = [part.size for part in parts]
    return Trips(
        np.concatenate([np.zeros(0, dtype=np.int64), *parts]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        hours,
    )


def cut_to(trips: Trips, longest: int) -> Trips:
    """The same trips, each with at most so many cells."""
    parts = np.split(trips.cells, trips.starts[1:-1]) if trips.size else []
    return joined([part[:longest] for part in parts], trips.hours)


def trips_of(traces: Traces, size: int, max_steps: int) -> Trips:
    """The trips as paths of neighbouring cells, without immediate repeats, cut to `max_steps`."""
    cells = grid_keys(traces, size)
    starts = np.append(np.unique(traces.trips, return_index=True)[1], traces.size)
    hours = hours_of_day(traces.time, traces.declaration.zone)
    parts = [
        path(cells[start:end].tolist(), size)[:max_steps]
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]
    return Trips(
        np.array([cell for part in parts for cell in part], dtype=np.int64),
        np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64),
        hours[starts[:-1]],
    )


def path(cells: list[int], size: int) -> list[int]:
    """A walk through neighbouring cells that visits these in order.

    >>> path([0, 0, 10], 4)
    [0, 5, 10]
    """
    found = [cells[0]]
    for cell in cells[1:]:
        while found[-1] != cell:
            x, y = found[-1] % size, found[-1] // size
            x += (cell % size > x) - (cell % size < x)
            y += (cell // size > y) - (cell // size < y)
            found.append(y * size + x)
    return found


def band(start: int, end: int, size: int) -> int:
    """The band of the distance between two cells."""
    apart = max(abs(start % size - end % size), abs(start // size - end // size))
    return min(BANDS - 1, apart * BANDS // size)


def weight_of(length: int) -> int:
    """What a trip of so many cells adds to each of its transitions, in units of 1 / UNIT."""
    return UNIT // (length + 1)


def transitions_of(walk: list[int], size: int) -> list[tuple[int, int]]:
    """The transitions of a trip as rows and columns of the model: its start, its moves, its end.

    >>> transitions_of([0, 1], 2) == [(4, 0), (0, MOVES.index((1, 0))), (1, END)]
    True
    """
    moves = [
        (here, MOVES.index((there % size - here % size, there // size - here // size)))
        for here, there in pairwise(walk)
    ]
    return [(size * size, walk[0]), *moves, (walk[-1], END)]


def count_model(
    trips: Trips, size: int, max_steps: int, weight: Callable[[int], int] = weight_of
) -> Model:
    """The exact counts of the model, which are private."""
    cells = size * size
    ends = np.zeros((cells, cells), dtype=np.int64)
    lengths = np.zeros((BANDS, max_steps), dtype=np.int64)
    transitions = np.zeros((cells + 1, max(END + 1, cells)), dtype=np.int64)
    for one in range(trips.size):
        walk = trips.cells[trips.starts[one] : trips.starts[one + 1]].tolist()
        ends[walk[0], walk[-1]] += 1
        lengths[band(walk[0], walk[-1], size), len(walk) - 1] += 1
        for place in transitions_of(walk, size):
            transitions[place] += weight(len(walk))
    begun = trips.cells[trips.starts[:-1]] if trips.size else np.zeros(0, dtype=np.int64)
    hours = np.bincount(quarter(begun, size) * 24 + trips.hours, minlength=24 * QUARTERS)
    return Model(ends, lengths, transitions, hours.reshape(QUARTERS, 24))


def quarter(cell: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The quarter of the region that cells lie in."""
    found: NDArray[np.int64] = (cell // size * 2 // size) * 2 + cell % size * 2 // size
    return found
