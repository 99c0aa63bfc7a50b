"""Hot loops of the models: what each class meets, and how many of its records must go.

Each bound answers one question: how many records of a class can be kept at most, if the kept ones
together meet the model? Models here survive merging, so the kept parts of any finer partition form
such a set, and the rest must go. The kernels find the largest real `kept` with g(kept) >= 0 for a
concave g with g(0) = 0 by Newton steps from the right: a tangent lies above a concave function, so
no step passes the root, and every step is already a valid bound.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core._kernels import first_at_least
from celosia.core.kernels import njit

Array = NDArray[Any]

STEPS = 60
"""Newton steps at most; piecewise linear functions need one for each piece, others a handful."""

NEAR = 0.01
"""A step of fewer records is the last: the root is near, and fewer steps are a valid bound too."""


@njit(cache=True, nogil=True)
def _widest(starts: Array) -> int:
    """The largest number of values in one class."""
    widest = 0
    for each in range(starts.size - 1):
        widest = max(widest, starts[each + 1] - starts[each])
    return widest


@njit(cache=True, nogil=True)
def _must_go(size: int, kept: float) -> int:
    """Whole records above `kept`, on the safe side of rounding."""
    return max(0, min(size, math.ceil(size - kept - 1e-9 * size)))


@njit(cache=True, nogil=True)
def _most_kept(have: Array, share: Array, used: int, size: int, slope: float) -> float:
    """The largest `kept` with sum(min(have, share * kept)) >= slope * kept."""
    kept = float(size)
    for _ in range(STEPS):
        full, rising = 0.0, 0.0
        for place in range(used):
            rises = share[place] * kept < have[place]
            rising += share[place] if rises else 0.0
            full += 0.0 if rises else have[place]
        if full + rising * kept >= slope * kept:
            break
        fewer = full / (slope - rising)
        if fewer > kept - NEAR:
            break
        kept = fewer
    return kept


@njit(cache=True, nogil=True)
def within_caps(
    starts: Array,
    values: Array,
    counts: Array,
    sizes: Array,
    caps: Array,
    factor: float,
    least: int,
) -> tuple[Array, Array]:
    """Whether no value has more than its cap, a share of the class; and how many records must go.

    `factor` widens (above 1) or narrows (below 1, for strict bounds) the caps by a tie. Classes
    of fewer than `least` records fail. A kept set has at most min(count, cap * kept) records of
    each value, so kept <= the sum of these: exact, because a set with these numbers meets the caps.
    """
    classes = sizes.size
    satisfied = np.ones(classes, dtype=np.bool_)
    must_go = np.zeros(classes, dtype=np.int64)
    widest = _widest(starts)
    have, share = np.empty(widest), np.empty(widest)
    for each in range(classes):
        size = sizes[each]
        if size < least:
            satisfied[each] = False
            must_go[each] = size
            continue
        first, last = starts[each], starts[each + 1]
        for entry in range(first, last):
            if counts[entry] > caps[values[entry]] * size * factor:
                satisfied[each] = False
                break
        if satisfied[each]:
            continue
        for entry in range(first, last):
            have[entry - first] = counts[entry]
            share[entry - first] = caps[values[entry]]
        kept = _most_kept(have, share, last - first, size, 1 - 1e-9)
        go = max(1, _must_go(size, kept))
        must_go[each] = go if size - go >= least else size
    return satisfied, must_go


@njit(cache=True, nogil=True)
def tree_distances(
    starts: Array,
    values: Array,
    counts: Array,
    sizes: Array,
    nodes: Array,
    totals: Array,
    rows: float,
    limit: float,
    least: int,
) -> tuple[Array, Array, Array]:
    """Distances between classes and table, whether they are within the limit, and what must go.

    `nodes[level, value]` numbers the nodes of all levels in one row, `totals` has their records in
    the table of `rows`. The distance is the mean over levels of 1 - sum(min(share in the class,
    share in the table)). Numbers of records are kept as floats, which hold whole numbers exactly.

    A kept set shares at most min(count, share * kept) records with the table at each node, and one
    set reaches this at all nodes: a node's sum is at least that of its children and at most its
    count. So the bound is exact. Classes of fewer than `least` records fail, without a look.
    """
    levels, classes = nodes.shape[0], sizes.size
    distances = np.empty(classes)
    satisfied = np.ones(classes, dtype=np.bool_)
    must_go = np.zeros(classes, dtype=np.int64)
    seen = np.full(totals.size, -1, dtype=np.int64)  # the class that last met the node
    place = np.empty(totals.size, dtype=np.int64)
    widest = _widest(starts) * levels
    have, total = np.empty(widest), np.empty(widest)
    for each in range(classes):
        size = sizes[each]
        if size < least:
            satisfied[each], must_go[each], distances[each] = False, size, np.nan
            continue
        used: Any = np.int64(0)  # a literal is one more type to compile for
        for level in range(levels):
            for entry in range(starts[each], starts[each + 1]):
                node = nodes[level, values[entry]]
                if seen[node] != each:
                    seen[node] = each
                    place[node] = used
                    have[used] = 0.0
                    total[used] = totals[node]
                    used += 1
                have[place[node]] += counts[entry]
        shared = 0.0
        for at in range(used):
            shared += min(have[at] * rows, total[at] * size)
        whole = levels * size * rows
        distances[each] = (whole - shared) / whole
        if whole - shared > limit * whole * (1 + 1e-12):
            satisfied[each] = False
            for at in range(used):
                total[at] /= rows
            slope = levels * (1 - limit - 1e-9)
            must_go[each] = max(1, _must_go(size, _most_kept(have, total, used, size, slope)))
    return distances, satisfied, must_go


@njit(cache=True, nogil=True)
def count_full(class_of: Array, values: Array, counts: Array, full: Array) -> None:
    """Count the values of rows that stand for so many records, in full rows of their classes."""
    for row in range(class_of.size):
        full[class_of[row], values[row]] += counts[row]


@njit(cache=True, nogil=True)
def merge_full(class_of: Array, old: Array, new: Array) -> None:
    """Add up the full rows, as words of counters, of classes that have become part of new ones."""
    for each in range(class_of.size):
        for word in range(old.shape[1]):
            new[class_of[each], word] += old[each, word]


@njit(cache=True, nogil=True)
def compress(full: Array, starts: Array, values: Array, counts: Array) -> int:
    """Write the compressed rows of full ones, and say how many entries there are.

    There is room for one entry more than can be: it is written before it is known to count.
    """
    filled: Any = np.int64(0)  # a literal is one more type to compile for
    for each in range(full.shape[0]):
        for value in range(full.shape[1]):
            values[filled] = value
            counts[filled] = full[each, value]
            filled += full[each, value] > 0
        starts[each + 1] = filled
    return int(filled)


@njit(cache=True, nogil=True)
def full_within_caps(
    full: Array, sizes: Array, caps: Array, factor: float, least: int
) -> tuple[Array, Array]:
    """As `within_caps`, of full rows."""
    classes, width = full.shape
    satisfied = np.ones(classes, dtype=np.bool_)
    must_go = np.zeros(classes, dtype=np.int64)
    have = np.empty(width)
    for each in range(classes):
        size = sizes[each]
        over: Any = np.int64(0)  # a literal is one more type to compile for
        if size >= least:
            for value in range(width):
                have[value] = full[each, value]
                over += have[value] > caps[value] * size * factor
        if size < least:
            satisfied[each], must_go[each] = False, size
        elif over:
            satisfied[each] = False
            go = max(1, _must_go(size, _most_kept(have, caps, width, size, 1 - 1e-9)))
            must_go[each] = go if size - go >= least else size
    return satisfied, must_go


@njit(cache=True, nogil=True)
def full_tree_distances(
    full: Array,
    sizes: Array,
    nodes: Array,
    totals: Array,
    rows: float,
    limit: float,
    least: int,
) -> tuple[Array, Array]:
    """As `tree_distances`, of full rows: whether they are within the limit, and what must go."""
    levels, width = nodes.shape
    classes = sizes.size
    satisfied = np.ones(classes, dtype=np.bool_)
    must_go = np.zeros(classes, dtype=np.int64)
    have, share = np.empty(totals.size), totals / rows
    for each in range(classes):
        size = sizes[each]
        if size < least:
            satisfied[each], must_go[each] = False, size
            continue
        have[:] = 0.0
        for level in range(levels):
            for value in range(width):
                have[nodes[level, value]] += full[each, value]
        shared = 0.0
        for node in range(totals.size):
            shared += min(have[node] * rows, totals[node] * size)
        whole = levels * size * rows
        if whole - shared > limit * whole * (1 + 1e-12):
            satisfied[each] = False
            slope = levels * (1 - limit - 1e-9)
            must_go[each] = max(
                1, _must_go(size, _most_kept(have, share, totals.size, size, slope))
            )
    return satisfied, must_go


@njit(cache=True, nogil=True)
def _beyond(
    values: Array, counts: Array, size: int, cumulated: Array, sums: Array, kept: float
) -> tuple[float, float]:
    """What `ordered_distances` sums over gaps for a kept set, as slope * kept - level.

    In a run of values that the class lacks its records below stay the same, and binary search finds
    where the table passes them.
    """
    gaps = cumulated.size - 1
    rows = cumulated[gaps]
    slope, level, below = 0.0, 0.0, 0.0
    begin = 0
    for entry in range(values.size + 1):
        end = gaps if entry == values.size else min(gaps, values[entry])
        if begin < end:
            over = first_at_least(cumulated, begin, end, below * rows / kept)
            under = first_at_least(cumulated, begin, end, (kept - size + below) * rows / kept)
            slope += sums[end] - sums[over] + (under - begin) * rows - (sums[under] - sums[begin])
            level += ((end - over) * below + (under - begin) * (size - below)) * rows
            begin = end
        if entry < values.size:
            below += counts[entry]
    return slope, level


@njit(cache=True, nogil=True)
def ordered_distances(
    starts: Array,
    values: Array,
    counts: Array,
    sizes: Array,
    cumulated: Array,
    sums: Array,
    limit: float,
    least: int,
) -> tuple[Array, Array, Array]:
    """Distances of values in their order, whether they are within the limit, and what must go.

    `cumulated[i]` are the table's records up to value i, `sums[i]` the sum of `cumulated[:i]`. The
    distance is the mean over gaps between neighbouring values of |share below in the class - share
    below in the table|.

    A kept set has, below each gap, at most the class's records there, and at least kept minus its
    records above the gap: the sum over gaps of the table's distance from this range bounds its own.
    Classes of fewer than `least` records fail, without a look.
    """
    gaps = cumulated.size - 1
    distances = np.zeros(sizes.size)
    satisfied = np.ones(sizes.size, dtype=np.bool_)
    must_go = np.zeros(sizes.size, dtype=np.int64)
    for each in range(sizes.size if gaps else 0):
        size, kept = sizes[each], float(sizes[each])
        if size < least:
            satisfied[each], must_go[each], distances[each] = False, size, np.nan
            continue
        own = slice(starts[each], starts[each + 1])
        slope, level = _beyond(values[own], counts[own], size, cumulated, sums, kept)
        unit = cumulated[gaps] * gaps
        distances[each] = (slope * kept - level) / (kept * unit)
        if slope * kept - level <= limit * kept * unit * (1 + 1e-12):
            continue
        satisfied[each] = False
        allowed = (limit + 1e-9) * unit
        for _ in range(STEPS):
            if slope * kept - level <= allowed * kept:
                break
            fewer = level / (slope - allowed)
            if fewer > kept - NEAR or fewer <= 0:
                kept = min(kept, fewer)
                break
            kept = fewer
            slope, level = _beyond(values[own], counts[own], size, cumulated, sums, kept)
        must_go[each] = max(1, _must_go(size, kept))
    return distances, satisfied, must_go


@njit(cache=True, nogil=True)
def _weight(count: int, table: Array, corrected: bool) -> float:
    """Count times its logarithm, or times Grassberger's G, from the table or by its series."""
    if count < table.size:
        return float(table[count])
    if not corrected:
        return count * math.log(count)
    half = count // 2
    return count * (math.log(2.0 * half) + 1 / (24.0 * half * half))


