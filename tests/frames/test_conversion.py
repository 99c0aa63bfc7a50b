"""Any table becomes a Polars frame, or is refused with its place and without its values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from celosia.core.errors import InputError
from celosia.frames import as_frame

EXPECTED = pl.DataFrame({"age": [39, 50], "sex": ["Male", "Female"]})


@pytest.mark.parametrize(
    "data",
    [
        EXPECTED,
        EXPECTED.lazy(),
        EXPECTED.to_arrow(),
        EXPECTED.to_arrow().to_batches()[0],
        EXPECTED.to_arrow().to_reader(),
        pd.DataFrame({"age": [39, 50], "sex": ["Male", "Female"]}),
        pd.DataFrame({"age": [39, 50], "sex": pd.Series(["Male", "Female"], dtype=object)}),
        {"age": [39, 50], "sex": ("Male", "Female")},
        {"age": np.array([39, 50]), "sex": pl.Series(["Male", "Female"])},
        {"age": pa.array([39, 50]), "sex": pd.Series(["Male", "Female"])},
        {"age": range(39, 51, 11), "sex": iter(["Male", "Female"])},
    ],
    ids=lambda data: type(data).__module__.split(".")[0] + "." + type(data).__name__,
)
def test_every_sort_of_table_gives_the_same_frame(data: Any) -> None:
    assert as_frame(data).equals(EXPECTED)


def test_the_input_stays_as_it_was() -> None:
    mapping = {"age": [39, None, 2.5]}
    panda = pd.DataFrame({"age": [1.0, float("nan")], "name": ["x", None]})
    before = panda.copy(deep=True)
    as_frame(mapping)
    as_frame(panda)
    assert mapping == {"age": [39, None, 2.5]}
    pd.testing.assert_frame_equal(panda, before)


def test_missing_marks_of_pandas_and_lists_become_missing() -> None:
    frame = as_frame(
        pd.DataFrame(
            {
                "a": [1.0, float("nan")],
                "b": pd.Series(["x", None], dtype=object),
                "c": pd.Series([1, pd.NA], dtype="Int64"),
                "d": pd.to_datetime(["2020-01-01", None]),
            }
        )
    )
    assert frame.null_count().row(0) == (1, 1, 1, 1)
    assert as_frame({"a": [float("nan"), 1]})["a"].to_list() == [None, 1.0]


def test_whole_and_broken_numbers_may_share_a_column() -> None:
    assert as_frame({"a": [1, 2.5, None]})["a"].to_list() == [1.0, 2.5, None]


def test_a_column_of_one_kind_keeps_its_type() -> None:
    frame = as_frame({"d": [dt.date(2020, 1, 2)], "b": [True], "n": [None]})
    assert frame.schema["d"] == pl.Date
    assert frame.schema["b"] == pl.Boolean


@pytest.mark.parametrize(
    ("values", "row"),
    [
        ([1, 2, "MARKER"], 3),
        (["MARKER", None, 7], 3),
        ([True, 1], 2),
        ([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)], 2),
    ],
)
def test_mixed_kinds_are_refused_with_column_and_row(values: list[object], row: int) -> None:
    for data in ({"x": values}, pd.DataFrame({"x": pd.Series(values, dtype=object)})):
        with pytest.raises(InputError, match="column 'x'") as caught:
            as_frame(data)
        assert caught.value.code == "CEL-F005"
        assert caught.value.details["row"] == row


@pytest.mark.parametrize(
    "data",
    [
        {"ok": [1], "bad": [[1, 2]]},
        {"ok": [1], "bad": [{"x": 1}]},
        pl.DataFrame({"bad": [[1]]}),
        pa.table({"bad": [{"x": 1}]}),
    ],
)
def test_nested_columns_are_refused_by_name(data: Any) -> None:
    with pytest.raises(InputError, match="'bad'") as caught:
        as_frame(data)
    assert caught.value.code == "CEL-F006"


def test_a_pandas_index_is_refused_with_a_hint() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    with pytest.raises(InputError, match="reset_index"):
        as_frame(frame)


def test_duplicate_names_are_refused_with_their_positions() -> None:
    table = pa.table([pa.array([1])] * 3, names=["a", "b", "a"])
    with pytest.raises(InputError, match=r"'a' .*positions 1, 3"):
        as_frame(table)
    with pytest.raises(InputError, match=r"'a' .*positions 1, 2"):
        as_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize("name", [7, "", " ", None, ("a", "b")])
def test_names_that_are_empty_or_not_text_are_refused_with_their_position(name: Any) -> None:
    with pytest.raises(InputError, match="position 2") as caught:
        as_frame({"a": [1], name: [2]})
    assert caught.value.code == "CEL-F003"


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="lengths"):
        as_frame({"a": [1], "b": [1, 2]})


@pytest.mark.parametrize("data", [3, "text", [1, 2], None, {"a": "text"}, {"a": 3}])
def test_what_is_no_table_is_refused(data: Any) -> None:
    with pytest.raises(InputError) as caught:
        as_frame(data)
    assert caught.value.code == "CEL-F001"


def lazy(values: list[str]) -> pl.LazyFrame:
    return pl.LazyFrame({"x": values}).select(pl.col("x").cast(pl.Int64))


def broken_stream() -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"x": [1]})
        raise ValueError("777")

    return pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), batches())


@pytest.mark.parametrize(
    "data",
    [
        {"x": [2**200, 777]},
        {"x": [-777, 2**63]},
        {"x": [1.5, 777 * 2**2000]},
        {"x": [Decimal("1e30"), Decimal("777e-20")]},
        {"x": [Decimal(777) ** 20]},
        {"x": [Fraction(777, 2), 777]},
        {"x": ["777\ud800"]},
        {"x": [dt.time(7, 7, 7, tzinfo=dt.UTC)]},
        {"x": np.array(["1777"], dtype="datetime64[Y]")},
        {"x": pa.array([(777, 7, 7)], type=pa.month_day_nano_interval())},
        {"x": pd.Series([2**200, 777], dtype=object)},
        pd.DataFrame({"x": pd.arrays.SparseArray([777, 0])}),
        pd.DataFrame({"x": [777 + 1j]}),
        pa.table({"ok": [1], "x": pa.array([(777, 7, 7)], type=pa.month_day_nano_interval())}),
        lazy(["777"] * 3 + ["777 MARKER"]),
        broken_stream(),
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_cannot_be_taken_in_is_refused_without_its_values(data: Any) -> None:
    with pytest.raises(InputError) as caught:
        as_frame(data)
    error = caught.value
    assert error.code == "CEL-F008"
    assert error.details.get("columns", ["x"]) == ["x"]
    assert "777" not in repr(error.as_dict())
    assert error.__cause__ is None
    assert error.__context__ is None


def test_decimals_and_whole_numbers_may_share_a_column() -> None:
    for values in ([Decimal("1.5"), 2, None], [2, Decimal("1.5"), float("nan")]):
        for data in ({"a": values}, {"a": pd.Series(values, dtype=object)}):
            column = as_frame(data)["a"]
            assert column.dtype.is_decimal()
            assert set(column) == {Decimal("1.5"), Decimal(2), None}


@pytest.mark.parametrize(
    "values", [["x"], [True], [dt.date(2020, 1, 1)], [pd.Timestamp(2020, 1, 1)], [7]]
)
@pytest.mark.parametrize("mark", [None, float("nan"), pd.NA, pd.NaT, Decimal("NaN")])
def test_a_missing_mark_does_not_change_the_values(values: list[Any], mark: Any) -> None:
    assert as_frame({"a": [*values, mark]})["a"].to_list() == [*values, None]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([dt.time(1, 2, 3), dt.timedelta(777)], "a duration"),
        ([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)], "and zone"),
        ([dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(2020, 1, 1)], "and zone"),
    ],
)
def test_times_durations_and_zones_are_kinds_of_their_own(values: list[Any], kind: str) -> None:
    with pytest.raises(InputError, match=kind) as caught:
        as_frame({"x": values})
    assert (caught.value.code, caught.value.details["row"]) == ("CEL-F005", 2)


@pytest.mark.parametrize(
    "values",
    [pd.interval_range(0, 3), pd.period_range("2020", periods=3, freq="M"), pd.cut([1], [0, 2])],
    ids=lambda values: type(values).__name__,
)
def test_intervals_and_periods_of_pandas_are_refused_by_name(values: Any) -> None:
    for data in (pd.DataFrame({"bad": values}), {"bad": pd.Series(values)}):
        with pytest.raises(InputError, match="'bad'") as caught:
            as_frame(data)
        assert caught.value.code == "CEL-F006"
