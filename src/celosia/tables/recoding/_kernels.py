"""Hot loops of the lattice search: grouping packed keys and summing what suppression costs.

Every kernel takes arrays and scalars only; `tests/tables/recoding` holds a plain twin of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Keys = NDArray[np.uint64]
Array = NDArray[Any]


def slots_for(keys: int) -> int:
    """How many slots the kernels use for the keys: a power of two, at least twice their number."""
    return 1 << max(4, (2 * keys - 1).bit_length())


@njit(cache=True, nogil=True)
def _mix(keys: Keys, row: int) -> np.uint64:
    """Spread a key over 64 bits (Fibonacci hashing of folded words) so that slots fill evenly."""
    state = np.uint64(0)
    for word in range(keys.shape[1]):
        state ^= keys[row, word]
        state = (state ^ (state >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return state


@njit(cache=True, nogil=True)
def _equal(keys: Keys, one: int, other: int) -> bool:
    for word in range(keys.shape[1]):  # noqa: SIM110 - a generator would be slow here
        if keys[one, word] != keys[other, word]:
            return False
    return True


@njit(cache=True, nogil=True)
def _slot_bits(keys: int) -> tuple[np.uint64, int]:
    """How to find a key's slot among at least twice as many slots as keys: shift and last slot."""
    bits = 4
    while 1 << bits < 2 * keys:
        bits += 1
    return np.uint64(64 - bits), (1 << bits) - 1


@njit(cache=True, nogil=True)
def group_rows(keys: Keys, slots: Array) -> tuple[Array, Array, int]:
    """For each row the number of its group, in order of first appearance; first rows; group count.

    `slots` are `slots_for` the number of rows, all -1.
    """
    shift, last = _slot_bits(keys.shape[0])
    group_of = np.empty(keys.shape[0], dtype=np.int64)
    first = np.empty(keys.shape[0], dtype=np.int64)
    groups = 0
    for row in range(keys.shape[0]):
        slot = np.int64(_mix(keys, row) >> shift)
        while True:
            group = slots[slot]
            if group < 0:
                slots[slot] = groups
                first[groups] = row
                group_of[row] = groups
                groups += 1
                break
            if _equal(keys, first[group], row):
                group_of[row] = group
                break
            slot = (slot + 1) & last
    return group_of, first, groups


@njit(cache=True, nogil=True)
def _word_slot(key: np.uint64, shift: np.uint64) -> np.int64:
    return np.int64((key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15) >> shift)


@njit(cache=True, nogil=True)
def group_words(keys: Array) -> tuple[Array, Array, int]:
    """As `group_rows` for keys of one word.

    There are mostly far fewer groups than rows: the slots grow with the groups, so that they stay
    in fast memory.
    """
    bits = 12
    slots = np.full(1 << bits, -1, dtype=np.int64)
    group_of = np.empty(keys.size, dtype=np.int64)
    first = np.empty(keys.size, dtype=np.int64)
    groups = 0
    for row in range(keys.size):
        key = keys[row]
        slot = _word_slot(key, np.uint64(64 - bits))
        while slots[slot] >= 0 and keys[first[slots[slot]]] != key:
            slot = (slot + 1) & ((1 << bits) - 1)
        if slots[slot] < 0:
            slots[slot] = groups
            first[groups] = row
            groups += 1
        group_of[row] = slots[slot]
        if 2 * groups > 1 << bits:
            bits += 2
            slots = np.full(1 << bits, -1, dtype=np.int64)
            for group in range(groups):
                slot = _word_slot(keys[first[group]], np.uint64(64 - bits))
                while slots[slot] >= 0:
                    slot = (slot + 1) & ((1 << bits) - 1)
                slots[slot] = group
    return group_of, first, groups


@njit(cache=True, nogil=True)
def pack_column(keys: Array, codes: Array, table: Array) -> None:
    """Add a column's bits to a word of every key; `table` has them by code."""
    for row in range(codes.size):
        keys[row] |= table[codes[row]]


