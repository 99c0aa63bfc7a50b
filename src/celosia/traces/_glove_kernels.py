"""Kernels of Glove: the cost of merging two traces of boxes, and the merged trace.

Samples lie in one arena; a trace is an offset and a length. Each sample of the longer trace joins
the sample of the shorter that is nearest in time; samples of the shorter that nothing joins go to
their nearest neighbour that has something. A sample that would make a box too large is suppressed,
and so is a box without a sample of both traces. `tests/traces/test_glove.py` has the plain twin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Array = NDArray[Any]


@njit(cache=True, nogil=True)
def buckets_of(
    times: Array, offset: Array, length: Array, one: int, other: int
) -> tuple[Array, Array, int, int]:
    """The bucket of each sample of the shorter and of the longer trace; which is which."""
    short, long = (one, other) if length[one] <= length[other] else (other, one)
    m, n = length[short], length[long]
    at, beside = offset[short], offset[long]
    of_long = np.empty(n, dtype=np.int64)
    taken = np.zeros(m, dtype=np.bool_)
    place = 0
    for i in range(n):
        moment = times[beside + i, 0] + times[beside + i, 1]
        while place + 1 < m:
            here = abs(times[at + place, 0] + times[at + place, 1] - moment)
            there = abs(times[at + place + 1, 0] + times[at + place + 1, 1] - moment)
            if there < here:
                place += 1
            else:
                break
        of_long[i] = place
        taken[place] = True
    of_short = np.empty(m, dtype=np.int64)
    left = -1
    for i in range(m):
        if taken[i]:
            left = i
        of_short[i] = left
    right = -1
    for i in range(m - 1, -1, -1):
        if taken[i]:
            right = i
        if not taken[i]:
            moment = times[at + i, 0] + times[at + i, 1]
            before, after = of_short[i], right
            if before < 0:
                of_short[i] = after
            elif after >= 0:
                early = moment - times[at + before, 0] - times[at + before, 1]
                late = times[at + after, 0] + times[at + after, 1] - moment
                of_short[i] = after if late < early else before
    return of_short, of_long, short, long


@njit(cache=True, nogil=True)
def size_of(
    times: Array, boxes: Array, row: int, metres: float, seconds: float, phi: float
) -> float:
    """The size of a box, from 0 to 1: its longer side and its time as shares of the limits."""
    side = max(boxes[row, 2] - boxes[row, 0], boxes[row, 3] - boxes[row, 1]) + 1
    span = times[row, 1] - times[row, 0]
    return float(phi * min(1.0, side / metres) + (1 - phi) * min(1.0, span / seconds))


@njit(cache=True, nogil=True)
def _join(
    times: Array,
    boxes: Array,
    weights: Array,
    row: int,
    bucket: int,
    to_times: Array,
    to_boxes: Array,
    to_weights: Array,
    metres: float,
    seconds: float,
) -> bool:
    """Let a sample join a bucket, unless the box would become too large."""
    west, south, east, north = boxes[row]
    start, end = times[row]
    if to_weights[bucket] > 0:
        west, south = min(to_boxes[bucket, 0], west), min(to_boxes[bucket, 1], south)
        east, north = max(to_boxes[bucket, 2], east), max(to_boxes[bucket, 3], north)
        start, end = min(to_times[bucket, 0], start), max(to_times[bucket, 1], end)
    if max(east - west, north - south) + 1 > metres or end - start > seconds:
        return False
    to_boxes[bucket, 0], to_boxes[bucket, 1] = west, south
    to_boxes[bucket, 2], to_boxes[bucket, 3] = east, north
    to_times[bucket, 0], to_times[bucket, 1] = start, end
    to_weights[bucket] += weights[row]
    return True


@njit(cache=True, nogil=True)
def joined(
    times: Array,
    boxes: Array,
    weights: Array,
    offset: Array,
    length: Array,
    one: int,
    other: int,
    metres: float,
    seconds: float,
) -> tuple[Array, Array, Array, Array, Array, int, int]:
    """The boxes of both traces together; and the bucket of each sample, -1 if suppressed."""
    of_short, of_long, short, long = buckets_of(times, offset, length, one, other)
    m, n = length[short], length[long]
    to_times = np.zeros((m, 2), dtype=np.int64)
    to_boxes = np.zeros((m, 4), dtype=np.int64)
    to_weights = np.zeros(m, dtype=np.int64)
    both = np.zeros(m, dtype=np.bool_)
    for own in range(2):  # the sample that a bucket is named for comes first
        for i in range(m):
            if (of_short[i] == i) == (own == 0) and not _join(
                times,
                boxes,
                weights,
                offset[short] + i,
                of_short[i],
                to_times,
                to_boxes,
                to_weights,
                metres,
                seconds,
            ):
                of_short[i] = -1
    for i in range(n):
        if to_weights[of_long[i]] > 0 and _join(
            times,
            boxes,
            weights,
            offset[long] + i,
            of_long[i],
            to_times,
            to_boxes,
            to_weights,
            metres,
            seconds,
        ):
            both[of_long[i]] = True
        else:
            of_long[i] = -1
    for i in range(m):
        if of_short[i] >= 0 and not both[of_short[i]]:
            to_weights[of_short[i]] = 0
            of_short[i] = -1
    return to_times, to_boxes, to_weights, of_short, of_long, short, long


@njit(cache=True, nogil=True)
def merge_cost(
    times: Array,
    boxes: Array,
    weights: Array,
    offset: Array,
    length: Array,
    one: int,
    other: int,
    metres: float,
    seconds: float,
    phi: float,
) -> float:
    """The mean growth of a point's box; 1 for a point that is suppressed."""
    if length[one] == 0 or length[other] == 0:
        return 1.0
    to_times, to_boxes, _, of_short, of_long, short, long = joined(
        times, boxes, weights, offset, length, one, other, metres, seconds
    )
    total, cost = 0.0, 0.0
    for turn in range(2):
        trace, places = (short, of_short) if turn == 0 else (long, of_long)
        for i in range(length[trace]):
            row, bucket = offset[trace] + i, places[i]
            weight = float(weights[row])
            total += weight
            if bucket < 0:
                cost += weight
            else:
                after = size_of(to_times, to_boxes, bucket, metres, seconds, phi)
                cost += weight * (after - size_of(times, boxes, row, metres, seconds, phi))
    return cost / total


