"""Degrees of an uncertain graph: sums of independent coins, vertex by vertex."""

from __future__ import annotations

from math import erf, exp, log, log2, pi, sqrt

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs.arrays import Flags, Floats, Vertices, Whole, Words

FAINT = 1e-24
"""Chances below this at the ends of a distribution are dropped; at ten deviations they begin."""

WIDE = 225.0
"""Above this variance a corrected normal curve replaces the convolution."""


@njit(cache=True, nogil=True)
def incident(pairs: Vertices, steps: Whole, grid: int, order: int) -> tuple[Whole, Floats]:
    """Where the chances of each vertex begin, and the chances of the pairs of vertex by vertex."""
    starts = np.zeros(order + 1, dtype=np.int64)
    for number in range(len(pairs)):
        starts[pairs[number, 0] + 1] += 1
        starts[pairs[number, 1] + 1] += 1
    for vertex in range(order):
        starts[vertex + 1] += starts[vertex]
    place = starts[:-1].copy()
    found = np.empty(2 * len(pairs), dtype=np.float64)
    for number in range(len(pairs)):
        chance = steps[number] / grid
        for side in range(2):
            vertex = pairs[number, side]
            found[place[vertex]] = chance
            place[vertex] += 1
    return starts, found


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


TWO_52 = 2.0**52


@njit(cache=True, nogil=True)
def _share(word: np.uint64) -> float:
    """A number between 0 and 1 by a random word, on a grid of 2**-52 and off its ends."""
    return float((np.float64(word >> np.uint64(12)) + 0.5) / TWO_52)


@njit(cache=True, nogil=True)
def pick(share: float, ends: Floats, first: Whole, guide: Whole) -> int:
    """A place by a share of all weights; places of equal weight stand together, as classes.

    `ends` is the share that all classes up to each have, after a 0; `first` the first place of each
    class, and at the end how many there are; `guide` the class of each of many equal shares.
    """
    each = guide[int(share * len(guide))]
    while ends[each + 1] <= share:
        each += 1
    count = first[each + 1] - first[each]
    inside = (share - ends[each]) / (ends[each + 1] - ends[each])
    return int(first[each] + min(int(inside * count), count - 1))


@njit(cache=True, nogil=True)
def draw_keys(
    words: Words, chosen: Vertices, classes: tuple[Floats, Whole, Whole], order: int, keys: Whole
) -> None:
    """The pair that every two words draw as one number, -1 where both draw the same vertex."""
    ends, first, guide = classes
    for number in range(len(keys)):
        one = np.int64(chosen[pick(_share(words[2 * number]), ends, first, guide)])
        two = np.int64(chosen[pick(_share(words[2 * number + 1]), ends, first, guide)])
        keys[number] = min(one, two) * order + max(one, two) if one != two else -1


@njit(cache=True, nogil=True)
def unite(some: Whole, more: Whole) -> Whole:
    """All numbers of two sorted arrays, each once, without those below 0."""
    found = np.empty(len(some) + len(more), dtype=np.int64)
    count, first, second = 0, 0, 0
    while second < len(more) and more[second] < 0:
        second += 1
    while first < len(some) or second < len(more):
        if second == len(more) or (first < len(some) and some[first] <= more[second]):
            key = some[first]
            first += 1
        else:
            key = more[second]
            second += 1
        if count == 0 or found[count - 1] != key:
            found[count] = key
            count += 1
    return found[:count]


@njit(cache=True, nogil=True)
def count_common(some: Whole, more: Whole) -> int:
    """How many numbers are in both of two sorted arrays that have none twice."""
    common, first, second = 0, 0, 0
    while first < len(some) and second < len(more):
        common += some[first] == more[second]
        here, there = some[first], more[second]
        first += here <= there
        second += there <= here
    return common


@njit(cache=True, nogil=True)
def toggle(edges: Whole, drawn: Whole) -> tuple[Whole, Flags]:
    """The numbers that are in one of two sorted arrays, in order, and which of them are edges."""
    found = np.empty(len(edges) + len(drawn), dtype=np.int64)
    real = np.empty(len(found), dtype=np.bool_)
    count, first, second = 0, 0, 0
    while first < len(edges) or second < len(drawn):
        is_edge = second == len(drawn) or (first < len(edges) and edges[first] <= drawn[second])
        if is_edge and second < len(drawn) and edges[first] == drawn[second]:
            first += 1
            second += 1
            continue
        found[count] = edges[first] if is_edge else drawn[second]
        real[count] = is_edge
        count += 1
        first += is_edge
        second += not is_edge
    return found[:count], real[:count]


# Coefficients of Wichura's rational functions, the highest power first: above and under the line,
# in the middle, in the tails, and far out in the tails.
# fmt: off
_MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)
_TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
     4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
     0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494,
     2.05319162663775882187, 1.0),
)
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
     0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358,
     5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
     0.59983220655588793769, 1.0),
)
# fmt: on


@njit(cache=True, nogil=True)
def _ratio(of: tuple[tuple[float, ...], tuple[float, ...]], at: float) -> float:
    """One polynomial over another."""
    above, under = 0.0, 0.0
    for place in range(8):
        above = above * at + of[0][place]
        under = under * at + of[1][place]
    return above / under


@njit(cache=True, nogil=True)
def half_normal(share: float, width: float) -> float:
    """The amount that this share of half-normal amounts of at most 1 stays below.

    Reference: Wichura 1988, The percentage points of the normal distribution, AS 241.
    """
    below = 0.5 * share * erf(1.0 / (width * sqrt(2.0)))  # the chance of at most 1
    if below <= 0.425:
        found = below * _ratio(_MIDDLE, 0.180625 - below * below)
    else:
        out = sqrt(-log(max(0.5 - below, 1e-300)))
        found = _ratio(_TAIL, out - 1.6) if out <= 5.0 else _ratio(_FAR, out - 5.0)
    return float(min(width * found, 1.0))


@njit(cache=True, nogil=True)
def weigh(keys: Whole, stands_out: Floats, pairs: Vertices) -> float:
    """Write the two vertices of each of the sorted keys; the mean of how they stand out."""
    order, one, base, total = len(stands_out), 0, 0, 0.0
    for number in range(len(keys)):
        if keys[number] - base >= order:
            one = keys[number] // order
            base = one * order
        other = keys[number] - base
        pairs[number, 0], pairs[number, 1] = one, other
        total += stands_out[one] + stands_out[other]
    return total / len(keys) if len(keys) else 1.0


@njit(cache=True, nogil=True)
def blur(
    pairs: Vertices,
    real: Flags,
    words: Words,
    stands_out: Floats,
    sigma: float,
    uniform: float,
    grid: int,
    steps: Whole,
) -> int:
    """Move the chance of each pair away from 0 or 1, and keep those that are not 0.

    `sigma` is the width of the noise for each unit of standing out, `uniform` the share of pairs
    that are moved uniformly. Pairs move up in `pairs`, beside `steps`; how many there are.
    """
    kept = 0
    for number in range(len(pairs)):
        one, other = pairs[number, 0], pairs[number, 1]
        drawn = _share(words[number])
        # One draw does for both: stretched, it is uniform again below the share and above it.
        if drawn < uniform:
            moved = drawn / uniform
        else:
            width = sigma * (stands_out[one] + stands_out[other])
            moved = half_normal((drawn - uniform) / (1.0 - uniform), width)
        step = np.int64(np.rint(moved * grid))
        step = grid - step if real[number] else step
        if step > 0:  # a pair with chance 0 is as any other
            pairs[kept, 0], pairs[kept, 1] = one, other
            steps[kept] = step
            kept += 1
    return kept
