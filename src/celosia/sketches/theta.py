"""Theta sketches: sets of different values that can be united, intersected and subtracted."""

from __future__ import annotations

from functools import cached_property
from math import ceil
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from celosia.sketches import _update_kernels as kernels
from celosia.sketches.distinct_count import DistinctCountSketch, reach
from celosia.sketches.hashing import Digests
from celosia.sketches.sketch import Arrays, Sketch, check_share, check_size

WHOLE = 2**63
"""Hashes have 63 bits, so that a theta of 1 is a 64-bit number too."""


class ThetaSketch(DistinctCountSketch):
    """The smallest hashes of a set of values, which are a fair sample of it.

    - Queries: how many different values were seen; the same of unions (`a | b`), intersections
      (`a & b`) and differences (`a - b`), which are Theta sketches again.
    - Space: up to `most` hashes of 8 bytes.
    - Update: a comparison for most values; a place in a table for those below theta.
    - Query: no work.
    - Start: theta = 1 and no hashes, and exact up to `most` values.
    - Error: a relative standard error below 1 / sqrt(most - 1) for a set and for unions. For an
      intersection or a difference it grows with the square root of how much smaller it is than
      the union; `interval` knows.

    Theta is the (most + 1)-th smallest hash, as a share of all hashes, and what is kept is all
    that is smaller; the estimate is their number divided by theta.

    Args:
        most: how many hashes are kept.
        key: decides the hash function.

    Raises:
        InputError: CEL-K003 a parameter is out of range.

    Reference: Bar-Yossef et al. 2002 (k minimum values); Dasgupta, Lang, Rhodes and Thaler 2016.

    >>> size = ThetaSketch.size_for(error=0.02, confidence=0.68)
    >>> monday = ThetaSketch(**size).update(range(3000))
    >>> tuesday = ThetaSketch(**size).update(range(2000, 5000))
    >>> print(monday & tuesday)
    theta (2,474 hashes at most): estimate 1,021 different values (95 %: 991 to 1,053), 6,608 bytes
    """

    name = "theta"

    def __init__(self, *, most: int, key: str = "celosia") -> None:
        super().__init__(key=key)
        self.most = check_size("most", most, 2, 2**26)

    @staticmethod
    def size_for(*, error: float, confidence: float = 0.95) -> dict[str, int]:
        """How many hashes to keep for a relative error that holds with this confidence.

        >>> ThetaSketch.size_for(error=0.01, confidence=0.95)
        {'most': 38416}
        """
        return {"most": ceil((reach(confidence) / check_share("error", error)) ** 2) + 1}

    @property
    def theta(self) -> float:
        """The share of all hashes that is sampled."""
        return self._limit / WHOLE

    @property
    def kept(self) -> int:
        """How many hashes there are below theta."""
        return int(self._state["hashes"].size)

    def estimate(self) -> float:
        """How many different values there are: exact while theta is 1."""
        return self.kept / self.theta

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The numbers n for which so many of n values below theta are no surprise.

        The exact binomial interval of Clopper and Pearson, solved for n; good down to no hash.
        """
        from scipy.special import btdtria, btdtrib  # heavy, only intervals need it

        tail = (1 - check_share("confidence", confidence)) / 2
        if self._limit == WHOLE:
            return float(self.kept), float(self.kept)
        # P(Bin(n, t) >= k) = I_t(k, n - k + 1), and P(Bin(n, t) <= k) = I_(1-t)(n - k, k + 1).
        low = self.kept - 1 + float(btdtrib(self.kept, tail, self.theta)) if self.kept else 0.0
        return low, self.kept + float(btdtria(tail, self.kept + 1, 1 - self.theta))

    def merge(self, other: Sketch) -> Self:
        """Take in all that another sketch has seen, exactly as if it had been seen here.

        Raises:
            InputError: CEL-K006 it is another kind of sketch, or has other parameters.
        """
        self._same(other)
        limit = min(self._limit, int(other._state["limit"][0]))
        self._keep(np.union1d(self._state["hashes"], other._state["hashes"]), limit)
        return self

    def union(self, other: ThetaSketch) -> ThetaSketch:
        """The values of either; also `a | b`."""
        return self.copy().merge(other)

    def intersection(self, other: ThetaSketch) -> ThetaSketch:
        """The values of both; also `a & b`."""
        return self._combined(other, np.intersect1d)

    def difference(self, other: ThetaSketch) -> ThetaSketch:
        """The values of this one that the other has not; also `a - b`."""
        return self._combined(other, np.setdiff1d)

    __or__ = union
    __and__ = intersection
    __sub__ = difference

    def _combined(self, other: ThetaSketch, combine: Any) -> ThetaSketch:
        """Below the smaller theta both sides know all of their hashes."""
        self._same(other)
        made = type(self)(**self.parameters())
        mine, theirs = self._state["hashes"], other._state["hashes"]
        made._keep(combine(mine, theirs, assume_unique=True), min(self._limit, other._limit))
        return made

    @property
    def _limit(self) -> int:
        return int(self._state["limit"][0])

    def _keep(self, hashes: NDArray[np.uint64], limit: int) -> None:
        """Keep the smallest of sorted different hashes."""
        hashes = hashes[: np.searchsorted(hashes, np.uint64(limit))]
        if hashes.size > self.most:
            limit, hashes = int(hashes[self.most]), hashes[: self.most]
        self._state["limit"][0] = limit
        self._state["hashes"] = hashes.copy()

    def _absorb(self, found: Digests) -> None:
        """Gather up to twice the hashes that are kept in a table, and drop the larger half."""
        hashes, limit = self._state["hashes"], self._limit
        room = min(2 * self.most, hashes.size + found.size)
        table = np.zeros(1 << (2 * room).bit_length(), dtype=np.uint64)
        kernels.put_back(table, hashes)
        at, held = 0, hashes.size
        while at < found.size:
            at, held = kernels.gather_below(
                table, found, at, held, room, self._salt, np.uint64(limit)
            )
            if held == 2 * self.most:
                ranked = np.partition(table[table != 0], self.most)
                limit, held = int(ranked[self.most]), self.most
                kernels.put_back(table, ranked[: self.most])
        self._keep(np.sort(table[table != 0]), limit)

    @cached_property
    def _state(self) -> Arrays:
        return {
            "limit": np.array([WHOLE], dtype=np.uint64),
            "hashes": np.empty(0, dtype=np.uint64),
        }

    def _sizes(self) -> dict[str, int]:
        return {"most": self.most}

    def _shapes(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        held = self._state.get("hashes", np.empty(0)).size
        return {"limit": (np.uint64, (1,)), "hashes": (np.uint64, (held,))}

    def _sound(self) -> bool:
        edges = np.concatenate([[np.uint64(0)], self._state["hashes"], self._state["limit"]])
        rising = bool((edges[1:] > edges[:-1]).all())
        return rising and self.kept <= self.most and self._limit <= WHOLE
