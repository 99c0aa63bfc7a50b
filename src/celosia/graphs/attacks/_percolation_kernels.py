"""Marks for pairs of vertices, and the pairs that have enough of them: the loop, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit
from celosia.graphs._edge_set import EMPTY, _find
from celosia.graphs.arrays import Flags, Vertices, Whole

Counts = NDArray[np.unsignedinteger]


@njit(cache=True, nogil=True)
def _mark(
    near: int,
    images: Vertices,
    width: int,
    taken: Flags,
    marks: int,
    table: Whole,
    counts: Counts,
    budget: Whole,
) -> int:
    """Give a mark to each pair of a vertex and a free one of `images`.

    Returns the first that then has enough, or -1. `budget` is how many pairs may still be held, and
    how many marks may still be given.
    """
    base = np.int64(near) * width
    for there in images:
        if taken[there]:
            continue
        budget[1] -= 1
        place = _find(table, base + there)
        if table[place] == EMPTY:
            if budget[0] == 0:
                continue
            table[place] = base + there
            budget[0] -= 1
        counts[place] += 1
        if counts[place] >= marks:
            return int(there)
    return -1


@njit(cache=True, nogil=True)
def percolate(
    rows: tuple[Whole, Vertices],
    other_rows: tuple[Whole, Vertices],
    matched: Whole,
    taken: Flags,
    seeds: Whole,
    marks: int,
    table: Whole,
    counts: Counts,
    most_marks: int,
    most_of_one: int,
) -> None:
    """Spread matches from the seeds, into `matched` and `taken`.

    A vertex can only be matched once enough of its neighbours have given marks. Until then their
    marks are not counted, and then all at once: so most vertices need no place in the table of
    pairs, which comes empty, a power of 2 long, and of which two thirds may fill up. `counts` are
    the marks of each pair, as zeros of a type that holds `marks`.
    """
    starts, neighbours = rows
    other_starts, other_neighbours = other_rows
    width = len(taken)
    budget = np.array([2 * len(table) // 3, most_marks])
    gave, met = np.zeros(len(matched), np.bool_), np.zeros(len(matched), np.int32)
    queue = np.empty(len(matched), dtype=np.int64)
    queue[: len(seeds)] = seeds
    first, last = 0, len(seeds)
    while first < last and budget[1] > 0:
        one = queue[first]
        first += 1
        mine = neighbours[starts[one] : starts[one + 1]]
        start, end = other_starts[matched[one]], other_starts[matched[one] + 1]
        if len(mine) * (end - start) > most_of_one:
            continue
        gave[one] = True
        for near in mine:
            if matched[near] >= 0:
                continue
            met[near] += 1
            if met[near] < marks:
                continue
            if met[near] == marks:  # those before are too few to match it
                for friend in neighbours[starts[near] : starts[near + 1]]:
                    if gave[friend] and friend != one:
                        image = matched[friend]
                        theirs = other_neighbours[other_starts[image] : other_starts[image + 1]]
                        _mark(near, theirs, width, taken, marks, table, counts, budget)
            theirs = other_neighbours[start:end]
            there = _mark(near, theirs, width, taken, marks, table, counts, budget)
            if there >= 0:
                matched[near], taken[there] = there, True
                queue[last] = near
                last += 1
