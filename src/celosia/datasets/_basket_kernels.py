"""The loop that fills baskets, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit


@njit(cache=True, nogil=True)
def _next(state: NDArray[np.uint64]) -> float:
    """The next uniform number of SplitMix64 (Steele, Lea & Flood 2014): equal on every platform."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word = word ^ (word >> np.uint64(31))
    return np.float64(word >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def fill_baskets(
    sizes: NDArray[np.int64],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    weights: NDArray[np.float64],
    corruption: NDArray[np.float64],
    seed: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of a basket and an item; an item may come twice.

    A pattern that does not fit any more goes in all the same half the time, else the basket ends.
    """
    longest = 0
    for each in range(len(starts) - 1):
        longest = max(longest, starts[each + 1] - starts[each])
    room = int(sizes.sum()) + longest * len(sizes)
    owners = np.empty(room, dtype=np.int64)
    items = np.empty(room, dtype=np.int64)
    state = np.zeros(1, dtype=np.uint64)
    state[0] = np.uint64(seed)
    used = 0
    for basket in range(len(sizes)):
        filled = 0
        while filled < sizes[basket]:
            pattern = min(int(np.searchsorted(weights, _next(state))), len(weights) - 1)
            start, end = starts[pattern], starts[pattern + 1]
            left = end - start
            while left > 1 and _next(state) < corruption[pattern]:
                left -= 1
            if filled and filled + left > sizes[basket] and _next(state) < 0.5:
                break
            # The items that stay: a window of the pattern at a random place.
            shift = int(_next(state) * (end - start))
            for place in range(left):
                owners[used] = basket
                items[used] = members[start + (shift + place) % (end - start)]
                used += 1
            filled += left
    return owners[:used], items[:used]
