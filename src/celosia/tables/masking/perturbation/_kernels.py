"""The hot loop of rank swapping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Ranks = NDArray[np.int64]
Words = NDArray[np.uint64]

_HIGHEST = np.uint64(2**64 - 1)
_ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def pair_ranks(last: Ranks, words: Words, partner: Ranks) -> bool:
    """Pair each free rank i, in order, with a uniform free rank in (i, last[i]].

    `last` never falls, so the free ranks of the window are a bag to which each rank is added once
    and from which it is taken once, in constant time. A word above the largest multiple of the
    size of the bag is passed over, so that the remainder favours no rank.

    Args:
        last: the last rank of each window, at least the rank itself.
        words: uniform random words.
        partner: is filled with the partner of each rank, itself where it found none.

    Returns:
        False if the words did not suffice: `partner` is then unfinished.
    """
    count = last.size
    bag = np.empty(count, dtype=np.int64)
    place = np.full(count, -1, dtype=np.int64)  # where a rank is in the bag
    size, reached, used = 0, 0, 0
    partner[:] = -1
    for rank in range(count):
        for entered in range(max(reached, rank), last[rank] + 1):
            bag[size], place[entered] = entered, size
            size += 1
        reached = max(reached, last[rank] + 1)
        if partner[rank] >= 0:
            continue
        size -= 1  # the rank leaves the bag: the last of it takes its place
        bag[place[rank]], place[bag[size]] = bag[size], place[rank]
        if size == 0:
            partner[rank] = rank
            continue
        choices = np.uint64(size)
        spare = (_HIGHEST % choices + _ONE) % choices
        while used < words.size and words[used] > _HIGHEST - spare:
            used += 1
        if used == words.size:
            return False
        at = np.int64(words[used] % choices)
        used += 1
        chosen = bag[at]
        size -= 1
        bag[at], place[bag[size]] = bag[size], at
        partner[rank], partner[chosen] = chosen, rank
    return True
