"""Greedy groups of vertices with like neighbours, one after the other, compiled.

Two observations keep a group of a million vertices cheap, and change nothing of what is found. A
vertex that has a group is never counted again, so that rows of neighbours lose it when it is met.
And of vertices with the same attributes the one of least degree, which may share nothing, costs no
more than any other that shares too little: only the few vertices that share enough are candidates.
"""

from __future__ import annotations

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs.arrays import Floats, Vertices, Whole

TIE = 1e-12
"""Costs this close are taken as equal, so that rounding does not choose between vertices."""

GROUPED = -1
"""The state of a vertex that has a group; of any other its degree and, below, what it shares."""
_SHARED = (1 << 32) - 1
_UNBOUNDED = 1 << 32


@njit(cache=True, nogil=True)
def generalisation(
    vertex: int,
    known: tuple[Floats, Vertices, Whole],
    group: tuple[Floats, Floats, Whole],
    seed: int,
    keep: bool,
) -> float:
    """How far a group is generalised with one more vertex, from 0 to 1; `keep` puts it in."""
    numbers, ancestors, heights = known
    low, high, levels = group
    total = 0.0
    for row in range(len(numbers)):
        least = min(low[row], numbers[row, vertex])
        most = max(high[row], numbers[row, vertex])
        total += most - least
        if keep:
            low[row], high[row] = least, most
    for row in range(len(ancestors)):
        level = levels[row]
        while ancestors[row, level, vertex] != ancestors[row, level, seed]:
            level += 1
        total += level / heights[row]
        if keep:
            levels[row] = level
    return float(total / max(len(numbers) + len(ancestors), 1))


@njit(cache=True, nogil=True)
def _bound_profile(profile: int, profiles: tuple[Whole, ...], state: Whole, k: int) -> None:
    """Find a degree that the least degree of a profile stays below while one group is made.

    It is that of the k-th vertex without a group: at most k - 1 of them are taken before a choice.
    """
    _, ranked, ends, _, _, ahead, between, bounds = profiles
    while between[profile] < k and ahead[profile] < ends[profile + 1]:
        between[profile] += state[ranked[ahead[profile]]] != GROUPED
        ahead[profile] += 1
        if between[profile] == k:
            bounds[profile] = state[ranked[ahead[profile] - 1]] >> 32
    if between[profile] < k:
        bounds[profile] = _UNBOUNDED


@njit(cache=True, nogil=True)
def _take(vertex: int, profiles: tuple[Whole, ...], state: Whole) -> None:
    """Note that a vertex has a group."""
    profile_of, _, _, places, _, ahead, between, _ = profiles
    state[vertex] = GROUPED
    profile = profile_of[vertex]
    between[profile] -= places[vertex] < ahead[profile]


@njit(cache=True, nogil=True)
def _shares_enough(held: int, size: int, bound: int) -> bool:
    """Whether a vertex may cost a group of this size as little as the lightest of its profile."""
    return 2 * (held & _SHARED) >= size * ((held >> 32) - bound)


@njit(cache=True, nogil=True)
def _meet(
    vertex: int,
    size: int,
    profiles: tuple[Whole, ...],
    state: Whole,
    touched: Vertices,
    candidates: Vertices,
    counts: Whole,
) -> None:
    """Count one more neighbour that a vertex shares with the group."""
    held, profile_of, bounds = state[vertex], profiles[0], profiles[-1]
    bound = bounds[profile_of[vertex] if len(bounds) > 1 else 0]
    if held & _SHARED == 0:
        touched[counts[0]] = vertex
        counts[0] += 1
        was = False
    else:
        was = _shares_enough(held, size, bound)
    state[vertex] = held + 1
    if not was and _shares_enough(held + 1, size, bound):
        candidates[counts[1]] = vertex
        counts[1] += 1


@njit(cache=True, nogil=True)
def _keep_candidates(
    size: int, profiles: tuple[Whole, ...], state: Whole, candidates: Vertices, counts: Whole
) -> None:
    """Drop candidates that have a group by now, or share too little with one of this size."""
    profile_of, bounds, kept = profiles[0], profiles[-1], 0
    for vertex in candidates[: counts[1]]:
        held = state[vertex]
        if held != GROUPED and _shares_enough(held, size, bounds[profile_of[vertex]]):
            candidates[kept] = vertex
            kept += 1
    counts[1] = kept


@njit(cache=True, nogil=True)
def _spread(
    member: int,
    size: int,
    rows: tuple[Whole, Vertices, Vertices, Whole],
    crowd: int,
    profiles: tuple[Whole, ...],
    state: Whole,
    touched: Vertices,
    candidates: Vertices,
    counts: Whole,
) -> None:
    """Count for each vertex what it shares with a new member, and 1 where they are linked.

    What hubs with more than `crowd` neighbours have in common is left out.
    """
    starts, neighbours, left, ends = rows
    for middle in neighbours[starts[member] : starts[member + 1]]:
        if state[middle] != GROUPED:
            _meet(middle, size, profiles, state, touched, candidates, counts)
        if starts[middle + 1] - starts[middle] > crowd:
            continue
        place = starts[middle]
        for step in range(starts[middle], ends[middle]):
            end = left[step]
            if state[end] == GROUPED:
                continue
            if place != step:
                left[place] = end
            place += 1
            _meet(end, size, profiles, state, touched, candidates, counts)
        ends[middle] = place