@njit(cache=True, nogil=True)
def merge_costs(
    times: Array,
    boxes: Array,
    weights: Array,
    offset: Array,
    length: Array,
    one: int,
    others: Array,
    metres: float,
    seconds: float,
    phi: float,
) -> Array:
    """The cost of merging one trace with each of several."""
    found = np.empty(others.size, dtype=np.float64)
    for i in range(others.size):
        found[i] = merge_cost(
            times, boxes, weights, offset, length, one, others[i], metres, seconds, phi
        )
    return found


@njit(cache=True, nogil=True)
def merge_into(
    times: Array,
    boxes: Array,
    weights: Array,
    offset: Array,
    length: Array,
    one: int,
    other: int,
    metres: float,
    seconds: float,
) -> tuple[int, int]:
    """Put the merged trace in the place of the shorter; its number, and the points suppressed."""
    short = one if length[one] <= length[other] else other
    before = 0
    for trace in (one, other):
        for i in range(length[trace]):
            before += weights[offset[trace] + i]
    if length[one] == 0 or length[other] == 0:  # nothing common is left to publish
        length[one] = length[other] = 0
        return short, before
    to_times, to_boxes, to_weights, _, _, _, _ = joined(
        times, boxes, weights, offset, length, one, other, metres, seconds
    )
    done, kept = 0, 0
    for bucket in range(to_weights.size):
        if to_weights[bucket] == 0:
            continue
        row = offset[short] + done
        for place in range(4):
            boxes[row, place] = to_boxes[bucket, place]
        times[row, 0], times[row, 1] = to_times[bucket, 0], to_times[bucket, 1]
        weights[row] = to_weights[bucket]
        kept += to_weights[bucket]
        done += 1
    length[short] = done
    return short, before - kept
