"""Count-Min: how often each value was seen, never too low."""

from __future__ import annotations

from functools import cached_property
from math import ceil, e, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.sketches import _update_kernels as kernels
from celosia.sketches.counters import CounterTable, median_share
from celosia.sketches.hashing import Digests, HashFamily, digests
from celosia.sketches.sketch import check_share

METHODS = ("min", "mean", "median")
"""How Count-Min makes one estimate of the cells of a value."""


class CountMin(CounterTable):
    """Counts of values in a table: each row counts all values, in cells that values share.

    - Queries: how often was a value seen; by `method`: `min`, the smallest cell, never too low;
      `mean` and `median` over the rows, after taking from each cell what others put there on
      average, which are unbiased (the mean) and better for rare values, but may be too low.
    - Space: depth * width counters of 8 bytes.
    - Update: one cell in each of `depth` rows.
    - Query: `depth` cells.
    - Start: all cells 0.
    - Error: with width = e / error and depth = ln(1 / (1 - confidence)), `min` is too high by more
      than error * total with a chance below 1 - confidence, as long as no count is below 0 in sum.

    Args:
        width: cells of a row.
        depth: rows.
        key: decides the hash functions, which are pairwise independent.

    Raises:
        InputError: CEL-K003 a parameter is out of range.

    Reference: Cormode and Muthukrishnan 2005; the mean is that of Deng and Rafiei 2007.

    >>> counts = CountMin(**CountMin.size_for(error=0.01, confidence=0.99))
    >>> counts.update(["smile", "cry", "smile"]).estimate(["smile", "laugh"]).tolist()
    [2, 0]
    >>> print(counts)
    count-min (272 cells in a row, 5 rows): total count 3, 10,896 bytes
    """

    name = "count-min"
    least_width = 2

    @staticmethod
    def size_for(*, error: float, confidence: float = 0.99) -> dict[str, int]:
        """The sizes for an error, as a share of the total, that holds with this confidence.

        >>> CountMin.size_for(error=0.001, confidence=0.99)
        {'width': 2719, 'depth': 5}
        """
        width = ceil(e / check_share("error", error))
        return {"width": width, "depth": ceil(-log(1 - check_share("confidence", confidence)))}

    def _add(self, found: Digests, often: NDArray[np.int64]) -> None:
        width = np.int64(self.width)
        cells = self._state["cells"].reshape(-1)
        kernels.add(cells, found, often, self._family.coefficients, width, width)

    def estimate(self, values: Any, *, method: str = "min") -> NDArray[Any]:
        """How often each value was seen: whole numbers for `min`, floats for the others.

        Raises:
            InputError: CEL-K009 there is no such method.
        """
        _check(method)
        found = np.take_along_axis(self._state["cells"], self._columns(values), axis=1)
        return combine_rows(found, method=method, total=self.total, width=self.width)

    def error(self, confidence: float = 0.95, *, method: str = "min") -> float:
        """How far an estimate may be off, with this confidence; for `min` only upwards.

        `min`: Markov's inequality in each row, (total / (width t))^depth = 1 - confidence. `mean`
        and `median`: Chebyshev's, with the second moment as the sketch itself estimates it.
        """
        _check(method)
        share = check_share("confidence", confidence)
        if method == "min":
            return float(self.total / self.width * (1 - share) ** (-1 / self.depth))
        row = self.second_moment() / (self.width - 1)
        if method == "mean":
            return sqrt(row / self.depth / (1 - share))
        return sqrt(row / median_share(self.depth, share))

    def interval(
        self, values: Any, confidence: float = 0.95, *, method: str = "min"
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Below and above the true count of each value."""
        middle = self.estimate(values, method=method).astype(np.float64)
        spread = self.error(confidence, method=method)
        high = middle if method == "min" else middle + spread
        return np.maximum(0, middle - spread), np.maximum(0, high)

    def second_moment(self) -> float:
        """The sum of the squared counts of all values, estimated.

        The squares of a row are F2 + (total^2 - F2) / width on average.
        """
        squares = np.square(self._state["cells"].astype(np.float64)).sum(axis=1).mean()
        return max(0.0, float(self.width * squares - float(self.total) ** 2) / (self.width - 1))

    def _columns(self, values: Any) -> NDArray[np.int64]:
        """Where each value is counted: rows by values."""
        return self._family.every_column(digests(values))

    @cached_property
    def _family(self) -> HashFamily:
        return HashFamily(key=self.key.encode(), rows=self.depth, width=self.width, degree=1)

    def _sound(self) -> bool:
        return super()._sound() and bool((self._state["cells"].sum(axis=1) == self.total).all())


def combine_rows(
    cells: NDArray[np.int64], *, method: str = "min", total: int, width: int
) -> NDArray[Any]:
    """One estimate for each value from its cells, rows by values.

    >>> combine_rows(np.array([[14], [12], [8], [20]]), total=100, width=50).tolist()
    [8]
    """
    _check(method)
    if method == "min":
        smallest: NDArray[np.int64] = cells.min(axis=0)
        return smallest
    own = (cells * float(width) - float(total)) / (width - 1)
    found: NDArray[np.float64] = own.mean(axis=0) if method == "mean" else np.median(own, axis=0)
    return found


def _check(method: str) -> None:
    if method not in METHODS:
        raise InputError("CEL-K009", method=method, methods=", ".join(METHODS))
