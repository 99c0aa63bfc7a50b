"""Parquet and Arrow files as frames, whole or a slice at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

import polars as pl
import polars.selectors as cs

from celosia.frames.columns import check_flat, check_names
from celosia.frames.formats import unreadable

Columnar = Literal["parquet", "arrow"]


def read_columnar(path: Path, format: Columnar, columns: tuple[str, ...] | None) -> pl.DataFrame:
    """The whole file, or some of its columns, as one frame."""
    return next(columnar_chunks(path, format, columns, rows=None))


def columnar_names(path: Path, format: Columnar) -> list[str]:
    """The names of the columns, read without their data."""
    names = None
    with suppress(pl.exceptions.PolarsError, OSError):
        names = _scan(path, format).collect_schema().names()
    if names is None:
        raise _damaged(path, format)
    return check_names(names, path=path)


def columnar_chunks(
    path: Path, format: Columnar, columns: tuple[str, ...] | None, *, rows: int | None
) -> Iterator[pl.DataFrame]:
    """Slices of `rows` rows; a file without rows gives one empty frame."""
    start, height = 0, 0
    while start == 0 or (rows is not None and height == rows):
        frame = None
        with suppress(pl.exceptions.PolarsError, OSError):
            lazy = _scan(path, format)
            wanted = lazy if columns is None else lazy.select(cs.by_name(columns))
            frame = wanted.slice(start, rows).collect()
        if frame is None:
            raise _damaged(path, format)
        height = frame.height
        if height or start == 0:
            yield check_flat(frame)
        start += height or 1


def _scan(path: Path, format: Columnar) -> pl.LazyFrame:
    # A name such as [ab].parquet is a name, not a pattern for other files.
    if format == "parquet":
        return pl.scan_parquet(path, glob=False)
    return pl.scan_ipc(path, glob=False)


def _damaged(path: Path, format: Columnar) -> Exception:
    return unreadable("CEL-F014.columnar", path, format=format)
