"""Kernels of updates and queries; `tests/sketches/plain.py` says in plain Python what they equal.

Cells are flat: the cell of a column in row r is at r * stride + column. A stride of 0 lets all rows
share one line of cells, as in a Bloom filter. Empty `counts` stand for 1 each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit
from celosia.sketches._kernels import BLOCK, Places, Words, fill_columns, mix

_ONE, _U6, _U63, _U64 = np.uint64(1), np.uint64(6), np.uint64(63), np.uint64(64)
_TOP = np.uint64(2**63)


@njit(cache=True)
def add(
    cells: Places,
    digests: Words,
    counts: Places,
    coefficients: NDArray[np.uint64],
    width: np.int64,
    stride: np.int64,
) -> None:
    """Add the count of each digest to its cell in every row."""
    found = np.empty(BLOCK, dtype=np.int64)
    for start in range(0, digests.size, BLOCK):
        end = min(start + BLOCK, digests.size)
        for row in range(coefficients.shape[0]):
            fill_columns(digests[start:end], coefficients[row], width, found)
            first = row * stride
            if counts.size:
                for place in range(end - start):
                    cells[first + found[place]] += counts[start + place]
            else:
                for place in range(end - start):
                    cells[first + found[place]] += 1


@njit(cache=True)
def add_signed(
    cells: Places,
    digests: Words,
    counts: Places,
    coefficients: NDArray[np.uint64],
    signs: NDArray[np.uint64],
    width: np.int64,
) -> None:
    """Add the count of each digest, with the sign of the row, to its cell in every row."""
    found = np.empty(BLOCK, dtype=np.int64)
    side = np.empty(BLOCK, dtype=np.int64)
    for start in range(0, digests.size, BLOCK):
        end = min(start + BLOCK, digests.size)
        for row in range(coefficients.shape[0]):
            fill_columns(digests[start:end], coefficients[row], width, found)
            fill_columns(digests[start:end], signs[row], np.int64(2), side)
            first = row * width
            for place in range(end - start):
                count = counts[start + place] if counts.size else 1
                cells[first + found[place]] += (2 * side[place] - 1) * count


@njit(cache=True)
def set_bits(
    words: Words, digests: Words, coefficients: NDArray[np.uint64], width: np.int64
) -> None:
    """Set the bit of each digest under every function."""
    found = np.empty(BLOCK, dtype=np.int64)
    for start in range(0, digests.size, BLOCK):
        end = min(start + BLOCK, digests.size)
        for row in range(coefficients.shape[0]):
            fill_columns(digests[start:end], coefficients[row], width, found)
            for place in range(end - start):
                at = np.uint64(found[place])
                words[at >> _U6] |= _ONE << (at & _U63)


@njit(cache=True)
def all_bits(
    words: Words, digests: Words, coefficients: NDArray[np.uint64], width: np.int64
) -> NDArray[np.bool_]:
    """Whether the bits of each digest are set under every function."""
    seen = np.ones(digests.size, dtype=np.bool_)
    found = np.empty(BLOCK, dtype=np.int64)
    for start in range(0, digests.size, BLOCK):
        end = min(start + BLOCK, digests.size)
        for row in range(coefficients.shape[0]):
            fill_columns(digests[start:end], coefficients[row], width, found)
            for place in range(end - start):
                at = np.uint64(found[place])
                if not (words[at >> _U6] >> (at & _U63)) & _ONE:
                    seen[start + place] = False
    return seen


@njit(cache=True)
def raise_registers(
    registers: NDArray[np.uint8], digests: Words, salt: np.uint64, precision: np.int64
) -> None:
    """HyperLogLog: the first bits choose a register, which keeps the longest run of zeros, plus 1.

    A run beats the register only where that many bits are all zero; as this becomes rare, it is
    tested first, and the run is counted only then.
    """
    bits = np.uint64(precision)
    guard = _ONE << (bits - _ONE)
    for place in range(digests.size):
        word = mix(digests[place] ^ salt)
        register = word >> (_U64 - bits)
        # The guard behind the bits that are left ends the run, if all of them are zero.
        rest = (word << bits) | guard
        held = np.uint64(registers[register])
        if (rest >> _ONE) >> (_U63 - held) == 0:  # in two steps: a shift by 64 is not defined
            rank = 1
            while not rest & _TOP:
                rest <<= _ONE
                rank += 1
            registers[register] = max(registers[register], rank)


@njit(cache=True)
def set_lowest(maps: Words, digests: Words, salt: np.uint64, bits: np.uint64) -> None:
    """Flajolet-Martin: the last bits choose a map, in which the lowest bit of the rest is set."""
    choose = (_ONE << bits) - _ONE
    for place in range(digests.size):
        word = mix(digests[place] ^ salt)
        rest = (word >> bits) | _TOP  # never 0, so that there is a lowest bit
        maps[word & choose] |= rest & (~rest + _ONE)


@njit(cache=True)
def gather_below(
    table: Words,
    digests: Words,
    start: int,
    held: int,
    most: int,
    salt: np.uint64,
    limit: np.uint64,
) -> tuple[int, int]:
    """Theta: put hashes below the limit into an open table, until `most` different ones are in.

    Returns how many digests have been looked at, and how many hashes the table holds. An empty
    place is 0, which stands for no hash.
    """
    # The table is at most half full, so that a search for a free place soon ends. Hashes have 63
    # bits, as in DataSketches, whose limits are signed.
    mask = np.uint64(table.size - 1)
    for place in range(start, digests.size):
        word = mix(digests[place] ^ salt) >> _ONE
        if word >= limit or word == 0:
            continue
        at = word & mask
        while table[at] != 0 and table[at] != word:
            at = (at + _ONE) & mask
        if table[at] == 0:
            table[at] = word
            held += 1
            if held == most:
                return place + 1, held
    return digests.size, held


@njit(cache=True)
def put_back(table: Words, words: Words) -> None:
    """Theta: empty the table, and put in different hashes."""
    table[:] = 0
    mask = np.uint64(table.size - 1)
    for word in words:
        at = word & mask
        while table[at] != 0:
            at = (at + _ONE) & mask
        table[at] = word
