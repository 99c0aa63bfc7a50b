"""Counters and measurements as bucket numbers, which protocols over small domains ask for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.methods import PlainValues
from celosia.mechanisms.parameters import check_bounds, check_whole


@dataclass(frozen=True, slots=True)
class Buckets(PlainValues):
    """Equal parts of a public range, numbered from 0; what lies beyond is in the first or last.

    >>> Buckets(0, 24, count=4).of([0, 5.9, 6, 24, 1000]).tolist()
    [0, 0, 1, 3, 3]
    """

    lower: float
    upper: float
    count: int = 32

    def __post_init__(self) -> None:
        check_bounds(self.lower, self.upper)
        check_whole(self.count, name="count", least=2, most=2**20)

    def of(self, values: Any) -> NDArray[np.int64]:
        """The bucket of each value.

        Raises:
            InputError: CEL-R035 a value is not a number.
        """
        numbers = numbers_of(values)
        scaled = (np.clip(numbers, self.lower, self.upper) - self.lower) / (self.upper - self.lower)
        return np.minimum(scaled * self.count, self.count - 1).astype(np.int64)

    @property
    def edges(self) -> NDArray[np.float64]:
        """Where buckets begin, and where the last one ends."""
        return np.linspace(self.lower, self.upper, self.count + 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """A text for each bucket."""
        edges = [f"{each:g}" for each in self.edges]
        return tuple(f"{low} to {high}" for low, high in pairwise(edges))


def numbers_of(values: Any) -> NDArray[np.float64]:
    """Values as floats, in one row."""
    try:
        numbers = np.atleast_1d(np.asarray(values, dtype=np.float64)).reshape(-1)
    except (TypeError, ValueError, OverflowError):  # the last for numbers beyond all floats
        numbers = np.array([np.nan])
    if np.any(np.isnan(numbers)):
        raise InputError("CEL-R035")
    return numbers