@njit(cache=True, nogil=True)
def _levelled_kept(ordered: Array, size: int, table: Array, target: float) -> float:
    """At most how many records can be kept with an entropy of at least `target`.

    Among kept sets of one size, cutting the largest counts down to a common level gives the most
    entropy: it is majorised by every other. Its entropy times its size is concave in its size.
    """
    used, capped = ordered.size, 1
    kept, rest, weight = float(size), 0.0, 0.0
    for place in range(1, used):
        rest += ordered[place]
        weight += _weight(ordered[place], table, False)
    for _ in range(STEPS):
        level = (kept - rest) / capped
        while capped < used and level <= ordered[capped]:
            rest -= ordered[capped]
            weight -= _weight(ordered[capped], table, False)
            capped += 1
            level = (kept - rest) / capped
        excess = kept * (math.log(kept) - target) - capped * level * math.log(level) - weight
        if excess >= 0:
            break
        slope = math.log(kept / level) - target
        if slope >= 0:
            break
        fewer = kept - excess / slope
        if fewer > kept - NEAR or fewer < used:  # near enough; below one each is rounding
            break
        kept = fewer
    return kept


@njit(cache=True, nogil=True)
def _largest(counts: Array, first: int, last: int, top: Array) -> None:
    """Write the largest counts of one class in descending order, as many as `top` takes."""
    top[:] = 0
    for entry in range(first, last):
        place = top.size
        while place > 0 and top[place - 1] < counts[entry]:
            if place < top.size:
                top[place] = top[place - 1]
            place -= 1
        if place < top.size:
            top[place] = counts[entry]


