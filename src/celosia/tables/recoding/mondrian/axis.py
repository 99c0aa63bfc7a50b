"""The order in which Mondrian sees a column's values, and what a stretch of it is released as.

Every leaf of the column's hierarchy has a rank, whether it occurs in the data or not. A class holds
ranks between a lowest and a highest one, and its label follows from these two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ranks = NDArray[Any]
"""Places in a column's order, of whatever whole type."""


class Axis(ABC):
    """One column's values in order.

    Args:
        name: the column.
        leaf_of_rank: the leaves of its hierarchy, in order.
    """

    def __init__(self, name: str, leaf_of_rank: NDArray[np.int32]):
        self.name = name
        self.leaf_of_rank = leaf_of_rank

    @property
    def leaves(self) -> int:
        """Leaves of the hierarchy, seen in the data or not."""
        return self.leaf_of_rank.size

    @cached_property
    def rank_of_leaf(self) -> NDArray[np.int32]:
        """The place of each leaf in the order."""
        ranks = np.empty(self.leaves, dtype=np.int32)
        ranks[self.leaf_of_rank] = np.arange(self.leaves, dtype=np.int32)
        return ranks

    @abstractmethod
    def labels(self, lowest: Ranks, highest: Ranks) -> pl.Series:
        """What classes with these lowest and highest ranks show; nothing for empty cells."""

    @abstractmethod
    def label_keys(self, lowest: Ranks, highest: Ranks) -> NDArray[np.int64]:
        """Numbers that are equal exactly where the labels are."""

    @abstractmethod
    def covered(self, lowest: Ranks, highest: Ranks) -> NDArray[np.int64]:
        """How many leaves each of the labels may stand for."""
