"""Sketches that count different values: a value seen again changes nothing."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from functools import cached_property
from math import isfinite
from typing import Any, Self

import numpy as np

from celosia.sketches.hashing import Digests, digests
from celosia.sketches.sketch import Sketch, check_share, weights


class DistinctCountSketch(Sketch):
    """A sketch that estimates how many different values it has seen."""

    def update(self, values: Any, counts: Any = None) -> Self:
        """Take in values; how often says nothing here, but a value with a count of 0 is not there.

        Raises:
            InputError: CEL-K001 a value is no whole number, text or bytes; CEL-K004 counts are no
                whole numbers from 0, one for each value.
        """
        found = self._hashes(values)
        often = weights(counts, len(found), negative=False)
        self._absorb(found if often is None else found[often > 0])
        return self

    def _hashes(self, values: Any) -> Digests:
        """What is absorbed of each value."""
        return digests(values)

    @abstractmethod
    def _absorb(self, found: Digests) -> None:
        """Take in digests."""

    @abstractmethod
    def estimate(self) -> float:
        """How many different values there were, about."""

    @abstractmethod
    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Where the number of different values is, with this confidence."""

    def error(self, confidence: float = 0.95) -> float:
        """How far the estimate may be off: the longer side of the interval."""
        low, high = self.interval(confidence)
        middle = self.estimate()
        return max(middle - low, high - middle) if isfinite(middle) else middle

    @cached_property
    def _salt(self) -> np.uint64:
        data = self.key.encode("utf-8", "surrogatepass")
        found = hashlib.blake2b(data, digest_size=8, person=b"celosia salt").digest()
        return np.uint64(int.from_bytes(found, "little"))

    def _facts(self) -> dict[str, Any]:
        middle, (low, high) = self.estimate(), self.interval()
        return {"estimate": _plain(middle), "low": _plain(low), "high": _plain(high)}


def _plain(number: float) -> float | None:
    return float(number) if isfinite(number) else None


def reach(confidence: float) -> float:
    """Standard errors to each side of a normal law that hold `confidence` of it."""
    from scipy.special import ndtri  # heavy, and only intervals need it

    return float(ndtri((1 + check_share("confidence", confidence)) / 2))
