"""Greedy clusters of vertices with like neighbours, one after the other."""

from __future__ import annotations

from math import exp, lgamma, log

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs.arrays import Flags, Floats, Vertices, Whole, Words

TIE = 1e-12
"""Costs this close are taken as equal, so that rounding does not choose between vertices."""


@njit(cache=True, nogil=True)
def spread(
    vertex: int,
    starts: Whole,
    neighbours: Vertices,
    block: Whole,
    crowd: int,
    shared: Whole,
    touched: Whole,
    count: int,
) -> int:
    """Add to each vertex its common neighbours with `vertex`, and 1 where they are linked.

    Vertices that have a cluster in `block` are left out, and so is what hubs with more than `crowd`
    neighbours have in common. `touched` lists the vertices with a number above 0; returns how many
    there are.
    """
    for middle in neighbours[starts[vertex] : starts[vertex + 1]]:
        if block[middle] < 0:
            if shared[middle] == 0:
                touched[count] = middle
                count += 1
            shared[middle] += 1
        if starts[middle + 1] - starts[middle] > crowd:
            continue
        for end in neighbours[starts[middle] : starts[middle + 1]]:
            if block[end] >= 0:
                continue
            if shared[end] == 0:
                touched[count] = end
                count += 1
            shared[end] += 1
    return count


@njit(cache=True, nogil=True)
def generalisation(
    vertex: int,
    known: tuple[Floats, Vertices, Whole],
    cluster: tuple[Floats, Floats, Whole],
    seed: int,
    keep: bool,
) -> float:
    """How far a cluster is generalised with one more vertex, from 0 to 1; `keep` puts it in."""
    numbers, ancestors, heights = known
    low, high, levels = cluster
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
def cheapest(
    block: Whole,
    degrees: Whole,
    shared: Whole,
    touched: Whole,
    count: int,
    lightest: int,
    known: tuple[Floats, Vertices, Whole],
    cluster: tuple[Floats, Floats, Whole],
    grown: tuple[int, int, int],
    weights: tuple[float, float],
) -> int:
    """The vertex without a cluster that costs a cluster least, the lowest number of equal ones.

    `grown` are the seed, the size and the sum of degrees of the cluster. Without attributes,
    whoever is not two steps away costs its degree alone: of these only the `lightest`, which has
    the least degree, can win, and the others need no look.
    """
    seed, size, reach = grown
    alpha, scale = weights
    best, least = -1, np.inf
    for place in range(len(block) if alpha > 0 else count + 1):
        vertex = place
        if alpha == 0:
            vertex = touched[place] if place < count else lightest
        if block[vertex] >= 0:
            continue
        cost = scale * (size * degrees[vertex] + reach - 2 * shared[vertex]) / size
        if alpha > 0:
            cost += alpha * generalisation(vertex, known, cluster, seed, False)
        if cost < least - TIE or (cost <= least + TIE and vertex < best):
            best, least = vertex, min(cost, least)
    return best


@njit(cache=True, nogil=True)
def clusters(
    starts: Whole,
    neighbours: Vertices,
    seeds: Whole,
    by_degree: Whole,
    known: tuple[Floats, Vertices, Whole],
    weights: tuple[float, float],
    k: int,
    crowd: int,
    block: Whole,
    progress: Whole,
    most: int,
) -> bool:
    """Make up to `most` clusters of k vertices each; -1 in `block` is a vertex without one.

    `seeds` are the vertices from the greatest degree down, `by_degree` from the least up, both then
    by number. `progress` holds where the next of each may be found, and how many clusters there
    are. Returns whether vertices may be left for more.
    """
    order = len(block)
    numbers, ancestors, _ = known
    alpha, beta = weights
    degrees = starts[1:] - starts[:-1]
    shared, touched = np.zeros(order, np.int64), np.empty(order, np.int64)
    low, high = np.empty(len(numbers)), np.empty(len(numbers))
    levels = np.empty(len(ancestors), np.int64)
    scale = beta / max(order - 2, 1)
    for _ in range(most):
        while progress[0] < order and block[seeds[progress[0]]] >= 0:
            progress[0] += 1
        if progress[0] == order:
            return False
        seed = seeds[progress[0]]
        number = progress[2]
        progress[2] += 1
        for row in range(len(numbers)):
            low[row] = high[row] = numbers[row, seed]
        levels[:] = 0
        block[seed] = number
        count = spread(seed, starts, neighbours, block, crowd, shared, touched, 0)
        size, reach = 1, degrees[seed]
        while size < k:
            while progress[1] < order and block[by_degree[progress[1]]] >= 0:
                progress[1] += 1
            if progress[1] == order:
                break
            best = cheapest(
                block,
                degrees,
                shared,
                touched,
                count,
                by_degree[progress[1]],
                known,
                (low, high, levels),
                (seed, size, reach),
                (alpha, scale),
            )
            generalisation(best, known, (low, high, levels), seed, True)
            block[best] = number
            size += 1
            reach += degrees[best]
            count = spread(best, starts, neighbours, block, crowd, shared, touched, count)
        for place in range(count):
            shared[touched[place]] = 0
    return True


