"""Frames as files, written straight to their path."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import polars as pl

from celosia.frames.excel import write_excel
from celosia.frames.formats import Format, format_of


def write(frame: pl.DataFrame, path: str | Path, *, format: Format | None = None) -> None:
    """Write a frame in the format that the name of the file says.

    In delimited text a missing value is an empty cell, and so is an empty text: the two come back
    as missing. Cells are written as they are; one that starts with `=` is not defused. Text that
    looks like a number comes back as text only if its column is declared as `string`.

    The path is written directly: wrap it in `celosia.core.files.replacing` to have the file appear
    whole or not at all. A name that ends in .gz is compressed.
    """
    file = Path(path)
    kind = format_of(file, format)
    if kind in ("csv", "tsv"):
        with open_output(file) as stream:
            write_csv(frame, stream, kind)
    elif kind == "jsonl":
        with open_output(file) as stream:
            frame.write_ndjson(stream)
    elif kind == "parquet":
        frame.write_parquet(file)
    elif kind == "arrow":
        frame.write_ipc(file)
    else:
        write_excel(frame, file)


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
