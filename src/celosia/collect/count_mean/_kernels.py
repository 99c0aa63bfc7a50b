"""Kernels of reports and of servers; `tests/collect/plain.py` says in plain Python what they do.

No kernel draws: random words come in from a `Source`, and all arithmetic is on whole numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit
from celosia.sketches._kernels import BLOCK, fill_columns

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
Table = NDArray[np.int64]
Words = NDArray[np.uint64]

ROUNDS = 4
"""Bits of the coin that all 64 lanes of a word compare at once; the lanes left go one by one."""
WORST = ROUNDS + 64
"""The most random words that 64 tosses can take: each lane left may start a word of its own."""

_BITS = 32
_FULL = 127
"""Where a counter of one byte is emptied."""
_LEFT = _BITS - ROUNDS
_END = np.uint64(2**_LEFT)
_ALL = np.uint64(2**64 - 1)
_ONE, _NONE = np.uint64(1), np.uint64(0)
_U8, _U32, _U58, _U255 = np.uint64(8), np.uint64(32), np.uint64(58), np.uint64(255)
_LOW = np.uint64(2**32 - 1)

# The place of the only bit set in a word: a de Bruijn sequence has every 6 bits once.
_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, dtype=np.int64)
for _place in range(64):
    _PLACES[(int(_BRUIJN) << _place & (2**64 - 1)) >> 58] = _place

# Bit i of a byte as byte i of a word: eight columns counted by one addition.
_SPREAD = np.array(
    [sum((byte >> bit & 1) << 8 * bit for bit in range(8)) for byte in range(256)], dtype=np.uint64
)


@njit(cache=True, inline="always")
def _tosses(
    stream: Words, at: int, mirrored: np.uint64, pool: np.uint64, stock: int
) -> tuple[np.uint64, int, np.uint64, int]:
    """64 tosses, each 1 where its 32 random bits are below a bound.

    `mirrored` is the bound with its highest bit first. A toss ends at the first bit that differs
    from the bound. All lanes compare `ROUNDS` bits at once; the lanes that are then still open (one
    in sixteen) take bits from a pool, one by one.
    """
    open_lanes, found = _ALL, _NONE
    for place in range(ROUNDS):
        drawn = stream[at]
        at += 1
        if mirrored >> np.uint64(place) & _ONE:
            found |= open_lanes & ~drawn
            open_lanes &= drawn
        else:
            open_lanes &= ~drawn
    rest = mirrored >> np.uint64(ROUNDS)
    while open_lanes:
        lane = open_lanes & (~open_lanes + _ONE)
        open_lanes ^= lane
        if stock <= _LEFT:
            pool, stock = stream[at], 64
            at += 1
        differs = pool ^ rest | _END
        differs &= ~differs + _ONE
        if differs & rest:
            found |= lane
        used = _PLACES[differs * _BRUIJN >> _U58] + 1
        pool >>= np.uint64(used)
        stock -= used
    return found, at, pool, stock


@njit(cache=True)
def flipped_bits(
    stream: Words,
    heads: np.uint64,
    rows: Places,
    columns: Places,
    width: int,
    first: int,
    made: Bytes,
) -> tuple[int, int]:
    """Count-mean reports from `first` on, until the stream may end; the next, and what was read.

    Every bit is 1 with chance heads / 2^32, the bit of the report's column with the chance of 0
    instead; after the bits comes the row. A report starts only where the stream holds the most that
    it can take, so nothing that was drawn is thrown away because of what it is.
    """
    groups = (width + 63) // 64
    last = (_ONE << np.uint64(width - 64 * (groups - 1))) - _ONE if width % 64 else _ALL
    mirrored = _NONE
    for place in range(_BITS):
        mirrored |= (heads >> np.uint64(_BITS - 1 - place) & _ONE) << np.uint64(place)
    at = 0
    for report in range(first, rows.size):
        if stream.size - at < groups * WORST:
            return report, at
        pool, stock = _NONE, 0
        for group in range(groups):
            found, at, pool, stock = _tosses(stream, at, mirrored, pool, stock)
            if columns[report] >> 6 == group:
                found ^= _ONE << np.uint64(columns[report] & 63)
            if group == groups - 1:
                found &= last
            end = min(8, made.shape[1] - 8 * group)
            for byte in range(end):
                made[report, 8 * group + byte] = found >> np.uint64(8 * byte) & _U255
        row = np.uint64(rows[report]) << np.uint64(width & 7)
        byte = width >> 3
        while row:
            made[report, byte] |= row & _U255
            row >>= _U8
            byte += 1
    return rows.size, at


@njit(cache=True)
def count_bits(packed: Bytes, rows: Places, width: int, ones: Table, reports: Places) -> None:
    """Add the bits of each report to the columns of its row.

    A byte adds to eight columns at once, in counters of one byte that are emptied into the table
    after 255 reports of a row. Few reports are added bit by bit: emptying would cost more.
    """
    if rows.size < 4 * ones.shape[0]:
        for report in range(rows.size):
            row = rows[report]
            reports[row] += 1
            for column in range(width):
                ones[row, column] += packed[report, column >> 3] >> (column & 7) & 1
        return
    groups = (width + 7) // 8
    spare = np.uint8(2 ** (width - 8 * (groups - 1)) - 1)  # the bits of the last byte
    pending = np.zeros((ones.shape[0], groups), dtype=np.uint64)
    counted = np.zeros(ones.shape[0], dtype=np.int64)
    for report in range(rows.size):
        row = rows[report]
        for group in range(groups - 1):
            pending[row, group] += _SPREAD[packed[report, group]]
        pending[row, groups - 1] += _SPREAD[packed[report, groups - 1] & spare]
        counted[row] += 1
        if counted[row] == 255:
            _empty(pending[row], ones[row])
            reports[row] += 255
            counted[row] = 0
    for row in range(ones.shape[0]):
        if counted[row]:
            _empty(pending[row], ones[row])
            reports[row] += counted[row]


@njit(cache=True)
def _empty(pending: Words, ones: Places) -> None:
    for column in range(ones.size):
        shift = np.uint64(8 * (column & 7))
        ones[column] += np.int64(pending[column >> 3] >> shift & _U255)
    pending[:] = _NONE


@njit(cache=True, inline="always")
def _odd(number: np.uint64) -> np.uint64:
    """Whether a number below 2^32 has an odd number of bits."""
    number ^= number >> np.uint64(16)
    number ^= number >> _U8
    number ^= number >> np.uint64(4)
    number ^= number >> np.uint64(2)
    number ^= number >> _ONE
    return number & _ONE


@njit(cache=True)
def signs(
    stream: Words, heads: np.uint64, rows: Places, columns: Places, shape: Places, made: Bytes
) -> None:
    """Hadamard reports: one bit (1 for the sign -1), the row, and the place in the transform.

    `shape` is the bits of a row and of a place. The low half of a report's random word is its coin,
    the high half its place; H[a, b] is -1 where a & b has an odd number of bits.
    """
    row_bits = np.uint64(shape[0])
    mask = (_ONE << np.uint64(shape[1])) - _ONE
    for report in range(rows.size):
        drawn = stream[report]
        place = drawn >> _U32 & mask
        lie = _ONE if drawn & _LOW >= heads else _NONE
        word = _odd(place & np.uint64(columns[report])) ^ lie
        word |= np.uint64(rows[report]) << _ONE
        word |= place << (_ONE + row_bits)
        for byte in range(made.shape[1]):
            made[report, byte] = word >> np.uint64(8 * byte) & _U255


@njit(cache=True, inline="always")
def _word(report: Bytes) -> np.uint64:
    word = _NONE
    for byte in range(report.size):
        word |= np.uint64(report[byte]) << np.uint64(8 * byte)
    return word


@njit(cache=True)
def signs_fit(packed: Bytes, shape: Places, rows: int) -> bool:
    """Whether all reports name a row that there is, and no bit beyond their fields is set."""
    row_bits = np.uint64(shape[0])
    total = _ONE + row_bits + np.uint64(shape[1])
    mask = (_ONE << row_bits) - _ONE
    for report in range(packed.shape[0]):
        word = _word(packed[report])
        if word >> total or word >> _ONE & mask >= np.uint64(rows):
            return False
    return True


@njit(cache=True)
def count_signs(packed: Bytes, shape: Places, table: Table) -> None:
    """Add the sign of each report, +1 or -1, to its row and place.

    Many reports are added up in counters of one byte, which stay in a near cache, and are emptied
    into the table before they overflow; few at once, as emptying would cost more.
    """
    row_bits = np.uint64(shape[0])
    mask = (_ONE << row_bits) - _ONE
    many = packed.shape[0] >= table.size // 2
    pending = np.zeros((many * table.shape[0], many * table.shape[1]), dtype=np.int8)
    for report in range(packed.shape[0]):
        word = _word(packed[report])
        row = np.int64(word >> _ONE & mask)
        place = np.int64(word >> (_ONE + row_bits))
        sign = 1 - 2 * np.int64(word & _ONE)
        if not many:
            table[row, place] += sign
            continue
        counted = np.int64(pending[row, place]) + sign
        if abs(counted) == _FULL:
            table[row, place] += counted
            counted -= counted
        pending[row, place] = counted
    for whole in range(pending.shape[0]):
        for cell in range(pending.shape[1]):
            table[whole, cell] += pending[whole, cell]


@njit(cache=True)
def transform(row: Places) -> None:
    """The Walsh-Hadamard transform in place, without a factor; the size is a power of two.

    Three steps are taken on eight cells at once, and the others on whole halves, which processors
    add several at a time.
    """
    size, half = row.size, 1
    if size >= 8:
        half = 8
        for at in range(0, size, 8):
            a, b, c, d = row[at], row[at + 1], row[at + 2], row[at + 3]
            e, f, g, h = row[at + 4], row[at + 5], row[at + 6], row[at + 7]
            a, b, c, d, e, f, g, h = a + b, a - b, c + d, c - d, e + f, e - f, g + h, g - h
            a, b, c, d, e, f, g, h = a + c, b + d, a - c, b - d, e + g, f + h, e - g, f - h
            row[at], row[at + 1], row[at + 2], row[at + 3] = a + e, b + f, c + g, d + h
            row[at + 4], row[at + 5], row[at + 6], row[at + 7] = a - e, b - f, c - g, d - h
    while half < size:
        for start in range(0, size, 2 * half):
            left, right = row[start : start + half], row[start + half : start + 2 * half]
            for place in range(half):
                low, high = left[place], right[place]
                left[place], right[place] = low + high, low - high
        half *= 2


@njit(cache=True)
def gathered(
    table: Table, digests: Words, coefficients: Words, width: np.int64, hadamard: bool
) -> Places:
    """For each digest, the sum of its cells over all rows (of the transformed rows)."""
    sums = np.zeros(digests.size, dtype=np.int64)
    columns = np.empty(BLOCK, dtype=np.int64)
    for row in range(table.shape[0]):
        cells = table[row].copy()
        if hadamard:
            transform(cells)
        for start in range(0, digests.size, BLOCK):
            end = min(start + BLOCK, digests.size)
            fill_columns(digests[start:end], coefficients[row], width, columns)
            for place in range(start, end):
                sums[place] += cells[columns[place - start]]
    return sums


@njit(cache=True)
def gathered_together(
    tables: NDArray[np.int64], digests: Words, coefficients: Words, width: np.int64
) -> Table:
    """As `gathered`, from several tables (row, column, table) that share their hash functions."""
    sums = np.zeros((digests.size, tables.shape[2]), dtype=np.int64)
    columns = np.empty(BLOCK, dtype=np.int64)
    for row in range(tables.shape[0]):
        cells = tables[row]
        for start in range(0, digests.size, BLOCK):
            end = min(start + BLOCK, digests.size)
            fill_columns(digests[start:end], coefficients[row], width, columns)
            for place in range(start, end):
                for each in range(tables.shape[2]):
                    sums[place, each] += cells[columns[place - start], each]
    return sums


@njit(cache=True)
def squares(table: Table, means: NDArray[np.float64]) -> float:
    """The sum over all cells of the square of what a cell is above the mean of its row."""
    total = 0.0
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            total += (table[row, column] - means[row]) ** 2
    return total


@njit(cache=True)
def scattered(
    counts: NDArray[np.float64],
    shares: NDArray[np.float64],
    digests: Words,
    coefficients: Words,
    width: np.int64,
) -> NDArray[np.float64]:
    """Cells that counts of digests would fill, each row with its share of them."""
    cells = np.zeros((shares.size, width))
    columns = np.empty(BLOCK, dtype=np.int64)
    for row in range(shares.size):
        for start in range(0, digests.size, BLOCK):
            end = min(start + BLOCK, digests.size)
            fill_columns(digests[start:end], coefficients[row], width, columns)
            for place in range(start, end):
                cells[row, columns[place - start]] += counts[place] * shares[row]
    return cells


@njit(cache=True)
def collected(
    cells: NDArray[np.float64],
    shares: NDArray[np.float64],
    digests: Words,
    coefficients: Words,
    width: np.int64,
) -> NDArray[np.float64]:
    """The transpose of `scattered`."""
    sums = np.zeros(digests.size)
    columns = np.empty(BLOCK, dtype=np.int64)
    for row in range(shares.size):
        for start in range(0, digests.size, BLOCK):
            end = min(start + BLOCK, digests.size)
            fill_columns(digests[start:end], coefficients[row], width, columns)
            for place in range(start, end):
                sums[place] += cells[row, columns[place - start]] * shares[row]
    return sums
