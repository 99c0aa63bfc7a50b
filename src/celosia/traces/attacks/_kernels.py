"""Kernels of unicity: how many traces contain all of a few known samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core._kernels import first_at_least
from celosia.core.kernels import njit

Array = NDArray[Any]


@njit(cache=True, nogil=True)
def _has(keys: Array, start: int, end: int, key: int) -> bool:
    """Whether a sorted stretch holds a key."""
    place = first_at_least(keys, start, end, key)
    # Not beyond the stretch: the key that follows is another trace's.
    return place < end and keys[place] == key


@njit(cache=True, nogil=True)
def random_keys(keys: Array, starts: Array, kept_starts: Array, coins: Array) -> Array:
    """Random keys of each trace without replacement, in random order: a shuffle that ends early.

    `keys` lists those of each trace from `starts`, `kept_starts` says how many of each are kept;
    `coins` has numbers below 2^31 for each. The bias is below the number of keys over 2^31.
    """
    found = np.empty(kept_starts[-1], dtype=np.int64)
    for trace in range(starts.size - 1):
        own = keys[starts[trace] : starts[trace + 1]].copy()
        begin = kept_starts[trace]
        for i in range(kept_starts[trace + 1] - begin):
            j = i + coins[trace, i] * (own.size - i) // 2**31
            own[i], own[j] = own[j], own[i]
            found[begin + i] = own[i]
    return found


@njit(cache=True, nogil=True)
def candidates(
    known: Array,
    known_starts: Array,
    points: int,
    keys: Array,
    starts: Array,
    holders: Array,
    key_starts: Array,
    cap: int,
) -> tuple[Array, Array]:
    """For each target, how many traces hold its first `points` known keys; and the last of them.

    Counting ends at `cap`.

    `known` lists the keys of each target from `known_starts`; `keys` the sorted keys of each trace
    from `starts`; `holders` the traces of each key from `key_starts`. -1 for a target with fewer
    known keys; a key of -1 is in no trace.
    """
    size = known_starts.size - 1
    found = np.full(size, -1, dtype=np.int64)
    which = np.full(size, -1, dtype=np.int64)
    for target in range(size):
        begin = known_starts[target]
        if known_starts[target + 1] - begin < points:
            continue
        rarest, least = -1, 2**62
        for place in range(begin, begin + points):
            key = known[place]
            count = 0 if key < 0 else key_starts[key + 1] - key_starts[key]
            if count < least:
                rarest, least = place, count
        if least == 0:
            found[target] = 0
            continue
        count = 0
        first = known[rarest]
        for place in range(key_starts[first], key_starts[first + 1]):
            trace = holders[place]
            whole = True
            for other in range(begin, begin + points):
                if other != rarest and not _has(
                    keys, starts[trace], starts[trace + 1], known[other]
                ):
                    whole = False
                    break
            if whole:
                count += 1
                which[target] = trace
                if count == cap:
                    break
        found[target] = count
    return found, which


@njit(cache=True, nogil=True)
def alone_from(
    known: Array,
    known_starts: Array,
    most: int,
    keys: Array,
    starts: Array,
    holders: Array,
    key_starts: Array,
) -> Array:
    """For each target, with how many of its first known keys it is the only trace; 0 if with none.

    Arguments are as those of `candidates`, and the targets are the traces themselves: one that is
    alone with some keys is alone with more.
    """
    size = known_starts.size - 1
    found = np.zeros(size, dtype=np.int64)
    for target in range(size):
        begin = known_starts[target]
        rarest, least = -1, 2**62
        for points in range(1, min(most, known_starts[target + 1] - begin) + 1):
            key = known[begin + points - 1]
            if key_starts[key + 1] - key_starts[key] < least:
                rarest, least = begin + points - 1, key_starts[key + 1] - key_starts[key]
            first = known[rarest]
            is_alone = True
            for place in range(key_starts[first], key_starts[first + 1]):
                trace = holders[place]
                whole = trace != target
                for other in range(begin, begin + points):
                    if not whole:
                        break
                    if other != rarest:
                        whole = _has(keys, starts[trace], starts[trace + 1], known[other])
                if whole:
                    is_alone = False
                    break
            if is_alone:
                found[target] = points
                break
    return found


@njit(cache=True, nogil=True)
def holders_in_boxes(
    west: Array,
    south: Array,
    first: Array,
    targets: Array,
    points: int,
    side: int,
    width: int,
    trace: Array,
    box: Array,
    start: Array,
    end: Array,
    traces: int,
    owner: Array,
    person: Array,
) -> tuple[Array, Array]:
    """For each target, how many traces have boxes that meet all its known samples; is it one?

    A known sample is a square of `side` steps and a window of `width` seconds.
    """
    size = targets.size - 1
    found = np.zeros(size, dtype=np.int64)
    hit = np.zeros(size, dtype=np.bool_)
    counts = np.zeros(traces, dtype=np.int64)
    seen = np.full(traces, -1, dtype=np.int64)
    for target in range(size):
        counts[:] = 0
        seen[:] = -1
        for number in range(points):
            at = targets[target] + number
            for row in range(trace.size):
                if (
                    seen[trace[row]] != number
                    and start[row] < first[at] + width
                    and end[row] >= first[at]
                    and box[row, 0] < west[at] + side
                    and box[row, 2] >= west[at]
                    and box[row, 1] < south[at] + side
                    and box[row, 3] >= south[at]
                ):
                    seen[trace[row]] = number
                    counts[trace[row]] += 1
        for one in range(traces):
            if counts[one] == points:
                found[target] += 1
                if owner[one] == person[target]:
                    hit[target] = True
    return found, hit


@njit(cache=True, nogil=True)
def worst_subset(  # noqa: PLR0912 - all combinations of one trace
    keys: Array, starts: Array, holders: Array, key_starts: Array, points: int
) -> Array:
    """For each trace, the fewest traces that share some `points` of its keys (its own included).

    All combinations are tried, rarest keys first, until one is found that is the trace's alone.
    Traces with fewer keys are asked with all of them.
    """
    size = starts.size - 1
    found = np.zeros(size, dtype=np.int64)
    chosen = np.zeros(8, dtype=np.int64)
    for trace in range(size):
        own = keys[starts[trace] : starts[trace + 1]].copy()
        count = own.size
        if count == 0:
            found[trace] = -1
            continue
        sizes = np.empty(count, dtype=np.int64)
        for i in range(count):
            sizes[i] = key_starts[own[i] + 1] - key_starts[own[i]]
        own = own[np.argsort(sizes, kind="mergesort")]
        take = min(points, count)
        best = 2**62
        for i in range(take):
            chosen[i] = i
        while True:
            first = own[chosen[0]]  # the rarest of the subset
            shared = 0
            for place in range(key_starts[first], key_starts[first + 1]):
                other = holders[place]
                whole = True
                for i in range(1, take):
                    if not _has(keys, starts[other], starts[other + 1], own[chosen[i]]):
                        whole = False
                        break
                if whole:
                    shared += 1
                    if shared >= best:
                        break
            best = min(best, shared)
            if best == 1:
                break
            i = take - 1
            while i >= 0 and chosen[i] == count - take + i:
                i -= 1
            if i < 0:
                break
            chosen[i] += 1
            for j in range(i + 1, take):
                chosen[j] = chosen[j - 1] + 1
        found[trace] = best
    return found
