"""The outcome of Mondrian: the class of every record, and the box that each class fills."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.wording import counted
from celosia.tables.recoding.mondrian.axis import Axis
from celosia.tables.recoding.mondrian.rank_table import RankTable


@dataclass(frozen=True, eq=False, slots=True)
class Partition:
    """Which records share a class, and between which ranks of each column they lie.

    Ranks are places in the order of a column's axis: by size for numbers and dates, along the
    hierarchy for other columns.
    """

    axes: tuple[Axis, ...] = field(repr=False)
    class_of_row: NDArray[np.int32] = field(repr=False)
    lowest: NDArray[np.int32] = field(repr=False)
    """`lowest[class, column]`: the least rank among the class's records."""
    highest: NDArray[np.int32] = field(repr=False)
    """`highest[class, column]`: the greatest rank among them."""
    sizes: NDArray[np.int64] = field(repr=False)
    """Records of each class."""

    @classmethod
    def of(cls, rank_table: RankTable) -> Partition:
        """The parts of a sheet that is fully cut."""
        bounds = rank_table.bounds()
        lengths = np.diff(bounds)
        class_of_row = np.empty(rank_table.records, dtype=np.int32)
        class_of_row[rank_table.rows] = np.repeat(np.arange(lengths.size, dtype=np.int32), lengths)
        sizes = rank_table.sizes(np.column_stack([bounds[:-1], bounds[1:]]))
        return cls(rank_table.axes, class_of_row, *rank_table.ends(bounds), sizes)

    @property
    def rows(self) -> int:
        """Records of the table."""
        return self.class_of_row.size

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.sizes.size

    def merge_equal_labels(self) -> Partition:
        """The same with classes joined that show the same labels; itself if there are none."""
        keys = self._label_keys()
        if keys.n_unique() == keys.height:
            return self
        same = keys.with_row_index("old").group_by(keys.columns, maintain_order=True)
        olds = same.agg(pl.col("old")).get_column("old")
        lengths = olds.list.len().to_numpy()
        new_of = np.empty(self.classes, dtype=np.int32)
        new_of[olds.explode().to_numpy()] = np.repeat(np.arange(lengths.size), lengths)
        shape = lengths.size, len(self.axes)
        lowest = np.full(shape, np.iinfo(np.int32).max, dtype=np.int32)
        highest = np.zeros(shape, dtype=np.int32)
        np.minimum.at(lowest, new_of, self.lowest)
        np.maximum.at(highest, new_of, self.highest)
        sizes = np.bincount(new_of, weights=self.sizes).astype(np.int64)
        # Where nodes of a hierarchy share a label, the joined box may get another label yet.
        return Partition(
            self.axes, new_of[self.class_of_row], lowest, highest, sizes
        ).merge_equal_labels()

    def _label_keys(self) -> pl.DataFrame:
        return pl.DataFrame(
            {
                str(number): axis.label_keys(self.lowest[:, number], self.highest[:, number])
                for number, axis in enumerate(self.axes)
            }
        )

    def as_dict(self) -> dict[str, Any]:
        """Rows, classes and how many classes have each size."""
        sizes, classes = np.unique(self.sizes, return_counts=True)
        return {
            "rows": self.rows,
            "classes": self.classes,
            "class_sizes": dict(zip(sizes.tolist(), classes.tolist(), strict=True)),
        }

    def __str__(self) -> str:
        return (
            f"{counted(self.classes, 'class', 'classes')} of "
            f"{counted(self.rows, 'record', 'records')}, the smallest of {int(self.sizes.min())}"
        )
