"""DuckDB, the embedded engine: groups tables and files larger than memory on all cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia import frames

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

SIZE = "celosia group size"
"""An unlikely name for a column, so that no column of a user is hidden by it."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Distinct combinations of some columns, and how many rows have each."""

    values: pl.DataFrame
    sizes: NDArray[np.int64]


class DuckDB:
    """A private in-memory DuckDB; a context manager that closes it.

    >>> with DuckDB() as engine:
    ...     groups = engine.count_groups(pl.DataFrame({"sex": ["F", "M", "F"]}), ["sex"])
    >>> sorted(zip(groups.values["sex"], groups.sizes.tolist()))
    [('F', 2), ('M', 1)]
    """

    def __init__(self) -> None:
        import duckdb  # noqa: PLC0415 - 0.1 s, only where an engine is wanted

        self._connection: duckdb.DuckDBPyConnection = duckdb.connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def count_groups(
        self, source: pl.DataFrame | Iterable[pl.DataFrame], columns: Sequence[str]
    ) -> Groups:
        """Group a frame, or a stream of frames that need not fit in memory together."""
        chunks = [source] if isinstance(source, pl.DataFrame) else source
        names = ", ".join(_quoted(name) for name in columns)
        relation = self._connection.from_arrow(_reader(iter(chunks), columns))
        grouped = relation.aggregate(f"{names}, count(*) AS {_quoted(SIZE)}", names)
        result = frames.as_frame(grouped.to_arrow_table())
        return Groups(result.drop(SIZE), result[SIZE].to_numpy())


def _reader(chunks: Iterator[pl.DataFrame], columns: Sequence[str]) -> pa.RecordBatchReader:
    import pyarrow as pa  # noqa: PLC0415 - 0.15 s, only where an engine is wanted

    first = next(chunks).select(columns)
    schema = first.to_arrow().schema
    batches = (
        batch
        for chunk in chain([first], chunks)
        for batch in chunk.select(columns).to_arrow().cast(schema).to_batches()
    )
    return pa.RecordBatchReader.from_batches(schema, batches)


def _quoted(name: str) -> str:
    """A column name as an SQL identifier, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'
