"""The search for a partition that leaves few possible worlds: one random step after the other."""

from __future__ import annotations

from math import exp, lgamma, log

import numpy as np

from celosia.core.kernels import njit
from celosia.graphs.arrays import Flags, Floats, Vertices, Whole, Words


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
def tally(
    blocks: tuple[int, int],
    starts: Whole,
    neighbours: Vertices,
    block: Whole,
    members: Whole,
    tallies: Whole,
    touched: Whole,
) -> int:
    """Count the edges of two blocks by the block of their other end, twice those inside.

    `members` holds the first vertex of each block, after the next of each vertex. `tallies`, a row
    for each of the two blocks, comes as zeros; `touched` lists the blocks with edges, and always
    these two. How many there are.
    """
    order, count = len(block), 0
    for row in range(2):
        touched[count] = blocks[row]
        count += 1
    for row in range(2):
        vertex = members[2 * order + blocks[row]]
        while vertex >= 0:
            for neighbour in neighbours[starts[vertex] : starts[vertex + 1]]:
                third = block[neighbour]
                new = third != blocks[0] and third != blocks[1]
                if new and tallies[0, third] == 0 and tallies[1, third] == 0:
                    touched[count] = third
                    count += 1
                tallies[row, third] += 1
            vertex = members[vertex]
    return count


@njit(cache=True, nogil=True)
def carry(
    vertex: int,
    row: int,
    blocks: tuple[int, int],
    starts: Whole,
    neighbours: Vertices,
    block: Whole,
    tallies: Whole,
) -> None:
    """Move a vertex from one of the two blocks, that of a row of `tallies`, to the other.

    The tallies and `block` follow; lists and sizes do not.
    """
    here, there = blocks[row], blocks[1 - row]
    for neighbour in neighbours[starts[vertex] : starts[vertex + 1]]:
        third = block[neighbour]
        tallies[row, third] -= 1
        tallies[1 - row, third] += 1
        if third == here:
            tallies[row, here] -= 1
            tallies[row, there] += 1
        elif third == there:
            tallies[1 - row, here] -= 1
            tallies[1 - row, there] += 1
    block[vertex] = there


@njit(cache=True, nogil=True)
def cost_of(
    blocks: tuple[int, int], sizes: tuple[int, int], all_sizes: Whole, tallies: Whole, thirds: Whole
) -> float:
    """The part of log |W| that two blocks of these sizes have to do with, by their tallies."""
    total = 0.0
    for third in thirds:
        for row in range(2):
            edges, size = tallies[row, third], sizes[row]
            if third == blocks[row]:
                total += log_choose(size * (size - 1) // 2, edges // 2)
            elif third == blocks[1 - row]:
                total += log_choose(size * sizes[1 - row], edges) if row == 0 else 0.0
            elif edges:
                total += log_choose(size * all_sizes[third], edges)
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
    tallies = np.zeros((2, len(sizes)), dtype=np.int64)
    touched = np.empty(len(sizes), dtype=np.int64)
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
        blocks, before = (one, other), (sizes[one], sizes[other])
        found = tally(blocks, starts, neighbours, block, members, tallies, touched)
        change = -cost_of(blocks, before, sizes, tallies, touched[:found])
        gained = 0
        for vertex in moved[:count]:
            row = 0 if block[vertex] == one else 1
            gained += 2 * row - 1
            carry(vertex, row, blocks, starts, neighbours, block, tallies)
        after = (before[0] + gained, before[1] - gained)
        # A block that was met by a moved vertex has edges with one of the two: it is listed.
        change += cost_of(blocks, after, sizes, tallies, touched[:found])
        for third in touched[:found]:
            tallies[0, third] = tallies[1, third] = 0
        heat = warmth[0] * (warmth[1] / warmth[0]) ** (step / len(words))
        is_taken = change <= 0 or _next(state, 1 << 30) < exp(-change / heat) * (1 << 30)
        for vertex in moved[:count]:  # the lists follow, or the vertices go back
            to = block[vertex]
            block[vertex] = one if to == other else other
            if is_taken:
                shift(vertex, to, block, sizes, members)
        if not is_taken:
            continue
        taken += 1
        costs[0] += change
        if before[1] == 0:
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
    return taken
