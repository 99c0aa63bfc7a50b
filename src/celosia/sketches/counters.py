"""Sketches that add: cells of whole numbers, their total, and bounds on errors."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.sketches.hashing import Digests, digests
from celosia.sketches.sketch import LARGEST, Sketch, check_size, weights

FULL = 2**62
"""The sum of the sizes of all counts stays below: no cell, being a part of it, can overflow."""

_NONE = np.empty(0, dtype=np.int64)


class CounterSketch(Sketch):
    """A sketch whose cells are sums of counts, so that updates may also take away."""

    _joining = np.add

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return int(self._state["sums"][0])

    def update(self, values: Any, counts: Any = None) -> Self:
        """Count values, each once or `counts` times; counts below 0 take away.

        Raises:
            InputError: CEL-K001 a value is no whole number, text or bytes; CEL-K004 counts are no
                whole numbers, one for each value; CEL-K007 there would be too many.
        """
        found = digests(values)
        self._add(found, self._weighed(counts, found.size))
        return self

    @abstractmethod
    def _add(self, found: Digests, often: NDArray[np.int64]) -> None:
        """Add to the cells of digests; without any count, each once."""

    def merge(self, other: Sketch) -> Self:
        """Take in all that another sketch has seen, exactly as if it had been seen here.

        Raises:
            InputError: CEL-K006 it is another kind of sketch, or has other parameters; CEL-K007
                there would be too many counts.
        """
        self._same(other)
        self._room(int(other._state["sums"][1]))
        return super().merge(other)

    def _room(self, more: int) -> None:
        if int(self._state["sums"][1]) + more > FULL:
            raise InputError("CEL-K007")

    def _weighed(self, counts: Any, size: int) -> NDArray[np.int64]:
        """Counts for a kernel (none: each value once); the totals already have them in."""
        found = weights(counts, size)
        # Counts are at most 2^31 in size and an array has less than 2^31 values in any memory
        # of today, so that these sums are below 2^62.
        moved = size if found is None else int(np.abs(found).sum())
        self._room(moved)
        self._state["sums"] += np.array([size if found is None else found.sum(), moved])
        return _NONE if found is None else found

    def _sound(self) -> bool:
        total, moved = (int(each) for each in self._state["sums"])
        return abs(total) <= moved <= FULL

    def _facts(self) -> dict[str, Any]:
        return {"total": self.total}


class CounterTable(CounterSketch):
    """A counter sketch of `depth` rows of `width` cells."""

    least_width: ClassVar[int] = 1

    def __init__(self, *, width: int, depth: int, key: str = "celosia") -> None:
        super().__init__(key=key)
        self.depth = check_size("depth", depth, 1, 4096)
        self.width = check_size("width", width, self.least_width, LARGEST // self.depth)

    def _sizes(self) -> dict[str, int]:
        return {"width": self.width, "depth": self.depth}

    def _shapes(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        return {"cells": (np.int64, (self.depth, self.width)), "sums": (np.int64, (2,))}


def median_share(depth: int, confidence: float) -> float:
    """How often one row may be wrong for the median of `depth` rows to be right.

    A median is wrong only where half of its rows are wrong, and P(Bin(depth, p) >= need) is the
    regularised incomplete beta function I_p(need, depth - need + 1).
    """
    from scipy.special import betaincinv  # heavy, and only bounds need it

    need = (depth + 1) // 2
    return float(betaincinv(need, depth - need + 1, 1 - confidence))
