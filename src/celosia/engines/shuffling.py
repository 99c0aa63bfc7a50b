"""Shuffle a stream of rows that does not fit in memory, every order equally likely.

Each row is sent to one of several files at random, and each file is shuffled on its own. Given how
many rows each file got, which rows these are is uniform, and so is the order within: every order of
the whole is equally likely. What is in the files takes part in nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia import frames
from celosia.core.kernels import njit
from celosia.core.randomness import Source

Made = TypeVar("Made")

MOST_BUCKETS = 256
"""How many files a shuffle may keep open."""

NUMBER_BITS = 20
"""Files of more bits are shuffled in a slower way."""


def buckets_for(rows: int, most_rows: int) -> int:
    """A power of two, of which random numbers are cheapest, so that a file has few enough rows.

    >>> buckets_for(1_000_000, 250_000), buckets_for(10, 250_000)
    (4, 1)
    """
    wanted = max(1, -(-rows // most_rows))
    return min(MOST_BUCKETS, 1 << (wanted - 1).bit_length())


def shuffle(
    chunks: Iterator[pl.DataFrame], folder: Path, buckets: int, source: Source
) -> Iterator[pl.DataFrame]:
    """The same rows in a random order, by way of files in a folder; at least one frame."""
    return shuffle_as(lambda frame: frame, chunks, folder, buckets, source)


def shuffle_as(
    make: Callable[[pl.DataFrame], Made],
    chunks: Iterator[pl.DataFrame],
    folder: Path,
    buckets: int,
    source: Source,
) -> Iterator[Made]:
    """What is made of the shuffled frames, each while the caller is busy with the one before."""
    paths = [folder / f"{number}.arrow" for number in range(max(1, buckets))]
    _scatter(chunks, paths, source)

    def arranged(path: Path) -> Made:
        bucket = frames.read(path)
        path.unlink()
        return make(bucket[_permutation(bucket.height, source)])

    with ThreadPoolExecutor(1) as beside:
        coming = beside.submit(arranged, paths[0])
        for path in paths[1:]:
            present, coming = coming.result(), beside.submit(arranged, path)
            yield present
        yield coming.result()


def _scatter(chunks: Iterator[pl.DataFrame], paths: list[Path], source: Source) -> None:
    """Send each row to one of the files at random."""
    with ExitStack() as stack:
        writers = [stack.enter_context(frames.open_writer(path)) for path in paths]
        for number, chunk in enumerate(chunks):
            if number == 0:
                for writer in writers:  # so that a file to which no row is sent exists, too
                    writer.write(chunk.clear())
            aim = _aims(len(paths), chunk.height, source)
            order = np.argsort(aim, kind="stable")
            ends = np.searchsorted(aim[order], np.arange(len(paths) + 1))
            sent = chunk[order]
            for place in np.unique(aim).tolist():  # in plain numbers: a byte has no 255 + 1
                writers[place].write(sent[int(ends[place]) : int(ends[place + 1])])


def _aims(buckets: int, size: int, source: Source) -> NDArray[np.uint8]:
    """A random file for each row: a byte each, of which few enough bits are looked at."""
    assert buckets <= MOST_BUCKETS
    assert buckets & (buckets - 1) == 0, "the lower bits of a byte are uniform"
    return np.frombuffer(source.raw(size), dtype=np.uint8) & np.uint8(buckets - 1)


def _permutation(size: int, source: Source) -> NDArray[np.int64]:
    """As `Source.permutation`, but faster: swaps instead of a sort, and half the bytes."""
    if size > 1 << NUMBER_BITS:
        return source.permutation(size)
    order = np.arange(size, dtype=np.int64)
    left = size
    while left > 1:  # a second time only where words were refused
        words = np.frombuffer(source.raw(4 * left), dtype=np.uint32)
        left = swap(order, left, words)
    return order


@njit(cache=True, nogil=True)
def swap(order: NDArray[np.int64], left: int, words: NDArray[np.uint32]) -> int:
    """Shuffle the first `left` places by random words; returns how many are still to be done.

    Each place is swapped with one of those up to it. Which one is the upper half of a product, and
    words whose lower half would favour some of them are refused, so that all are equally likely.

    Reference: Durstenfeld 1964, Algorithm 235; Lemire 2019, fast random integer generation.
    """
    for word in words:
        if left < 2:
            break
        product = np.uint64(word) * np.uint64(left)  # below 2**52, for there are 2**20 places
        lower = product & np.uint64(0xFFFFFFFF)
        if lower < np.uint64(left) and lower < np.uint64(0x100000000 % left):
            continue
        other = np.int64(product >> np.uint64(32))
        left -= 1
        order[left], order[other] = order[other], order[left]
    return left
