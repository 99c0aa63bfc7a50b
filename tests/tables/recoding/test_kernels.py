"""Each kernel equals its plain twin."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.tables.recoding import _kernels

words = st.integers(0, 2**64 - 1)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 3), words), min_size=1, max_size=60))
def test_group_rows_numbers_groups_by_first_appearance(rows: list[tuple[int, int]]) -> None:
    keys = np.array(rows, dtype=np.uint64)
    slots = np.full(_kernels.slots_for(len(rows)), -1, dtype=np.int64)
    group_of, first, groups = _kernels.group_rows(keys, slots)
    numbers = {row: number for number, row in enumerate(dict.fromkeys(rows))}
    assert groups == len(numbers)
    assert group_of.tolist() == [numbers[row] for row in rows]
    assert [rows[row] for row in first[:groups]] == list(numbers)


@settings(max_examples=150)
@given(st.lists(st.integers(0, 9) | words, min_size=1, max_size=60))
def test_group_words_numbers_groups_by_first_appearance(rows: list[int]) -> None:
    keys = np.array(rows, dtype=np.uint64)
    group_of, first, groups = _kernels.group_words(keys)
    numbers = {row: number for number, row in enumerate(dict.fromkeys(rows))}
    assert groups == len(numbers)
    assert group_of.tolist() == [numbers[row] for row in rows]
    assert [rows[row] for row in first[:groups]] == list(numbers)


def test_group_words_finds_every_group_again_as_its_slots_grow() -> None:
    keys = np.random.default_rng(3).integers(0, 9000, 40_000).astype(np.uint64)
    group_of, first, groups = _kernels.group_words(keys)
    assert groups == np.unique(keys).size > 2 * 4096
    assert (keys[first[group_of]] == keys).all()
    assert (np.diff(first[:groups]) > 0).all()


def test_a_packed_column_fills_its_bits_and_no_others() -> None:
    keys = np.array([8, 0, 24], dtype=np.uint64)
    _kernels.pack_column(keys, np.array([1, 0, 2]), np.array([0, 1, 2], dtype=np.uint64))
    assert keys.tolist() == [9, 0, 26]


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 15), st.integers(1, 9)), max_size=60),
    st.lists(st.integers(0, 7), min_size=8, max_size=8),
)
def test_roll_up_adds_the_counts_of_classes_that_become_equal(
    rows: list[tuple[int, int, int]], table: list[int]
) -> None:
    # One word a key: bits 0-2 hold a column that `table` raises, bits 3-6 one that stays.
    keys = np.array([[low | high << 3] for low, high, _ in rows], dtype=np.uint64).reshape(-1, 1)
    counts = np.array([count for _, _, count in rows], dtype=np.int64)
    slots = np.zeros(_kernels.slots_for(len(rows)), dtype=np.int64)
    out_keys, out_counts = np.empty_like(keys), np.empty_like(counts)
    codes = np.array(table, dtype=np.uint64)
    places = np.array([[0, 0, 7, 0]], dtype=np.uint64)
    class_of = np.empty(len(rows), dtype=np.int32)
    for stamp in (1, 2):  # the second call finds the first one's slots used
        classes = _kernels.roll_up(
            keys, counts, places, codes, slots, stamp, out_keys, out_counts, class_of
        )
        expected: Counter[int] = Counter()
        for low, high, count in rows:
            expected[table[low] | high << 3] += count
        got = zip(out_keys[:classes, 0].tolist(), out_counts[:classes].tolist(), strict=True)
        assert dict(got) == dict(expected)
        old = [table[low] | high << 3 for low, high, _ in rows]
        assert out_keys[class_of, 0].tolist() == old
        words, sums = np.empty_like(counts, dtype=np.uint64), np.empty_like(counts)
        same = np.empty_like(class_of)
        assert classes == _kernels.roll_up_word(
            keys[:, 0], counts, places, codes, slots, stamp + 2, words, sums, same
        )
        assert words[:classes].tolist() == out_keys[:classes, 0].tolist()
        assert sums[:classes].tolist() == out_counts[:classes].tolist()
        assert same.tolist() == class_of.tolist()


@given(st.lists(st.integers(1, 9), max_size=40), st.integers(1, 9))
def test_classes_are_large_enough_or_their_records_are_counted(
    sizes: list[int], least: int
) -> None:
    kept, others = _kernels.large_enough(np.array(sizes, dtype=np.int64), least)
    assert kept.tolist() == [size >= least for size in sizes]
    assert others == sum(size for size in sizes if size < least)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9), st.booleans()), max_size=40),
    st.lists(st.integers(1, 9), min_size=4, max_size=4),
)
def test_suppressed_leaves_adds_up_those_who_go(
    rows: list[tuple[int, int, bool]], leaves: list[int]
) -> None:
    keys = np.array([[code << 5] for code, _, _ in rows], dtype=np.uint64).reshape(-1, 1)
    counts = np.array([count for _, count, _ in rows], dtype=np.int64)
    kept = np.array([keep for _, _, keep in rows], dtype=np.bool_)
    # The second column has the same codes, and the leaves of the code after.
    places = np.array([[0, 5, 3, 0], [0, 5, 3, 1]], dtype=np.uint64)
    out = np.full(2, 99, dtype=np.int64)
    gone = _kernels.suppressed_leaves(keys, counts, kept, places, np.array([*leaves, 7]), out)
    assert gone == sum(count for _, count, keep in rows if not keep)
    assert out.tolist() == [
        sum(count * lost[code] for code, count, keep in rows if not keep)
        for lost in (leaves, [*leaves[1:], 7])
    ]


@settings(max_examples=150)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=6), max_size=12),
    st.data(),
)
def test_merged_histograms_add_up_by_value(
    classes: list[list[tuple[int, int]]], data: st.DataObject
) -> None:
    entries = [sorted(dict(each).items()) for each in classes]
    new = data.draw(st.integers(1, 4))
    class_of = np.array([data.draw(st.integers(0, new - 1)) for _ in entries], dtype=np.int32)
    starts = np.cumsum([0, *map(len, entries)]).astype(np.int64)
    values = np.array([value for each in entries for value, _ in each], dtype=np.int32)
    counts = np.array([count for each in entries for _, count in each], dtype=np.int64)
    merged = _kernels.merge_histograms(class_of, new, starts, values, counts, 31)
    for number in range(new):
        expected: Counter[int] = Counter()
        for old, each in zip(class_of, entries, strict=True):
            if old == number:
                expected.update(dict(each))
        part = slice(merged[0][number], merged[0][number + 1])
        got = list(zip(merged[1][part].tolist(), merged[2][part].tolist(), strict=True))
        assert got == sorted(expected.items())


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 9) | words, st.integers(0, 3)), min_size=1, max_size=60),
    st.lists(words, min_size=1, max_size=4),
)
def test_group_hashes_counts_rows_whose_changed_hashes_are_equal(
    rows: list[tuple[int, int]], change: list[int]
) -> None:
    table = change if len(change) > 1 else [0] * 4  # one entry changes nothing
    table = (table * 4)[:4]
    size = len(rows)
    counts = np.arange(1, size + 1)
    out, sizes = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.int64)
    class_of = np.empty(size, dtype=np.int32)
    slots = np.zeros(_kernels.slots_for(size), dtype=np.int64)
    classes = _kernels.group_hashes(
        np.array([key for key, _ in rows], dtype=np.uint64),
        np.array([code for _, code in rows], dtype=np.int32),
        np.array(table if len(change) > 1 else change, dtype=np.uint64),
        counts,
        slots,
        1,
        out,
        sizes,
        class_of,
    )
    keys = [key ^ table[code] for key, code in rows]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    assert classes == len(numbers)
    assert class_of.tolist() == [numbers[key] for key in keys]
    totals = [sum(n + 1 for n, key in enumerate(keys) if key == each) for each in numbers]
    assert sizes[:classes].tolist() == totals


def test_rows_are_found_by_their_class_and_their_figures_added_up() -> None:
    class_of = np.array([0, 1, 0, 2], dtype=np.int32)
    out = np.empty(4, dtype=np.int32)
    found = _kernels.rows_where(np.array([True, False, True]), class_of, out)
    rows = out[:found]
    assert rows.tolist() == [0, 2, 3]
    counts, codes = np.array([1, 9, 2, 3]), np.array([0, 1, 1, 0], dtype=np.int32)
    assert _kernels.leaves_at(rows, counts, codes, np.array([5, 7])) == 5 + 2 * 7 + 3 * 5
    figures = np.array([[1, 10], [2, 20], [3, 30], [4, 40]], dtype=np.int32)
    assert _kernels.sum_rows(rows, counts, figures).tolist() == [19, 190]


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(0, 2)), max_size=9),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
def test_the_lightest_known_node_below_is_found(
    known: list[tuple[int, int, int]], node: tuple[int, int]
) -> None:
    rows = [(10, 0, 0), *known]
    table = np.array(rows)
    levels, weights = table[:, 1:].astype(np.int16), table[:, 0].astype(np.int64)
    found = _kernels.lightest_below(levels, weights, len(rows), np.array(node, dtype=np.int16))
    below = [row for row in rows if row[1] <= node[0] and row[2] <= node[1]]
    assert rows[found] == min(below, key=lambda row: row[0])
