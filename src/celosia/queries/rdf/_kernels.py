"""Checksum of HDT files, compiled: it is taken of every byte of terms and facts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit


@njit()
def crc32c(data: NDArray[np.uint8], table: NDArray[np.uint32]) -> int:
    """The CRC-32C of some bytes, by a table of what each byte does to it."""
    crc = np.uint32(0xFFFFFFFF)
    for byte in data:
        crc = table[(crc ^ byte) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
    return int(crc ^ np.uint32(0xFFFFFFFF))
