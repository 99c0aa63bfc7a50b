"""Helpers: a source of given units, and a memory without a disk."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from celosia.collect.protocol import Protocol
from celosia.core.randomness import Source


class ScriptedSource(Source):
    """Gives 32-bit units from a list, whatever is asked for."""

    simulation = True

    def __init__(self, units: ArrayLike) -> None:
        self.left = np.asarray(units, dtype=np.uint32).tobytes()

    def raw(self, count: int) -> bytes:
        given, self.left = self.left[:count], self.left[count:]
        assert len(given) == count
        return given


class MemoryInProcess:
    """As `Memory`, in a dictionary, for many devices at once; draws come from a seed."""

    def __init__(self, rng: Source) -> None:
        self.rng = rng
        self.answers: dict[bytes, bytes] = {}
        self.spent = Fraction(0)

    def recall(
        self,
        protocol: Protocol,
        case: bytes,
        draw: Callable[[Source], bytes],
        *,
        price: Fraction = Fraction(0),
    ) -> bytes:
        key = protocol.fingerprint + case
        if key not in self.answers:
            self.answers[key] = draw(self.rng)
            self.spent += price
        return self.answers[key]

    def charge(self, price: Fraction) -> None:
        self.spent += price
