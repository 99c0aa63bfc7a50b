"""Columns are turned into arrays, or refused without a word about their values."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.core.errors import InputError
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.statistics.columns import KeyKind, key_codes, key_counts, numbers, tally
from celosia.mechanisms.statistics.histogram import Histogram
from celosia.mechanisms.statistics.key_histogram import KeyHistogram
from celosia.mechanisms.statistics.mean import DirectMean, Mean, SumCountMean
from celosia.mechanisms.statistics.sums import Count, Sum
from celosia.mechanisms.statistics.variance import StandardDeviation, Variance

SECRET = "4711.5"
BOUNDS: dict[str, Any] = {"epsilon": 1, "lower": 0, "upper": 10}
OVER_NUMBERS: list[Mechanism[Any, Any]] = [
    Sum(**BOUNDS),
    Mean(**BOUNDS),
    SumCountMean(**BOUNDS),
    DirectMean(**BOUNDS),
    Variance(**BOUNDS),
    StandardDeviation(**BOUNDS),
    Histogram(epsilon=1, edges=[0, 1, 2]),
]
OVER_KEYS: list[Mechanism[Any, Any]] = [
    Histogram(epsilon=1, categories=["a", "b"]),
    KeyHistogram(epsilon=1, delta=1e-6),
]


@pytest.mark.parametrize(
    "rows",
    [
        [1, 2.5, True, Decimal("0.25"), Fraction(1, 2), np.float32(2)],
        (1, 2.5, 1, 0.25, 0.5, 2),
        np.array([1, 2.5, 1, 0.25, 0.5, 2]),
        np.array([1, 2.5, True, Decimal("0.25"), 0.5, 2], dtype=object),
        np.ma.masked_array([1, 2.5, 1, 0.25, 0.5, 2], mask=[False] * 6),
        pl.Series([1.0, 2.5, 1.0, 0.25, 0.5, 2.0]),
        pl.Series([Decimal(text) for text in ("1", "2.5", "1", "0.25", "0.5", "2")]),
    ],
    ids=["list", "tuple", "array", "objects", "masked", "series", "decimals"],
)
def test_numbers_come_from_lists_arrays_and_series(rows: Any) -> None:
    found = numbers(rows)
    assert found.dtype == np.float64
    assert found.tolist() == [1.0, 2.5, 1.0, 0.25, 0.5, 2.0]


@pytest.mark.parametrize("kind", ["b1", "i1", "u8", "i8", "f2", "f4", "f8", "g"])
def test_every_kind_of_number_array_is_taken(kind: str) -> None:
    assert numbers(np.array([0, 1], dtype=kind)).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("rows", [[], np.array([]), pl.Series([]), pl.Series([], dtype=pl.Int64)])
def test_no_rows_are_no_numbers_and_no_keys(rows: Any) -> None:
    assert numbers(rows).size == 0
    assert key_counts(rows)[0] == {}
    assert key_codes(rows).size == 0
    assert tally(rows) == (0, 0)


@pytest.mark.parametrize(
    ("rows", "bad"),
    [
        ([1.0, nan, inf, -inf, 2.0], 3),
        ([1.0, None, SECRET], 2),
        ([10**400, 1], 1),
        ([Decimal("NaN"), Decimal("sNaN"), Decimal("1e999"), Decimal(1)], 3),
        (np.array([nan, 1.0]), 1),
        (np.array([SECRET, "1"]), 2),
        (np.array([1 + 1j]), 1),
        (np.array(["2020-01-01"], dtype="M8[D]"), 1),
        (np.ma.masked_array([1.0, 2.0], mask=[True, False]), 1),
        (np.array([np.longdouble("1e4000")]), 1),
        (pl.Series([1.0, None, nan]), 2),
        (pl.Series([SECRET, "1"]), 2),
        (pl.Series([None, None]), 2),
        (pl.Series([[1.0], [2.0]]), 2),
    ],
)
def test_rows_without_a_finite_number_are_counted_never_shown(rows: Any, bad: int) -> None:
    with pytest.raises(InputError) as caught:
        numbers(rows)
    assert caught.value.code == "CEL-M081"
    assert caught.value.details["bad"] == bad
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None or SECRET not in str(caught.value.__context__)


@pytest.mark.parametrize(
    "rows",
    [5, "text", None, {1: 2}, np.array(1.0), np.zeros((2, 2)), pl.DataFrame({"a": [1]}), 1.5],
)
def test_what_is_not_one_column_is_refused(rows: Any) -> None:
    for read in (numbers, tally, key_counts, key_codes):
        with pytest.raises(InputError) as caught:
            read(rows)
        assert caught.value.code == "CEL-M080"


@pytest.mark.parametrize("mechanism", OVER_NUMBERS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("rows", [[nan], [None, 1.0], [SECRET], pl.Series([inf]), []])
def test_no_noise_is_drawn_for_a_column_that_is_refused(
    mechanism: Mechanism[Any, Any], rows: Any
) -> None:
    with pytest.raises(InputError) as caught:
        mechanism.release(rows, rng=ForbiddenSource())
    assert caught.value.code == ("CEL-M081" if len(rows) else "CEL-M082")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("mechanism", OVER_KEYS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize(
    "rows", [["a", None], ["a", 1], [1, True], [1.5], pl.Series(["a", None]), np.array([0.5]), []]
)
def test_no_noise_is_drawn_for_keys_that_are_refused(
    mechanism: Mechanism[Any, Any], rows: Any
) -> None:
    with pytest.raises(InputError) as caught:
        mechanism.release(rows, rng=ForbiddenSource())
    assert caught.value.code == ("CEL-M083" if len(rows) else "CEL-M082")


def test_counting_takes_the_true_rows_of_flags_and_all_rows_of_anything_else() -> None:
    assert tally([True, False, True]) == (3, 2)
    assert tally(np.array([True, False])) == (2, 1)
    assert tally(pl.Series([True, False, False])) == (3, 1)
    assert tally(["a", None, 1.5]) == (3, 3)
    assert tally(pl.Series(["a", None])) == (2, 2)


@pytest.mark.parametrize("rows", [[False] * 5 + ["x"], [True, None], pl.Series([True, None])])
def test_a_column_of_flags_with_something_else_in_it_is_refused(rows: Any) -> None:
    # Counted by rows, five false flags would count 0 and the same with one more row 6.
    with pytest.raises(InputError) as caught:
        Count(epsilon=1).release(rows, rng=ForbiddenSource())
    assert caught.value.code == "CEL-M081"


TEXTS = st.lists(st.text(max_size=3), max_size=30)
WHOLES = st.lists(st.integers(-(2**62), 2**62), max_size=30)


@given(TEXTS | WHOLES | st.lists(st.booleans(), max_size=30))
def test_keys_are_counted_in_order_whatever_holds_them(rows: list[Any]) -> None:
    expected = dict(sorted(Counter(rows).items()))
    holders: list[Any] = [rows, np.array(rows, dtype=object)]
    # Texts with lone surrogates, and with zeros at the end in NumPy, exist in Python only.
    if not any(isinstance(row, str) for row in rows):
        holders += [np.array(rows), pl.Series(rows)]
    elif all("\0" not in row and row.isprintable() for row in rows):
        holders += [np.array(rows), pl.Series(rows), pl.Series(rows, dtype=pl.Categorical)]
    for holder in holders:
        counts, _ = key_counts(holder)
        assert list(counts.items()) == list(expected.items())
        codes = key_codes(holder)
        assert len(codes) == len(rows)
        for one, row in zip(codes, rows, strict=True):
            assert all((one == two) == (row == also) for two, also in zip(codes, rows, strict=True))


def test_one_row_does_not_rename_the_key_of_others() -> None:
    class Colour(str, Enum):  # noqa: UP042 - a StrEnum prints as what it equals
        RED = "red"

    assert str(Colour.RED) != Colour.RED.value
    rows = ["red", "red", Colour.RED]
    assert key_counts(rows)[0] == key_counts(rows[::-1])[0] == {"red": 3}


def test_keys_tell_their_kind() -> None:
    assert key_counts(["a"])[1] is KeyKind.TEXT
    assert key_counts(pl.Series([1]))[1] is KeyKind.WHOLE
    assert key_counts(np.array([True]))[1] is KeyKind.TRUTH
