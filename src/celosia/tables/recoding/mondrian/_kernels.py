"""Hot loops of Mondrian: choose a column, choose its cut, and move the records to their sides.

Records are rows of a matrix of ranks and are moved together with their row number, so that every
node of the partition is a stretch of neighbouring rows: `start` up to, not including, `end`.

What the kernels know of the columns are `facts`, one row a column (see `RankTable`): whether it is
ranged, how many of its ranks have a size, its leaves, and where its tree begins in `ancestors` and
`under`, which hold a row of `leaves` numbers for each level. `Scratch` are arrays as long as the
largest column has leaves; the first of them is all 0 between calls, and so is the last.

A row may stand for several records: `records` has their number for each row of the table, and is
empty where every row is one record. What counts for a cut are records, where it lies are rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit
from celosia.tables.recoding._kernels import sort

WITHIN = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For functions that only kernels call: they are kept with these, and compile sooner."""

Array = NDArray[Any]
Scratch = NDArray[np.int64]


TALLIES, FOUND, RECORDS, BY_SIZE, PART, HEAD, LINES, WEIGHED, BOUNDS = range(9)
"""The rows of `Scratch`: tallies of a stretch of keys; keys found; records of each; keys by falling
number of records; part of each key; where the next record of each part goes; rows of each key;
tallies of records, where rows stand for several; where the parts of a node begin."""


def scratch_for(leaves: int) -> Scratch:
    """Room for the work on one node at a time, of columns with up to so many leaves."""
    return np.zeros((BOUNDS + 1, leaves + 3), dtype=np.int64)


