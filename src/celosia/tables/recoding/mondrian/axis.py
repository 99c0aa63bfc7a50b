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

from celosia.tables.coded_table import CodedColumn
from celosia.tables.hierarchies import ROOT

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


class RangedAxis(Axis):
    """A column released as `[21, 35]`, or as the value itself where a class has only one.

    Whatever has no place among the values comes after them: NaN, and last the empty cell. A class
    that holds such a one besides others is released as `*`, for no range says that.
    """

    def __init__(self, column: CodedColumn):
        order, self.ordered = _by_size(column)
        super().__init__(column.name, order)
        texts: list[str | None] = [column.hierarchy.leaves[leaf] for leaf in order]
        if column.has_missing:
            texts[-1] = None
        self._texts = pl.Series(texts, dtype=pl.String)
        """The label of each rank alone."""

    def labels(self, lowest: Ranks, highest: Ranks) -> pl.Series:
        """Ranges, values, or `*`."""
        parts = pl.DataFrame(
            {
                "low": self._texts.gather(lowest),
                "high": self._texts.gather(highest),
                "alone": lowest == highest,
                "ranged": highest < self.ordered,
            }
        )
        label = (
            pl.when("alone")
            .then("low")
            .when("ranged")
            .then(pl.format("[{}, {}]", "low", "high"))
            .otherwise(pl.lit(ROOT))
        )
        return parts.select(label.alias(self.name)).to_series()

    def label_keys(self, lowest: Ranks, highest: Ranks) -> NDArray[np.int64]:
        """One number for each pair of ends."""
        pairs = lowest.astype(np.int64) * self.leaves + highest
        shown = (highest < self.ordered) | (lowest == highest)
        return np.where(shown, pairs, np.int64(-1))

    def covered(self, lowest: Ranks, highest: Ranks) -> NDArray[np.int64]:
        """The leaves whose value lies in the range; all for `*`."""
        shown = (highest < self.ordered) | (lowest == highest)
        return np.where(shown, highest.astype(np.int64) - lowest + 1, np.int64(self.leaves))


def is_ranged(column: CodedColumn) -> bool:
    """Whether a column has values by size: numbers, dates and times."""
    values = column.value_of_leaf
    return values is not None and (values.dtype.is_numeric() or values.dtype.is_temporal())


def _by_size(column: CodedColumn) -> tuple[NDArray[np.int32], int]:
    """The leaves by the size of their values, and how many of them have a size."""
    assert column.value_of_leaf is not None
    leaves = column.hierarchy.leaves
    known = (*leaves[:-1], None) if column.has_missing else leaves
    texts = pl.Series("text", known, dtype=pl.String)
    # A leaf that occurs has its value at hand; one that does not is known by its text only.
    sizes = _comparable(column.value_of_leaf).alias("value")
    named = pl.DataFrame([sizes, _parsed(texts, sizes.dtype).alias("named")])
    placed = named.select(pl.coalesce("value", "named").alias("size")).with_row_index("leaf")
    order = placed.sort("size", "leaf", nulls_last=True).get_column("leaf")
    return order.to_numpy().astype(np.int32), placed.height - placed["size"].null_count()


def _comparable(values: pl.Series) -> pl.Series:
    """The same order in a type that holds the numbers of any leaf; NaN has no place in it."""
    if values.dtype.is_integer():
        return values.cast(pl.Int128)
    return values.cast(pl.Float64).fill_nan(None) if values.dtype.is_float() else values


def _parsed(texts: pl.Series, kind: pl.DataType) -> pl.Series:
    if kind.is_float():
        return texts.cast(kind, strict=False).fill_nan(None)
    if kind.is_numeric():
        return texts.cast(kind, strict=False)
    if kind == pl.Date:
        return texts.str.to_date("%Y-%m-%d", strict=False)
    if isinstance(kind, pl.Datetime) and kind.time_zone is None:
        return texts.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit=kind.time_unit, strict=False)
    return pl.Series([None], dtype=kind).new_from_index(0, len(texts))


class TreeAxis(Axis):
    """A column released as the label of the lowest node of its tree that holds the whole class.

    Leaves come in the order of the tree, so that the leaves under a node are neighbours.
    """

    def __init__(self, column: CodedColumn):
        hierarchy = column.hierarchy
        super().__init__(column.name, np.lexsort(hierarchy.nodes).astype(np.int32))
        own = hierarchy.nodes[:, self.leaf_of_rank]
        self.ancestors = _numbered_in_order(own)
        """`ancestors[level, rank]`: the node above a leaf, numbered in the order of ranks."""
        self.leaves_under = np.stack([np.bincount(row)[row] for row in self.ancestors])
        """`leaves_under[level, rank]`: the leaves that this node holds."""
        texts = [label for level in hierarchy.labels for label in level]
        number = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        self._texts: list[str | None] = list(number)
        self._text_of = np.stack(
            [
                np.array([number[label] for label in level])[row]
                for level, row in zip(hierarchy.labels, own, strict=True)
            ]
        )
        if column.has_missing:  # the leaf of empty cells, whatever it is called, shows nothing
            self._texts[int(self._text_of[0, -1])] = None

    def labels(self, lowest: Ranks, highest: Ranks) -> pl.Series:
        """The labels of the lowest common ancestors."""
        texts = pl.Series(self.name, self._texts, dtype=pl.String)
        return texts.gather(self.label_keys(lowest, highest))

    def label_keys(self, lowest: Ranks, highest: Ranks) -> NDArray[np.int64]:
        """The number of the label's text, for nodes of different levels may share one."""
        return self._text_of[self._level(lowest, highest), lowest]

    def covered(self, lowest: Ranks, highest: Ranks) -> NDArray[np.int64]:
        """The leaves under the lowest common ancestors."""
        return self.leaves_under[self._level(lowest, highest), lowest]

    def _level(self, lowest: Ranks, highest: Ranks) -> NDArray[np.int64]:
        """The first level on which both ends have the same node; the root is shared by all."""
        level = np.full(lowest.size, self.ancestors.shape[0] - 1, dtype=np.int64)
        for number in range(self.ancestors.shape[0] - 2, -1, -1):
            level[self.ancestors[number][lowest] == self.ancestors[number][highest]] = number
        return level


def _numbered_in_order(nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    numbered = np.zeros_like(nodes)
    np.cumsum(nodes[:, 1:] != nodes[:, :-1], axis=1, dtype=np.int32, out=numbered[:, 1:])
    return numbered
