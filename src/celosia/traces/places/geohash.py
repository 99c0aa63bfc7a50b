"""Geohashes: cells of a quarter of the degrees, named by 32 letters, each inside its prefix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LETTERS = "0123456789bcdefghjkmnpqrstuvwxyz"
MOST = 9
"""Letters of the finest geohash that is made: five metres."""


def encode(
    latitude: NDArray[np.float64], longitude: NDArray[np.float64], letters: int
) -> NDArray[np.int64]:
    """The geohash of each place as a number of five bits a letter.

    >>> names(encode(np.array([42.605]), np.array([-5.603]), 5), 5)
    ['ezs42']
    """
    bits = 5 * letters
    east_bits = (bits + 1) // 2
    north_bits = bits // 2
    east = _part(longitude, 180.0, east_bits)
    north = _part(latitude, 90.0, north_bits)
    found = np.zeros(latitude.shape, dtype=np.int64)
    for place in range(bits):  # bits of both by turns, the first of the longitude
        source, left = (east, east_bits) if place % 2 == 0 else (north, north_bits)
        found = (found << 1) | ((source >> (left - 1 - place // 2)) & 1)
    return found


def _part(degrees: NDArray[np.float64], most: float, bits: int) -> NDArray[np.int64]:
    share = (degrees + most) / (2 * most)
    return np.clip(np.floor(share * (1 << bits)), 0, (1 << bits) - 1).astype(np.int64)


def names(codes: NDArray[np.int64], letters: int) -> list[str]:
    """Geohashes as texts."""
    return [
        "".join(
            LETTERS[(int(code) >> (5 * (letters - 1 - place))) & 31] for place in range(letters)
        )
        for code in codes
    ]


def boxes(codes: NDArray[np.int64], letters: int) -> Any:
    """South, west, north, east of each geohash, in degrees."""
    bits = 5 * letters
    east = np.zeros(codes.shape, dtype=np.int64)
    north = np.zeros(codes.shape, dtype=np.int64)
    for place in range(bits):
        bit = (codes >> (bits - 1 - place)) & 1
        if place % 2 == 0:
            east = (east << 1) | bit
        else:
            north = (north << 1) | bit
    wide, high = 360.0 / (1 << ((bits + 1) // 2)), 180.0 / (1 << (bits // 2))
    south, west = north * high - 90, east * wide - 180
    return south, west, south + high, west + wide