@njit(cache=True, nogil=True)
def _cheapest(
    candidates: Vertices,
    counts: Whole,
    profiles: tuple[Whole, ...],
    alive: Whole,
    state: Whole,
    known: tuple[Floats, Vertices, Whole],
    group: tuple[Floats, Floats, Whole],
    grown: tuple[int, int, int, float],
    weights: tuple[float, float],
) -> int:
    """The vertex that costs a group least, the lowest number of equal ones; -1 if none is left.

    `grown` are the seed of the group, its size, the sum of its degrees, and how far it is
    generalised by now.
    """
    seed, size, reach, spread_out = grown
    alpha, scale = weights
    _, ranked, ends, _, heads, _, _, _ = profiles
    best, least = -1, np.inf
    for place in range(counts[1] + len(alive)):
        if place < counts[1]:
            vertex = candidates[place]
        else:
            profile = alive[place - counts[1]]
            while heads[profile] < ends[profile + 1] and state[ranked[heads[profile]]] == GROUPED:
                heads[profile] += 1
            if heads[profile] == ends[profile + 1]:
                continue
            vertex = ranked[heads[profile]]
        held = state[vertex]
        cost = scale * (size * (held >> 32) + reach - 2 * (held & _SHARED)) / size
        if alpha > 0:
            if cost + alpha * spread_out > least + TIE:  # no vertex narrows the group again
                continue
            cost += alpha * generalisation(vertex, known, group, seed, False)
        if cost < least - TIE or (cost <= least + TIE and vertex < best):
            best, least = vertex, min(cost, least)
    return best


@njit(cache=True, nogil=True)
def clusters(
    rows: tuple[Whole, Vertices, Vertices, Whole],
    seeds: Whole,
    profiles: tuple[Whole, ...],
    known: tuple[Floats, Vertices, Whole],
    weights: tuple[float, float],
    k: int,
    crowd: int,
    state: Whole,
    block: Whole,
    progress: Whole,
    most: int,
) -> bool:
    """Make up to `most` groups of k vertices each; -1 in `block` is a vertex without one.

    Args:
        rows: where the neighbours of each vertex begin, the neighbours, the same once more, which
            lose vertices that have a group, and where what is left of each row ends.
        seeds: the vertices from the greatest degree down.
        profiles: the profile of each vertex: vertices of one have the same attributes; the vertices
            by profile, then degree, then number; where those of each profile begin; the place of
            each vertex among them; and of each profile four numbers that are kept here, the first
            two where it begins, the others 0.
        known: the attributes.
        weights: that of attributes, and that of neighbours.
        k: how many vertices a group has.
        crowd: the most neighbours of a vertex that count as shared.
        state: the degree of each vertex times 2**32; kept here.
        block: the group of each vertex, filled in.
        progress: where the next seed may be found, and how many groups there are.
        most: how many groups are made.

    Returns:
        Whether vertices may be left for more.
    """
    order = len(block)
    profile_of = profiles[0]
    alive = np.arange(len(profiles[-1]))
    numbers, ancestors, _ = known
    touched, candidates = np.empty(order, np.int32), np.empty(order, np.int32)
    counts = np.zeros(2, np.int64)  # of those touched, and of the candidates
    low, high = np.empty(len(numbers)), np.empty(len(numbers))
    levels = np.empty(len(ancestors), np.int64)
    group, members = (low, high, levels), np.empty(k, np.int64)
    scaled = (weights[0], weights[1] / max(order - 2, 1))
    if progress[1] == 0:
        for profile in range(len(alive)):
            _bound_profile(profile, profiles, state, k)
    for _ in range(most):
        while progress[0] < order and block[seeds[progress[0]]] >= 0:
            progress[0] += 1
        if progress[0] == order:
            return False
        seed = seeds[progress[0]]
        for row in range(len(numbers)):
            low[row] = high[row] = numbers[row, seed]
        levels[:] = 0
        size, reach, wide, next_one = 0, 0, 0.0, seed
        while next_one >= 0:
            wide = generalisation(next_one, known, group, seed, True)
            block[next_one] = progress[1]
            reach += state[next_one] >> 32
            members[size] = next_one
            size += 1
            _take(next_one, profiles, state)
            if size == k:
                break
            _keep_candidates(size, profiles, state, candidates, counts)
            _spread(next_one, size, rows, crowd, profiles, state, touched, candidates, counts)
            grown = (seed, size, reach, wide)
            next_one = _cheapest(
                candidates, counts, profiles, alive, state, known, group, grown, scaled
            )
        for vertex in touched[: counts[0]]:
            if state[vertex] != GROUPED:
                state[vertex] &= ~_SHARED
        counts[:] = 0
        progress[1] += 1
        for member in members[:size]:
            _bound_profile(profile_of[member], profiles, state, k)
    return True
