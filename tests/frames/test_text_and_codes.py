"""The canonical text of cells, and columns as codes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_series_equal

from celosia.frames import as_text, encode


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([39, -1, None], pl.Int64, ["39", "-1", None]),
        ([39, 255], pl.UInt8, ["39", "255"]),
        ([39.0, 0.1, -0.0, None], pl.Float64, ["39", "0.1", "0", None]),
        ([39.0, 0.1], pl.Float32, ["39", "0.1"]),
        ([1e300, float("inf"), float("nan")], pl.Float64, ["1e+300", "inf", "NaN"]),
        ([True, False, None], pl.Boolean, ["true", "false", None]),
        (["039", " x", ""], pl.String, ["039", " x", ""]),
        (["b", "a", None], pl.Categorical, ["b", "a", None]),
        (["b", "a"], pl.Enum(["b", "a"]), ["b", "a"]),
        ([dt.date(2020, 2, 29)], pl.Date, ["2020-02-29"]),
        ([dt.datetime(2020, 2, 29, 1, 2, 3)], pl.Datetime, ["2020-02-29T01:02:03"]),
        ([dt.time(1, 2, 3)], pl.Time, ["01:02:03"]),
        (
            [Decimal("39.00"), Decimal("1.50"), Decimal("100.00")],
            pl.Decimal(9, 2),
            ["39", "1.5", "100"],
        ),
        ([None], pl.Null, [None]),
    ],
)
def test_each_type_has_its_text(values: list[Any], dtype: Any, expected: list[Any]) -> None:
    text = as_text(pl.Series("x", values, dtype=dtype))
    assert text.to_list() == expected
    assert text.dtype == pl.String
    assert text.name == "x"


def test_a_moment_with_a_zone_says_its_offset() -> None:
    moments = pl.Series([dt.datetime(2020, 7, 1, 12)]).dt.replace_time_zone("Europe/Madrid")
    assert as_text(moments).to_list() == ["2020-07-01T12:00:00+02:00"]


@given(st.lists(st.integers(-(2**53), 2**53)))
def test_integers_and_whole_floats_have_the_same_text(values: list[int]) -> None:
    integers = pl.Series(values, dtype=pl.Int64)
    assert as_text(integers).to_list() == as_text(integers.cast(pl.Float64)).to_list()


def test_codes_follow_the_sorted_order_and_mark_missing_values() -> None:
    codes = encode(pl.Series("zip", ["b", None, "a", "b"]))
    assert codes.codes.tolist() == [1, -1, 0, 1]
    assert codes.codes.dtype == np.int32
    assert codes.values.to_list() == ["a", "b"]
    assert codes.missing


COLUMNS = st.one_of(
    st.lists(st.none() | st.text(st.characters(codec="utf-8"), max_size=4)).map(
        lambda v: pl.Series("x", v, dtype=pl.String)
    ),
    st.lists(st.none() | st.integers(-5, 5)).map(lambda v: pl.Series("x", v, dtype=pl.Int16)),
    st.lists(st.none() | st.floats(allow_nan=False)).map(
        lambda v: pl.Series("x", v, dtype=pl.Float64)
    ),
    st.lists(st.none() | st.booleans()).map(lambda v: pl.Series("x", v, dtype=pl.Boolean)),
    st.lists(st.none() | st.dates()).map(lambda v: pl.Series("x", v, dtype=pl.Date)),
    st.lists(st.none() | st.sampled_from("cab")).map(
        lambda v: pl.Series("x", v, dtype=pl.Enum(["c", "b", "a"]))
    ),
    st.lists(st.none() | st.sampled_from("cab")).map(
        lambda v: pl.Series("x", v, dtype=pl.Categorical)
    ),
)


@given(COLUMNS)
def test_decoding_undoes_encoding(series: pl.Series) -> None:
    before = series.clone()
    codes = encode(series)
    assert_series_equal(codes.decode(), series)
    assert_series_equal(series, before)
    assert codes.missing == (series.null_count() > 0)
    assert codes.values.n_unique() == len(codes.values)


@given(st.lists(st.sampled_from("zyxab"), min_size=1), st.randoms(use_true_random=False))
def test_the_values_do_not_depend_on_the_order_of_rows(values: list[str], random: Any) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert encode(pl.Series(values)).values.equals(encode(pl.Series(shuffled)).values)


def test_printed_codes_show_no_value() -> None:
    assert "MARKER" not in repr(encode(pl.Series(["MARKER"])))


NUMBERS = {
    pl.Int32: st.integers(-9, 9) | st.integers(-(2**31), 2**31 - 1),
    pl.Int64: st.integers(-9, 9) | st.integers(-(2**63), 2**63 - 1),
    pl.UInt8: st.integers(0, 255),
    pl.UInt64: st.integers(2**64 - 9, 2**64 - 1) | st.integers(0, 9),
    pl.String: st.text(max_size=2),
    pl.Float64: st.sampled_from([0.0, 1.5, -2.0]),
    pl.Boolean: st.booleans(),
}


@given(st.data(), st.sampled_from(list(NUMBERS)), st.booleans())
def test_codes_are_places_among_the_sorted_values(
    data: st.DataObject, kind: type[pl.DataType], ordered: bool
) -> None:
    cells: list[Any] = data.draw(st.lists(NUMBERS[kind] | st.none(), max_size=12))
    series = pl.Series("a", cells, dtype=kind)
    series = series.sort() if ordered else series
    coded = encode(series)
    distinct = sorted({cell for cell in cells if cell is not None})
    assert coded.values.to_list() == distinct
    assert coded.codes.tolist() == [
        -1 if cell is None else distinct.index(cell) for cell in series.to_list()
    ]
    assert coded.decode().equals(series)
    assert (coded.values.dtype, coded.values.name) == (series.dtype, "a")
