"""How rows count: each as one, by its weight, or as one of several rows of a person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.mechanisms import GaussianCounts, Geometric

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]

STEPS = 2**10
"""Steps of a score for one row: expected counts are rounded to as many parts of a row."""
MOST_EXPECTED = 2.0**32
"""Rows that are expected at most; with STEPS and fewer than 2^31 rows, scores stay below 2^50."""
WEIGHT_STEPS = 2**12
"""Parts of the largest weight that weights are rounded to, so that their sums are exact."""


@dataclass(frozen=True, slots=True, eq=False)
class RowCounts:
    """Counts of rows, or sums of their weights, and how far one privacy unit moves them.

    A row counts as a whole number of steps, from 0 to `steps`; all rows of one privacy unit
    together are at most `most_rows`. So adding or removing one unit moves the counts of any table
    of cells by at most `steps * most_rows` in sum, and so in length too: the sensitivity.
    What is released is in rows again: steps divided by `steps`.
    """

    weights: Codes | None = None
    """Of the rows, in steps; None where each counts as a whole one."""
    steps: int = 1
    """Of a whole row, which is the largest weight."""
    most_rows: int = 1
    """Of one privacy unit."""

    @classmethod
    def weighted(cls, weights: pl.Series, most: float) -> RowCounts:
        """Rows that count as much as their weights, of which `most` is a whole row.

        A weight above `most` counts as `most`; one below 0 and an empty one as 0.

        >>> RowCounts.weighted(pl.Series([1.0, 50.0, 900.0, -3.0, None]), 100).weights.tolist()
        [41, 2048, 4096, 0, 0]
        """
        given = weights.cast(pl.Float64, strict=False).fill_nan(None).fill_null(0.0).to_numpy()
        shares = np.clip(given, 0.0, most) / most
        return cls(np.rint(shares * WEIGHT_STEPS).astype(np.int64), WEIGHT_STEPS)

    @property
    def sensitivity(self) -> int:
        """Steps by which one privacy unit moves all counts together."""
        return self.steps * self.most_rows

    @property
    def score_sensitivity(self) -> int:
        """Steps by which one privacy unit moves a score."""
        return self.sensitivity * self._fineness

    @property
    def row_score(self) -> int:
        """Steps of a score for one whole row."""
        return self.steps * self._fineness

    @property
    def _fineness(self) -> int:
        return max(STEPS // self.steps, 1)

    def counts(self, cells: Codes, size: int) -> Codes:
        """The exact counts of cells from 0 on, in steps."""
        if self.weights is None:
            found = np.bincount(cells, minlength=size)
            return found.astype(np.int64) * self.steps
        # Sums of fewer than 2^31 weights of at most 2^12 steps are exact in floats.
        return np.bincount(cells, weights=self.weights, minlength=size).astype(np.int64)

    def release(self, counts: Codes, noise: Geometric | GaussianCounts, rng: Source) -> Numbers:
        """Counts in steps with noise, in rows."""
        return np.asarray(noise.release(counts.ravel(), rng=rng) / self.steps).reshape(counts.shape)

    def variance(self, noise: Geometric | GaussianCounts) -> float:
        """Of the noise of a count, in rows."""
        return noise.variance / self.steps**2

    def score(self, counts: Codes, expected: Numbers) -> int:
        """How far exact counts are from expected ones, in whole steps of a score.

        With f steps of a score for one of the counts, |f c - e| moves by at most f |d| where c
        moves by d; the moves of all counts sum to the sensitivity at most.

        Args:
            counts: exact ones, in steps.
            expected: in rows; rounded, so that no float is left in the score.
        """
        goal = np.rint(np.minimum(expected, MOST_EXPECTED) * self.row_score).astype(np.int64)
        return int(np.abs(counts * self._fineness - goal).sum())
