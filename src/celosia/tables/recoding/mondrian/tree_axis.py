"""Values of a hierarchy: ordered along the tree, released as their lowest common ancestor."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.tables.coded_table import CodedColumn
from celosia.tables.recoding.mondrian.axis import Axis, Ranks


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
