"""Kernels that count sets of items; each has a plain twin in the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@njit(cache=True, nogil=True)
def rare_sets(
    offsets: Ints,
    items: Codes,
    count: int,
    size: int,
    k: int,
    private: Codes,
    privates: int,
    top: int,
    bottom: int,
    strict: bool,
    limit: int,
) -> Codes:
    """The sets of `size` items that break a condition, one in each row; at most `limit` of them.

    Walks the sets by their prefixes: the transactions that hold a prefix are sorted into buckets by
    their further items, so that the work is linear in the sets that occur.

    Args:
        offsets: where each transaction begins.
        items: of the transactions, in ascending order.
        count: how many different items there are.
        size: items of a set.
        k: a set with fewer transactions breaks the condition; 0 for none.
        private: for each item the number of the private item that it is, or -1. Private items are
            part of a set only where `strict` is set.
        privates: how many private items there are.
        top: with bottom, the share of transactions of a set that may have one private item.
        bottom: see top.
        strict: whether the share must be below top / bottom, and sets may hold private items;
            otherwise it must not be above, and sets hold public items only.
        limit: where to stop.
    """
    found = np.empty((limit, size), dtype=np.int32)
    number = 0
    lists = np.empty((size, len(items)), dtype=np.int64)
    starts = np.zeros((size, count + 1), dtype=np.int64)
    prefix = np.full(size, -1, dtype=np.int32)
    everyone = np.arange(len(offsets) - 1)
    _fill_buckets(everyone, -1, offsets, items, starts[0], lists[0])
    joint = np.zeros(max(privates, 1), dtype=np.int64)
    cursor = np.zeros(size, dtype=np.int64)
    depth = 0
    while depth >= 0:
        item = cursor[depth]
        if item >= count:
            depth -= 1
            if depth >= 0:
                cursor[depth] += 1
            continue
        low, high = starts[depth, item], starts[depth, item + 1]
        if low == high or (not strict and private[item] >= 0):
            cursor[depth] += 1
            continue
        prefix[depth] = item
        holders = lists[depth, low:high]
        if depth < size - 1:
            _fill_buckets(holders, item, offsets, items, starts[depth + 1], lists[depth + 1])
            cursor[depth + 1] = item + 1
            depth += 1
            continue
        breaks = high - low < k
        if privates and not breaks:
            _count_private(holders, offsets, items, private, prefix, joint)
            most = joint.max()
            share, allowed = most * bottom, top * (high - low)
            breaks = (most > 0 and share >= allowed) if strict else share > allowed
        if breaks:
            found[number] = prefix
            number += 1
            if number == limit:
                return found
        cursor[depth] += 1
    return found[:number]


@njit(cache=True, nogil=True)
def _fill_buckets(
    holders: Ints, item: int, offsets: Ints, items: Codes, starts: Ints, lists: Ints
) -> None:
    """Sort transactions into buckets by each of their items above `item`."""
    starts[:] = 0
    for one in holders:
        for at in range(offsets[one + 1] - 1, offsets[one] - 1, -1):
            if items[at] <= item:
                break
            starts[items[at] + 1] += 1
    for other in range(len(starts) - 1):
        starts[other + 1] += starts[other]
    place = starts[:-1].copy()
    for one in holders:
        for at in range(offsets[one + 1] - 1, offsets[one] - 1, -1):
            if items[at] <= item:
                break
            lists[place[items[at]]] = one
            place[items[at]] += 1


@njit(cache=True, nogil=True)
def _count_private(
    holders: Ints, offsets: Ints, items: Codes, private: Codes, prefix: Codes, joint: Ints
) -> None:
    """How many of some transactions have each private item; one of the set itself is no news."""
    joint[:] = 0
    for one in holders:
        for at in range(offsets[one], offsets[one + 1]):
            if private[items[at]] >= 0:
                joint[private[items[at]]] += 1
    for item in prefix:
        if private[item] >= 0:
            joint[private[item]] = 0


@njit(cache=True, nogil=True)
def node_bits(
    offsets: Ints, items: Codes, leaf_of: Codes, parents: Codes, words: int
) -> NDArray[np.uint64]:
    """For each node of the tree the transactions that have an item under it, as bits."""
    bits = np.zeros((len(parents), words), dtype=np.uint64)
    for one in range(len(offsets) - 1):
        word, bit = one >> 6, np.uint64(1) << np.uint64(one & 63)
        for at in range(offsets[one], offsets[one + 1]):
            node = leaf_of[items[at]]
            while True:
                if bits[node, word] & bit:
                    break
                bits[node, word] |= bit
                if parents[node] == node:
                    break
                node = parents[node]
    return bits


@njit(cache=True, nogil=True)
def raise_cut(
    cut: Codes,
    sets: Codes,
    bits: NDArray[np.uint64],
    parents: Codes,
    depths: Codes,
    costs: NDArray[np.float64],
    k: int,
) -> int:
    """Raise the cut for each violating set at least cost; returns how often it was raised.

    Args:
        cut: for each node the node of the cut that replaces it (at or above it), or -1 for nodes
            above the cut; changed in place.
        sets: violating sets of nodes of the cut, one in each row.
        bits: the transactions of each node.
        parents: of the nodes.
        depths: of the nodes.
        costs: what it costs if a node replaces all below it.
        k: the support that is wanted.
    """
    raised = 0
    size = sets.shape[1]
    below = np.zeros(len(parents), dtype=np.float64)
    choice = np.zeros(size, dtype=np.int32)
    best = np.zeros(size, dtype=np.int32)
    both = np.zeros(bits.shape[1], dtype=np.uint64)
    is_covered = np.zeros(size, dtype=np.bool_)
    for node in range(len(parents)):
        if cut[node] == node:
            _add_upwards(below, node, costs[node], parents)
    for row in range(len(sets)):
        members = sets[row]
        if (cut[members] != members).any():
            continue  # an earlier set raised the cut above one of them
        lowest = np.inf
        choice[:] = members
        while True:
            price = _price(choice, is_covered, costs, below, parents, depths)
            if price < lowest:
                both[:] = np.uint64(0xFFFFFFFFFFFFFFFF)
                for place in range(size):
                    if not is_covered[place]:
                        both &= bits[choice[place]]
                if _count_bits(both, k) >= k:
                    lowest = price
                    best[:] = choice
            if not _next_choice(choice, members, parents):
                break
        for place in range(size):
            above = int(best[place])
            if cut[above] < 0:  # above the cut: it goes up there
                _add_upwards(below, above, costs[above] - below[above], parents)
                _replace_below(cut, above, parents, depths)
                raised += 1
    return raised


@njit(cache=True, nogil=True)
def _add_upwards(below: NDArray[np.float64], node: int, change: float, parents: Codes) -> None:
    """Add to a node and all above it."""
    while True:
        below[node] += change
        if parents[node] == node:
            break
        node = parents[node]


@njit(cache=True, nogil=True)
def _replace_below(cut: Codes, node: int, parents: Codes, depths: Codes) -> None:
    """Let a node replace itself and all below it."""
    for other in range(len(cut)):
        up = other
        while depths[up] > depths[node]:
            up = parents[up]
        if up == node:
            cut[other] = node


@njit(cache=True, nogil=True)
def _price(
    choice: Codes,
    is_covered: NDArray[np.bool_],
    costs: NDArray[np.float64],
    below: NDArray[np.float64],
    parents: Codes,
    depths: Codes,
) -> float:
    """What a choice of nodes costs; a node under another chosen one is covered, at no cost."""
    price = 0.0
    for place in range(len(choice)):
        is_covered[place] = False
        for other in range(len(choice)):
            node = choice[place]
            while depths[node] > depths[choice[other]]:
                node = parents[node]
            is_same = choice[place] == choice[other]
            if node == choice[other] and (not is_same or other < place):
                is_covered[place] = True
        if not is_covered[place]:
            price += costs[choice[place]] - below[choice[place]]
    return price


@njit(cache=True, nogil=True)
def _next_choice(choice: Codes, members: Codes, parents: Codes) -> bool:
    """The next choice of ancestors, as an odometer turns; False after the last."""
    for place in range(len(choice)):
        if parents[choice[place]] != choice[place]:
            choice[place] = parents[choice[place]]
            return True
        choice[place] = members[place]
    return False


@njit(cache=True, nogil=True)
def _count_bits(bits: NDArray[np.uint64], enough: int) -> int:
    """How many bits are set, counted no further than `enough`."""
    count = 0
    for word in bits:
        left = word
        while left:
            left &= left - np.uint64(1)
            count += 1
            if count >= enough:
                return count
    return count