@njit(cache=True, nogil=True)
def entropy_at_least(
    starts: Array,
    counts: Array,
    sizes: Array,
    table: Array,
    logs: Array,
    least: int,
    target: float,
    corrected: bool,
    provable: float,
) -> tuple[Array, Array, Array]:
    """Entropy of each class in nats, whether it is at least `target`, and what must go.

    Classes with fewer than `least` different values fail, and so does every part of them. A kept
    set of the others has a plain entropy of at least `provable`.
    """
    classes = sizes.size
    entropies = np.empty(classes)
    satisfied = np.ones(classes, dtype=np.bool_)
    must_go = np.zeros(classes, dtype=np.int64)
    room = np.empty(_widest(starts), dtype=np.int64)
    for each in range(classes):
        size, first, last = sizes[each], starts[each], starts[each + 1]
        weight = 0.0
        for entry in range(first, last):
            weight += _weight(counts[entry], table, corrected)
        entropies[each] = math.log(size) - weight / size
        if last - first < least:
            satisfied[each] = False
            must_go[each] = size
        elif entropies[each] < target - 1e-12:
            satisfied[each] = False
            if provable > 0:
                ordered = room[: last - first]
                _largest(counts, first, last, ordered)
                must_go[each] = _must_go(size, _levelled_kept(ordered, size, logs, provable))
            if not corrected:
                must_go[each] = max(1, must_go[each])
    return entropies, satisfied, must_go


