"""Bloom filters: has a value been seen? With bits, or with counters that can also take away."""

from __future__ import annotations

from functools import cached_property
from math import ceil, exp, expm1, inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.sketches import _update_kernels as kernels
from celosia.sketches.counters import CounterSketch
from celosia.sketches.distinct_count import DistinctCountSketch, reach
from celosia.sketches.hashing import Digests, HashFamily, digests
from celosia.sketches.sketch import check_share, check_size


class BloomFilter(DistinctCountSketch):
    """A set that never forgets a value, and sometimes takes a new one for known.

    - Queries: is a value in the set; how many different values are.
    - Space: `bits` bits.
    - Update: `hashes` bits are set.
    - Query: `hashes` bits are read.
    - Start: all bits 0.
    - Error: no false negatives; false positives at a rate of (1 - e^(-hashes n / bits))^hashes
      after n values, least at hashes = (bits / n) ln 2.

    Args:
        bits: how many.
        hashes: how many of them a value sets.
        key: decides the hash functions.

    Raises:
        InputError: CEL-K003 a parameter is out of range.

    Reference: Bloom 1970; the count of values is that of Swamidass and Baldi 2007.

    >>> seen = BloomFilter(**BloomFilter.size_for(items=1000, rate=0.02))
    >>> seen.update(["smile", "cry"]).contains(["cry", "laugh"]).tolist()
    [True, False]
    """

    name = "bloom"
    _joining = np.bitwise_or

    def __init__(self, *, bits: int, hashes: int, key: str = "celosia") -> None:
        super().__init__(key=key)
        self.bits = check_size("bits", bits, 1, 2**36)
        self.hashes = check_size("hashes", hashes, 1, 256)

    @staticmethod
    def size_for(*, items: int, rate: float) -> dict[str, int]:
        """The sizes for a number of different values and a rate of false positives.

        bits = -n ln f / (ln 2)^2, hashes = (bits / n) ln 2.

        >>> BloomFilter.size_for(items=1000, rate=0.02)
        {'bits': 8143, 'hashes': 6}
        """
        return _size_for(items, rate)

    def contains(self, values: Any) -> NDArray[np.bool_]:
        """Whether each value was seen; a true answer may be wrong, a false one never is."""
        coefficients = self._family.coefficients
        return kernels.all_bits(
            self._state["words"], digests(values), coefficients, np.int64(self.bits)
        )

    def false_positive_rate(self, items: int | None = None) -> float:
        """Of values never seen, as the bits are now, or by the formula after a number of items."""
        if items is None:
            return float((self._filled / self.bits) ** self.hashes)
        return _rate(self.bits, self.hashes, items)

    def estimate(self) -> float:
        """How many different values were seen; infinite when all bits are set."""
        empty = 1 - self._filled / self.bits
        return -self.bits / self.hashes * log(empty) if empty else inf

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Around the estimate, by the normal law of the empty bits (Whang et al. 1990)."""
        middle, side = self.estimate(), reach(confidence)
        if middle == inf:
            return 0.0, inf
        load = self.hashes * middle / self.bits
        spread = side * sqrt(self.bits * max(0.0, expm1(load) - load)) / self.hashes
        return max(0.0, middle - spread), middle + spread

    @property
    def _filled(self) -> int:
        return int(np.bitwise_count(self._state["words"]).sum())

    @cached_property
    def _family(self) -> HashFamily:
        return HashFamily(key=self.key.encode(), rows=self.hashes, width=self.bits, degree=1)

    def _absorb(self, found: Digests) -> None:
        coefficients = self._family.coefficients
        kernels.set_bits(self._state["words"], found, coefficients, np.int64(self.bits))

    def _sizes(self) -> dict[str, int]:
        return {"bits": self.bits, "hashes": self.hashes}

    def _shapes(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        return {"words": (np.uint64, (-(-self.bits // 64),))}

    def _sound(self) -> bool:
        return self.bits % 64 == 0 or not int(self._state["words"][-1]) >> self.bits % 64

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "false_positive_rate": self.false_positive_rate()}


class CountingBloomFilter(CounterSketch):
    """A Bloom filter with counters: values can be taken away, and their number is known about.

    - Queries: is a value in the collection; how often.
    - Space: `cells` counters of 8 bytes.
    - Update: `hashes` counters grow by the count, which may be below 0.
    - Query: the smallest of `hashes` counters.
    - Start: all counters 0.
    - Error: never too low, as long as nothing is taken away that was not there; too high for a
      share of values that is the rate of false positives of `BloomFilter`.

    Args:
        cells: how many counters.
        hashes: how many of them a value changes.
        key: decides the hash functions.

    Raises:
        InputError: CEL-K003 a parameter is out of range.

    Reference: Fan, Cao, Almeida and Broder 2000.

    >>> seen = CountingBloomFilter(**CountingBloomFilter.size_for(items=1000, rate=0.02))
    >>> seen.update(["smile", "cry"], counts=[3, 1]).update(["cry"], counts=[-1]).total
    3
    >>> seen.estimate(["smile", "cry"]).tolist()
    [3, 0]
    """

    name = "counting-bloom"

    def __init__(self, *, cells: int, hashes: int, key: str = "celosia") -> None:
        super().__init__(key=key)
        self.cells = check_size("cells", cells, 1)
        self.hashes = check_size("hashes", hashes, 1, 256)

    @staticmethod
    def size_for(*, items: int, rate: float) -> dict[str, int]:
        """The sizes for a number of different values and a share of values counted too high."""
        found = _size_for(items, rate)
        return {"cells": found["bits"], "hashes": found["hashes"]}

    def _add(self, found: Digests, often: NDArray[np.int64]) -> None:
        coefficients, cells = self._family.coefficients, np.int64(self.cells)
        kernels.add(self._state["cells"], found, often, coefficients, cells, np.int64(0))

    def contains(self, values: Any) -> NDArray[np.bool_]:
        """Whether each value is there; a true answer may be wrong, a false one never is."""
        return self.estimate(values) > 0

    def estimate(self, values: Any) -> NDArray[np.int64]:
        """How often each value is there: the smallest of its counters."""
        found: NDArray[np.int64] = self._state["cells"][self._family.every_column(digests(values))]
        smallest: NDArray[np.int64] = found.min(axis=0)
        return smallest

    def false_positive_rate(self, items: int | None = None) -> float:
        """The share of values that share all counters with others, now or after `items` values."""
        if items is None:
            return float((np.count_nonzero(self._state["cells"]) / self.cells) ** self.hashes)
        return _rate(self.cells, self.hashes, items)

    def error(self, confidence: float = 0.95) -> float:
        """How much too high an estimate may be, with this confidence.

        A counter holds hashes * total / cells of others on average: Markov's inequality in
        each of the counters of a value, taken as independent.
        """
        wrong = 1 - check_share("confidence", confidence)
        return float(self.hashes * self.total / self.cells * wrong ** (-1 / self.hashes))

    def interval(
        self, values: Any, confidence: float = 0.95
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Below and above the true count of each value."""
        high = self.estimate(values).astype(np.float64)
        return np.maximum(0, high - self.error(confidence)), high

    @cached_property
    def _family(self) -> HashFamily:
        return HashFamily(key=self.key.encode(), rows=self.hashes, width=self.cells, degree=1)

    def _sizes(self) -> dict[str, int]:
        return {"cells": self.cells, "hashes": self.hashes}

    def _shapes(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        return {"cells": (np.int64, (self.cells,)), "sums": (np.int64, (2,))}

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "false_positive_rate": self.false_positive_rate()}


def _size_for(items: int, rate: float) -> dict[str, int]:
    number, share = whole(items), check_share("rate", rate)
    if number is None or number < 1:
        raise InputError("CEL-K008.items")
    bits = ceil(-number * log(share) / log(2) ** 2)
    return {"bits": bits, "hashes": max(1, round(bits / number * log(2)))}


def _rate(cells: int, hashes: int, items: int) -> float:
    return float((1 - exp(-hashes * items / cells)) ** hashes)
