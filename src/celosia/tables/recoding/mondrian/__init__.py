"""Mondrian: multidimensional recoding, in which crowded regions of the table keep finer labels."""

from celosia.tables.recoding.mondrian.algorithm import partition
from celosia.tables.recoding.mondrian.meaning import RangeMeaning, meaning_of
from celosia.tables.recoding.mondrian.partition import (
    Partition,
    PartitionLoss,
    leaf_sums,
    partition_loss,
    released_columns,
)

__all__ = [
    "Partition",
    "PartitionLoss",
    "RangeMeaning",
    "leaf_sums",
    "meaning_of",
    "partition",
    "partition_loss",
    "released_columns",
]
