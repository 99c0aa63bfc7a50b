"""Digests and hash families: the same everywhere, uniform, and as independent as promised."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sketches import plain

from celosia import InputError
from celosia.sketches import HashFamily, digest, digests

TEXTS = ["a", "bé", "", "日本"] * 600


def test_digests_are_those_of_the_documented_recipe() -> None:
    vectors: dict[Any, int] = {
        0: 16294208416658607535,
        2026: 15824617304438902051,
        "celosía": 8829134018270389533,
    }
    assert {value: digest(value) for value in vectors} == vectors


@given(st.one_of(st.integers(-(2**63), 2**64 - 1), st.text(max_size=300), st.binary(max_size=300)))
def test_a_digest_equals_the_plain_one(value: int | str | bytes) -> None:
    if isinstance(value, str):
        value = value.encode("utf-8", "ignore").decode()
    assert digest(value) == plain.digest(value)


def test_many_texts_are_hashed_as_hashlib_does_at_every_length() -> None:
    data = [bytes(range(256))[: n % 257] * (1 + n // 257) for n in range(1200)]
    assert digests(data).tolist() == [plain.digest(each) for each in data]
    assert len({len(each) for each in data}) > 600


@pytest.mark.parametrize(
    "values",
    [
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pl.Series(TEXTS),
        pl.Series(TEXTS).cast(pl.Categorical),
        pa.array(TEXTS),
        pa.array(TEXTS).dictionary_encode(),
        pa.array(["before", *TEXTS]).slice(1),
        pa.chunked_array([TEXTS[:3], TEXTS[3:]]),
        pd.Series(TEXTS),
        tuple(TEXTS),
    ],
    ids=lambda each: f"{type(each).__module__}.{type(each).__name__}",
)
def test_every_container_of_texts_gives_the_same_digests(values: Any) -> None:
    assert digests(values).tolist() == [plain.digest(each) for each in TEXTS]


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, -2, 2**40], dtype=">i8"),
        np.array([1, -2, 2**40], dtype=object),
        [np.int64(1), np.int16(-2), 2**40],
        pl.Series([1, -2, 2**40]),
        pa.array([1, -2, 2**40]),
        pa.chunked_array([[1, -2], [2**40]]),
        iter([1, -2, 2**40]),
    ],
)
def test_every_container_of_numbers_gives_the_same_digests(values: Any) -> None:
    assert digests(values).tolist() == [plain.digest(each) for each in (1, -2, 2**40)]


@pytest.mark.parametrize(
    "values",
    [
        "one text",
        [None],
        [1.5],
        [True],
        [2**64],
        [["a"]],
        ["a", None] * 1000,
        np.array([True]),
        np.array([[1, 2], [3, 4]]),
        pl.Series([1, None]),
        pl.Series(["a", None]),
        pa.array(["a", None]),
        pa.table({"a": ["x"]}),
        pl.DataFrame({"a": [1], "b": [2]}),
    ],
    ids=lambda values: type(values).__name__,
)
def test_what_has_no_one_way_to_be_written_is_refused(values: Any) -> None:
    with pytest.raises(InputError) as told:
        digests(values)
    assert told.value.code == "CEL-K001"


def test_half_of_a_surrogate_pair_has_a_digest_in_short_and_long_lists() -> None:
    assert digests(["\ud800"] * 2000)[0] == digest("\ud800")


def test_texts_and_bytes_and_numbers_do_not_meet() -> None:
    assert len({digest("7"), digest(b"7"), digest(7)}) == 3


def test_another_process_gives_the_same_columns() -> None:
    code = (
        "from celosia.sketches import HashFamily, digests\n"
        "print(HashFamily(key=b'k', rows=3, width=1000).every_column(digests(['a', 'b'])).tolist())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    here = HashFamily(key=b"k", rows=3, width=1000).every_column(digests(["a", "b"])).tolist()
    assert outputs == {f"{here}\n"}


@given(
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20),
    st.one_of(
        st.integers(1, 5000),
        st.sampled_from([2**20 - 1, 2**20, 2**20 + 1, 2**32, 2**40 - 1, 2**40]),
    ),
    st.integers(0, 7),
)
def test_columns_are_a_polynomial_modulo_the_prime_modulo_the_width(
    numbers: list[int], width: int, degree: int
) -> None:
    family = HashFamily(key=b"any", rows=3, width=width, degree=degree)
    numbers += [0, 2**61 - 2, 2**61 - 1, 2**61, 2**64 - 1]
    words = np.array(numbers, dtype=np.uint64)
    wanted = [
        [plain.column(each, row, width) for each in numbers] for row in family.coefficients.tolist()
    ]
    assert family.every_column(words).tolist() == wanted
    assert family.columns(words, 1).tolist() == wanted[1]
    rows = np.arange(words.size) % 3
    assert family.columns_at(words, rows).tolist() == [
        wanted[row][place] for place, row in enumerate(rows)
    ]


def test_a_remainder_is_right_next_to_every_multiple_of_the_width() -> None:
    for width in (1, 3, 1000, 1024, 2**20, 2**20 + 1, 3**20, 2**40 - 1):
        many = (2**61 - 2) // width
        near = [n * width + off for n in (0, 1, many // 3, many) for off in (-1, 0, 1)]
        numbers = [each for each in near if 0 <= each < 2**61 - 1]
        identity = HashFamily(key=b"", rows=1, width=width, degree=1)
        vars(identity)["coefficients"] = np.array([[0, 1]], dtype=np.uint64)
        found = identity.columns(np.array(numbers, dtype=np.uint64), 0).tolist()
        assert found == [each % width for each in numbers]


def test_coefficients_follow_from_the_key_by_blake2b() -> None:
    family = HashFamily(key=b"emoji", rows=2, width=10)
    said = hashlib.blake2b(b"1,2", digest_size=8, key=b"emoji").digest()
    assert int(family.coefficients[1, 2]) == int.from_bytes(said, "little") % plain.PRIME


@pytest.mark.statistical
def test_two_values_meet_in_one_row_of_m_and_three_in_one_of_m_squared() -> None:
    rows, width = 40_000, 16
    family = HashFamily(key=b"independence", rows=rows, width=width)
    first, second, third = family.every_column(digests(["a", "b", "c"])).T
    for share, both in (
        (1 / width, first == second),
        (1 / width**2, (first == second) & (second == third)),
    ):
        error = sqrt(share * (1 - share) / rows)  # rows are independent: a binomial law
        assert abs(both.mean() - share) < 4 * error


@pytest.mark.statistical
def test_columns_are_uniform() -> None:
    size, width = 100_000, 512
    found = HashFamily(key=b"uniform", rows=1, width=width).columns(digests(np.arange(size)), 0)
    counts = np.bincount(found, minlength=width)
    statistic = float(((counts - size / width) ** 2).sum() / (size / width))
    assert abs(statistic - (width - 1)) < 4 * sqrt(2 * (width - 1))  # mean, s.d. of chi squared


@pytest.mark.parametrize(
    "wrong", [{"rows": 0}, {"width": 0}, {"degree": -1}, {"width": 2.0}, {"key": bytes(65)}]
)
def test_a_family_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError) as told:
        HashFamily(**{"key": b"", "rows": 1, "width": 1, **wrong})
    assert told.value.code == "CEL-K002"


def test_digests_give_the_same_columns_in_blocks_of_any_size() -> None:
    words = digests(np.arange(1300))
    family = HashFamily(key=b"blocks", rows=2, width=77)
    whole = family.every_column(words)
    parts = np.concatenate([family.every_column(part) for part in np.split(words, [1, 600])], 1)
    assert (whole == parts).all()
