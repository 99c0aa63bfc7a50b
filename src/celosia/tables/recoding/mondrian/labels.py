"""The columns that a partition releases."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from celosia.tables.coded_column import CodedColumn
from celosia.tables.recoding.mondrian.partition import Partition


def released_columns(partition: Partition, columns: Sequence[CodedColumn]) -> list[pl.Series]:
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
    >>> released_columns(partition([age], [KAnonymity(2)]), [age])[0].to_list()
    ['[20, 23]', '[20, 23]', '[31, 40]', '[31, 40]']
    """
    class_of_row = pl.Series(partition.class_of_row)
    result = []
    for number, (column, axis) in enumerate(zip(columns, partition.axes, strict=True)):
        lowest, highest = partition.lowest[:, number], partition.highest[:, number]
        if column.value_of_leaf is not None and (lowest == highest).all():
            result.append(column.raw())
        else:
            labels = axis.labels(lowest, highest)
            result.append(labels.gather(class_of_row).alias(column.name))
    return result
