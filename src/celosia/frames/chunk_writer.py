"""A file that grows chunk by chunk, in memory that does not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl

from celosia.core.errors import InputError
from celosia.frames.formats import Format, format_of
from celosia.frames.writers import ARROW_LEVEL, bare, open_output, plain, write_csv

_Append = Callable[[pl.DataFrame], object]


class ChunkWriter:
    """Writes frames one after the other into one file; all must have the columns of the first.

    Columns that the format has no type for become text, as `write` says.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "safe.csv"
    ...     with open_writer(path) as out:
    ...         out.write(pl.DataFrame({"age": [39]}))
    ...         out.write(pl.DataFrame({"age": [50]}))
    ...     path.read_text().split()
    ['age', '39', '50']
    """

    def __init__(self, path: Path, format: Format):
        self._path = path
        self._format = format
        self._open = ExitStack()
        self._append: _Append | None = None
        self._schema = pl.Schema()

    def write(self, chunk: pl.DataFrame) -> None:
        """Append the rows of a frame."""
        rows = plain(chunk, self._format)
        if self._append is None:
            self._append = self._start(rows)
            self._schema = rows.schema
        elif rows.schema != self._schema:
            raise _different(self._schema, rows.schema)
        self._append(rows)

    def _start(self, first: pl.DataFrame) -> _Append:
        """Open the file for the columns of the first chunk."""
        if self._format in ("csv", "tsv"):
            stream = self._open.enter_context(open_output(self._path))
            write_csv(first.clear(), stream, self._format)
            return lambda chunk: write_csv(chunk, stream, self._format, header=False)
        if self._format == "jsonl":
            stream = self._open.enter_context(open_output(self._path))
            return lambda chunk: chunk.write_ndjson(stream)
        sink = self._open.enter_context(_arrow_sink(self._path, self._format, first))
        return lambda chunk: sink.write_table(bare(chunk).to_arrow(compat_level=ARROW_LEVEL))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()
        if kind is None and self._append is None:
            raise InputError("CEL-F026")


def open_writer(path: str | Path, *, format: Format | None = None) -> ChunkWriter:
    """A writer of chunks for CSV, TSV, Parquet, Arrow or JSON lines, by the name of the file."""
    file = Path(path)
    kind = format_of(file, format)
    if kind == "excel":
        raise InputError("CEL-F025", path=str(file))
    return ChunkWriter(file, kind)


def _arrow_sink(path: Path, format: Format, first: pl.DataFrame) -> Any:
    import pyarrow as pa  # slow to load, and few callers write in chunks
    import pyarrow.parquet as pq

    schema = first.clear().to_arrow(compat_level=ARROW_LEVEL).schema
    if format == "parquet":
        return pq.ParquetWriter(str(path), schema)
    return pa.ipc.new_file(str(path), schema)


def _different(expected: pl.Schema, found: pl.Schema) -> InputError:
    names = [name for name in expected | found if expected.get(name) != found.get(name)]
    if not names:
        return InputError("CEL-F027.order", columns=names)
    return InputError("CEL-F027.columns", names=", ".join(map(repr, names)), columns=names)
