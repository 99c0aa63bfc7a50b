"""The rows of a table by what they show, in memory or by way of files.

Rows that show the same in the columns of the order stay as they come.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.frames.columns import as_text
from celosia.frames.readers import read, read_chunks
from celosia.frames.writers import open_writer

MOST_FILES = 256
"""How many files are open at a time."""
_NUMBER = re.compile(r"[\[\](<>=\u2264\u2265\s]*([+-]?[0-9]+(?:\.[0-9]+)?)")


def label_key(label: str) -> tuple[int, float, int, str]:
    """Labels that begin with a number by that number, then other texts, then `*`.

    >>> sorted(["*", ">=100", "20-39", "<20", "old", "[100, 110["], key=label_key)
    ['<20', '20-39', '>=100', '[100, 110[', 'old', '*']
    """
    if label.strip("*") == "":
        return 2, 0.0, 0, label
    found = _NUMBER.match(label)
    if found is None:
        return 1, 0.0, 0, label
    return 0, float(found[1]), 0 if label.startswith(("<", "\u2264")) else 1, label


def sort_order(frame: pl.DataFrame, names: Sequence[str]) -> NDArray[np.int64]:
    """The places of the rows in their order by some columns; equal rows as they come.

    >>> table = pl.DataFrame({"age": ["40-59", "*", "20-39", "40-59"], "x": [4, 3, 2, 1]})
    >>> sort_order(table, ["age"]).tolist(), sort_order(table, ["age", "x"]).tolist()
    ([2, 0, 3, 1], [2, 3, 0, 1])
    """
    keys = [_ranks(frame.get_column(name)) for name in names]
    return np.lexsort(keys[::-1]).astype(np.int64)


def _ranks(column: pl.Series) -> NDArray[np.int64]:
    """The place of each cell among the distinct ones; empty cells last."""
    if column.dtype in (pl.String, pl.Categorical) or isinstance(column.dtype, pl.Enum):
        text = as_text(column)
        labels = sorted(text.drop_nulls().unique().to_list(), key=label_key)
        found = text.replace_strict(labels, range(len(labels)), return_dtype=pl.Int64)
        return found.fill_null(len(labels)).to_numpy()
    ranks = column.rank("dense").cast(pl.Int64)
    return ranks.fill_null(column.len() + 1).to_numpy()


def sort_chunks(
    chunks: Iterator[pl.DataFrame], names: Sequence[str], folder: Path, most_rows: int
) -> Iterator[pl.DataFrame]:
    """The rows of a stream in their order, by way of files in a folder; at least one frame.

    Memory holds a chunk, the different values of the columns of the order, and as many rows of
    one file as are equal in them or `most_rows`.
    """
    whole = folder / "unsorted.arrow"
    keys = _write_and_count(chunks, names, whole)
    order = sort_order(keys.drop("rows"), [f"k{n}" for n in range(len(names))])
    keys = keys[order]
    before = keys["rows"].cum_sum() - keys["rows"]
    size = max(most_rows, -(-int(keys["rows"].sum()) // MOST_FILES), 1)
    keys = keys.drop("rows").with_columns((before // size).alias("file"))
    paths = [folder / f"sorted-{number}.arrow" for number in keys["file"].unique().sort()]
    keys = keys.with_columns(keys["file"].rank("dense").cast(pl.Int64) - 1)
    _scatter(whole, names, keys, paths, most_rows)
    whole.unlink()
    for path in paths:
        part = read(path)
        path.unlink()
        yield _take(part, sort_order(part, names))


def _take(frame: pl.DataFrame, places: NDArray[np.int64]) -> pl.DataFrame:
    """Some rows, column by column: the name of a user's column may be a pattern to Polars."""
    return pl.DataFrame([column.gather(places) for column in frame.get_columns()])


def _keys_of(chunk: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The columns of the order under names of our own."""
    return pl.DataFrame([chunk.get_column(name).alias(f"k{n}") for n, name in enumerate(names)])


def _write_and_count(
    chunks: Iterator[pl.DataFrame], names: Sequence[str], path: Path
) -> pl.DataFrame:
    parts: list[pl.DataFrame] = []
    with open_writer(path) as writer:
        for chunk in chunks:
            writer.write(chunk)
            keys = _keys_of(chunk, names)
            parts.append(keys.group_by(keys.columns).agg(pl.len().cast(pl.Int64).alias("rows")))
    counted = pl.concat(parts)
    return counted.group_by([name for name in counted.columns if name != "rows"]).agg(
        pl.col("rows").sum()
    )


def _scatter(
    whole: Path, names: Sequence[str], keys: pl.DataFrame, paths: Sequence[Path], most_rows: int
) -> None:
    """Send each row to the file of its place in the order."""
    with ExitStack() as stack:
        writers = [stack.enter_context(open_writer(path)) for path in paths]
        for number, chunk in enumerate(read_chunks(whole, rows=most_rows)):
            if number == 0:
                for writer in writers:
                    writer.write(chunk.clear())
            found = _keys_of(chunk, names).join(
                keys,
                on=[f"k{n}" for n in range(len(names))],
                how="left",
                nulls_equal=True,
                maintain_order="left",
            )["file"]
            for file in found.unique():
                writers[file].write(_take(chunk, np.flatnonzero(found == file)))
