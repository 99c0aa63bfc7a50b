"""The loss of a partition, in the terms of the lattice: the share of the leaves a label covers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from celosia.tables.metrics.loss import LossScale
from celosia.tables.recoding.mondrian.partition import Partition


@dataclass(frozen=True, slots=True)
class PartitionLoss:
    """What a partition costs, comparable with the loss of a node of the lattice."""

    total: float
    """Information lost, in [0, 1]: 0 is the raw table, 1 tells nothing."""
    columns: dict[str, float]
    """The loss of each column."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

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
