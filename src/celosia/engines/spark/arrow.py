"""Functions of ours that run on the workers of Spark, and what Spark's own errors become."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

Batches = Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]
"""What becomes of the batches of one partition."""


def map_arrow(frame: DataFrame, function: Batches, schema: StructType | str) -> DataFrame:
    """A frame mapped by a function that workers run, batch by batch; Arrow in, Arrow out.

    The function is pickled, and names of ours in it are looked up on the workers: they need
    celosia. Nothing goes through pandas, but pyspark wants to see that it is there.
    """
    with warnings.catch_warnings():
        # It warns of a pandas that it does not know; none of it is used here.
        warnings.simplefilter("ignore", FutureWarning)
        return frame.mapInArrow(function, schema)


def failures() -> tuple[type[BaseException], ...]:
    """What is raised where Spark fails, or its Java process is gone."""
    from py4j.protocol import Py4JError  # comes with pyspark
    from pyspark.errors import PySparkException

    return (PySparkException, Py4JError, OSError, EOFError)