@njit(cache=True, nogil=True)
def log_choose(pairs: int, edges: int) -> float:
    """The logarithm of how many ways there are to place the edges on the pairs."""
    if edges in (0, pairs):
        return 0.0
    if edges <= 4:  # the common case, and cheaper
        ways = 1.0
        for taken in range(edges):
            ways *= (pairs - taken) / (taken + 1.0)
        return float(log(ways))
    return float(lgamma(pairs + 1.0) - lgamma(edges + 1.0) - lgamma(pairs - edges + 1.0))


@njit(cache=True, nogil=True)
def _tally(
    one: int,
    starts: Whole,
    neighbours: Vertices,
    block: Whole,
    members: Whole,
    tally: Whole,
    touched: Whole,
) -> int:
    """Count the edges of a block by the block of their other end, twice those inside.

    `members` holds the first vertex of each block, after the next of each vertex. `tally` comes as
    zeros; `touched` lists the blocks with edges. How many there are.
    """
    order, count = len(block), 0
    vertex = members[2 * order + one]
    while vertex >= 0:
        for neighbour in neighbours[starts[vertex] : starts[vertex + 1]]:
            third = block[neighbour]
            if tally[third] == 0:
                touched[count] = third
                count += 1
            tally[third] += 1
        vertex = members[vertex]
    return count