@njit(cache=True, nogil=True)
def _kept_below(counts: Array, first: int, last: int, cap: int) -> int:
    """Records of one class when every count is cut at a cap."""
    kept = 0
    for entry in range(first, last):
        kept += min(counts[entry], cap)
    return kept


@njit(cache=True, nogil=True)
def _capped_kept(counts: Array, first: int, last: int, top: Array, tail: int, factor: float) -> int:
    """At most how many records can be kept with the largest count below `factor` times the tail.

    `tail` is the class's own, `top` its largest counts as far as the first of the tail.
    """
    low, high = 0, top[0]  # the condition holds at low, or low is 0; it does not at high
    while high - low > 1:
        cap = (low + high) // 2
        rest = tail
        if cap < top[-1]:
            rest = _kept_below(counts, first, last, cap) - (top.size - 1) * cap
        if cap < factor * rest:
            low = cap
        else:
            high = cap
    return _kept_below(counts, first, last, low)


@njit(cache=True, nogil=True)
def most_frequent_below_tail(
    starts: Array, counts: Array, sizes: Array, factor: float, rank: int, least: int
) -> tuple[Array, Array]:
    """Whether the largest count is below `factor` times the sum from the rank-th on; what must go.

    In a kept set no count reaches `factor` times its own tail, which is at most the class's. With
    all counts cut at a common cap, the condition reads cap < factor * tail(cap), whose right side
    is concave in the cap: it holds up to some cap, and what is above that must go. Classes of fewer
    than `least` records fail, without a look.
    """
    satisfied = np.zeros(sizes.size, dtype=np.bool_)
    must_go = np.zeros(sizes.size, dtype=np.int64)
    top = np.zeros(rank, dtype=np.int64)
    narrowed = factor * (1 - 1e-12)  # a tie fails, whichever way it is rounded
    for each in range(sizes.size):
        first, last = starts[each], starts[each + 1]
        if last - first < rank or sizes[each] < least:
            must_go[each] = sizes[each]
            continue
        _largest(counts, first, last, top)
        tail = sizes[each] - top[: rank - 1].sum()
        if top[0] < narrowed * tail:
            satisfied[each] = True
        else:
            kept = _capped_kept(counts, first, last, top, tail, narrowed)
            must_go[each] = sizes[each] - kept
    return satisfied, must_go
