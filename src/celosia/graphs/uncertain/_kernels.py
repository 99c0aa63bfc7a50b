"""Degrees of an uncertain graph: sums of independent coins, vertex by vertex."""

from __future__ import annotations

from math import exp, log2, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit
from celosia.graphs._edge_set import _find as find
from celosia.graphs.arrays import Flags, Floats, Vertices, Whole, Words

FAINT = 1e-24
"""Chances below this at the ends of a distribution are dropped; at ten deviations they begin."""

WIDE = 225.0
"""Above this variance a corrected normal curve replaces the convolution."""


@njit(cache=True, nogil=True)
def incident(pairs: Vertices, chances: Floats, starts: Whole) -> Floats:
    """The chances of the pairs of vertex 0, then those of vertex 1, and so on."""
    place = starts[:-1].copy()
    found = np.empty(2 * len(pairs), dtype=np.float64)
    for number in range(len(pairs)):
        for side in range(2):
            vertex = pairs[number, side]
            found[place[vertex]] = chances[number]
            place[vertex] += 1
    return found


@njit(cache=True, nogil=True)
def convolve(chances: Floats, room: Floats) -> tuple[int, int, int]:
    """The distribution of how many of the coins come up, in `room`; a Poisson binomial.

    Two coins at a time, and only between the ends that are not `FAINT`. Returns the first and the
    last place in use, and how many coins always come up: they are to be added to a place.
    """
    low = high = certain = 0
    room[0] = 1.0
    held = -1.0  # a coin that waits for its partner
    for number in range(len(chances) + 1):
        chance = chances[number] if number < len(chances) else 0.0
        if chance == 1.0:
            certain += 1
            continue
        if number < len(chances) and (chance == 0.0 or held < 0.0):
            held = held if chance == 0.0 else chance
            continue
        if held < 0.0:
            break
        none, both = (1.0 - held) * (1.0 - chance), held * chance
        one = held * (1.0 - chance) + chance * (1.0 - held)
        room[high + 1] = room[high + 2] = 0.0
        for place in range(high + 2, low + 1, -1):
            room[place] = room[place] * none + room[place - 1] * one + room[place - 2] * both
        room[low + 1] = room[low + 1] * none + room[low] * one
        room[low] *= none
        high += 2
        held = -1.0
        while room[high] < FAINT:
            high -= 1
        while room[low] < FAINT:
            low += 1
    return low, high, certain


@njit(cache=True, nogil=True)
def entropy_terms(
    starts: Whole,
    chances: Floats,
    wanted: Flags,
    total: Floats,
    terms: Floats,
    vertices: tuple[int, int],
) -> None:
    """Add X and X log2 X of each vertex, for each wanted degree, where X is its chance of it."""
    room = np.zeros(3 + (starts[1:] - starts[:-1]).max(), dtype=np.float64)
    for vertex in range(vertices[0], vertices[1]):
        own = chances[starts[vertex] : starts[vertex + 1]]
        mean, variance, third, fourth = 0.0, 0.0, 0.0, 0.0  # cumulants add up
        for chance in own:
            spread = chance * (1.0 - chance)
            mean += chance
            variance += spread
            third += spread * (1.0 - 2.0 * chance)
            fourth += spread * (1.0 - 6.0 * spread)
        if variance > WIDE:
            reach = 10.0 * sqrt(variance)
            low, certain = int(max(mean - reach, 0.0)), 0
            high = int(min(mean + reach, len(own)))
            for place in range(low, high + 1):
                room[place] = near(place, mean, variance, third, fourth)
        else:
            low, high, certain = convolve(own, room)
        for place in range(low, min(high, len(wanted) - 1 - certain) + 1):
            if wanted[place + certain] and room[place] >= FAINT:
                total[place + certain] += room[place]
                terms[place + certain] += room[place] * log2(room[place])


@njit(cache=True, nogil=True)
def near(count: int, mean: float, variance: float, third: float, fourth: float) -> float:
    """The chance of a count by a normal curve, bent by skewness and kurtosis (Edgeworth)."""
    away = (count - mean) / sqrt(variance)
    skewness, kurtosis = third / variance**1.5, fourth / variance**2
    square = away * away
    bend = 1.0 + skewness / 6.0 * away * (square - 3.0)
    bend += kurtosis / 24.0 * (square * (square - 6.0) + 3.0)
    bend += skewness**2 / 72.0 * (square * (square * (square - 15.0) + 45.0) - 15.0)
    return float(max(bend, 0.0) * exp(-0.5 * square) / sqrt(2.0 * pi * variance))


TWO_32 = 2.0**32


@njit(cache=True, nogil=True)
def alias_table(weights: Floats) -> tuple[Floats, Whole]:
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
def _pick(word: np.uint64, stay: Floats, other: Whole) -> int:
    """A place by one word: its upper half chooses the place, its lower one whether to stay."""
    place = np.int64(((word >> np.uint64(32)) * np.uint64(len(stay))) >> np.uint64(32))
    share = np.float64(word & np.uint64(0xFFFFFFFF)) / TWO_32
    return int(place if share < stay[place] else other[place])


@njit(cache=True, nogil=True)
def toggle(
    table: Whole,
    kinds: NDArray[np.uint8],
    gone: Whole,
    fresh: Whole,
    chosen: Whole,
    aliases: tuple[Floats, Whole],
    words: Words,
    order: int,
    counts: Whole,
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
