"""Candidate pairs, drawn with different probabilities for different vertices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.compiled import njit
from celosia.graphs._edge_set import _find as find

TWO_32 = 2.0**32


@njit(cache=True, nogil=True)
def alias_table(
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each place the chance to stay there and where to go otherwise (Walker 1977)."""
    count = len(weights)
    stay = weights * (count / weights.sum())
    other = np.arange(count)
    small, large = np.empty(count, np.int64), np.empty(count, np.int64)
    smalls = larges = 0
    for place in range(count):
        if stay[place] < 1.0:
            small[smalls] = place
            smalls += 1
        else:
            large[larges] = place
            larges += 1
    while smalls > 0 and larges > 0:
        smalls -= 1
        poor, rich = small[smalls], large[larges - 1]
        other[poor] = rich
        stay[rich] -= 1.0 - stay[poor]
        if stay[rich] < 1.0:
            larges -= 1
            small[smalls] = rich
            smalls += 1
    return stay, other


@njit(cache=True, nogil=True)
def _pick(word: np.uint64, stay: NDArray[np.float64], other: NDArray[np.int64]) -> int:
    """A place by one word: its upper half chooses the place, its lower one whether to stay."""
    place = np.int64(((word >> np.uint64(32)) * np.uint64(len(stay))) >> np.uint64(32))
    share = np.float64(word & np.uint64(0xFFFFFFFF)) / TWO_32
    return int(place if share < stay[place] else other[place])


@njit(cache=True, nogil=True)
def toggle(
    table: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    gone: NDArray[np.int64],
    fresh: NDArray[np.int64],
    chosen: NDArray[np.int64],
    aliases: tuple[NDArray[np.float64], NDArray[np.int64]],
    words: NDArray[np.uint64],
    order: int,
    counts: NDArray[np.int64],
    target: int,
) -> None:
    """Take drawn edges out of the candidates and put drawn pairs without one in.

    `table` is a set of the edges with room for more, and `kinds` says of each place whether it is
    an edge that was not drawn (0) or a pair that was (1). `gone` and `fresh` list edges taken out
    and pairs put in, `counts` counts them. It stops when `target` more were put in than taken out,
    or when the room or the words are used up.
    """
    stay, other = aliases
    for number in range(0, len(words) - 1, 2):
        if counts[1] - counts[0] >= target or counts[1] >= len(fresh):
            return
        one = chosen[_pick(words[number], stay, other)]
        two = chosen[_pick(words[number + 1], stay, other)]
        key = min(one, two) * order + max(one, two)
        place = find(table, key)
        if one == two or kinds[place] == 1:
            continue
        if table[place] == key:
            gone[counts[0]] = key
            counts[0] += 1
        else:
            table[place] = key
            fresh[counts[1]] = key
            counts[1] += 1
        kinds[place] = 1
