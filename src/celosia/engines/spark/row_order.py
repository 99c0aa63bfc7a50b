"""The order of released rows, and the files they are cut into: functions of what they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from celosia.engines.spark.recoding import RecodedRows, place
from celosia.engines.tables import Order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ORDER = "o"
"""The column by which rows are sorted."""
FEW, MANY = 2**17, 2**20
"""Rows of a file, while there are few files and when there are many."""


def number_of_files(rows: int, usual: int) -> int:
    """How many files; told by the number of released rows, and by nothing of the source.

    What Spark would choose goes by the size of what it shuffles, and so by the order of rows.

    >>> [number_of_files(rows, 200) for rows in (0, 1000, 10**6, 10**8, 10**9)]
    [1, 1, 8, 200, 954]
    """
    return max(1, -(-rows // MANY), min(-(-rows // FEW), usual))


def sort_rows(frame: DataFrame, order: Order, parts: int) -> DataFrame:
    """The rows by a hash of all that they hold, or as they come.

    Equal rows cannot be told apart, and different ones are sorted by what they show: so neither the
    order nor the files say anything of the order that the rows had. No random number is needed.
    """
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    if order == "kept":
        return frame
    # The hash leaves empty cells out: (NULL, 1) would have the same as (1, NULL).
    empty = [F.col(each).isNull() for each in frame.columns]
    hashed = frame.withColumn(ORDER, F.xxhash64(*frame.columns, *empty))
    return hashed.repartition(parts, ORDER).sortWithinPartitions(ORDER).drop(ORDER)


def shown_columns(
    rows: DataFrame, found: RecodedRows, names: Sequence[str], keep: Sequence[str]
) -> DataFrame:
    """The released columns, in their order."""
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    each = [found.shown.get(name, F.col(place(names.index(name)))) for name in keep]
    numbered = [column.alias(f"s{number}") for number, column in enumerate(each)]
    return rows.select(*numbered).toDF(*keep)
