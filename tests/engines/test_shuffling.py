"""Shuffles of rows that do not fit in memory: every order is equally likely."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from tests.effort import examples

from celosia import Seeded
from celosia.engines import shuffling
from celosia.engines.shuffling import MOST_BUCKETS, buckets_for, shuffle, swap

SHUFFLES = 24_000
UNLIKELY = 1e-9
"""With fixed seeds a test passes or fails for good; a fair shuffle had this chance to fail."""


def swap_in_python(order: list[int], left: int, words: list[int]) -> int:
    for word in words:
        if left < 2:
            break
        chosen, rest = divmod(word * left, 2**32)
        if rest < 2**32 % left:
            continue
        left -= 1
        order[left], order[chosen] = order[chosen], order[left]
    return left


@given(
    st.integers(0, 60),
    st.lists(st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2**31, 2**32 - 1]))),
)
def test_the_kernel_does_what_plain_python_does(size: int, words: list[int]) -> None:
    order = np.arange(size, dtype=np.int64)
    plain = list(range(size))
    left = swap(order, size, np.array(words, dtype=np.uint32))
    assert left == swap_in_python(plain, size, words)
    assert order.tolist() == plain


def test_words_that_would_favour_a_place_are_refused() -> None:
    # 2**32 = 3 * 1431655765 + 1: of three places the first would have one word more, which is 0.
    order = np.arange(3, dtype=np.int64)
    assert swap(order, 3, np.zeros(5, dtype=np.uint32)) == 3
    assert order.tolist() == [0, 1, 2]
    assert swap(order, 3, np.array([1, 1], dtype=np.uint32)) == 1


def is_uniform(counts: Counter[tuple[int, ...]], shuffles: int) -> bool:
    orders = [*permutations(range(4))]
    assert set(counts) <= set(orders)
    expected = shuffles / len(orders)
    found = sum((counts[order] - expected) ** 2 / expected for order in orders)
    return bool(found < stats.chi2.isf(UNLIKELY, len(orders) - 1))


def test_every_order_of_four_rows_is_equally_likely() -> None:
    source = Seeded(1964)
    counts = Counter(tuple(map(int, shuffling._permutation(4, source))) for _ in range(SHUFFLES))
    assert is_uniform(counts, SHUFFLES)


def test_a_shuffle_that_swaps_with_any_place_is_told_from_a_fair_one() -> None:
    rng = np.random.default_rng(1964)
    counts: Counter[tuple[int, ...]] = Counter()
    for chosen in rng.integers(0, 4, (SHUFFLES, 4)).tolist():
        order = list(range(4))
        for place, other in enumerate(chosen):
            order[place], order[other] = order[other], order[place]
        counts[tuple(order)] += 1
    assert not is_uniform(counts, SHUFFLES)


def test_every_order_is_equally_likely_by_way_of_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[Path, list[pl.DataFrame]] = {}

    class InMemory:
        """Files that are lists: thousands of shuffles take too long on a disk."""

        def __init__(self, path: Path) -> None:
            self.sent = kept.setdefault(path, [])

        def write(self, frame: pl.DataFrame) -> None:
            self.sent.append(frame)

        def __enter__(self) -> InMemory:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr("celosia.frames.open_writer", InMemory)
    monkeypatch.setattr("celosia.frames.read", lambda path: pl.concat(kept.pop(path)))
    monkeypatch.setattr(Path, "unlink", lambda *_: None)
    source, shuffles = Seeded(235), examples(3000)
    chunks = [pl.DataFrame({"row": [0, 1, 2]}), pl.DataFrame({"row": [3]})]
    counts = Counter(
        tuple(pl.concat(shuffle(iter(chunks), tmp_path, 2, source))["row"]) for _ in range(shuffles)
    )
    assert is_uniform(counts, shuffles)


def test_all_rows_come_out_of_files_and_these_are_gone(tmp_path: Path) -> None:
    chunks = [pl.DataFrame({"row": range(start, start + 1000)}) for start in range(0, 5000, 1000)]
    found = pl.concat(shuffle(iter(chunks), tmp_path, 8, Seeded(1)))["row"]
    assert found.to_list() != [*range(5000)]
    assert found.sort().to_list() == [*range(5000)]
    assert [*tmp_path.iterdir()] == []


def test_no_row_is_lost_in_as_many_files_as_there_may_be(tmp_path: Path) -> None:
    chunks = [pl.DataFrame({"row": range(start, start + 2000)}) for start in (0, 2000)]
    found = pl.concat(shuffle(iter(chunks), tmp_path, MOST_BUCKETS, Seeded(1)))["row"]
    assert found.sort().to_list() == [*range(4000)]


def test_files_are_as_many_as_keep_each_small() -> None:
    rows: NDArray[np.int64] = np.array([0, 1, 10, 11, 39, 41, 10**6])
    assert [buckets_for(int(each), 10) for each in rows] == [1, 1, 1, 2, 4, 8, 256]
