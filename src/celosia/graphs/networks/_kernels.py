"""Ends of arcs moved from one vertex to another: the loop, compiled."""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs._edge_set import contains, delete, insert
from celosia.graphs.arrays import Flags, Vertices, Whole, Words


@njit(cache=True, nogil=True)
def move_ends(
    losers: Whole,
    winners: Whole,
    words: Words,
    order: int,
    table: Whole,
    starts: Whole,
    rows: Vertices,
    tails: bool,
) -> Flags:
    """Move a tail (or a head) of an arc from each loser to its winner, in `table`; which moved.

    The other ends of the loser's arcs, `rows`, are tried from a random place on. Arcs that are
    gone since the rows were made are seen in `table`; new ones wait for the next rows.
    """
    done = np.zeros(len(losers), dtype=np.bool_)
    for each in range(len(losers)):
        loser, winner = losers[each], winners[each]
        if loser == winner:
            done[each] = True
            continue
        start, size = starts[loser], starts[loser + 1] - starts[loser]
        offset = np.int64(words[each] % np.uint64(max(size, 1)))
        for step in range(size):
            other = np.int64(rows[start + (offset + step) % size])
            if other == winner:
                continue
            old = loser * order + other if tails else other * order + loser
            new = winner * order + other if tails else other * order + winner
            if contains(table, old) and not contains(table, new):
                delete(table, old)
                insert(table, new)
                done[each] = True
                break
    return done
