"""The outcome of Mondrian: the class of every record, and the box that each class fills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.messages import counted
from celosia.core.methods import PlainValues
from celosia.tables.coded_table import CodedColumn
from celosia.tables.metrics.loss import LossScale
from celosia.tables.recoding.mondrian.axis import Axis
from celosia.tables.recoding.mondrian.rank_table import RankTable
from celosia.tables.released_table import ReleasedColumn


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


def released_columns(partition: Partition, columns: Sequence[CodedColumn]) -> list[ReleasedColumn]:
    """Every quasi-identifier as it is released, in the order of the table's rows.

    Numbers and dates become ranges such as `[21, 35]`, other values the lowest node of their
    hierarchy that holds the class. A class of a single value keeps it, and one of empty cells stays
    empty. Where every class keeps its value, the column stays in its own type.

    >>> import numpy as np
    >>> from celosia.tables.hierarchies import Hierarchy
    >>> from celosia.tables.models import KAnonymity
    >>> from celosia.tables.recoding.mondrian import partition
    >>> ages = Hierarchy.from_paths([("20", "*"), ("23", "*"), ("31", "*"), ("40", "*")])
    >>> values = pl.Series([20, 23, 31, 40])
    >>> age = CodedColumn("age", ages, np.array([0, 1, 2, 3], np.int32), value_of_leaf=values)
    >>> released_columns(partition([age], [KAnonymity(2)]), [age])[0].series().to_list()
    ['[20, 23]', '[20, 23]', '[31, 40]', '[31, 40]']
    """
    result = []
    for number, (column, axis) in enumerate(zip(columns, partition.axes, strict=True)):
        lowest, highest = partition.lowest[:, number], partition.highest[:, number]
        if column.value_of_leaf is not None and (lowest == highest).all():
            result.append(column.released_raw())
        else:
            labels = axis.labels(lowest, highest).alias(column.name)
            by_class = ReleasedColumn.of_series(labels)
            result.append(by_class.take(partition.class_of_row))
    return result


@dataclass(frozen=True, slots=True)
class PartitionLoss(PlainValues):
    """What a partition costs, comparable with the loss of a node of the lattice."""

    total: float
    """Information lost, in [0, 1]: 0 is the raw table, 1 tells nothing."""
    columns: dict[str, float]
    """The loss of each column."""

    def __str__(self) -> str:
        return f"loss {self.total:.3%}"


def leaf_sums(partition: Partition) -> tuple[int, ...]:
    """For each column, the sum over all records of the leaves that the record's label covers."""
    return tuple(
        int(
            axis.covered(partition.lowest[:, number], partition.highest[:, number])
            @ partition.sizes
        )
        for number, axis in enumerate(partition.axes)
    )


def partition_loss(partition: Partition) -> PartitionLoss:
    """The loss of each column and of the table.

    A range covers the leaves of the hierarchy whose values lie in it, a node those under it: so a
    partition and a node of the lattice that release the same labels have the same loss.
    """
    sums = leaf_sums(partition)
    scale = LossScale(
        rows=partition.rows,
        leaves=tuple(axis.leaves for axis in partition.axes),
        leaf_sums=tuple((total,) for total in sums),
        widest=tuple(
            (int(axis.covered(partition.lowest[:, number], partition.highest[:, number]).max()),)
            for number, axis in enumerate(partition.axes)
        ),
    )
    names = [axis.name for axis in partition.axes]
    return PartitionLoss(
        scale.total(sums),
        {name: scale.column(number, sums[number]) for number, name in enumerate(names)},
    )
