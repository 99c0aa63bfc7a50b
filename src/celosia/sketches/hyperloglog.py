"""HyperLogLog: the number of different values from registers of one byte."""

from __future__ import annotations

from math import ceil, inf, log, log2, sqrt
from typing import Any

import numpy as np

from celosia.sketches import _update_kernels as kernels
from celosia.sketches.distinct_count import DistinctCountSketch, reach
from celosia.sketches.hashing import Digests
from celosia.sketches.sketch import check_share, check_size

_ALPHAS = {16: 0.673, 32: 0.697, 64: 0.709}


class HyperLogLog(DistinctCountSketch):
    """Different values, from the longest runs of zeros that their hashes begin with.

    - Queries: how many different values were seen.
    - Space: 2^precision registers of one byte.
    - Update: one register.
    - Query: all registers.
    - Start: all registers 0.
    - Error: a relative standard error of 1.04 / sqrt(2^precision), and less for few values.

    `estimate` is the improved raw estimator of Ertl, which is good from no value to 2^60 of them
    without tables or a change of formula; `classic` is the published one, with linear counting
    for few values, which is some percent too high where the two meet.

    Args:
        precision: bits of the hash that choose the register, from 4 to 18.
        key: decides the hash function.

    Raises:
        InputError: CEL-K003 a parameter is out of range.

    Reference: Flajolet, Fusy, Gandouet and Meunier 2007; Ertl 2017, arXiv 1702.01284, algorithm 6.

    >>> users = HyperLogLog(**HyperLogLog.size_for(error=0.02, confidence=0.95))
    >>> print(users.update(range(10_000)))  # doctest: +ELLIPSIS
    hyperloglog (16,384 registers): estimate 9,871 different values (95 %: 9,713 to 10,028), ...
    """

    name = "hyperloglog"
    _joining = np.maximum

    def __init__(self, *, precision: int, key: str = "celosia") -> None:
        super().__init__(key=key)
        self.precision = check_size("precision", precision, 4, 18)

    @staticmethod
    def size_for(*, error: float, confidence: float = 0.95) -> dict[str, int]:
        """The precision for a relative error that holds with this confidence.

        >>> HyperLogLog.size_for(error=0.01, confidence=0.95)
        {'precision': 16}
        """
        wanted = (1.04 * reach(confidence) / check_share("error", error)) ** 2
        return {"precision": check_size("precision", max(4, ceil(log2(wanted))), 4, 18)}

    @property
    def registers(self) -> int:
        """How many registers there are."""
        return 1 << self.precision

    @property
    def standard_error(self) -> float:
        """Of the estimate, relative to it."""
        return 1.04 / sqrt(self.registers)

    def estimate(self) -> float:
        """How many different values there were (Ertl's improved raw estimator)."""
        longest = 64 - self.precision
        many = np.bincount(self._state["registers"], minlength=longest + 2).tolist()
        size = self.registers
        below = size * _tau(1 - many[longest + 1] / size)
        for rank in range(longest, 0, -1):
            below = (below + many[rank]) / 2
        below += size * _sigma(many[0] / size)
        return size * size / (2 * log(2) * below) if below else inf

    def classic(self) -> float:
        """The estimate of 2007: alpha m^2 / sum 2^-register, or m ln(m / empty) for few values."""
        size, registers = self.registers, self._state["registers"]
        alpha = _ALPHAS.get(size, 0.7213 / (1 + 1.079 / size))
        found = alpha * size * size / float(np.exp2(-registers.astype(np.float64)).sum())
        empty = size - int(np.count_nonzero(registers))
        return size * log(size / empty) if found <= 2.5 * size and empty else found

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Around the estimate, by the normal law."""
        spread = reach(confidence) * self.standard_error * self.estimate()
        return max(0.0, self.estimate() - spread), self.estimate() + spread

    def _absorb(self, found: Digests) -> None:
        precision = np.int64(self.precision)
        kernels.raise_registers(self._state["registers"], found, self._salt, precision)

    def _sizes(self) -> dict[str, int]:
        return {"precision": self.precision}

    def _shown(self) -> dict[str, int]:
        return {"registers": self.registers}

    def _shapes(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        return {"registers": (np.uint8, (self.registers,))}

    def _sound(self) -> bool:
        return int(self._state["registers"].max()) <= 64 - self.precision + 1


def _sigma(share: float) -> float:
    """The part of empty registers: x + sum over k >= 1 of x^(2^k) 2^(k-1)."""
    if share == 1:
        return inf
    found, step = share, 1.0
    while True:
        share *= share
        before = found
        found += share * step
        step += step
        if found == before:
            return found


def _tau(share: float) -> float:
    """The part of full registers: (1 - x - sum over k >= 1 of (1 - x^(2^-k))^2 2^-k) / 3."""
    if share in (0, 1):
        return 0.0
    found, step = 1 - share, 1.0
    while True:
        share = sqrt(share)
        before = found
        step /= 2
        found -= (1 - share) ** 2 * step
        if found == before:
            return found / 3
