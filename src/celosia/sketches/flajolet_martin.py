"""Flajolet-Martin: the number of different values from a few bitmaps."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import numpy as np

from celosia.core.errors import InputError
from celosia.sketches import _update_kernels as kernels
from celosia.sketches.distinct_count import DistinctCountSketch, reach
from celosia.sketches.hashing import Digests
from celosia.sketches.sketch import check_share, check_size

PHI = 0.77351
"""2^(the lowest bit not set) is this many times the number of values of a map, on average."""

_KAPPA = 1.75
_DEVIATION = 1.12
"""Of the lowest bit not set in one map: a factor of about 2 in the number."""


class FlajoletMartin(DistinctCountSketch):
    """Different values, from the lowest bits of their hashes: about half of them end in 1.

    - Queries: how many different values were seen.
    - Space: `maps` words of 8 bytes.
    - Update: one bit of one map.
    - Query: all maps.
    - Start: all bits 0.
    - Error: a relative standard error of 0.78 / sqrt(maps); one map alone is off by a factor of 2.

    Args:
        maps: how many bitmaps, a power of two; a hash chooses the map of each value.
        key: decides the hash function.

    Raises:
        InputError: CEL-K003 a parameter is out of range.

    Reference: Flajolet and Martin 1985 (PCSA); few values by Scheuermann and Mauve 2007.

    >>> users = FlajoletMartin(**FlajoletMartin.size_for(error=0.05, confidence=0.68))
    >>> print(users.update(range(10_000)))
    flajolet-martin (256 maps): estimate 9,188 different values (95 %: 8,354 to 10,104), 2,048 bytes
    """

    name = "flajolet-martin"
    _joining = np.bitwise_or

    def __init__(self, *, maps: int, key: str = "celosia") -> None:
        super().__init__(key=key)
        self.maps = check_size("maps", maps, 1, 2**24)
        if self.maps & (self.maps - 1):
            raise InputError("CEL-K003.power_of_two")

    @staticmethod
    def size_for(*, error: float, confidence: float = 0.95) -> dict[str, int]:
        """The number of maps for a relative error that holds with this confidence.

        >>> FlajoletMartin.size_for(error=0.05, confidence=0.95)
        {'maps': 1024}
        """
        wanted = (0.78 * reach(confidence) / check_share("error", error)) ** 2
        return {"maps": 1 << max(0, ceil(log2(wanted)))}

    @property
    def standard_error(self) -> float:
        """Of the estimate, relative to it."""
        return float(0.78 / self.maps**0.5)

    def estimate(self) -> float:
        """How many different values there were, corrected for few values and for the known bias."""
        lowest = self._lowest()
        found = self.maps / PHI * (2.0**lowest - 2.0 ** (-_KAPPA * lowest))
        return float(found / (1 + 0.31 / self.maps)) if self.maps > 1 else float(found)

    def classic(self) -> float:
        """The estimate as first published, maps * 2^(mean of the lowest bits not set) / 0.77351."""
        return float(self.maps / PHI * 2.0 ** self._lowest())

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """A factor to both sides: the mean of the lowest bits follows a normal law."""
        factor = 2.0 ** (reach(confidence) * _DEVIATION / self.maps**0.5)
        return self.estimate() / factor, self.estimate() * factor

    def _lowest(self) -> float:
        """The mean over the maps of the lowest bit that is not set."""
        maps = self._state["maps"]
        lowest = ~maps & (maps + np.uint64(1))
        return float(np.log2(np.where(lowest == 0, 2.0**64, lowest.astype(np.float64))).mean())

    def _absorb(self, found: Digests) -> None:
        bits = np.uint64(self.maps.bit_length() - 1)
        kernels.set_lowest(self._state["maps"], found, self._salt, bits)

    def _sizes(self) -> dict[str, int]:
        return {"maps": self.maps}

    def _shapes(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        return {"maps": (np.uint64, (self.maps,))}
