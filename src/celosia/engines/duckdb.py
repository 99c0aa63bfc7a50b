"""DuckDB, the embedded engine: groups tables and files larger than memory on all cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import EngineError
from celosia.core.resources import Closeable, WorkFolder
from celosia.engines.sql import duckdb_settings
from celosia.frames import as_frame

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Groups:
    """Distinct combinations of some columns, how many rows have each, and the first that does."""

    values: pl.DataFrame = field(repr=False)  # raw cells, which a traceback must not show
    sizes: NDArray[np.int64]
    first_rows: NDArray[np.int64] | None = None
    """Counted from 0 over the whole stream; None where rows have no numbers."""


SizeCounts = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Numbers of rows or units, and for each how many combinations of values so many share."""


class DuckDB(Closeable):
    """A private in-memory DuckDB; a context manager that closes it.

    >>> with DuckDB() as engine:
    ...     groups = engine.count_groups(pl.DataFrame({"sex": ["F", "M", "F"]}), ["sex"])
    >>> sorted(zip(groups.values["sex"], groups.sizes.tolist()))
    [('F', 2), ('M', 1)]
    """

    def __init__(self) -> None:
        import duckdb  # 0.1 s, only where an engine is wanted

        self._overflow = WorkFolder()
        self._connection: duckdb.DuckDBPyConnection = duckdb.connect(
            config=duckdb_settings(self._overflow)
        )

    def close(self) -> None:
        """Let go of what it holds."""
        self._connection.close()
        self._overflow.cleanup()

    def count_groups(
        self, source: pl.DataFrame | Iterable[pl.DataFrame], columns: Sequence[str]
    ) -> Groups:
        """Group a frame, or a stream of frames that need not fit in memory together."""
        chunks = iter([source] if isinstance(source, pl.DataFrame) else source)
        first = next(chunks)
        # Names of our own: DuckDB's know no case, and a user's may be anything.
        places = [f"c{number}" for number in range(len(columns))]
        keys = ", ".join(places)
        stream = _Stream(chain([first], chunks), columns, places)
        relation = self._connection.from_arrow(stream.reader())
        grouped = relation.aggregate(f"{keys}, count(*) AS size, min(row) AS row", keys)
        with stream.faults():
            table = grouped.to_arrow_table()
        result = as_frame(table).sort("row")
        values = [
            result[place].cast(first[name].dtype).alias(name)
            for place, name in zip(places, columns, strict=True)
        ]
        return Groups(pl.DataFrame(values), result["size"].to_numpy(), result["row"].to_numpy())

    def count_sizes(self, file: Path, columns: int) -> SizeCounts:
        """How many different rows of a Parquet file occur how often."""
        places = ", ".join(f"c{number}" for number in range(columns))
        source = f"read_parquet($file) AS t({places})"
        found = self._connection.execute(sizes_query(source, places), {"file": str(file)})
        return size_counts(as_frame(found.to_arrow_table()))


class _Stream:
    """Chunks on their way into the engine.

    What goes wrong while a chunk is read must come out as it is (a bad row, a cancellation), not
    wrapped in the engine's own error, which quotes what it saw: so it is kept until the engine is
    done, and raised then.
    """

    def __init__(
        self, chunks: Iterable[pl.DataFrame], columns: Sequence[str], places: Sequence[str]
    ):
        self._tables = _numbered(chunks, columns, places)
        self._fault: BaseException | None = None

    def reader(self) -> pa.RecordBatchReader:
        import pyarrow as pa  # 0.15 s, only where an engine is wanted

        first = next(self._tables)
        return pa.RecordBatchReader.from_batches(first.schema, self._batches(first))

    def _batches(self, first: pa.Table) -> Iterator[pa.RecordBatch]:
        try:
            for table in chain([first], self._tables):
                yield from _same(table, first).to_batches()
        except GeneratorExit:
            raise
        except BaseException as fault:
            self._fault = fault

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Raise what went wrong in the stream instead of what the engine made of it."""
        try:
            yield
        except RuntimeError as error:
            if self._fault is None and "interrupted" in str(error).lower():
                raise KeyboardInterrupt from None  # how DuckDB tells Ctrl-C
            raise
        finally:
            if self._fault is not None:
                raise self._fault


def _numbered(
    chunks: Iterable[pl.DataFrame], columns: Sequence[str], places: Sequence[str]
) -> Iterator[pa.Table]:
    """The wanted columns of each chunk, with row numbers that run on through all chunks."""
    done = 0
    for chunk in chunks:
        named = zip(columns, places, strict=True)
        wanted = [_plain(chunk[name]).alias(place) for name, place in named]
        rows = pl.Series("row", np.arange(done, done + chunk.height))
        yield pl.DataFrame([*wanted, rows]).to_arrow()
        done += chunk.height


def _plain(series: pl.Series) -> pl.Series:
    """The same values in a type that DuckDB gives back as it got it.

    DuckDB cuts nanoseconds off a time with a zone, which would merge different values.
    """
    if isinstance(series.dtype, pl.Datetime | pl.Duration | pl.Time):
        return series.to_physical()
    odd = (pl.Categorical, pl.Enum, pl.Int128, pl.Decimal)
    return series.cast(pl.String) if isinstance(series.dtype, odd) else series


def _same(table: pa.Table, first: pa.Table) -> pa.Table:
    if table.schema != first.schema:
        raise EngineError("CEL-E001")
    return table


def size_counts(found: pl.DataFrame) -> SizeCounts:
    """The two columns of a small table, as `count_sizes` gives them."""
    sizes, numbers = (column.to_numpy().astype(np.int64) for column in found)
    return sizes, numbers


def sizes_query(source: str, keys: str, counted: str = "*") -> str:
    """SQL that counts the sizes of the groups of a source by some keys."""
    grouped = f"SELECT count({counted}) AS size FROM {source} GROUP BY {keys}"  # noqa: S608 - ours
    return f"SELECT size, count(*) AS number FROM ({grouped}) AS s GROUP BY size"  # noqa: S608
