"""What a law of noise on the whole numbers offers."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source


class Law(ABC):
    """A symmetric law on the whole numbers that is drawn exactly and whose tails are known."""

    @abstractmethod
    def draw(self, size: int, rng: Source) -> NDArray[np.int64]:
        """`size` independent exact draws."""

    @abstractmethod
    def mass(self, point: int) -> float:
        """The chance of one number."""

    @abstractmethod
    def tail(self, point: int) -> float:
        """The chance of a number of at least `point`."""

    @abstractmethod
    def bound(self, confidence: float, *, size: int = 1) -> int:
        """The least t such that none of `size` draws exceeds t in size, with this confidence."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The exact variance, to float precision."""
