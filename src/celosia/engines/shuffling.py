"""Shuffle a stream of rows that does not fit in memory, every order equally likely.

Each row is sent to one of several files at random, and each file is shuffled on its own. Given how
many rows each file got, which rows these are is uniform, and so is the order within: every order of
the whole is equally likely. What is in the files takes part in nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import polars as pl

from celosia import frames
from celosia.core.randomness import Source

MOST_BUCKETS = 256
"""How many files a shuffle may keep open."""


def buckets_for(rows: int, most_rows: int) -> int:
    """A power of two, of which random numbers are cheapest, so that a file has few enough rows.

    >>> buckets_for(1_000_000, 250_000), buckets_for(10, 250_000)
    (4, 1)
    """
    wanted = max(1, -(-rows // most_rows))
    return min(MOST_BUCKETS, 1 << (wanted - 1).bit_length())


def shuffled(
    chunks: Iterator[pl.DataFrame], folder: Path, buckets: int, source: Source
) -> Iterator[pl.DataFrame]:
    """The same rows in a random order, by way of files in a folder; at least one frame."""
    paths = [folder / f"{number}.arrow" for number in range(max(1, buckets))]
    _scatter(chunks, paths, source)
    for path in paths:
        bucket = frames.read(path)
        path.unlink()
        yield bucket[source.permutation(bucket.height)]


def _scatter(chunks: Iterator[pl.DataFrame], paths: list[Path], source: Source) -> None:
    """Send each row to one of the files at random."""
    with ExitStack() as stack:
        writers = [stack.enter_context(frames.writer(path)) for path in paths]
        for number, chunk in enumerate(chunks):
            if number == 0:
                for writer in writers:  # so that a file to which no row is sent exists, too
                    writer.write(chunk.clear())
            aim = source.integers(len(paths), chunk.height)
            order = np.argsort(aim, kind="stable")
            ends = np.searchsorted(aim[order], np.arange(len(paths) + 1))
            sent = chunk[order]
            for place in np.unique(aim):
                writers[place].write(sent[int(ends[place]) : int(ends[place + 1])])