@njit(cache=True, nogil=True)
def cost_of(
    one: int,
    other: int,
    starts: Whole,
    neighbours: Vertices,
    block: Whole,
    sizes: Whole,
    members: Whole,
    tally: Whole,
    touched: Whole,
) -> float:
    """The part of log |W| that two blocks have to do with; `one` and `other` may be the same."""
    total = 0.0
    for here in (one, other) if one != other else (one, one):
        size = sizes[here]
        count = _tally(here, starts, neighbours, block, members, tally, touched)
        for place in range(count):
            third = touched[place]
            edges, tally[third] = tally[third], 0
            if third == here:
                total += log_choose(size * (size - 1) // 2, edges // 2)
            elif third != one or here == one:  # what is between the two counts once
                total += log_choose(size * sizes[third], edges)
        if one == other:
            return total
    return total


@njit(cache=True, nogil=True)
def shift(vertex: int, to: int, block: Whole, sizes: Whole, members: Whole) -> None:
    """Put a vertex into another block, at the head of its list."""
    order, source = len(block), block[vertex]
    after, before = members[vertex], members[order + vertex]
    if before >= 0:
        members[before] = after
    else:
        members[2 * order + source] = after
    if after >= 0:
        members[order + after] = before
    first = members[2 * order + to]
    members[vertex], members[order + vertex] = first, -1
    if first >= 0:
        members[order + first] = vertex
    members[2 * order + to] = vertex
    block[vertex] = to
    sizes[source] -= 1
    sizes[to] += 1


@njit(cache=True, nogil=True)
def list_members(block: Whole, members: Whole) -> None:
    """Fill the lists: the next vertex of each, the one before, and the first of each block."""
    order = len(block)
    members[:] = -1
    for vertex in range(order - 1, -1, -1):
        first = members[2 * order + block[vertex]]
        members[vertex] = first
        if first >= 0:
            members[order + first] = vertex
        members[2 * order + block[vertex]] = vertex


@njit(cache=True, nogil=True)
def _next(state: Words, bound: int) -> int:
    """A number below a bound: SplitMix64 on the word that a step was given (Steele et al. 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    drawn: int = np.int64(((mixed >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))  # type: ignore[assignment]
    return drawn


@njit(cache=True, nogil=True)
def split(
    state: Words,
    block: Whole,
    sizes: Whole,
    members: Whole,
    free: Whole,
    k: int,
    one: int,
    moved: Whole,
) -> tuple[int, int, int]:
    """A free block, and vertices for it: a uniform choice that leaves k on both sides.

    `free` lists the blocks without vertices, and how many there are at its end.
    """
    count, left = 0, sizes[one]
    if left < 2 * k:
        return one, one, 0
    empty = free[free[-1] - 1]  # a block that can be split means that one is free
    wanted = k + _next(state, left - 2 * k + 1)
    each = members[2 * len(block) + one]
    while each >= 0:
        if _next(state, left) < wanted - count:
            moved[count] = each
            count += 1
        left -= 1
        each = members[each]
    return one, empty, count


@njit(cache=True, nogil=True)
def propose(
    state: Words,
    starts: Whole,
    neighbours: Vertices,
    block: Whole,
    sizes: Whole,
    members: Whole,
    free: Whole,
    k: int,
    moved: Whole,
) -> tuple[int, int, int]:
    """Two blocks, and vertices in `moved` that would change between them; 0 if there is no move.

    The first block is that of a random vertex, the second that of another: half of the time of one
    two steps away, whose neighbours are alike. Then a lot decides among shift, swap, merge, split.
    """
    order = len(block)
    vertex, friend = _next(state, order), _next(state, order)
    if _next(state, 2) and starts[vertex + 1] > starts[vertex]:
        middle = neighbours[starts[vertex] + _next(state, starts[vertex + 1] - starts[vertex])]
        friend = neighbours[starts[middle] + _next(state, starts[middle + 1] - starts[middle])]
    one, other = block[vertex], block[friend]
    lot = _next(state, 32)
    if lot == 1:
        return split(state, block, sizes, members, free, k, one, moved)
    count = 0
    if one != other and lot == 0:  # merge
        each = members[2 * order + other]
        while each >= 0:
            moved[count] = each
            count += 1
            each = members[each]
    elif one != other:  # shift where the block can spare one, else or half of the time swap
        moved[0], moved[1] = vertex, friend
        count = 1 if lot < 16 and sizes[one] > k else 2
    return one, other, count


@njit(cache=True, nogil=True)
def _is_heavier(one: int, starts: Whole, members: Whole, most: int) -> bool:
    """Whether the degrees of the vertices of a block add up to more than `most`."""
    order = len(starts) - 1
    vertex = members[2 * order + one]
    while vertex >= 0:
        most -= starts[vertex + 1] - starts[vertex]
        if most < 0:
            return True
        vertex = members[vertex]
    return False


@njit(cache=True, nogil=True)
def _list_changed(moved: Whole, changed: Whole, pending: int, listed: Flags) -> int:
    """Add vertices to the `pending` ones in `changed`, each once; how many there are then."""
    for vertex in moved:
        if not listed[vertex]:
            listed[vertex] = True
            changed[pending] = vertex
            pending += 1
    return pending


@njit(cache=True, nogil=True)
def anneal(
    starts: Whole,
    neighbours: Vertices,
    block: Whole,
    sizes: Whole,
    members: Whole,
    free: Whole,
    k: int,
    words: Words,
    heaviest: int,
    warmth: tuple[float, float],
    best: Whole,
    costs: Floats,
) -> int:
    """One step a word, from the first temperature to the second; returns how many were taken.

    `costs` are the cost of `block` and that of `best`, the cheapest partition so far, as sums of
    changes: only their differences mean anything. A step looks at the edges of two blocks alone, of
    which neither has more than `heaviest`: others stay as they are.
    """
    order = len(block)
    state = np.empty(1, dtype=np.uint64)
    moved = np.empty(order, dtype=np.int64)
    tally, touched = np.zeros(len(sizes), dtype=np.int64), np.empty(len(sizes), dtype=np.int64)
    # Vertices whose block may differ from that in `best`: so a new best one is not copied whole.
    changed, pending, listed = np.empty(order, dtype=np.int64), 0, np.zeros(order, dtype=np.bool_)
    pending = _list_changed(np.flatnonzero(best != block), changed, pending, listed)
    taken = 0
    for step in range(len(words)):
        state[0] = words[step]
        one, other, count = propose(
            state, starts, neighbours, block, sizes, members, free, k, moved
        )
        if (
            count == 0
            or _is_heavier(one, starts, members, heaviest)
            or _is_heavier(other, starts, members, heaviest)
        ):
            continue
        opened = sizes[other] == 0
        before = cost_of(one, other, starts, neighbours, block, sizes, members, tally, touched)
        for place in range(count):
            vertex = moved[place]
            shift(vertex, one if block[vertex] == other else other, block, sizes, members)
        change = (
            cost_of(one, other, starts, neighbours, block, sizes, members, tally, touched) - before
        )
        heat = warmth[0] * (warmth[1] / warmth[0]) ** (step / len(words))
        if change <= 0 or _next(state, 1 << 30) < exp(-change / heat) * (1 << 30):
            taken += 1
            costs[0] += change
            if opened:
                free[-1] -= 1
            elif sizes[other] == 0:
                free[free[-1]] = other
                free[-1] += 1
            pending = _list_changed(moved[:count], changed, pending, listed)
            if costs[0] < costs[1] - 1e-9:
                costs[1] = costs[0]
                for place in range(pending):
                    best[changed[place]] = block[changed[place]]
                    listed[changed[place]] = False
                pending = 0
        else:
            for place in range(count - 1, -1, -1):
                vertex = moved[place]
                shift(vertex, one if block[vertex] == other else other, block, sizes, members)
    return taken