@njit(cache=True, nogil=True)
def roll_up(
    keys: Keys,
    counts: Array,
    places: Array,
    tables: Array,
    slots: Array,
    stamp: int,
    out_keys: Keys,
    out_counts: Array,
    class_of: Array,
) -> int:
    """Merge classes after taking some columns to higher levels; returns the number of classes.

    Each row of `places` is (word, bit, mask, start) of a column that is raised: where its code lies
    in a key, and where in `tables` its new codes begin, already shifted into place. A slot holds a
    stamp in its upper half and a class in its lower one, and is empty unless the stamp is this
    call's: so the slots need no clearing between calls. `class_of`, unless it is empty, receives
    the class that each old class is now part of. Classes are numbered by first appearance.
    """
    shift, last = _slot_bits(keys.shape[0])
    words = keys.shape[1]
    classes: Any = np.int64(0)  # a literal is one more type to compile for
    for row in range(keys.shape[0]):
        # Written before it is known whether the class is new, and written over if it is not: no
        # processor foresees that, and a branch would cost as much as the rest.
        for word in range(words):
            out_keys[classes, word] = keys[row, word]
        for column in range(places.shape[0]):
            place = np.int64(places[column, 0])
            bit, mask, start = places[column, 1], places[column, 2], places[column, 3]
            old = out_keys[classes, place]
            code = (old >> bit) & mask
            out_keys[classes, place] = (old & ~(mask << bit)) | tables[start + code]
        out_counts[classes] = 0
        slot = np.int64(_mix(out_keys, classes) >> shift)
        while True:
            # The stamp of the run, and a class: what earlier runs left counts as empty.
            entry = slots[slot]
            found = classes if entry >> 32 != stamp else entry & 0xFFFFFFFF
            if _equal(out_keys, found, classes):
                break
            slot = (slot + 1) & last
        slots[slot] = stamp << 32 | found
        out_counts[found] += counts[row]
        classes += found == classes
        if class_of.size:
            class_of[row] = found
    return int(classes)


@njit(cache=True, nogil=True)
def roll_up_word(
    keys: Array,
    counts: Array,
    places: Array,
    tables: Array,
    slots: Array,
    stamp: int,
    out_keys: Array,
    out_counts: Array,
    class_of: Array,
) -> int:
    """As `roll_up` for keys of one word, which most tables have: twice as fast."""
    shift, last = _slot_bits(keys.shape[0])
    columns = places.shape[0]
    keep = ~np.uint64(0)
    for column in range(columns):
        keep &= ~(places[column, 2] << places[column, 1])
    classes: Any = np.int64(0)  # as in `roll_up`, which says why there are no branches
    for row in range(keys.shape[0]):
        old = keys[row]
        key = old & keep
        for column in range(columns):
            code = (old >> places[column, 1]) & places[column, 2]
            key |= tables[places[column, 3] + code]
        slot = _word_slot(key, shift)
        out_keys[classes] = key
        out_counts[classes] = 0
        while True:
            entry = slots[slot]
            found = classes if entry >> 32 != stamp else entry & 0xFFFFFFFF
            if out_keys[found] == key:
                break
            slot = (slot + 1) & last
        slots[slot] = stamp << 32 | found
        out_counts[found] += counts[row]
        classes += found == classes
        if class_of.size:
            class_of[row] = found
    return int(classes)


@njit(cache=True, nogil=True)
def lightest_below(levels: Array, weights: Array, known: int, node: Array) -> int:
    """Which of the known nodes, a row of levels each, is at or below a node and weighs least.

    The first is at the bottom, and so below all.
    """
    lightest = 0
    for row in range(1, known):
        if weights[row] < weights[lightest]:
            column = 0
            while column < node.size and levels[row, column] <= node[column]:
                column += 1
            if column == node.size:
                lightest = row
    return lightest


def occurring(codes: Array, number: int) -> Array:
    """Which codes below `number` occur."""
    found = np.zeros(number, dtype=np.bool_)
    _mark(codes, found)
    return found


@njit(cache=True, nogil=True)
def _mark(codes: Array, found: Array) -> None:
    for row in range(codes.size):
        found[codes[row]] = True