@njit(**WITHIN)
def tally(
    matrix: Array,
    rows: Array,
    records: Array,
    start: int,
    end: int,
    column: int,
    keys: Array,
    low: int,
    high: int,
    scratch: Scratch,
) -> int:
    """The keys that occur in a node, ascending, and how often; returns their number.

    A record's key is its rank, or what `keys` has for it unless that is empty; all lie between
    `low` and `high`. Keys much further apart than there are rows are sorted, not counted off.
    """
    tallies, found, many = scratch[TALLIES], scratch[FOUND], scratch[RECORDS]
    lines, weighed = scratch[LINES], scratch[WEIGHED]
    mapped, several = keys.size > 0, records.size > 0
    number = 0
    if high - low >= 8 * (end - start):
        # Sorted with their row behind them: both are below 2**31.
        size = end - start if several else 1
        for row in range(start, end):
            rank = np.int64(matrix[row, column])
            key = np.int64(keys[rank]) if mapped else rank
            tallies[row - start] = key * size + (row - start if several else 0)
        sort(tallies, end - start)
        for place in range(end - start):
            key = np.int64(tallies[place] // size)
            if number == 0 or found[number - 1] != key:
                found[number] = key
                many[number] = 0
                lines[number] = 0
                number += 1
            lines[number - 1] += 1
            many[number - 1] += records[rows[start + tallies[place] % size]] if several else 1
            tallies[place] = 0
        return number
    for row in range(start, end):
        rank = np.int64(matrix[row, column])
        cell = (keys[rank] if mapped else rank) - low
        tallies[cell] += 1
        if several:
            weighed[cell] += records[rows[row]]
    for place in range(high - low + 1):
        if tallies[place]:
            found[number] = low + place
            lines[number] = tallies[place]
            many[number] = weighed[place] if several else tallies[place]
            tallies[place] = 0
            weighed[place] = 0
            number += 1
    return number


@njit(cache=True, nogil=True)
def fill(matrix: Array, column: int, rank_of_leaf: Array, leaf_of_row: Array) -> None:
    """Write one column of the matrix."""
    for row in range(leaf_of_row.size):
        matrix[row, column] = rank_of_leaf[leaf_of_row[row]]


@njit(cache=True, nogil=True)
def histogram(
    nodes: Array, rows: Array, value_of_row: Array, values: int, records: Array
) -> tuple[Array, Array, Array]:
    """The sensitive values of each node in compressed rows: starts, values, counts.

    `records` are how many records each row stands for; empty for one each.
    """
    tallies = np.zeros(values, dtype=np.int64)
    seen = np.empty(values, dtype=np.int64)
    room = 0
    for node in range(nodes.shape[0]):
        room += min(values, nodes[node, 1] - nodes[node, 0])
    starts = np.zeros(nodes.shape[0] + 1, dtype=np.int64)
    out_values = np.empty(room, dtype=np.int32)
    counts = np.empty(room, dtype=np.int64)
    entry = 0
    for node in range(nodes.shape[0]):
        distinct: Any = np.int64(0)  # a literal is one more type to compile for
        for row in range(nodes[node, 0], nodes[node, 1]):
            value = value_of_row[rows[row]]
            if tallies[value] == 0:
                seen[distinct] = value
                distinct += 1
            tallies[value] += records[rows[row]] if records.size else 1
        sort(seen, distinct)
        for place in range(distinct):
            out_values[entry] = seen[place]
            counts[entry] = tallies[seen[place]]
            tallies[seen[place]] = 0
            entry += 1
        starts[node + 1] = entry
    return starts, out_values[:entry], counts[:entry]


RANGED, ORDERED, LEAVES, TREE = range(4)
"""The columns of `facts`."""


@njit(**WITHIN)
def _ends(matrix: Array, start: int, end: int, lowest: Array, highest: Array) -> None:
    """The lowest and highest rank of each column in a node."""
    for column in range(matrix.shape[1]):
        lowest[column] = matrix[start, column]
        highest[column] = matrix[start, column]
    for row in range(start + 1, end):
        for column in range(matrix.shape[1]):
            rank = matrix[row, column]
            if rank < lowest[column]:
                lowest[column] = rank
            elif rank > highest[column]:
                highest[column] = rank


@njit(**WITHIN)
def _shared_level(facts: Array, ancestors: Array, column: int, low: int, high: int) -> int:
    """The lowest level of a tree on which two leaves have the same node."""
    level, first = 0, facts[column, TREE]
    while ancestors[first + low] != ancestors[first + high]:
        level += 1
        first += facts[column, LEAVES]
    return level


@njit(**WITHIN)
def _spread(
    facts: Array, ancestors: Array, under: Array, column: int, low: int, high: int
) -> float:
    """Which share of its column a node's label stands for: 0 for one value, 1 for all."""
    leaves = facts[column, LEAVES]
    if low == high:
        return 0.0
    if not facts[column, RANGED]:
        level = _shared_level(facts, ancestors, column, low, high)
        covered: Any = np.int64(under[facts[column, TREE] + level * leaves + low])
    elif high < facts[column, ORDERED]:
        covered = high - low + 1
    else:
        covered = leaves
    return float((covered - 1) / (leaves - 1))


@njit(**WITHIN)
def _move(
    matrix: Array,
    rows: Array,
    column: int,
    keys: Array,
    bounds: Array,
    parts: int,
    scratch: Scratch,
) -> None:
    """Bring the records of each part together, in place: part `p` goes to `bounds[p:p + 2]`."""
    part_of, heads = scratch[PART], scratch[HEAD]
    mapped = keys.size > 0
    for part in range(parts):
        heads[part] = bounds[part]
    for part in range(parts):
        while heads[part] < bounds[part + 1]:
            row = heads[part]
            rank = np.int64(matrix[row, column])
            wanted = part_of[keys[rank] if mapped else rank]
            if wanted != part:
                other = heads[wanted]
                for place in range(matrix.shape[1]):
                    satisfied = matrix[row, place]
                    matrix[row, place] = matrix[other, place]
                    matrix[other, place] = satisfied
                number = rows[row]
                rows[row] = rows[other]
                rows[other] = number
            heads[wanted] += 1


@njit(**WITHIN)
def _halve(
    start: int,
    end: int,
    found: int,
    least: int,
    relaxed: bool,
    bounds: Array,
    scratch: Scratch,
) -> tuple[int, int]:
    """Cut a range as near the middle as it can be; returns the parts to form and those to keep.

    Where no place between two values leaves `least` records on both sides, a relaxed cut goes
    through the middle of the records of one value: these are brought together as a third part, and
    the cut lies within it.
    """
    values, records = scratch[FOUND], scratch[RECORDS]
    part_of, lines = scratch[PART], scratch[LINES]
    size = 0
    for place in range(found):
        size += records[place]
    best, before, left, head, cut = -1, 0, 0, start, start
    for place in range(found - 1):
        before += records[place]
        head += lines[place]
        if min(before, size - before) > min(left, size - left):
            best, left, cut = place, before, head
    if best >= 0 and min(left, size - left) >= least:
        for place in range(found):
            part_of[values[place]] = 0 if place <= best else 1
        bounds[0], bounds[1], bounds[2] = start, cut, end
        return 2, 2
    if not relaxed or found < 2 or size < 2 * least:
        return 0, 0
    before, middle = 0, 0
    while before + records[middle] <= size // 2:
        before += records[middle]
        middle += 1
    for place in range(found):
        part_of[values[place]] = 0 if place < middle else (1 if place == middle else 2)
    bounds[0], bounds[1], bounds[2] = start, start + before, start + before + records[middle]
    bounds[3] = end
    return 3, 2


@njit(**WITHIN)
def _branch(start: int, end: int, found: int, least: int, bounds: Array, scratch: Scratch) -> int:
    """Take the largest children of a node of a tree out, up to half of the records; the parts.

    Each child that is taken out becomes a part of its own. The others stay together as the last
    part, under the old label unless they are only one. Largest first, because that succeeds
    whenever anything can.
    """
    children, records, order = scratch[FOUND], scratch[RECORDS], scratch[BY_SIZE]
    part_of, lines, head, size = scratch[PART], scratch[LINES], start, 0
    for place in range(found):
        size += records[place]
        order[place] = records[place] * found + (found - 1 - place)
    sort(order, found)
    parts, taken = 0, 0
    for turn in range(found - 1, -1, -1):
        many = order[turn] // found
        child = found - 1 - order[turn] % found
        rest = size - taken - many
        if many < least or 2 * taken >= size or 0 < rest < least:
            break
        part_of[children[child]] = parts
        bounds[parts] = head
        records[child] = 0
        taken += many
        head += lines[child]
        parts += 1
    if parts == 0:
        return 0
    bounds[parts] = head
    if taken < size:
        for place in range(found):
            if records[place]:
                part_of[children[place]] = parts
        parts += 1
        bounds[parts] = end
    return parts


@njit(**WITHIN)
def _split(
    matrix: Array,
    rows: Array,
    records: Array,
    start: int,
    end: int,
    column: int,
    low: int,
    high: int,
    least: int,
    relaxed: bool,
    facts: Array,
    ancestors: Array,
    bounds: Array,
    scratch: Scratch,
) -> int:
    """Cut a node along a column if the parts can have `least` records each; the parts, or 0."""
    if facts[column, RANGED]:
        plain = ancestors[:0]
        found = tally(matrix, rows, records, start, end, column, plain, low, high, scratch)
        formed, parts = _halve(start, end, found, least, relaxed, bounds, scratch)
        if formed:
            _move(matrix, rows, column, plain, bounds, formed, scratch)
        if formed > parts:
            bounds[1], bounds[2] = start + (end - start) // 2, end
        return parts
    level = _shared_level(facts, ancestors, column, low, high)
    first = facts[column, TREE] + (level - 1) * facts[column, LEAVES]
    children = ancestors[first : first + facts[column, LEAVES]]
    one: Any = np.int64(children[low])
    last: Any = np.int64(children[high])
    found = tally(matrix, rows, records, start, end, column, children, one, last, scratch)
    parts = _branch(start, end, found, least, bounds, scratch)
    if parts > 1:
        _move(matrix, rows, column, children, bounds, parts, scratch)
    return parts if parts > 1 else 0


@njit(**WITHIN)
def _split_widest(
    matrix: Array,
    rows: Array,
    records: Array,
    start: int,
    end: int,
    skip: int,
    least: int,
    relaxed: bool,
    facts: Array,
    weights: Array,
    ancestors: Array,
    under: Array,
    bounds: Array,
    scratch: Scratch,
    ends: Array,
    spreads: Array,
) -> tuple[int, int]:
    """Cut a node along the first column that can be cut, the widest first; parts and turns taken.

    `skip` turns are left out: the caller did not like what they gave.
    """
    columns = matrix.shape[1]
    _ends(matrix, start, end, ends[0], ends[1])
    for column in range(columns):
        low, high = ends[0, column], ends[1, column]
        share = _spread(facts, ancestors, under, column, low, high)
        spreads[column] = weights[column] * share if low < high else -1.0
    for turn in range(columns):
        widest: Any = np.int64(0)  # a literal would be a type of its own to compile for
        for column in range(1, columns):
            if spreads[column] > spreads[widest]:
                widest = column
        if spreads[widest] < 0.0:
            break
        spreads[widest] = -1.0
        if turn >= skip:
            low, high = ends[0, widest], ends[1, widest]
            parts = _split(
                matrix, rows, records, start, end, widest, low, high, least, relaxed, facts,
                ancestors, bounds, scratch,
            )  # fmt: skip
            if parts:
                return parts, turn + 1
    return 0, columns


@njit(**WITHIN)
def _enough(rows: Array, records: Array, start: int, end: int, wanted: int) -> bool:
    """Whether a node has the wanted number of records."""
    if records.size == 0 or end - start >= wanted:
        return bool(end - start >= wanted)
    many = 0
    for row in range(start, end):
        many += records[rows[row]]
    return bool(many >= wanted)


@njit(cache=True, nogil=True)
def split(
    matrix: Array,
    rows: Array,
    records: Array,
    firsts: Array,
    nodes: Array,
    skips: Array,
    to_the_end: bool,
    least: int,
    relaxed: bool,
    facts: Array,
    weights: Array,
    ancestors: Array,
    under: Array,
    scratch: Scratch,
    ends: Array,
    spreads: Array,
    waiting: Array,
    begins: Array,
    turns: Array,
) -> None:
    """Cut each of the `nodes` (start and end) once, or until no part of it can be cut.

    To the end, it sets `firsts` for the first row of every part. Cut once, it returns the parts of
    all nodes, one after the other; where those of each node begin among them, with none for a node
    that cannot be cut; and the turns taken for each node, `skips` included.
    """
    bounds = scratch[BOUNDS]
    for node in range(nodes.shape[0]):
        top = begins[node]
        waiting[top, 0], waiting[top, 1] = nodes[node, 0], nodes[node, 1]
        while True:
            start, end, parts = waiting[top, 0], waiting[top, 1], 0
            if _enough(rows, records, start, end, 2 * least):
                parts, turns[node] = _split_widest(
                    matrix, rows, records, start, end, skips[node], least, relaxed, facts, weights,
                    ancestors, under, bounds, scratch, ends, spreads,
                )  # fmt: skip
            for part in range(parts):
                waiting[top, 0], waiting[top, 1] = bounds[part], bounds[part + 1]
                firsts[bounds[part]] |= to_the_end
                top += 1
            if not to_the_end or top == begins[node]:
                break
            top -= 1
        begins[node + 1] = top


@njit(cache=True, nogil=True)
def describe(matrix: Array, bounds: Array, lowest: Array, highest: Array) -> None:
    """The lowest and highest rank of each column in every class."""
    for node in range(bounds.size - 1):
        _ends(matrix, bounds[node], bounds[node + 1], lowest[node], highest[node])
