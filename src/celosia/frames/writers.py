"""Frames as files, whole or in chunks, without a trace of rows that were left out."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Self, cast

import polars as pl

from celosia.core.errors import InputError
from celosia.frames.columnar import write_excel
from celosia.frames.columns import as_text
from celosia.frames.formats import Format, format_of

ARROW_LEVEL = pl.CompatLevel.oldest()
"""Newer levels write text as views into a buffer that still holds rows dropped or moved since."""

_NAMED = (pl.Categorical, pl.Enum)
_WIDE = (pl.Int128, pl.UInt128)
_AS_TEXT: dict[Format, tuple[type[pl.DataType], ...]] = {
    "csv": (*_NAMED, pl.Duration),
    "tsv": (*_NAMED, pl.Duration),
    "jsonl": _NAMED,
    "parquet": (*_NAMED, *_WIDE),
    "arrow": (*_NAMED, *_WIDE),
    "excel": (*_NAMED, *_WIDE, pl.Duration, pl.Time),
}
"""What each format cannot hold; categories go everywhere, for they list values no row has."""


def write(frame: pl.DataFrame, path: str | Path, *, format: Format | None = None) -> None:
    """Write a frame in the format that the name of the file says.

    In delimited text a missing value is an empty cell, and so is an empty text: the two come back
    as missing. Cells are written as they are; one that starts with `=` is not defused. Text that
    looks like a number comes back as text only if its column is declared as `string`.

    Columns become text, by `as_text`, where the format has no type for them: categories everywhere,
    durations in delimited text and workbooks, 128-bit integers in Parquet, Arrow and workbooks, and
    times and moments with a zone in workbooks. Workbooks keep other moments to the millisecond.

    Guarantee: the file holds the cells of the frame and nothing else that its memory still has:
    no dropped row, no earlier order, no value behind a missing one.

    The path is written directly: wrap it in `celosia.core.files.replacing` to have the file appear
    whole or not at all. A name that ends in .gz is compressed.
    """
    file = Path(path)
    kind = format_of(file, format)
    frame = plain(frame, kind)
    if kind in ("csv", "tsv"):
        with open_output(file) as stream:
            write_csv(frame, stream, kind)
    elif kind == "jsonl":
        with open_output(file) as stream:
            frame.write_ndjson(stream)
    elif kind == "parquet":
        frame.write_parquet(file)
    elif kind == "arrow":
        bare(frame).write_ipc(file, compat_level=ARROW_LEVEL)
    else:
        write_excel(frame, file)


def plain(frame: pl.DataFrame, kind: Format) -> pl.DataFrame:
    """The same frame with text for the columns that the format has no type for.

    >>> plain(pl.DataFrame({"sex": ["F"]}, schema={"sex": pl.Enum(["F", "M"])}), "arrow").dtypes
    [String]
    """
    return frame.with_columns(
        as_text(column)
        for column in frame.iter_columns()
        if isinstance(column.dtype, _AS_TEXT[kind])
        or (kind == "excel" and getattr(column.dtype, "time_zone", None) is not None)
    )


def bare(frame: pl.DataFrame) -> pl.DataFrame:
    """The same frame in fresh memory, for formats that write memory as it is.

    Blanking a cell only marks it as missing and leaves its value in place, and a slice keeps the
    bits next to its own.
    """
    return pl.DataFrame([_fresh(column) for column in frame.iter_columns()])


def _fresh(column: pl.Series) -> pl.Series:
    if column.null_count() == 0 and column.dtype != pl.Boolean:
        return column.rechunk()  # nothing is blanked, and whole bytes are cut off cleanly
    present = column.is_not_null()
    places = pl.select(pl.when(present).then(present.cum_sum() - 1)).to_series()
    return column.drop_nulls().gather(places)


def write_csv(frame: pl.DataFrame, stream: IO[bytes], kind: Format, *, header: bool = True) -> None:
    """Append rows as delimited text, in UTF-8 without a byte order mark."""
    # A missing value alone in its row would leave a blank line, which many readers skip.
    blank = frame.width == 1 and frame.to_series().null_count() > 0
    frame.write_csv(
        stream,
        include_header=header,
        separator="\t" if kind == "tsv" else ",",
        quote_style="always" if blank else "necessary",
    )


@contextmanager
def open_output(path: Path) -> Iterator[IO[bytes]]:
    """Bytes to be written to a file, compressed on the way if its name ends in .gz."""
    with path.open("wb") as raw:
        if path.suffix.lower() != ".gz":
            yield raw
            return
        # No name and no time inside: the same data gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast(IO[bytes], packed)


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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
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
        return pq.ParquetWriter(str(path), schema, compression="zstd")
    return pa.ipc.new_file(str(path), schema)


def _different(expected: pl.Schema, found: pl.Schema) -> InputError:
    names = [name for name in expected | found if expected.get(name) != found.get(name)]
    if not names:
        return InputError("CEL-F027.order", columns=names)
    return InputError("CEL-F027.columns", names=", ".join(map(repr, names)), columns=names)