def add_up(class_of: Array, counts: Array, classes: int) -> Array:
    """The sum of `counts` over the rows of each class."""
    sums = np.zeros(classes, dtype=np.int64)
    _add(class_of, counts, sums)
    return sums


@njit(cache=True, nogil=True)
def _add(class_of: Array, counts: Array, sums: Array) -> None:
    for row in range(class_of.size):
        sums[class_of[row]] += counts[row]


@njit(cache=True, nogil=True)
def sort(numbers: Array, size: int) -> None:
    """Put the first `size` numbers in order (heap sort: compiles in a tenth of NumPy's time)."""
    for unsorted in range(size + size // 2, 0, -1):
        # First every parent is sifted down, then the largest goes behind those still unsorted.
        parent, last = unsorted - size - 1, size
        if unsorted <= size:
            parent, last = 0, unsorted - 1
            numbers[0], numbers[last] = numbers[last], numbers[0]
        while 2 * parent + 1 < last:
            child = 2 * parent + 1
            if child + 1 < last and numbers[child + 1] > numbers[child]:
                child += 1
            if numbers[parent] >= numbers[child]:
                break
            numbers[parent], numbers[child] = numbers[child], numbers[parent]
            parent = child


def merge_histograms(
    class_of: Array, classes: int, starts: Array, values: Array, counts: Array, width: int
) -> tuple[Array, Array, Array]:
    """Histograms in compressed rows after classes were merged; values ascend within each class."""
    new_starts = np.zeros(classes + 1, dtype=np.int64)
    # One more than needed: `_merge_in_full` writes before it knows whether the entry counts.
    new_values = np.empty(values.size + 1, dtype=np.int32)
    new_counts = np.empty(values.size + 1, dtype=np.int64)
    old, new = (class_of, starts, values, counts), (new_starts, new_values, new_counts)
    if classes * width <= 16 * values.size:
        filled = _merge_in_full(*old, *new, np.zeros((classes, width), dtype=np.int64))
    else:
        order = np.argsort(class_of, kind="stable")
        sums = np.zeros(width, dtype=np.int64)
        filled = _merge_by_class(*old, *new, order, sums, np.empty(width, dtype=np.int64))
    return new_starts, new_values[:filled].copy(), new_counts[:filled].copy()


@njit(cache=True, nogil=True)
def _merge_in_full(
    class_of: Array,
    starts: Array,
    values: Array,
    counts: Array,
    new_starts: Array,
    new_values: Array,
    new_counts: Array,
    sums: Array,
) -> int:
    """With a counter for every value of every class: fast where there are few values."""
    for old in range(class_of.size):
        new = class_of[old]
        for entry in range(starts[old], starts[old + 1]):
            sums[new, values[entry]] += counts[entry]
    filled = 0
    for new in range(sums.shape[0]):
        for value in range(sums.shape[1]):
            # Written always, and written over unless it counts: faster than a branch.
            new_values[filled] = value
            new_counts[filled] = sums[new, value]
            filled += sums[new, value] > 0
        new_starts[new + 1] = filled
    return filled


@njit(cache=True, nogil=True)
def _merge_by_class(
    class_of: Array,
    starts: Array,
    values: Array,
    counts: Array,
    new_starts: Array,
    new_values: Array,
    new_counts: Array,
    members: Array,
    sums: Array,
    seen: Array,
) -> int:
    """Class by class, so that one row of counters serves all: for columns of many values.

    `members` are the old classes in the order of the new ones.
    """
    filled, member = 0, 0
    for new in range(new_starts.size - 1):
        distinct: Any = np.int64(0)  # a literal is one more type to compile for
        while member < members.size and class_of[members[member]] == new:
            old = members[member]
            member += 1
            for entry in range(starts[old], starts[old + 1]):
                value = values[entry]
                if sums[value] == 0:
                    seen[distinct] = value
                    distinct += 1
                sums[value] += counts[entry]
        sort(seen, distinct)
        for number in range(distinct):
            value = seen[number]
            new_values[filled] = value
            new_counts[filled] = sums[value]
            sums[value] = 0
            filled += 1
        new_starts[new + 1] = filled
    return filled


@njit(cache=True, nogil=True)
def large_enough(counts: Array, least: int) -> tuple[Array, int]:
    """Which classes have so many records, and how many records the others have together."""
    kept = np.empty(counts.size, dtype=np.bool_)
    others: Any = np.int64(0)  # a literal is one more type to compile for
    for row in range(counts.size):
        kept[row] = counts[row] >= least
        others += 0 if kept[row] else counts[row]
    return kept, others


@njit(cache=True, nogil=True)
def suppressed_leaves(
    keys: Keys, counts: Array, kept: Array, places: Array, leaves: Array, out: Array
) -> int:
    """Number of suppressed records; `out[column]` is the sum of their `leaves` before suppression.

    Each row of `places` is (word, bit, mask, start): the column's place in the key, and where the
    leaf counts of its codes at the node's level begin in `leaves`.
    """
    gone = np.empty(kept.size, dtype=np.int64)
    classes: Any = np.int64(0)  # a literal is one more type to compile for
    suppressed: Any = np.int64(0)
    for row in range(kept.size):
        gone[classes] = row  # written over if the class is kept: faster than a branch
        classes += not kept[row]
        suppressed += 0 if kept[row] else counts[row]
    for column in range(places.shape[0]):
        word, start = np.int64(places[column, 0]), places[column, 3]
        bit, mask = places[column, 1], places[column, 2]
        total: Any = np.int64(0)
        for each in range(classes):
            row = gone[each]
            total += counts[row] * leaves[start + ((keys[row, word] >> bit) & mask)]
        out[column] = total
    return int(suppressed)


@njit(cache=True, nogil=True)
def group_hashes(
    hashes: Array,
    codes: Array,
    change: Array,
    counts: Array,
    slots: Array,
    stamp: int,
    out_hashes: Array,
    out_counts: Array,
    class_of: Array,
) -> int:
    """Number the classes of rows with equal hashes, and count their records; how many there are.

    The hash of a row is first changed by what `change` has for its code, unless that is of one
    entry. Slots are as in `roll_up`; classes are numbered by first appearance.
    """
    shift, last = _slot_bits(hashes.size)
    changes = change.size > 1
    classes: Any = np.int64(0)  # as in `roll_up`, which says why there are no branches
    for row in range(hashes.size):
        key = hashes[row]
        if changes:
            key ^= change[codes[row]]
        slot = np.int64(key >> shift)
        out_hashes[classes] = key
        out_counts[classes] = 0
        while True:
            entry = slots[slot]
            found = classes if entry >> 32 != stamp else entry & 0xFFFFFFFF
            if out_hashes[found] == key:
                break
            slot = (slot + 1) & last
        slots[slot] = stamp << 32 | found
        out_counts[found] += counts[row]
        classes += found == classes
        class_of[row] = found
    return int(classes)


@njit(cache=True, nogil=True)
def rows_where(chosen: Array, class_of: Array, out: Array) -> int:
    """Write the rows whose class is chosen, and say how many they are."""
    found = 0
    for row in range(class_of.size):
        if chosen[class_of[row]]:
            out[found] = row
            found += 1
    return found


@njit(cache=True, nogil=True)
def leaves_at(rows: Array, counts: Array, codes: Array, leaves: Array) -> int:
    """The sum over the records of some rows of the leaves that their code has."""
    total = 0
    for each in range(rows.size):
        row = rows[each]
        total += counts[row] * leaves[codes[row]]
    return total


@njit(cache=True, nogil=True)
def sum_rows(rows: Array, counts: Array, figures: Array) -> Array:
    """For each column, the sum over the records of some rows of their figures."""
    sums = np.zeros(figures.shape[1], dtype=np.int64)
    for each in range(rows.size):
        row = rows[each]
        for column in range(figures.shape[1]):
            sums[column] += counts[row] * figures[row, column]
    return sums
