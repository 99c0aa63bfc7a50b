"""Kernels against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest
from tests.collect.plain import bits_of, hadamard, tosses

from celosia.collect.count_mean import _kernels
from celosia.core.randomness import Seeded
from celosia.sketches.hashing import HashFamily, digests

# Few bits, so that lanes stay open to the last bit of the coin: zeros and ones in long runs.
WORDS = st.sampled_from([0, 2**64 - 1, 0x5555555555555555, 1, 2**63]) | st.integers(0, 2**64 - 1)


@given(
    words=st.lists(WORDS, min_size=1, max_size=40),
    heads=st.sampled_from([0, 1, 2**31, 2**32 - 1, 0x44444444]) | st.integers(0, 2**32 - 1),
    width=st.integers(2, 130),
    column=st.integers(0, 1),
    row=st.integers(0, 1023),
)
@settings(max_examples=100, deadline=None)
def test_bits_of_a_report_are_tosses_of_a_coin_bit_by_bit(
    words: list[int], heads: int, width: int, column: int, row: int
) -> None:
    groups = -(-width // 64)
    stream = np.array((words * 200)[: groups * _kernels.WORST], dtype=np.uint64)
    made = np.zeros((1, -(-(width + 10) // 8)), dtype=np.uint8)
    place = column * (width - 1)
    done, read = _kernels.flipped_bits(
        stream, np.uint64(heads), np.array([row]), np.array([place]), width, 0, made
    )
    source, pool = iter(stream.tolist()), list[int]()
    expected = [bit for _ in range(groups) for bit in tosses(source, heads, _kernels.ROUNDS, pool)][
        :width
    ]
    expected[place] ^= 1
    assert done == 1
    assert bits_of(made[0].tolist(), width) == expected
    assert sum(1 for _ in source) == stream.size - read
    rest = bits_of(made[0].tolist(), 8 * made.shape[1])[width:]
    assert sum(bit << at for at, bit in enumerate(rest)) == row


def test_a_toss_is_heads_exactly_where_32_random_bits_are_below_the_bound() -> None:
    # All lanes but one are settled by the rounds: that one meets every kind of last bits.
    heads = 0b1010_0000_0000_0000_0000_0000_0000_0011
    for value in (heads - 2, heads - 1, heads, heads + 1, heads + 2, heads ^ 2**20):
        mirrored = int(f"{value:032b}"[::-1], 2)
        rounds = [mirrored >> place & 1 for place in range(_kernels.ROUNDS)]
        rest = [mirrored >> _kernels.ROUNDS] * (_kernels.WORST - _kernels.ROUNDS)
        stream = np.array(rounds + rest, dtype=np.uint64)
        made = np.zeros((1, 1), dtype=np.uint8)
        rows, columns = np.array([0]), np.array([1])
        _kernels.flipped_bits(stream, np.uint64(heads), rows, columns, 2, 0, made)
        assert made[0, 0] & 1 == (value < heads), value


def test_reports_stop_before_a_stream_that_may_end_and_go_on_with_the_next() -> None:
    rows, columns = np.arange(50), np.arange(50)
    stream = Seeded(3).words(50 * 5 + _kernels.WORST)
    at_once = np.zeros((50, 9), dtype=np.uint8)
    heads = np.uint64(2**30)
    long = np.concatenate([stream, Seeded(4).words(1000)])
    assert _kernels.flipped_bits(long, heads, rows, columns, 64, 0, at_once)[0] == 50
    parted = np.zeros((50, 9), dtype=np.uint8)
    short = long[: 20 * 5 + _kernels.WORST]
    done, read = _kernels.flipped_bits(short, heads, rows, columns, 64, 0, parted)
    assert 0 < done < 50
    _kernels.flipped_bits(long[read:], heads, rows, columns, 64, done, parted)
    assert (at_once == parted).all()


@pytest.mark.statistical
@pytest.mark.parametrize("heads", [2**32 // 3, 511972652, 2**32 - 7])
def test_many_tosses_show_heads_as_often_as_they_should(heads: int) -> None:
    reports, width = 2000, 64
    made = np.zeros((reports, 8), dtype=np.uint8)
    stream = Seeded(5).words(reports * 8 + _kernels.WORST)
    zeros = np.zeros(reports, dtype=np.int64)
    # One row, so no bits for it; the flipped bit of column 0 is left out.
    done, _ = _kernels.flipped_bits(stream, np.uint64(heads), zeros, zeros, width, 0, made)
    assert done == reports
    bits = np.unpackbits(made, axis=1, bitorder="little")[:, 1:]
    # Exact binomial tests; 5 % of a chance of 0.12 is 6.5 standard errors of 126,000 tosses.
    assert binomtest(int(bits.sum()), bits.size, heads / 2**32).pvalue > 1e-4
    for wrong in (0.95, 1.05) if heads < 2**31 else ():
        assert binomtest(int(bits.sum()), bits.size, wrong * heads / 2**32).pvalue < 1e-4


@pytest.mark.parametrize("width", [2, 7, 8, 9, 64, 77])
@pytest.mark.parametrize("reports", [3, 2000])
def test_counted_bits_are_the_sums_of_bits_by_row(width: int, reports: int) -> None:
    generator = np.random.default_rng(width)
    rows = generator.integers(0, 3, reports)
    packed = generator.integers(0, 256, (reports, -(-(width + 2) // 8)), dtype=np.uint8)
    ones, counted = np.zeros((3, width), dtype=np.int64), np.zeros(3, dtype=np.int64)
    _kernels.count_bits(packed, rows, width, ones, counted)
    expected = np.zeros_like(ones)
    np.add.at(expected, rows, np.unpackbits(packed, axis=1, bitorder="little")[:, :width])
    assert (ones == expected).all()
    assert (counted == np.bincount(rows, minlength=3)).all()


@given(arrays(np.int64, st.sampled_from([1, 2, 8, 64]), elements=st.integers(-(10**9), 10**9)))
@settings(deadline=None)
def test_the_fast_transform_is_the_dense_product(row: np.ndarray) -> None:
    dense = hadamard(row.size)
    assert (dense @ dense.T == row.size * np.eye(row.size)).all()
    expected = row @ dense
    _kernels.transform(row)
    assert (row == expected).all()


def test_signs_by_parity_are_those_of_the_matrix() -> None:
    dense = hadamard(64)
    places, columns = (each.reshape(-1) for each in np.indices((64, 64)))
    stream = places.astype(np.uint64) << np.uint64(32)  # a coin of 0: always the truth
    made = np.empty((places.size, 2), dtype=np.uint8)
    rows = np.arange(places.size) % 128
    shape = np.array([7, 6])
    _kernels.signs(stream, np.uint64(1), rows, columns, shape, made)
    table = np.zeros((128, 64), dtype=np.int64)
    assert _kernels.signs_fit(made, shape, 128)
    assert not _kernels.signs_fit(made, shape, 127)
    _kernels.count_signs(made, shape, table)
    expected = np.zeros_like(table)
    np.add.at(expected, (rows, places), dense[places, columns])
    assert (table == expected).all()


@pytest.mark.parametrize("reports", [3, 4, 5000])
def test_counted_signs_are_their_sums_also_beyond_a_counter_of_one_byte(reports: int) -> None:
    generator = np.random.default_rng(reports)
    rows, places = generator.integers(0, 2, reports), generator.integers(0, 4, reports)
    signs = (generator.random(reports) < 0.1).astype(np.int64)  # most are +1, so sums grow large
    packed = (signs | rows << 1 | places << 2).astype(np.uint8)[:, None]
    table = np.full((2, 4), 7, dtype=np.int64)
    _kernels.count_signs(packed, np.array([1, 2]), table)
    expected = np.full((2, 4), 7, dtype=np.int64)
    np.add.at(expected, (rows, places), 1 - 2 * signs)
    assert (table == expected).all()
    assert reports < 10 or table.min() > 300


@pytest.mark.parametrize("transformed", [False, True])
def test_gathered_sums_are_those_of_the_cells_of_each_value(transformed: bool) -> None:
    family = HashFamily(key=b"gather", rows=5, width=16)
    found = digests(np.arange(1200))
    table = np.random.default_rng(1).integers(-50, 50, (5, 16))
    dense = table @ hadamard(16) if transformed else table
    columns = family.every_column(found)
    expected = sum(dense[row, columns[row]] for row in range(5))
    width = np.int64(16)
    sums = _kernels.gathered(table, found, family.coefficients, width, transformed)
    assert (sums == expected).all()
    if not transformed:
        pair = np.stack([table, 2 * table], axis=-1)
        both = _kernels.gathered_together(pair, found, family.coefficients, width)
        assert (both == np.stack([expected, 2 * expected], axis=-1)).all()


def test_scattering_and_collecting_are_transposes() -> None:
    family = HashFamily(key=b"transpose", rows=6, width=10)
    found = digests(np.arange(700))
    generator = np.random.default_rng(2)
    shares, counts = generator.random(6), generator.random(700)
    cells = generator.random((6, 10))
    known = (shares, found, family.coefficients, np.int64(10))
    filled = _kernels.scattered(counts, *known)
    assert filled.sum() == pytest.approx(counts.sum() * shares.sum())
    assert (filled * cells).sum() == pytest.approx(counts @ _kernels.collected(cells, *known))


def test_squares_are_taken_from_the_mean_of_each_row() -> None:
    table = np.array([[1, 2, 3], [10, 10, 40]])
    assert _kernels.squares(table, np.array([2.0, 20.0])) == 2 + 100 + 100 + 400
