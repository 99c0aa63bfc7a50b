"""Marks for pairs of vertices, and the pairs that have enough of them: the loop, compiled."""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs._edge_set import EMPTY, _find
from celosia.graphs.arrays import Flags, Vertices, Whole


@njit(cache=True, nogil=True)
def percolate(
    starts: Whole,
    neighbours: Vertices,
    other_starts: Whole,
    other_neighbours: Vertices,
    matched: Whole,
    taken: Flags,
    seeds: Whole,
    marks: int,
    room: int,
    most_marks: int,
    most_of_one: int,
) -> None:
    """Spread matches from the seeds, into `matched` and `taken`.

    `room` is a power of 2: a table of so many pairs, two thirds of which may fill up.
    """
    width = np.int64(len(taken))
    table = np.full(room, EMPTY, dtype=np.int64)
    counts = np.zeros(room, dtype=np.int32)
    queue = np.empty(len(matched), dtype=np.int64)
    queue[: len(seeds)] = seeds
    first, last, held, given = 0, len(seeds), 0, 0
    while first < last and given < most_marks:
        one = queue[first]
        first += 1
        other = matched[one]
        mine = neighbours[starts[one] : starts[one + 1]]
        theirs = other_neighbours[other_starts[other] : other_starts[other + 1]]
        if len(mine) * len(theirs) > most_of_one:
            continue
        given += len(mine) * len(theirs)
        for near in mine:
            if matched[near] >= 0:
                continue
            for there in theirs:
                if taken[there]:
                    continue
                key = near * width + there
                place = _find(table, key)
                if table[place] == EMPTY:
                    if 3 * held >= 2 * room:
                        continue
                    table[place] = key
                    held += 1
                counts[place] += 1
                if counts[place] >= marks:
                    matched[near], taken[there] = there, True
                    queue[last] = near
                    last += 1
                    break
