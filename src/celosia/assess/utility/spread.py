"""A released label as a share of each raw value that it may stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

SpreadRule: TypeAlias = Literal["uniform", "original"]
"""How a label's mass is shared: evenly over its values, or as the original table has them."""


def tally(
    places: NDArray[np.integer], weights: NDArray[np.float64], size: int
) -> NDArray[np.float64]:
    """The sum of the weights at each of `size` places.

    >>> tally(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 4).tolist()
    [4.0, 0.0, 2.0, 0.0]
    """
    return np.bincount(places, weights=weights, minlength=size).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The shares of the labels of one column, as one long list of (label, value, share).

    The shares of one label add up to 1. A list rather than a matrix: most labels stand for few of
    the values, so a column of thousands of values stays small.

    >>> halves = Spread.even([np.array([0]), np.array([0, 1])], values=2)
    >>> halves.mass(np.array([3.0, 4.0])).tolist()
    [5.0, 2.0]
    >>> halves.expected(np.array([10.0, 20.0])).tolist()
    [10.0, 15.0]
    """

    label: NDArray[np.int64]
    value: NDArray[np.int64]
    share: NDArray[np.float64]
    labels: int
    values: int

    @classmethod
    def even(cls, members: Sequence[NDArray[np.int64]], *, values: int) -> Spread:
        """Every label shared evenly over its values."""
        return cls.weighted(members, np.ones(values))

    @classmethod
    def weighted(cls, members: Sequence[NDArray[np.int64]], weights: NDArray[np.float64]) -> Spread:
        """Every label shared in proportion to the weights of its values.

        A label whose values weigh nothing at all is shared evenly.
        """
        sizes = np.array([len(found) for found in members], dtype=np.int64)
        label = np.repeat(np.arange(len(members), dtype=np.int64), sizes)
        value = np.concatenate([np.empty(0, dtype=np.int64), *members])
        weight = weights[value]
        totals = tally(label, weight, len(members))
        even = (totals == 0)[label]
        share = np.where(even, 1.0, weight) / np.where(totals == 0, sizes, totals)[label]
        return cls(label, value, share, len(members), len(weights))

    def mass(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each value gets when the labels occur this often."""
        weights = self.share * counts[self.label]
        return tally(self.value, weights, self.values)

    def expected(self, of_value: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of something over the values of each label, by their shares.

        With zeros and ones for `of_value`, the fraction of each label that lies in a set of values.
        """
        weights = self.share * of_value[self.value]
        return tally(self.label, weights, self.labels)
