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
from celosia.frames import unused_name

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Groups:
    """Distinct combinations of some columns, how many rows have each, and the first that does."""

    values: pl.DataFrame
    sizes: NDArray[np.int64]
    first_rows: NDArray[np.int64]
    """Counted from 0 over the whole stream."""


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
        row, size = unused_name("row", columns), unused_name("size", columns)
        names = ", ".join(_quoted(name) for name in columns)
        relation = self._connection.from_arrow(_reader(_numbered(iter(chunks), columns, row)))
        counted = f"count(*) AS {_quoted(size)}, min({_quoted(row)}) AS {_quoted(row)}"
        grouped = relation.aggregate(f"{names}, {counted}", names)
        result = frames.as_frame(grouped.to_arrow_table()).sort(row)
        return Groups(result.drop(size, row), result[size].to_numpy(), result[row].to_numpy())


def _reader(tables: Iterator[pa.Table]) -> pa.RecordBatchReader:
    import pyarrow as pa  # noqa: PLC0415 - 0.15 s, only where an engine is wanted

    first = next(tables)
    batches = (
        batch for table in chain([first], tables) for batch in table.cast(first.schema).to_batches()
    )
    return pa.RecordBatchReader.from_batches(first.schema, batches)


def _numbered(
    chunks: Iterator[pl.DataFrame], columns: Sequence[str], row: str
) -> Iterator[pa.Table]:
    """The wanted columns of each chunk, with row numbers that run on through all chunks."""
    done = 0
    for chunk in chunks:
        rows = pl.Series(row, np.arange(done, done + chunk.height))
        yield chunk.select(columns).with_columns(rows).to_arrow()
        done += chunk.height


def _quoted(name: str) -> str:
    """A column name as an SQL identifier, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'
