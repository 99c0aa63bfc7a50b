"""Mondrian: multidimensional recoding, in which crowded regions of the table keep finer labels."""

from celosia.tables.recoding.mondrian.algorithm import partition
from celosia.tables.recoding.mondrian.labels import released_columns
from celosia.tables.recoding.mondrian.loss import PartitionLoss, leaf_sums, partition_loss
from celosia.tables.recoding.mondrian.meaning import RangeMeaning, meaning_of
from celosia.tables.recoding.mondrian.partition import Partition

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
