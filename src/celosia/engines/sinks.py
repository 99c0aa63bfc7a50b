"""Where released rows go: a Parquet file, or a table of DuckDB that is not visible yet."""

# ruff: noqa: S608 - names are quoted, and all else in a query is ours

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import polars as pl

from celosia.core.resources import Closeable
from celosia.engines.drafts import DraftFolder, FileDraft
from celosia.engines.duckdb import SizeCounts, size_counts, sizes_query
from celosia.engines.duckdb_relations import quoted
from celosia.engines.tables import Draft, guarded
from celosia.frames import ARROW_LEVEL, bare

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


def write_parquet(tables: Iterator[pa.Table], folder: DraftFolder, target: Path) -> FileDraft:
    """Write tables one after the other into a file that waits for its name."""
    file = folder.path / "release.parquet"
    with ParquetSink(file) as sink:
        for table in tables:
            sink.write(table)
    return FileDraft(folder, file, target, sink.rows, sink.columns)


class ParquetSink(Closeable):
    """A Parquet file that grows table by table; what is text may come as places in a list."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None
        self.rows = 0
        self.columns = pl.Schema()

    def write(self, table: pa.Table) -> None:
        """Append the rows of a table."""
        import pyarrow as pa  # 0.15 s, only where an engine is wanted
        import pyarrow.parquet as pq

        if self._writer is None:
            # Readers are told the types without the lists, which they would take for categories.
            plain = _unlisted(table.schema)
            self.columns = pl.Schema(pl.from_arrow(plain.empty_table()).schema)  # type: ignore[union-attr]
            lists = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
            self._writer = pq.ParquetWriter(
                str(self._path),
                table.schema,
                store_schema=False,
                # Every part of a shuffled table has all labels: their ends would tell nothing.
                write_statistics=[name for name in table.schema.names if name not in lists],
                write_batch_size=1 << 16,
            )
            message = base64.b64encode(plain.serialize().to_pybytes())
            self._writer.add_key_value_metadata({"ARROW:schema": message.decode()})
        self._writer.write_table(table)
        self.rows += table.num_rows

    def close(self) -> None:
        """Let go of what it holds."""
        if self._writer is not None:
            self._writer.close()


class TableDraft(Draft):
    """A table of DuckDB's in a transaction that is still open, see `tables.Draft`."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        folder: DraftFolder,
        names: tuple[str, str],
        rows: int,
        columns: pl.Schema,
    ) -> None:
        self._connection, self._folder = connection, folder
        self._name, self._target = names
        self.rows = rows
        self.columns: dict[str, pl.DataType] = dict(columns)

    @guarded("DuckDB")
    def count_sizes(self) -> SizeCounts:
        *within, _ = self._target.split(".")
        draft = ".".join(quoted(part) for part in (*within, self._name))
        keys = ", ".join(map(quoted, self.columns))
        found = self._connection.execute(sizes_query(draft, keys))
        return size_counts(pl.DataFrame(found.to_arrow_table()))

    @guarded("DuckDB")
    def commit(self) -> None:
        """Give the table its name, in the place of one that has it."""
        *within, last = self._target.split(".")
        whole = ".".join(quoted(part) for part in (*within, last))
        draft = ".".join(quoted(part) for part in (*within, self._name))
        self._connection.execute(f"DROP TABLE IF EXISTS {whole}")
        self._connection.execute(f"ALTER TABLE {draft} RENAME TO {quoted(last)}")
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Undo what was not committed, and take the folder away."""
        self._connection.close()  # which undoes what was not committed
        self._folder.close()


def table_draft(
    connection: duckdb.DuckDBPyConnection,
    chunks: Iterator[pl.DataFrame],
    folder: DraftFolder,
    target: str,
) -> TableDraft:
    """Write frames into a table of a transaction of its own."""
    import pyarrow as pa  # 0.15 s, only where an engine is wanted

    name = f"celosia_draft_{token_hex(8)}"
    first = next(chunks)
    fault: list[BaseException] = []

    def batches() -> Iterator[pa.RecordBatch]:
        # What goes wrong here must come out as it is, not in DuckDB's words.
        try:
            for chunk in chain([first], chunks):
                yield from bare(chunk).to_arrow(compat_level=ARROW_LEVEL).to_batches()
        except BaseException as error:
            fault.append(error)

    schema = first.clear().to_arrow(compat_level=ARROW_LEVEL).schema
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    *within, _ = target.split(".")
    draft = ".".join(quoted(part) for part in (*within, name))
    try:
        connection.execute("BEGIN")
        connection.register("celosia_rows", reader)
        made = connection.execute(f"CREATE TABLE {draft} AS SELECT * FROM celosia_rows").fetchone()
    except BaseException:
        connection.close()
        raise
    if fault:
        connection.close()
        raise fault[0]
    return TableDraft(connection, folder, (name, target), made[0] if made else 0, first.schema)


def _unlisted(schema: pa.Schema) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in schema
        ]
    )
