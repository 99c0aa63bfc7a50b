"""Sketches with signs: other values in a cell cancel out, instead of adding up."""

from __future__ import annotations

from functools import cached_property
from math import ceil, inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.sketches import _update_kernels as kernels
from celosia.sketches.counters import CounterTable, median_share
from celosia.sketches.hashing import Digests, HashFamily, digests
from celosia.sketches.sketch import check_share


class SignedTable(CounterTable):
    """What AMS and Count Sketch share: a table of signed counts."""

    def _add(self, found: Digests, often: NDArray[np.int64]) -> None:
        cells, width = self._state["cells"].reshape(-1), np.int64(self.width)
        columns, signs = self._columns.coefficients, self._signs.coefficients
        kernels.add_signed(cells, found, often, columns, signs, width)

    def second_moment(self) -> float:
        """F2, the sum of the squared counts of all values: the median over the rows."""
        return float(np.median(np.square(self._state["cells"].astype(np.float64)).sum(axis=1)))

    def _points(self, found: Digests) -> NDArray[np.float64]:
        cells = np.take_along_axis(self._state["cells"], self._columns.every_column(found), axis=1)
        signed = (2 * self._signs.every_column(found) - 1) * cells
        middle: NDArray[np.float64] = np.median(signed, axis=0)
        return middle

    def _point_error(self, confidence: float) -> float:
        """Chebyshev's inequality in each row, of variance at most F2 / width; then the median."""
        share = median_share(self.depth, check_share("confidence", confidence))
        return sqrt(self.second_moment() / (self.width * share))

    @cached_property
    def _columns(self) -> HashFamily:
        key = b"columns " + self.key.encode()
        return HashFamily(key=key, rows=self.depth, width=self.width, degree=1)

    @cached_property
    def _signs(self) -> HashFamily:
        """4-wise independent: the variance of F2 has products of four signs."""
        return HashFamily(key=b"signs " + self.key.encode(), rows=self.depth, width=2, degree=3)

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "second_moment": self.second_moment()}


class AmsSketch(SignedTable):
    """The second moment of counts: how uneven values are, or how large a join with itself.

    - Queries: F2, the sum of squared counts (`estimate`); how often a value was seen (`point`).
    - Space: depth * width counters of 8 bytes.
    - Update: one cell in each of `depth` rows; counts may be below 0.
    - Query: all cells for F2, `depth` cells for a value.
    - Start: all cells 0.
    - Error: a row has variance below 2 F2^2 / width; with width = 8 / error^2 and
      depth = 8 ln(1 / (1 - confidence)) the median is off by more than error * F2 with a chance
      below 1 - confidence.

    Args:
        width: cells of a row.
        depth: rows.
        key: decides the hash functions.

    Raises:
        InputError: CEL-K003 a parameter is out of range.

    Reference: Alon, Matias and Szegedy 1996; with columns, Thorup and Zhang 2004.

    >>> moments = AmsSketch(**AmsSketch.size_for(error=0.1, confidence=0.95))
    >>> moments.update(["smile", "cry"], counts=[3, -4]).estimate()
    25.0
    """

    name = "ams"

    @staticmethod
    def size_for(*, error: float, confidence: float = 0.95) -> dict[str, int]:
        """The sizes for an error, as a share of F2, that holds with this confidence.

        >>> AmsSketch.size_for(error=0.1, confidence=0.95)
        {'width': 800, 'depth': 24}
        """
        return _size_for(8, error, confidence)

    def estimate(self) -> float:
        """F2, the sum of the squared counts of all values."""
        return self.second_moment()

    def error(self, confidence: float = 0.95) -> float:
        """How far the estimate of F2 may be off, with this confidence."""
        return self.estimate() * self._share(confidence)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Around F2: the error is a share of the true one, which bounds it from both sides.

        Where that share is 1 or more, nothing bounds F2 from above.
        """
        share, middle = self._share(confidence), self.estimate()
        return middle / (1 + share), middle / (1 - share) if share < 1 else inf

    def point(self, values: Any) -> NDArray[np.float64]:
        """How often each value was seen, as in a Count Sketch."""
        return self._points(digests(values))

    def _share(self, confidence: float) -> float:
        """Chebyshev's inequality in each row, of variance below 2 F2^2 / width; then the median."""
        share = median_share(self.depth, check_share("confidence", confidence))
        return sqrt(2 / (self.width * share))


class CountSketch(SignedTable):
    """Counts of values, unbiased: in a cell, other values come with signs that cancel out.

    - Queries: how often was a value seen; the second moment.
    - Space: depth * width counters of 8 bytes.
    - Update: one cell in each of `depth` rows; counts may be below 0.
    - Query: the median of `depth` cells.
    - Start: all cells 0.
    - Error: with width = 4 / error^2 and depth = 8 ln(1 / (1 - confidence)), off by more than
      error * sqrt(F2), itself at most error * total, with a chance below 1 - confidence.

    Args:
        width: cells of a row.
        depth: rows.
        key: decides the hash functions.

    Raises:
        InputError: CEL-K003 a parameter is out of range.

    Reference: Charikar, Chen and Farach-Colton 2002.

    >>> counts = CountSketch(**CountSketch.size_for(error=0.1, confidence=0.99))
    >>> counts.update(["smile", "cry", "smile"]).estimate(["smile", "laugh"]).tolist()
    [2.0, 0.0]
    """

    name = "count-sketch"

    @staticmethod
    def size_for(*, error: float, confidence: float = 0.99) -> dict[str, int]:
        """The sizes for an error, as a share of sqrt(F2), that holds with this confidence.

        >>> CountSketch.size_for(error=0.1, confidence=0.99)
        {'width': 400, 'depth': 37}
        """
        return _size_for(4, error, confidence)

    def estimate(self, values: Any) -> NDArray[np.float64]:
        """How often each value was seen."""
        return self._points(digests(values))

    def error(self, confidence: float = 0.95) -> float:
        """How far an estimate may be off, with this confidence."""
        return self._point_error(confidence)

    def interval(
        self, values: Any, confidence: float = 0.95
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Below and above the true count of each value."""
        middle, spread = self.estimate(values), self.error(confidence)
        return middle - spread, middle + spread


def _size_for(factor: int, error: float, confidence: float) -> dict[str, int]:
    """A row is wrong with a chance of at most 1/4; by Hoeffding, the median with e^(-depth/8)."""
    # A hair less than the quotient, so that 4 / 0.1^2, which is 400, is not rounded up to 401.
    width = ceil(factor / check_share("error", error) ** 2 * (1 - 1e-12))
    return {"width": width, "depth": ceil(-8 * log(1 - check_share("confidence", confidence)))}
